"""Drafts that wait: what each changes, the difference of the files, what is in conflict; save or undo."""

from clew.errors import ClewError, FileChanged
from clew.surfaces.web.pictures.difference import as_files
from clew.surfaces.web.visit import View, Visit
from clew.trace.operations.mutations import GetMutationLog, SaveMutations


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
            "elsewhere": visit.project.unsaved().count - log.total - len(log.conflicts),
            "files": as_files(preview.diff or "") if preview is not None else (),
            "problem": problem,
            "sides": sides,
        },
    )
