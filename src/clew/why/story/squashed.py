"""Lines of a squashed commit in the commits of its pull request, where the clone holds them."""

# Implements: REQ-d00795

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from clew.derived.history import Commit
from clew.errors import ClewError
from clew.why.story.asking import GitQuestions
from clew.why.story.chain import LinesAt
from clew.workspace.git import api as git
from clew.workspace.git import history as git_history
from clew.workspace.git.objects import small_objects

_NUMBER = re.compile(r"\(#(\d{1,7})\)\s*$")
_LONGEST_FILE = 2 * 1024 * 1024
_MOST_SQUASHES = 6

Line = tuple[str, str, int]
"""Commit, path and number."""


class OriginalLines(msgspec.Struct, frozen=True):
    """The lines of commits that were squashed."""

    places: tuple[LinesAt, ...] = ()
    squashed: Mapping[Line, Line] = msgspec.field(default_factory=dict)
    """The line of the squashed commit for each of them."""
    absent: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Numbers of the pull requests whose commits are not here, by the commit that stands for each."""
    unlike: int = 0
    """Lines that are not in the head of their pull request, or there more than once."""


def originals(
    root: Path, places: Sequence[LinesAt], commits: Mapping[str, Commit], questions: GitQuestions
) -> OriginalLines:
    """The lines in the heads of the pull requests that the subjects name: in an equal file the same numbers, in another
    the lines whose text stands there once."""
    numbered = [(each, match[1]) for each in places if (match := _NUMBER.search(_subject(commits, each)))]
    heads = _heads(root, [number for _, number in numbered], questions.seconds) if numbered else {}
    wanted = [(place, heads[number]) for place, number in numbered if number in heads][:_MOST_SQUASHES]
    names = [name for place, head in wanted for name in (f"{place.commit}:{place.path}", f"{head}:{place.path}")]
    data = small_objects(root, names, _LONGEST_FILE, seconds=questions.seconds)
    found: dict[tuple[str, str], list[int]] = {}
    squashed: dict[Line, Line] = {}
    unlike = 0
    for at, (place, head) in enumerate(wanted):
        known = _same(data[2 * at], data[2 * at + 1], place.lines)
        unlike += len(place.lines) - len(known)
        for each in _blamed(root, place.path, head, known, questions.seconds) if known else ():
            found.setdefault((each.commit, each.path), []).append(each.origin)
            squashed[each.commit, each.path, each.origin] = place.commit, place.path, known[each.line]
    kept = (LinesAt(commit, path, tuple(lines)) for (commit, path), lines in found.items() if commit not in commits)
    absent = {place.commit: number for place, number in numbered if number not in heads}
    return OriginalLines(tuple(kept), squashed, absent, unlike)


def _subject(commits: Mapping[str, Commit], place: LinesAt) -> str:
    commit = commits.get(place.commit)
    return commit.subject if commit is not None and len(commit.parents) == 1 else ""


def _heads(root: Path, numbers: Sequence[str], seconds: float) -> dict[str, str]:
    """The heads of pull requests, by number, as clones name them."""
    patterns = [
        pattern
        for number in dict.fromkeys(numbers)
        for pattern in (f"refs/pull/{number}/head", f"refs/remotes/*/pull/{number}/head", f"refs/remotes/*/pr/{number}")
    ]
    output = git.answer(root, "for-each-ref", "--format=%(objectname) %(refname)", *patterns, seconds=seconds)
    rows = [row.split(" ", 1) for row in (output or b"").decode("utf-8", "replace").splitlines()]
    found: dict[str, str] = {}
    for id, name in rows:
        number = name.removesuffix("/head").rpartition("/")[2]
        found.setdefault(number, id)
    return found


def _same(now: bytes | None, before: bytes | None, lines: Sequence[int]) -> dict[int, int]:
    """The numbers before of lines that are the same now, with the numbers now."""
    if now is None or before is None:
        return {}
    if now == before:
        return {line: line for line in lines}
    places: dict[bytes, list[int]] = {}
    for number, text in enumerate(before.split(b"\n"), 1):
        places.setdefault(text.strip(), []).append(number)
    rows = now.split(b"\n")
    asked = {line: places.get(rows[line - 1].strip(), []) for line in lines if 0 < line <= len(rows)}
    return {old[0]: line for line, old in asked.items() if len(old) == 1 and rows[line - 1].strip()}


def _blamed(
    root: Path, path: str, head: str, known: Mapping[int, int], seconds: float
) -> Sequence[git_history.BlamedLine]:
    top = git.toplevel(root)
    try:
        found = git_history.blame(top or root, path, [(min(known), max(known))], revision=head, seconds=seconds)
    except ClewError:
        return ()
    return [each for each in found or () if each.line in known]
