"""Many memories at once, written down at any time."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.contract.memory_client import WHY

from clew.memory.model import Link, Memory, MemoryKind, MemoryLinkKind, MemoryScope, Origin, new_id
from clew.memory.scope import Viewer
from clew.memory.service import MemoryView
from clew.memory.texts.admit import title_of
from clew.project import Project

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
LAMPS = (
    "The lamps of the harbour burn at night",
    "Harbour lamps burn brighter in winter nights",
    "Each night the harbour lamps are lit by hand",
    "The night watch of the harbour trims the lamps",
    "Oil for the harbour lamps is bought each winter",
    "A broken lamp of the harbour is replaced at night",
)
SHIPS = (
    "Invoices of the ferry company are paid monthly",
    "The ferry company sends invoices by letter",
    "Late invoices cost the ferry company a fee",
    "The company of the ferry counts invoices twice",
    "Invoices of the ferry are kept for ten years",
    "A clerk of the ferry company signs invoices",
)


def view_of(project: Project, viewer: Viewer | None = None) -> MemoryView:
    return MemoryView(project.memory, viewer or Viewer())


def at(project: Project, moment: datetime) -> None:
    """Let it be that time for the project."""
    project.context.clock = lambda: moment


def fill(project: Project, texts: list[str] | tuple[str, ...], days_ago: float = 0.0, **fields: Any) -> list[str]:
    """Store texts as memories in one change, a minute apart, ending some days before `NOW`."""
    view = view_of(project)
    made: list[Memory] = []
    for place, text in enumerate(texts):
        moment = NOW - timedelta(days=days_ago, minutes=len(texts) - place)
        given = {
            "kind": MemoryKind.FACT,
            "rationale": WHY,
            "scope": MemoryScope(repository=view.service.home.repository),
            "origin": Origin(session="filled"),
            "title": title_of(text),
            **fields,
        }
        made.append(Memory(id=new_id(), text=text, recorded_at=moment.isoformat(), **given))
    with view.changes.make("store", "test", WHY) as change:
        for memory in made:
            change.put(memory)
    view.units.engine()
    return [memory.id for memory in made]


def link(
    project: Project, *pairs: tuple[str, str], kind: MemoryLinkKind = MemoryLinkKind.CAUSES, weight: float = 0.8
) -> None:
    with view_of(project).changes.make("link", "test", WHY) as change:
        for source, target in pairs:
            change.link(Link(source=source, target=target, kind=kind, weight=weight))
