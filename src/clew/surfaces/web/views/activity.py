"""Activity: what agents ask and change now, drafts that wait, and what is to be reviewed."""

from clew.edit.undoing import written
from clew.memory.operations.commands import ShowHistory
from clew.surfaces.web.pictures.sparkline import sparkline
from clew.surfaces.web.visit import View, Visit
from clew.trace.operations.mutations import GetMutationLog

MOST_CALLS = 60
MOST_EVENTS = 30


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
            "written": written(visit.project.store, MOST_EVENTS) if visit.project.store is not None else (),
            "memory": memory.entries if memory is not None else (),
        },
    )
