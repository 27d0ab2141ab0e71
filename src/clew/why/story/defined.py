"""Index of the definitions that commits added, rewrote and removed.

It is made when a name is asked for that nothing has, from the newest commits back, and kept with the history: every
further name costs a look into it.
"""

# Implements: REQ-d00757

import re
from functools import partial

import msgspec

from clew.why.story.asking import GitQuestions
from clew.why.story.patient import SearchedPast, advanced
from clew.workspace.git import history as git_history
from clew.workspace.git.difference import changed_rows

_ABOUT = ("definitions 1",)
_AT_ONCE = 400
"""Commits of which git is asked at once."""
_MOST_OF_ONE = 5_000
"""Names that are noted of one commit: one that brings a whole library says little about each."""
_LONGEST_ROW = 400
_DEFINES = re.compile(
    rb"\s*(?:(?:export|default|declare|public|private|protected|internal|static|async|abstract|final|override|unsafe"
    rb"|pub(?:\([^)]*\))?|open|sealed|inline|extern)\s+)*"
    rb"(?:def|class|function\s*\*?|func|fn|const|let|var|type|struct|interface|enum|trait|static|module|namespace"
    rb"|macro_rules!|#\s*define)\s+(?:\([^)]*\)\s*)?(?P<name>[^\W\d][\w$]*)"
    rb"|(?:    |\t)?(?P<owner>(?:[^\W\d][\w$]*\.)*)(?P<value>[^\W\d][\w$]*)\s*(?::[^=(]*)?=[^=]"
)


class DefinitionIndex(msgspec.Struct, frozen=True, array_like=True):
    head: str = ""
    """The commit up to which the others were listed."""
    waiting: tuple[str, ...] = ()
    """Commits that are not read yet, the newest first."""
    commits: tuple[str, ...] = ()
    """Those that are read."""
    names: dict[str, list[int]] = {}
    """The places of the commits with a definition of a name, and of one with its owner, such as `app.del`."""
    unreadable: int = 0
    """Commits that git could not show."""

    @property
    def total(self) -> int:
        return len(self.waiting) + len(self.commits)

    def of(self, name: str) -> list[str]:
        """The commits that have a definition of a name in their changed lines."""
        return [self.commits[place] for place in self.names.get(name, ())]


def definition_index(past: SearchedPast) -> DefinitionIndex:
    """The index as far as it is after the seconds that the question may take."""

    def step(reached: DefinitionIndex, questions: GitQuestions) -> DefinitionIndex:
        if reached.head != past.head:
            return _listed(past, reached, questions)
        return _read(past, reached, questions)

    return advanced(past, _ABOUT, DefinitionIndex(), step, lambda found: found.head == past.head and not found.waiting)


def _listed(past: SearchedPast, reached: DefinitionIndex, questions: GitQuestions) -> DefinitionIndex:
    """The index with the commits that came since, and without those that are gone."""
    ids = questions.ask(lambda left: git_history.commit_ids(past.root, past.head, seconds=left), None)
    if ids is None:
        return reached
    here, known = frozenset(ids), frozenset(reached.commits)
    if not known <= here:
        # After a rebase the places are others.
        reached = DefinitionIndex()
        known = frozenset()
    return msgspec.structs.replace(reached, head=past.head, waiting=tuple(id for id in ids if id not in known))


def _read(past: SearchedPast, reached: DefinitionIndex, questions: GitQuestions) -> DefinitionIndex:
    """The index with the next commits. One that git cannot show keeps no others from being read."""
    size, unreadable = _AT_ONCE, 0
    while True:
        ids = reached.waiting[:size]
        found = questions.ask(partial(_defined, past, ids), None)
        if found is not None:
            break
        if not questions.may_go_on():
            return reached
        if size == 1:
            found, unreadable = {}, 1
            break
        size = max(size // 8, 1)
    names = {name: list(places) for name, places in reached.names.items()}
    for place, id in enumerate(ids, len(reached.commits)):
        for name in found.get(id, ()):
            names.setdefault(name, []).append(place)
    return DefinitionIndex(
        reached.head, reached.waiting[len(ids) :], (*reached.commits, *ids), names, reached.unreadable + unreadable
    )


def _defined(past: SearchedPast, ids: tuple[str, ...], seconds: float) -> dict[str, list[str]]:
    """The names whose definitions are in the changed lines of commits."""
    found = {}
    for id, rows in changed_rows(past.root, ids, seconds=seconds):
        names: dict[str, None] = {}
        for row in rows:
            match = _DEFINES.match(row[:_LONGEST_ROW])
            if match is None:
                continue
            name = match["name"] or match["value"]
            owner = match["owner"] or b""
            if owner.startswith((b"self.", b"this.", b"cls.")):
                continue
            names[name.decode("utf-8", "replace")] = None
            if owner:
                names[(owner + name).decode("utf-8", "replace")] = None
            if len(names) >= _MOST_OF_ONE:
                break
        found[id] = list(names)
    return found
