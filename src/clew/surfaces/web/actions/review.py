"""Decisions of a review: suggested links, suspect links, and memories that contradict or repeat each other."""

from clew.edit.recovery import COLLECTION
from clew.edit.undoing import undo
from clew.errors import NotFound
from clew.memory.operations.commands import ForgetMemory, KeepMemories, RestoreMemory
from clew.surfaces.web.addresses import with_query
from clew.surfaces.web.page_request import PageRequest, Redirect, ViewResult
from clew.trace.operations.changes import ConfirmLinks
from clew.trace.operations.links import ApplyLink

REVIEW = "/activity/review"


def decide(request: PageRequest) -> ViewResult:
    """Carry out the decision, and put its undo into the address."""
    kind, decision, place = request.field("kind"), request.field("decision"), request.field("at", "0")
    match kind, decision:
        case "link", "accept" | "reject":
            given = {"file_path": request.field("file"), "line": int(request.field("line"))}
            given |= {"requirement_id": request.field("requirement"), "decision": decision}
            if decision == "accept":
                given["if_version"] = request.field("version")
            done = request.ask(ApplyLink, **given)
            back = f"files {_latest(request)}" if decision == "accept" else f"link {given['file_path']}:{given['line']}"
            said = done.message
            if decision == "reject":
                back += f" {given['requirement_id']}"
        case "suspect", "accept":
            request.ask(ConfirmLinks, what=[request.field("cited")], by=request.field("citing"))
            back, said = f"files {_latest(request)}", f"Recorded: {request.field('citing')} still holds."
        case "memory", "accept":
            kept, other = request.field("keep"), request.field("other")
            done = request.ask(ForgetMemory, id=other, why=f"Decided for {kept} on the page")
            back, said = f"memory {done.reversal_hash}", "The other one was forgotten; it can be restored for 30 days."
        case "memory", "reject":
            done = request.ask(
                KeepMemories, id=request.field("keep"), other=request.field("other"), why="Both were kept on the page"
            )
            back, said = f"memory {done.reversal_hash}", "Both are kept."
        case _:
            return Redirect(with_query(REVIEW, {"at": int(place) + 1}), "Not changed.")
    return Redirect(with_query(REVIEW, {"at": place, "undo": back}), said)


def _latest(request: PageRequest) -> str:
    store = request.project.store
    events = store.events(collection=COLLECTION, limit=1, latest_first=True) if store is not None else []
    return events[0].id if events else ""


def take_back(request: PageRequest) -> ViewResult:
    """Undo the last decision of a review."""
    kind, _, rest = request.field("undo").partition(" ")
    match kind:
        case "files" if request.project.store is not None and rest:
            undo(request.project.config.root, request.project.store, rest, actor="page")
            request.project.refresh()
        case "link":
            place, _, requirement = rest.rpartition(" ")
            path, _, line = place.rpartition(":")
            request.ask(
                ApplyLink,
                file_path=path,
                line=int(line) if line.isdecimal() else 0,
                requirement_id=requirement,
                decision="reconsider",
            )
        case "memory":
            request.ask(RestoreMemory, change=rest)
        case _:
            raise NotFound("There is no decision to undo.", hint="Activity lists what was written.")
    return Redirect(with_query(REVIEW, {"at": request.field("at", "0")}), "The last decision was undone.")
