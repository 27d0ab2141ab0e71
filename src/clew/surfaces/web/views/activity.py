"""Activity: what agents ask and change now, drafts that wait, and what is to be reviewed."""

from collections.abc import Sequence

import msgspec

from clew.memory.operations.commands import ShowHistory
from clew.surfaces.web.pictures.sparkline import sparkline
from clew.surfaces.web.visit import View, Visit
from clew.trace.operations.mutations import GetMutationLog

MOST_CALLS = 60
MOST_EVENTS = 40
_QUIET = ("first_sight",)
"""Collections that only note what was seen."""


class Happened(msgspec.Struct, frozen=True):
    at: str
    actor: str
    text: str
    id: str
    collection: str


def show_activity(visit: Visit) -> View:
    calls = visit.project.context.calls.latest()
    log = visit.ask(GetMutationLog, limit=100)
    memory = visit.tried(ShowHistory, limit=20) if visit.project.memory.exists else None
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
            "events": _events(visit),
            "memory": memory.entries if memory is not None else (),
        },
    )


def _events(visit: Visit) -> Sequence[Happened]:
    store = visit.project.store
    if store is None:
        return ()
    found = [each for each in store.events(limit=MOST_EVENTS * 5, latest_first=True) if each.collection not in _QUIET]
    return [
        Happened(each.at, each.actor, each.reason or each.operation, each.id, each.collection)
        for each in found[:MOST_EVENTS]
    ]
