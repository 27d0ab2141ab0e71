"""Of two memories that seem to contradict or to repeat each other, a person may say that both hold."""

from pathlib import Path

import pytest
from tests.contract.memory_client import WHY, remembering, write_project
from tests.memory.filling import fill, view_of

from clew.errors import InvalidArgument
from clew.memory.curation.gaps import curation_tasks
from clew.memory.curation.requests import RestoreRequest
from clew.memory.judging.memories import KEPT
from clew.memory.model import SIMILARITY, Link, MemoryLinkKind
from clew.memory.service import MemoryView


def pairs(view: MemoryView) -> list[tuple[str, tuple[str, ...]]]:
    """The decisions that are about two memories."""
    return [(each.task_type, each.target_nodes) for each in curation_tasks(view) if len(each.target_nodes) == 2]


# Verifies: REQ-d00303-E
@pytest.mark.parametrize(
    ("kind", "origin", "task", "texts"),
    [
        (MemoryLinkKind.CONTRADICTS, "one denies it", "conflict", ("Lamps are lit at six.", "Lamps are lit at dusk.")),
        (MemoryLinkKind.RELATED, SIMILARITY, "duplicate", ("Lamps are lit at six.", "At six lamps are lit.")),
    ],
)
def test_two_that_both_hold_want_no_decision_until_that_is_undone(
    tmp_path: Path, kind: MemoryLinkKind, origin: str, task: str, texts: tuple[str, str]
) -> None:
    with remembering(write_project(tmp_path / "harbour")) as memory:
        view = view_of(memory.project)
        one, other = fill(memory.project, texts)
        link = Link(source=other, target=one, kind=kind, weight=0.95, origin=origin)
        with view.changes.make("link", "test", WHY) as change:
            change.link(link)
        assert pairs(view) == [(task, (other, one))]
        with pytest.raises(InvalidArgument, match="same memory"):
            view.linker.keep_both(one, one[:8], WHY)
        kept = view.linker.keep_both(one[:8], other[:8], WHY)
        assert pairs(view) == []
        # They stay related, and the link says why.
        (said,) = view.library.index.links([one], (MemoryLinkKind.RELATED,))
        assert said.origin == f"{KEPT}: {WHY}"
        assert view.history.lineage(one).events[0].kind == "created"
        view.curator.restore(RestoreRequest(reversal_hash=kept.reversal_hash))
        assert pairs(view) == [(task, (other, one))]
        assert view.library.index.links([one], (kind,)) == [link]
