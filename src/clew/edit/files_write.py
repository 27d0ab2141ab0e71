"""Writing the files of a project: each atomically, all or none, and never over a change that was not seen."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from uuid import uuid4

import msgspec

from clew.edit.writing import is_write_protected, replace_file
from clew.errors import ClewError, OutsideProject, Refused
from clew.store.interface import Store
from clew.workspace.files import resolve

COLLECTION = "file_edits"


class FileEdit(msgspec.Struct, frozen=True):
    path: str
    """Relative to the project."""
    before: bytes | None
    """What the file held when the edit was made; None where there was none."""
    after: bytes
    removes: bool = False
    """Whether the file goes; nothing is left in it then."""


class Occasion(msgspec.Struct, frozen=True):
    """Why files are written, for the record."""

    operation: str
    requirement_id: str
    actor: str
    safety_branch: str | None


def diff_of(edits: Iterable[FileEdit]) -> str:
    """The edits as a unified diff."""
    lines: list[str] = []
    for edit in edits:
        if edit.before != edit.after:
            old = "/dev/null" if edit.before is None else f"a/{edit.path}"
            new = "/dev/null" if edit.removes else f"b/{edit.path}"
            before, after = _lines(edit.before or b""), _lines(edit.after)
            lines.extend(map(_ended, unified_diff(before, after, old, new)))
    return "".join(lines)


def _lines(data: bytes) -> list[str]:
    return [line.decode("utf-8", "replace") for line in data.splitlines(keepends=True)]


def _ended(line: str) -> str:
    return line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n"


def check_writable(root: Path, edits: Iterable[FileEdit]) -> None:
    """Refuse, before anything is done, what could not be written."""
    for edit in edits:
        place = _place(root, edit.path)
        if place.is_dir():
            raise Refused(f"'{edit.path}' is a folder.", hint="Name a file.")
        folder = next(folder for folder in place.parents if folder.exists())
        if is_write_protected(place) or not folder.is_dir() or not os.access(folder, os.W_OK):
            raise Refused(
                f"'{edit.path}' is write-protected; nothing was changed.", hint="Make it writable, then try again."
            )


def write_files(root: Path, edits: Sequence[FileEdit], store: Store | None, occasion: Occasion) -> None:
    """Write all edits, or none. Conflict where a file is not what its edit was made from.

    The store's lock keeps other processes of Clew from writing at the same time, and its record keeps what was done.
    """
    if store is None:
        _write(root, edits)
        return
    with store.transaction(actor=occasion.actor, reason=occasion.operation) as transaction:
        transaction.put(COLLECTION, uuid4().hex, _record(edits, occasion), if_version=0)
        _write(root, edits)


def _record(edits: Sequence[FileEdit], occasion: Occasion) -> dict[str, object]:
    return {
        "operation": occasion.operation,
        "requirement_id": occasion.requirement_id,
        "files": [edit.path for edit in edits],
        "diff": diff_of(edits),
        "safety_branch": occasion.safety_branch,
    }


def _write(root: Path, edits: Sequence[FileEdit]) -> None:
    done: list[FileEdit] = []
    try:
        for edit in edits:
            replace_file(_place(root, edit.path), edit.after, expected=edit.before, within=root)
            done.append(edit)
    except BaseException:
        for edit in reversed(done):
            _take_back(root, edit)
        raise


def _take_back(root: Path, edit: FileEdit) -> None:
    # Somebody who changed the file in this moment keeps the change.
    with suppress(ClewError):
        if edit.before is not None:
            replace_file(_place(root, edit.path), edit.before, expected=edit.after, within=root)
        elif _place(root, edit.path).read_bytes() == edit.after:
            _place(root, edit.path).unlink()


def _place(root: Path, path: str) -> Path:
    place = resolve(root, path)
    if place == root.resolve():
        raise OutsideProject(f"The path '{path}' names the project itself.", hint="Name a file in it.")
    return place
