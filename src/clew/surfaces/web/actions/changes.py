"""Tasks of a change, archiving it, and undoing writes to files."""

from clew.edit.undoing import undo
from clew.errors import Unavailable
from clew.specs.operations.commands import MarkTask
from clew.specs.operations.tools import ArchiveChange
from clew.surfaces.web import addresses
from clew.surfaces.web.actions.confirming import confirm
from clew.surfaces.web.page_request import PageRequest, Redirect, ViewResult


def mark_task(request: PageRequest) -> ViewResult:
    """Show the write that ticks a task; with `confirm`, write it."""
    task, opens = request.field("task"), request.field("open", "") == "1"
    write = request.field("confirm", "") == "1"
    marked = request.ask(MarkTask, change_id=request.name, task=task, open=opens, dry_run=not write)
    back = addresses.path_of("changes", request.name)
    if write or not marked.diff:
        state = "done" if marked.done else "open"
        return Redirect(back, f"{marked.task}: {state}. {marked.completed} of {marked.total} are done.")
    return confirm(
        f"Mark as {'open' if opens else 'done'}: {marked.task}",
        "specs",
        action=addresses.path_of("do", "task", request.name),
        fields={"task": task, "open": "1" if opens else ""},
        label="Write it",
        back=back,
        diff=marked.diff,
    )


def archive(request: PageRequest) -> ViewResult:
    """Apply a change; the page showed the difference before."""
    report = request.ask(
        ArchiveChange,
        change_id=request.name,
        dry_run=False,
        confirm=True,
        unfinished=request.field("unfinished", "") == "1",
    )
    return Redirect("/specs", f"{request.name} was applied and archived as {report.archived_to}.")


def take_back(request: PageRequest) -> ViewResult:
    """Undo a recorded write of files: first the difference, then the files."""
    store = request.project.store
    if store is None:
        raise Unavailable("Without a store nothing is recorded.", hint="`clew doctor` says what is wrong with it.")
    id, write = request.field("id"), request.field("confirm", "") == "1"
    diff = undo(request.project.config.root, store, id, actor="page", dry_run=not write)
    if write:
        request.project.refresh()
        return Redirect("/activity", "It was undone.")
    return confirm(
        "Take it back",
        "activity",
        action="/do/undo-files",
        fields={"id": id},
        label="Take it back",
        back="/activity",
        diff=diff,
    )
