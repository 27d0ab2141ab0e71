"""Activity: what agents ask and change now, drafts that wait, and what is to be reviewed."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from clew.edit.undoing import written
from clew.errors import NotFound
from clew.memory.operations.commands import ShowHistory
from clew.surfaces.web.pictures.sparkline import sparkline
from clew.surfaces.web.visit import View, Visit
from clew.trace.operations.mutations import GetMutationLog

MOST_CALLS = 60
MOST_EVENTS = 30
MOST_NAMED = 2
"""Memories of one entry."""


def show_activity(visit: Visit) -> View:
    calls = visit.project.context.calls.latest()
    log = visit.ask(GetMutationLog, limit=100)
    memory = visit.tried(ShowHistory, limit=MOST_EVENTS) if visit.project.memory.exists else None
    files = written(visit.project.store, MOST_EVENTS) if visit.project.store is not None else ()
    return View(
        template="activity.html",
        title="Activity",
        section="activity",
        data={
            "calls": calls[:MOST_CALLS],
            "call_count": visit.project.context.calls.count,
            "errors": sum(1 for each in calls if each.error),
            "picture": sparkline([each.at for each in calls]),
            "drafts": log,
            "last_saved": visit.project.mutations.last_saved(),
            "titles": _titles(visit, memory.entries if memory is not None else ()),
            "written": _latest_first(files, memory.entries if memory is not None else ()),
        },
    )


def _latest_first(files: Iterable[Any], memory: Iterable[Any]) -> list[tuple[str, Any]]:
    """What was written to files and what was remembered, as one list."""
    both = [(each.at, "files", each) for each in files] + [(each.timestamp, "memory", each) for each in memory]
    latest = sorted(both, key=lambda each: each[0][:19], reverse=True)
    return [(kind, each) for _, kind, each in latest[:MOST_EVENTS]]


def _titles(visit: Visit, entries: Iterable[Any]) -> dict[str, str]:
    """What the memories that were written last are called; one that was forgotten has no name any more."""
    ids = dict.fromkeys(id for each in entries for id in each.node_ids[:MOST_NAMED])
    found: dict[str, str] = {}
    if ids:
        library = visit.project.memory.view(visit.call()).library
        for id in ids:
            with suppress(NotFound):
                found[id] = library.get(id).title
    return found
