"""The story of what is no longer there: a definition, or a text, from the commits that added and removed it."""

# Implements: REQ-d00757

import re
from collections.abc import Sequence
from functools import partial
from itertools import islice

import msgspec

from clew.why.story.asking import GitQuestions
from clew.why.story.defined import definition_index
from clew.why.story.patient import SearchedPast, advanced
from clew.workspace.git import api as git
from clew.workspace.git import history as git_history
from clew.workspace.git.difference import ChangedBlock, CommitDifference, FileDifference, changes_with

_NAME = re.compile(r"[^\W\d][\w$]*")
_KEYWORDS = (
    r"def|class|function[[:space:]]*\*?|func|fn|const|let|var|type|struct|interface|enum|trait|static|module|namespace"
    r"|macro_rules!|define"
)
_DEFINES = (
    r"(^|[^[:alnum:]_])({keywords})[[:space:]]+(\([^)]*\)[[:space:]]*)?{name}([^[:alnum:]_]|$)"
    r"|^[[:space:]]*([[:alnum:]_$]+\.)*{name}[[:space:]]*(:[^=]*)?=[^=]"
)
_DEFINED = (
    r"(?:^|[^\w])(?:{keywords})\s+(?:\([^)]*\)\s*)?({name})(?!\w)"
    r"|^\s*(?!(?:self|this|cls)\.)(?:[\w$]+\.)*({name})\s*(?::[^=]*)?=[^=]"
)
MOST_COMMITS = 40
_MOST_NAMING = 100_000
_AT_ONCE = 1_000
"""Commits of which git is asked at once."""
_RULES = "2"
"""Changes with the rules by which a text is told: what was kept before is looked for again."""


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

    events: tuple[TextEvent, ...] = ()
    is_all: bool = True
    """False where there are earlier ones."""
    looked: int = 0
    total: int = -1
    """Commits that were looked through, of all; -1 before they are counted."""
    unreadable: int = 0
    """Commits that git could not show."""

    @property
    def is_done(self) -> bool:
        return not self.is_all or self.looked == self.total


def story_of_definition(past: SearchedPast, name: str) -> TextStory:
    """The commits that added, removed or rewrote a definition of this name, as far as commits were looked through after
    the seconds that the question may take."""
    last = name.rpartition(".")[2].rpartition("::")[2]
    if _NAME.fullmatch(last) is None:
        return TextStory(total=0)
    about = (past.head, name, "definition story", _RULES)
    kept = past.history.kept(TextStory, *about)
    if kept is not None:
        return kept
    index = definition_index(past)
    owned = index.of(name) if name != last else []
    wanted = re.escape(name) if owned else re.escape(last)
    commits = past.history.commits(owned or index.of(last))
    ids = sorted(commits, key=lambda id: -commits[id].number)
    questions = GitQuestions(past.seconds)
    pattern = re.compile(_DEFINED.format(keywords=_KEYWORDS.replace("[[:space:]]", r"\s"), name=wanted))
    events: list[TextEvent] = []
    for start in range(0, len(ids), MOST_COMMITS):
        events += _found(
            past,
            ids[start : start + MOST_COMMITS],
            _DEFINES.format(keywords=_KEYWORDS, name=wanted),
            pattern,
            questions,
        )
        if events:
            break
    is_all = len(ids) <= start + MOST_COMMITS if ids else True
    looked = index.total - len(index.waiting)
    total = index.total if index.head == past.head else -1
    story = TextStory(tuple(events), is_all, looked, total, index.unreadable)
    if questions.is_whole and story.is_done:
        past.history.keep(story, *about)
    return story


def story_of_text(past: SearchedPast, text: str) -> TextStory:
    """Likewise of the commits that added or removed a text anywhere."""
    pattern = re.compile(re.escape(text))

    def step(reached: TextStory, questions: GitQuestions) -> TextStory:
        ids = questions.ask(lambda left: git_history.commit_ids(past.root, past.head, seconds=left), None)
        if ids is None:
            return reached
        size = _AT_ONCE
        while True:
            chunk = ids[reached.looked : reached.looked + size]
            found = questions.ask(partial(_with_text, past, chunk, text), None)
            if found is not None or size == 1 or not questions.may_go_on():
                break
            size = max(size // 8, 1)
        if found is None and not questions.may_go_on():
            return reached
        commits = len({each.commit for each in reached.events}) + len(found or ())
        events = [event for each in (found or ())[:MOST_COMMITS] for event in _events(each, pattern)]
        return TextStory(
            (*reached.events, *events),
            commits <= MOST_COMMITS,
            reached.looked + len(chunk),
            len(ids),
            reached.unreadable + (found is None),
        )

    return advanced(past, (past.head, text, "text story", _RULES), TextStory(), step, lambda found: found.is_done)


def _with_text(past: SearchedPast, ids: Sequence[str], text: str, seconds: float) -> list[CommitDifference]:
    return changes_with(past.root, ids, text, seconds=seconds)


def _found(
    past: SearchedPast, ids: Sequence[str], asked: str, pattern: re.Pattern[str], questions: GitQuestions
) -> list[TextEvent]:
    nothing: list[CommitDifference] = []
    changes = questions.ask(lambda left: changes_with(past.root, ids, asked, is_pattern=True, seconds=left), nothing)
    return [event for each in changes for event in _events(each, pattern)]


def _events(changed: CommitDifference, pattern: re.Pattern[str]) -> list[TextEvent]:
    """The files of a commit in which the text was added or removed, those with the most changes first."""
    found = [event for each in changed.files if (event := _event(changed.commit, each, pattern)) is not None]
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
    found = [each.id for each in past.history.naming(number, _MOST_NAMING) if exact.search(each.message)]
    if git.prefix_of(past.root):
        # Of a repository with several projects, the commits that touched this one.
        here = islice((id for id in found if past.history.touched_by(id)), MOST_COMMITS)
        found = list(here) or found
    return found[:MOST_COMMITS]
