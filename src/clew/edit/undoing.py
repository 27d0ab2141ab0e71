"""Taking back what a recorded transaction wrote: one more transaction, made from the inverse that its event holds."""

# Implements: REQ-d00421

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from clew.edit.edits import FileEdit, Inverse, diff_of
from clew.edit.recovery import COLLECTION
from clew.edit.targets import read_if_there
from clew.edit.transaction import EditPurpose, FileTransaction
from clew.errors import NotFound, Refused
from clew.workspace.files import resolve

if TYPE_CHECKING:
    from clew.store.interface import Store


class RecordedEdit(msgspec.Struct, frozen=True):
    """A transaction that was recorded."""

    id: str
    at: str
    actor: str
    operation: str
    files: tuple[str, ...]
    moves: bool
    """True if it moved folders, which cannot be undone."""


def written(store: "Store", limit: int) -> list[RecordedEdit]:
    """The latest recorded transactions, the newest first."""
    found = store.events(collection=COLLECTION, limit=limit, latest_first=True)
    return [_written(each.id, each.at, each.actor, each.after) for each in found if isinstance(each.after, dict)]


def _written(id: str, at: str, actor: str, data: dict[str, Any]) -> RecordedEdit:
    return RecordedEdit(
        id, at, actor, str(data.get("operation", "")), tuple(data.get("files", ())), bool(data.get("moves"))
    )


def undo(root: Path, store: "Store", id: str, *, actor: str = "clew", dry_run: bool = False) -> str:
    """Give the files of a transaction their former content, all or none; returns the difference. Refused if somebody
    changed one of the files since."""
    record = store.get(COLLECTION, id)
    if record is None:
        raise NotFound(f"No change '{id[:40]}' is recorded.", hint="The list of what was written has those that are.")
    if record.data.get("moves"):
        raise Refused(
            f"'{record.data['operation']}' also moved a folder, which cannot be undone.",
            hint="Move it back with git or by hand.",
        )
    edits = [_edit(root, msgspec.convert(each, Inverse)) for each in record.data.get("inverse", ())]
    if edits and not dry_run:
        purpose = EditPurpose(f"undo {record.data['operation']}", actor, {"undoes": id})
        FileTransaction(root, edits, purpose).commit(store)
    return diff_of(edits)


def _edit(root: Path, inverse: Inverse) -> FileEdit:
    present = read_if_there(resolve(root, inverse.path))
    return FileEdit(inverse.path, present, inverse.former(present, edit="the change"))
