"""Undoing an archive: the change's folder is open again, and the specs are as they were before.

The earlier specs come from git: from the commit before the one that added the archived folder, or from the last commit
if the archive is not committed yet. They are restored only if applying the change to them gives exactly the present
specs; if somebody changed a spec since, the undo would lose that and is refused.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path

import msgspec

from clew.edit.edits import FileEdit, FolderMove, diff_of, folder_contents
from clew.edit.targets import read_if_there
from clew.edit.transaction import EditPurpose, FileTransaction
from clew.errors import Conflict, NotFound, Refused
from clew.formats.openspec.apply.delta import apply_delta
from clew.formats.openspec.layout import SPEC_FILE, Root, root_for, spec_path
from clew.formats.openspec.reader import read_delta
from clew.formats.openspec.records import Delta
from clew.specs.results import Unarchived
from clew.store.interface import Store
from clew.workspace.files import resolve
from clew.workspace.find import files_below, names_in
from clew.workspace.git import api as git
from clew.workspace.paths import display, raw
from clew.workspace.regular import contents

_DATED = 11


class Archived(msgspec.Struct, frozen=True):
    id: str
    folder: str
    """In the archive, relative to the project."""
    target: str
    """The folder in which it was among the open changes."""
    root: Root


def unarchive(
    project: Path, roots: Sequence[Root], change_id: str, store: Store | None, *, keep_specs: bool, dry_run: bool
) -> Unarchived:
    """Take an archived change back, or raise the reason why that is impossible."""
    found = _find(project, roots, change_id)
    if resolve(project, found.target).exists():
        raise Conflict(f"'{found.target}' exists already.", hint="Rename that change, or archive it first.")
    edits = () if keep_specs else tuple(_restored(project, found))
    if not dry_run:
        move = FolderMove(found.folder, found.target, folder_contents(Path(project, raw(found.folder))))
        purpose = EditPurpose(f"unarchive {found.id}", "clew", {"change_id": found.id})
        FileTransaction(project, [*edits, move], purpose).commit(store)
    return Unarchived(
        change_id=found.id,
        folder=found.target,
        files=tuple(edit.path for edit in edits),
        diff=diff_of(edits),
        dry_run=dry_run,
    )


def _find(project: Path, roots: Sequence[Root], change_id: str) -> Archived:
    """The newest archive of a change, named with or without its date."""
    root = root_for(roots, change_id)
    own = change_id.rpartition("/")[2]
    names: list[str] = []
    with suppress(OSError):
        names = sorted(each for each in names_in(Path(project, raw(root.archive))) if own in (each, _undated(each)))
    if not names:
        raise NotFound(f"There is no archived change '{change_id}'.", hint=f"Archived changes lie in {root.archive}.")
    bare = _undated(names[-1])
    prefix = f"{root.prefix}/" if root.prefix else ""
    return Archived(f"{prefix}{bare}", f"{root.archive}/{names[-1]}", f"{root.changes}/{bare}", root)


def _undated(name: str) -> str:
    with suppress(ValueError):
        date.fromisoformat(name[: _DATED - 1])
        if name[_DATED - 1 : _DATED] == "-":
            return name[_DATED:]
    return name


def _restored(project: Path, found: Archived) -> list[FileEdit]:
    """The former specs, each checked against the text that the change gave it."""
    deltas = _deltas(project, found)
    commit = _before(project, found.folder) if deltas else None
    edits: list[FileEdit] = []
    changed: list[str] = []
    for delta in deltas:
        path = spec_path(found.root, delta.spec_id)
        before = git.content_at(project, commit, path) if commit is not None else None
        applied = apply_delta(before, delta, change_id=found.id, retire=True, layout=found.root.layout)
        now = read_if_there(resolve(project, path))
        if applied.refusals or applied.after != now:
            changed.append(path)
        elif applied.changes_file:
            edits.append(FileEdit(path, now, before, prune=found.root.specs))
    if changed:
        raise Refused(
            f"{', '.join(changed)} is not what archiving '{found.id}' made of it: taking it back would lose what was "
            "changed since.",
            hint="Pass --keep-specs to move only the folder, and undo the rest by hand or by another change.",
            data={"changed": changed},
        )
    return edits


def _deltas(project: Path, found: Archived) -> list[Delta]:
    folder = Path(project, raw(found.folder), "specs")
    deltas: list[Delta] = []
    for file in sorted(each for each in files_below(folder) if each.name == SPEC_FILE):
        own = display(file.parent.relative_to(folder).as_posix())
        spec_id = f"{found.root.prefix}/{own}" if found.root.prefix else own
        deltas.append(read_delta(contents(file), spec_id))
    return deltas


def _before(project: Path, folder: str) -> str:
    """The commit before the one in which the change was archived."""
    head = git.head(project)
    if head is None:
        raise Refused(
            "Without git it is not known what the specs were before.", hint="Pass --keep-specs to move only the folder."
        )
    listed = git.answer(project, "log", "--diff-filter=AR", "--format=%H", head, "--", folder) or b""
    commits = listed.decode().split()
    if not commits:
        return head
    parents = (git.answer(project, "rev-list", "--parents", "--max-count=1", commits[-1]) or b"").decode().split()
    if len(parents) < 2:
        raise Refused(
            "The history of this clone does not reach back before the archive.",
            hint="Fetch the whole history (git fetch --unshallow), or pass --keep-specs to move only the folder.",
        )
    return parents[1]
