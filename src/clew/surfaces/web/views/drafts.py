"""Drafts that wait: what each changes, the difference of the files, what is in conflict; save or undo."""

from typing import Any

from clew.errors import ClewError, FileChanged
from clew.surfaces.web.pictures.difference import as_files
from clew.surfaces.web.visit import View, Visit
from clew.trace.edit.drafts import REVERT
from clew.trace.edit.results import LogPage
from clew.trace.operations.mutations import GetMutationLog, SaveMutations


def _undoable(visit: Visit, log: LogPage) -> dict[str, Any]:
    """What one step back takes: the newest draft, or where there is none but drafts that take back what was saved, the
    save before. A draft in conflict has its own way back."""
    if log.conflicts:
        return {"undo": "", "last_saved": None}
    if log.mutations and log.mutations[0].operation != REVERT:
        return {"undo": "Undo the last draft", "last_saved": None}
    last = visit.project.mutations.last_saved()
    label = "Undo the save before, too" if log.mutations else "Undo the last save"
    return {"undo": label if last is not None else "", "last_saved": last}


def show_drafts(visit: Visit) -> View:
    log = visit.ask(GetMutationLog, limit=200)
    preview = None
    problem: ClewError | None = None
    sides: dict[str, str] = {}
    if log.total:
        try:
            preview = visit.ask(SaveMutations, dry_run=True)
        except FileChanged as error:
            problem, sides = error, {side: str(error.data.get(side, "")) for side in ("mine", "theirs")}
        except ClewError as error:
            problem = error
    return View(
        template="drafts.html",
        title="Drafts",
        section="activity",
        data={
            "log": log,
            **_undoable(visit, log),
            "elsewhere": visit.project.unsaved().count - log.total - len(log.conflicts),
            "files": as_files(preview.diff or "") if preview is not None else (),
            "problem": problem,
            "sides": sides,
        },
    )
