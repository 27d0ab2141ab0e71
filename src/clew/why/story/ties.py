"""Facts that belong to a commit: its release, changelog entries, tests and documents, its merge, what it takes back."""

# Implements: REQ-d00361

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from clew.derived.history import Commit
from clew.errors import Unavailable
from clew.formats.code.facts.model import CLASS
from clew.formats.code.outline import decoded, outline_of
from clew.text.hashing import content_hash
from clew.why.story.chain import REVERTS, reverted_by
from clew.why.story.changelog import ReleaseNote, entries_added, entries_naming, is_changelog, placed
from clew.workspace.git import api as git
from clew.workspace.git import history as git_history
from clew.workspace.git.difference import FileDifference, differences
from clew.workspace.git.history import PathChange

if TYPE_CHECKING:
    from clew.why.inquiry import Inquiry

_PRE_RELEASE = re.compile(
    r"(?:^|[^a-z])(?:a|b|rc|alpha|beta|dev|pre|preview|canary|next|nightly)[.-]?\d*$", re.IGNORECASE
)
_RELEASE = re.compile(r"\d+\.\d+")
_DOCUMENT = re.compile(r"\.(?:md|rst|txt|adoc|mdx)$", re.IGNORECASE)
_MOST_TESTS = 4
_MOST_ENTRIES = 2
_MOST_TOUCHED = 400
_MOST_COMPARED = 30


class ChangedTest(msgspec.Struct, frozen=True, array_like=True):
    path: str
    name: str
    """The test function; empty where the file's tests have no names that Clew reads."""


class CommitTies(msgspec.Struct, frozen=True, array_like=True):
    release: str = ""
    """The first release that contains it."""
    entries: tuple[ReleaseNote, ...] = ()
    tests: tuple[ChangedTest, ...] = ()
    documents: tuple[str, ...] = ()


def ties_of(inquiry: "Inquiry", commit: Commit, numbers: Sequence[str]) -> CommitTies:
    """The items tied to a commit by the numbers in its message and its merge. Cached for the same HEAD and tags."""
    tags = git.answer(inquiry.root, "for-each-ref", "--format=%(objectname) %(refname)", "refs/tags")
    about = (inquiry.readiness.head or "", content_hash(tags or b""), commit.id, ",".join(numbers), "ties 3")
    known = inquiry.history.kept(CommitTies, *about)
    if known is None:
        known = _found(inquiry, commit, numbers)
        inquiry.history.keep(known, *about)
    return known


def _found(inquiry: "Inquiry", commit: Commit, numbers: Sequence[str]) -> CommitTies:
    changes = inquiry.history.touched_by(commit.id) or _changes_in_git(inquiry, commit.id)
    paths = [each.path for each in changes if each.status != "D"][:_MOST_TOUCHED]
    tests = [path for path in paths if inquiry.project.uses.tests.holds(path)]
    notes = [path for path in paths if is_changelog(path)]
    documents = [path for path in paths if _DOCUMENT.search(path) and path not in notes and path not in tests]
    compared = _compared(inquiry, commit, [*notes[:3], *tests[:_MOST_COMPARED]])
    entries = [*entries_added([each for each in compared if (each.path or "") in notes])]
    release = release_of(inquiry.root, commit.id, inquiry.seconds)
    named = entries_naming(inquiry.root, numbers, inquiry.lines_of, seconds=inquiry.seconds)
    # An entry of another release may name the number because it continued the work.
    named.sort(key=lambda each: not (each.version and each.version in release))
    seen = {each.text[:60] for each in named}
    own = [placed(each, inquiry.lines_of(each.path)) for each in entries if each.text[:60] not in seen]
    named = [each for place, each in enumerate(named) if each.text not in [other.text for other in named[:place]]]
    return CommitTies(
        release=release,
        entries=(*named[:1], *own, *named[1:])[:_MOST_ENTRIES],
        tests=tuple(_tests(inquiry, commit, [each for each in compared if each.path in tests]))[:_MOST_TESTS],
        documents=tuple(documents[:3]),
    )


# Implements: REQ-d00645-B
def _changes_in_git(inquiry: "Inquiry", id: str) -> Sequence[PathChange]:
    """The changes of a commit that the kept history does not hold yet: what is found without them would be kept."""
    try:
        return [each for record in git_history.commits(inquiry.root, [id], compares=False) for each in record.changes]
    except Unavailable:
        return ()


def release_of(root: Path, id: str, seconds: int) -> str:
    """The first tag with a version that contains a commit, final ones before trial ones; empty where none does."""
    words = (
        "for-each-ref",
        f"--contains={id}",
        "--sort=creatordate",
        "--count=40",
        "--format=%(refname:short)",
        "refs/tags",
    )
    tags = (git.answer(root, *words, seconds=seconds) or b"").decode("utf-8", "replace").split()
    versions = [tag for tag in tags if _RELEASE.search(tag)]
    final = [tag for tag in versions if not _PRE_RELEASE.search(tag)]
    return next(iter([*final, *versions]), "")


def _compared(inquiry: "Inquiry", commit: Commit, paths: Sequence[str]) -> list[FileDifference]:
    if not paths or not commit.parents:
        return []
    prefix = git.prefix_of(inquiry.root)
    top = git.toplevel(inquiry.root)
    if top is None:
        return []
    found = differences(
        top, commit.parents[0], commit.id, [f"{prefix}{path}" for path in paths], seconds=inquiry.seconds
    )
    return [
        msgspec.structs.replace(each, path=each.path.removeprefix(prefix)) for each in found if each.path is not None
    ]


def _tests(inquiry: "Inquiry", commit: Commit, changed: Sequence[FileDifference]) -> Iterator[ChangedTest]:
    """The test functions whose lines the commit wrote."""
    paths = [each.path for each in changed if each.path is not None]
    contents = git_history.contents_at(inquiry.root, [(commit.id, path) for path in paths], seconds=inquiry.seconds)
    for each, data in zip(changed, contents, strict=True):
        if each.path is None or data is None:
            continue
        names: dict[str, None] = {}
        symbols = outline_of(decoded(data), each.path).symbols
        for block in each.blocks:
            last = block.new_first + len(block.new) - 1
            for symbol in symbols:
                is_touched = symbol.line <= last and symbol.end_line >= block.new_first and bool(block.new)
                if is_touched and symbol.is_test and symbol.kind != CLASS:
                    names[symbol.name] = None
        if not names:
            yield ChangedTest(each.path, "")
        for name in list(names)[:_MOST_TESTS]:
            yield ChangedTest(each.path, name)


def attempts_before(inquiry: "Inquiry", commit: Commit, path: str) -> list[tuple[Commit, Commit]]:
    """Earlier commits to the file that were taken back before this one, each with the commit that took it back."""
    found = []
    for touch in inquiry.history.of_path(path, 500):
        is_after = touch.commit.id == commit.id or touch.commit.number > commit.number > 0
        if is_after or REVERTS.search(touch.commit.message) is None:
            continue
        id = reverted_by(inquiry.root, touch.commit.message, seconds=inquiry.seconds)
        attempt = inquiry.history.commits([id]).get(id) if id is not None else None
        if attempt is not None and id != commit.id:
            found.append((attempt, touch.commit))
    return found
