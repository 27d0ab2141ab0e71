"""Tasks of a change, archiving it, and taking back what was written to files."""

from clew.edit.undoing import undo
from clew.errors import Unavailable
from clew.specs.operations.commands import MarkTask
from clew.specs.operations.tools import ArchiveChange
from clew.surfaces.web import addresses
from clew.surfaces.web.actions.confirming import confirm
from clew.surfaces.web.visit import Moved, Shown, Visit


def mark_task(visit: Visit) -> Shown:
    """Show what ticking a task writes; with `confirm`, write it."""
    task, opens = visit.field("task"), visit.field("open", "") == "1"
    write = visit.field("confirm", "") == "1"
    marked = visit.ask(MarkTask, change_id=visit.name, task=task, open=opens, dry_run=not write)
    back = addresses.path_of("changes", visit.name)
    if write or not marked.diff:
        state = "done" if marked.done else "open"
        return Moved(back, f"{marked.task}: {state}. {marked.completed} of {marked.total} are done.")
    return confirm(
        f"Mark as {'open' if opens else 'done'}: {marked.task}",
        "specs",
        action=addresses.path_of("do", "task", visit.name),
        fields={"task": task, "open": "1" if opens else ""},
        label="Write it",
        back=back,
        diff=marked.diff,
    )


def archive(visit: Visit) -> Shown:
    """Apply a change; the page showed the difference before."""
    report = visit.ask(
        ArchiveChange,
        change_id=visit.name,
        dry_run=False,
        confirm=True,
        unfinished=visit.field("unfinished", "") == "1",
    )
    return Moved("/specs", f"{visit.name} was applied and archived as {report.archived_to}.")


def take_back(visit: Visit) -> Shown:
    """Undo a recorded write of files: first the difference, then the files."""
    store = visit.project.store
    if store is None:
        raise Unavailable("Without a store nothing is recorded.", hint="`clew doctor` says what is wrong with it.")
    id, write = visit.field("id"), visit.field("confirm", "") == "1"
    diff = undo(visit.project.config.root, store, id, actor="page", dry_run=not write)
    if write:
        visit.project.refresh()
        return Moved("/activity", "It was taken back.")
    return confirm(
        "Take it back",
        "activity",
        action="/do/undo-files",
        fields={"id": id},
        label="Take it back",
        back="/activity",
        diff=diff,
    )
