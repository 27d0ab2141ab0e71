"""Copies of files that a transaction replaces where no store holds the way back."""

from pathlib import Path

from clew.edit.edits import place_of
from clew.edit.journal import STATE_FOLDER
from clew.edit.replacing import temporary_beside, write_beside
from clew.text.hashing import content_hash

FOLDER = "backups"
_ENDING = ".clew-backup"


def keep_backup(root: Path, path: str, data: bytes, *, beside: bool) -> None:
    """Keep a copy of a file in the backups of the project, or beside the file. The same content is kept once."""
    place = place_of(root, path)
    state = root / STATE_FOLDER
    # Where something else stands in the place of the state folder, the copy goes beside the file.
    folder = place.parent if beside or (state.exists() and not state.is_dir()) else _folder(state)
    copy = folder / f"{place.name}.{content_hash(data)[:12]}{_ENDING}"
    if not copy.exists():
        temporary = temporary_beside(copy)
        write_beside(temporary, data, place)
        temporary.replace(copy)


def _folder(folder: Path) -> Path:
    """The backups of a project, in the state folder, which git does not see."""
    if not folder.is_dir():
        folder.mkdir()
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    backups = folder / FOLDER
    backups.mkdir(exist_ok=True)
    return backups
