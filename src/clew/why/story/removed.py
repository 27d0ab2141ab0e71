"""The story of what is no longer there: a definition, or a text, from the commits that added and removed it."""

# Implements: REQ-d00757

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import msgspec

from clew.derived.history import CommitHistory
from clew.why.story.patient import asked_once
from clew.workspace.git import api as git
from clew.workspace.git import history as git_history
from clew.workspace.git.difference import ChangedBlock, FileDifference, differences, empty_tree

_NAME = re.compile(r"[^\W\d]\w*")
_KEYWORDS = (
    "def|class|function|func|fn|const|let|var|type|struct|interface|enum|trait|static|module|macro_rules!|define"
)
_DEFINES = (
    r"(^|[^[:alnum:]_])({keywords})[[:space:]]+(\([^)]*\)[[:space:]]*)?{name}([^[:alnum:]_]|$)"
    r"|^[[:space:]]*{name}[[:space:]]*(:[^=]*)?=[^=]"
)
_DEFINED = r"(?:^|[^\w])(?:{keywords})\s+(?:\([^)]*\)\s*)?({name})(?!\w)|^\s*({name})\s*(?::[^=]*)?=[^=]"
MOST_COMMITS = 40
_MOST_NAMING = 100_000
_MOST_SECONDS = 120


class SearchedPast(msgspec.Struct, frozen=True):
    """The history that a question is about, and the seconds that it may take."""

    root: Path
    history: CommitHistory
    head: str
    seconds: float


class TextEvent(msgspec.Struct, frozen=True, array_like=True):
    """A change of a text, or of a definition, by a commit."""

    commit: str
    path: str
    line: int
    """Where it is in the commit, or was in the one before."""
    added: int
    """Places that the commit added, less those that it removed."""
    text: str
    """The first of these lines."""
    renamed_to: str = ""
    """The name of the definition that the commit wrote in its place."""


class TextStory(msgspec.Struct, frozen=True, array_like=True):
    """The events of a text, the newest first."""

    events: tuple[TextEvent, ...]
    is_all: bool
    """False where there are earlier ones."""


def story_of_definition(past: SearchedPast, name: str) -> TextStory | None:
    """The commits that added, removed or rewrote a definition of this name. None where it takes longer than an answer
    may wait; the next answer has it."""
    last = name.rpartition(".")[2].rpartition("::")[2]
    if _NAME.fullmatch(last) is None:
        return TextStory((), is_all=True)
    pattern = _DEFINES.format(keywords=_KEYWORDS, name=last)
    return _story(past, pattern, re.compile(_DEFINED.format(keywords=_KEYWORDS, name=last)), is_pattern=True)


def story_of_text(past: SearchedPast, text: str) -> TextStory | None:
    """Likewise of the commits that added or removed a text anywhere."""
    return _story(past, text, re.compile(re.escape(text)), is_pattern=False)


def _story(past: SearchedPast, asked: str, pattern: re.Pattern[str], *, is_pattern: bool) -> TextStory | None:
    about = (past.head, asked, str(is_pattern), "text story 1")

    def look() -> TextStory:
        ids = git_history.commits_changing(
            past.root, asked, MOST_COMMITS + 1, is_pattern=is_pattern, seconds=_MOST_SECONDS
        )
        events = [event for id in ids[:MOST_COMMITS] for event in _events(past, id, pattern)]
        return TextStory(tuple(events), is_all=len(ids) <= MOST_COMMITS)

    return asked_once(past.root, past.history, about, TextStory, look, past.seconds)


def _events(past: SearchedPast, id: str, pattern: re.Pattern[str]) -> list[TextEvent]:
    """The files of a commit in which the text was added or removed, those with the most changes first."""
    top = git.toplevel(past.root)
    parents = git_history.parents_of(past.root, id)
    if top is None:
        return []
    before = parents[0] if parents else empty_tree(top)
    found = [event for each in differences(top, before, id) if (event := _event(id, each, pattern)) is not None]
    return sorted(found, key=lambda each: -abs(each.added))[:3]


def _event(id: str, changed: FileDifference, pattern: re.Pattern[str]) -> TextEvent | None:
    removed = [
        (block, row) for block in changed.blocks for row in range(len(block.old)) if pattern.search(block.old[row])
    ]
    added = [
        (block, row) for block in changed.blocks for row in range(len(block.new)) if pattern.search(block.new[row])
    ]
    if not removed and not added:
        return None
    path = changed.path or changed.old_path or ""
    number = len(added) - len(removed)
    if number >= 0 and added:
        block, row = added[0]
        return TextEvent(id, path, block.new_first + row, number, block.new[row].strip()[:160])
    block, row = removed[0]
    successor = _successor(block, row, pattern) if number < 0 else ""
    return TextEvent(id, path, block.old_first + row, number, block.old[row].strip()[:160], successor)


def _successor(block: ChangedBlock, row: int, pattern: re.Pattern[str]) -> str:
    """The name that a line of the same block defines with the same words but the name."""
    match = pattern.search(block.old[row])
    name = next((each for each in match.groups() if each), "") if match is not None and match.groups() else ""
    if not name:
        return ""
    before, _, after = block.old[row].partition(name)
    for line in block.new:
        if line.startswith(before) and line.endswith(after) and len(line) > len(before) + len(after):
            other = line[len(before) : len(line) - len(after) if after else None]
            if _NAME.fullmatch(other):
                return other
    return ""


def commits_naming(past: SearchedPast, number: str) -> Sequence[str]:
    """The newest commits that name an issue or a pull request, such as `#12`."""
    exact = re.compile(rf"(?<![\w#]){re.escape(number)}(?!\w)")
    # Longer numbers hold the shorter one: what is counted is what names exactly this one.
    found = (each.id for each in past.history.naming(number, _MOST_NAMING) if exact.search(each.message))
    return list(islice(found, MOST_COMMITS))
