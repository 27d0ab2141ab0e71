"""Files of tests that changed in the same commits as a file: where no use leads to a test, the history may."""

# Implements: REQ-d00782

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from clew.project import Project

_MOST_COMMITS = 60
_WIDEST = 15
"""Files of one commit; a wider one says nothing about two of them."""
_FEWEST = 2
_MOST = 3


class TestsTogether(NamedTuple):
    path: str
    commits: int


def changed_together(project: "Project", path: str, seconds: float) -> list[TestsTogether]:
    """The files of tests that changed with a file in several small commits, most often first."""
    if project.history.ensure(seconds).head is None:
        return []
    history, tests = project.history.history, project.uses.tests
    found: Counter[str] = Counter()
    for touch in history.of_path(path, _MOST_COMMITS):
        changed = [change.path for change in history.touched_by(touch.commit.id)]
        if len(changed) <= _WIDEST:
            found.update(each for each in changed if each != path and tests.holds(each))
    there = project.code.file.has(found)
    often = [TestsTogether(each, count) for each, count in found.items() if count >= _FEWEST and each in there]
    return sorted(often, key=lambda each: (-each.commits, each.path))[:_MOST]
