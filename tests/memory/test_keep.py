"""Of two memories that seem to contradict or to repeat each other, a person may say that both hold."""

from pathlib import Path

import pytest
from tests.contract.memory_client import WHY, remembering, write_project
from tests.memory.filling import fill, view_of

from clew.errors import NotFound
from clew.memory.curation.gaps import curation_tasks
from clew.memory.curation.requests import RestoreRequest
from clew.memory.model import SIMILARITY, Link, MemoryLinkKind
from clew.memory.service import MemoryView


def pairs(view: MemoryView) -> list[tuple[str, tuple[str, ...]]]:
    """The decisions that are about two memories."""
    return [(each.task_type, each.target_nodes) for each in curation_tasks(view) if len(each.target_nodes) == 2]


# Verifies: REQ-d00303-E
@pytest.mark.parametrize(
    ("kind", "origin", "task"),
    [(MemoryLinkKind.CONTRADICTS, "one denies it", "conflict"), (MemoryLinkKind.RELATED, SIMILARITY, "duplicate")],
)
def test_two_that_both_hold_want_no_decision_until_that_is_undone(
    tmp_path: Path, kind: MemoryLinkKind, origin: str, task: str
) -> None:
    with remembering(write_project(tmp_path / "harbour")) as memory:
        view = view_of(memory.project)
        one, other, third = fill(memory.project, ("Lamps are lit at six.", "Lamps are lit at dusk.", "Oil is dear."))
        link = Link(source=other, target=one, kind=kind, weight=0.95, origin=origin)
        with view.changes.make("link", "test", WHY) as change:
            change.link(link)
        assert pairs(view) == [(task, (other, one))]
        with pytest.raises(NotFound, match="not said to contradict"):
            view.curator.keep_both(one, third, WHY)
        kept = view.curator.keep_both(one[:8], other[:8], WHY)
        assert pairs(view) == []
        # What is alike stays related.
        assert bool(view.library.index.links([one], (MemoryLinkKind.RELATED,))) == (kind is MemoryLinkKind.RELATED)
        assert [event.kind for event in view.history.lineage(one).events] == ["created", "keep"]
        view.curator.restore(RestoreRequest(reversal_hash=kept.reversal_hash))
        assert pairs(view) == [(task, (other, one))]
        assert view.library.index.links([one], (kind,)) == [link]
