"""Copies of files that a transaction replaces where no store holds the way back."""

from collections.abc import Iterable
from pathlib import Path

from clew.edit.edits import FileEdit, place_of
from clew.edit.journal import STATE_FOLDER
from clew.edit.replacing import write_beside
from clew.text.hashing import content_hash

FOLDER = "backups"
_ENDING = ".clew-backup"


def keep_copies(root: Path, edits: Iterable[FileEdit], *, beside: bool) -> None:
    """Copy what the files hold now into the backups of the project, or beside each file. A content is kept once."""
    for edit in edits:
        place = place_of(root, edit.path)
        folder = place.parent if beside else _folder(root)
        data = edit.before or b""
        copy = folder / f"{place.name}.{content_hash(data)[:12]}{_ENDING}"
        if not copy.exists():
            write_beside(copy, data, place)


def _folder(root: Path) -> Path:
    """The backups of a project, in the state folder, which git does not see."""
    folder = root / STATE_FOLDER
    if not folder.is_dir():
        folder.mkdir()
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    backups = folder / FOLDER
    backups.mkdir(exist_ok=True)
    return backups
