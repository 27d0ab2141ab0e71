"""Copies of files that a transaction replaces where no store holds the way back."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from clew.edit.edits import FileEdit, place_of
from clew.edit.state_folder import STATE_FOLDER, first_files
from clew.errors import OutsideProject
from clew.text.hashing import content_hash
from clew.workspace.find import paths_named
from clew.workspace.paths import display

FOLDER = "backups"
MOST_KEPT = 10
"""Copies of one file; when another one is made, the oldest is deleted."""
_ENDING = ".clew-backup"


def backup_edits(root: Path, edits: Iterable[FileEdit], *, in_project: bool) -> list[FileEdit]:
    """Edits that copy every file which others are about to replace: into the state folder of the project, or beside the
    file. Equal content is copied once."""
    copies: dict[str, FileEdit] = {}
    for edit in edits:
        if edit.before is not None:
            place = place_of(root, edit.path)
            name = f"{place.name}.{content_hash(edit.before)[:12]}{_ENDING}"
            folder = _folder(root, place, in_project=in_project)
            if folder.parts[:1] == (STATE_FOLDER,):
                copies |= {path: FileEdit(path, None, data) for path, data in first_files(root).items()}
            path = display((folder / name).as_posix())
            copies[path] = FileEdit(path, None, edit.before, permissions_of=edit.path)
    return [copy for copy in copies.values() if not _is_there(place_of(root, copy.path))]


def forget_old_backups(root: Path, copies: Iterable[FileEdit]) -> None:
    """Delete the oldest copies where there are too many of one file; never the ones that were made just now."""
    made = {place_of(root, copy.path) for copy in copies if copy.path.endswith(_ENDING)}
    for place in made:
        name = place.name.removesuffix(_ENDING).rpartition(".")[0]
        # By the clock of a file system, a new copy may be older than one that was made before.
        others = [each for each in paths_named(place.parent, f"*{_ENDING}") if _is_of(each, name) and each not in made]
        for old in sorted(others, key=_age)[: -(MOST_KEPT - 1)]:
            with suppress(OSError):
                old.unlink(missing_ok=True)


def _folder(root: Path, place: Path, *, in_project: bool) -> Path:
    """The folder with the copies of a file, below the root. Files of one name in two folders have theirs apart."""
    beside = place.parent.relative_to(root.resolve())
    state = root / STATE_FOLDER
    # Where something else is in the place of the state folder, the copy goes beside the file.
    if not in_project or any(os.path.lexists(each) and not _is_plain(each) for each in (state, state / FOLDER)):
        return beside
    with suppress(OutsideProject):
        place_of(root, STATE_FOLDER)
        return Path(STATE_FOLDER) / FOLDER / beside
    return beside


def _is_plain(folder: Path) -> bool:
    return folder.is_dir() and not folder.is_symlink()


def _is_there(place: Path) -> bool:
    """True if there is a copy of this content. It then counts as the latest copy."""
    if not place.exists():
        return False
    with suppress(OSError):
        os.utime(place)
    return True


def _is_of(copy: Path, name: str) -> bool:
    return copy.name.removesuffix(_ENDING).rpartition(".")[0] == name


def _age(copy: Path) -> tuple[int, str]:
    try:
        return copy.stat().st_mtime_ns, copy.name
    except OSError:
        return 0, copy.name
