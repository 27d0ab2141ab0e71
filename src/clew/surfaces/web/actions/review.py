"""Decisions of a review: suggested links, suspect links, and memories that contradict or repeat each other."""

from clew.edit.recovery import COLLECTION
from clew.edit.undoing import undo
from clew.errors import NotFound
from clew.memory.operations.commands import ForgetMemory, KeepMemories, RestoreMemory
from clew.surfaces.web.addresses import with_query
from clew.surfaces.web.visit import Moved, Shown, Visit
from clew.trace.operations.changes import ReviewLinks
from clew.trace.operations.links import ApplyLink

REVIEW = "/activity/review"


def decide(visit: Visit) -> Shown:
    """Do what was decided, and remember how to take it back in the address."""
    kind, decision, place = visit.field("kind"), visit.field("decision"), visit.field("at", "0")
    match kind, decision:
        case "link", "accept" | "reject":
            given = {"file_path": visit.field("file"), "line": int(visit.field("line"))}
            given |= {"requirement_id": visit.field("requirement"), "decision": decision}
            if decision == "accept":
                given["if_version"] = visit.field("version")
            done = visit.ask(ApplyLink, **given)
            back = f"files {_latest(visit)}" if decision == "accept" else f"link {given['file_path']}:{given['line']}"
            said = done.message
            if decision == "reject":
                back += f" {given['requirement_id']}"
        case "suspect", "accept":
            visit.ask(ReviewLinks, what=[visit.field("cited")], by=visit.field("citing"))
            back, said = f"files {_latest(visit)}", f"Recorded: {visit.field('citing')} still holds."
        case "memory", "accept":
            kept, other = visit.field("keep"), visit.field("other")
            done = visit.ask(ForgetMemory, id=other, why=f"Decided for {kept} on the page")
            back, said = f"memory {done.reversal_hash}", "The other one was forgotten; it can be restored for 30 days."
        case "memory", "reject":
            done = visit.ask(
                KeepMemories, id=visit.field("keep"), other=visit.field("other"), why="Both were kept on the page"
            )
            back, said = f"memory {done.reversal_hash}", "Both are kept."
        case _:
            return Moved(with_query(REVIEW, {"at": int(place) + 1}), "Left as it is.")
    return Moved(with_query(REVIEW, {"at": place, "undo": back}), said)


def _latest(visit: Visit) -> str:
    store = visit.project.store
    events = store.events(collection=COLLECTION, limit=1, latest_first=True) if store is not None else []
    return events[0].id if events else ""


def take_back(visit: Visit) -> Shown:
    """Undo the last decision of a review."""
    kind, _, rest = visit.field("undo").partition(" ")
    match kind:
        case "files" if visit.project.store is not None and rest:
            undo(visit.project.config.root, visit.project.store, rest, actor="page")
            visit.project.refresh()
        case "link":
            place, _, requirement = rest.rpartition(" ")
            path, _, line = place.rpartition(":")
            visit.ask(
                ApplyLink,
                file_path=path,
                line=int(line) if line.isdecimal() else 0,
                requirement_id=requirement,
                decision="reconsider",
            )
        case "memory":
            visit.ask(RestoreMemory, change=rest)
        case _:
            raise NotFound("There is no decision to take back.", hint="Activity lists what was written.")
    return Moved(with_query(REVIEW, {"at": visit.field("at", "0")}), "The last decision was taken back.")
