"""Where a project keeps its register: `project.req`, or a folder with `index.req`.

A register at the root is the project's, and hides those of examples and tests further down. Without one, every register
below counts, except in a folder that is a project of its own and in one that is kept as a backup.
"""

import os
import threading
from collections.abc import Mapping
from glob import escape
from pathlib import Path, PurePosixPath

from clew.config import CLEW_TOML, ELSPAIS_TOML
from clew.formats.register.directory import ENDING, FOLDER, INDEX, MAX_BYTES
from clew.formats.register.envelope import DIRECTORY_TAG
from clew.workspace.find import Selection
from clew.workspace.follow import Follower
from clew.workspace.paths import display

SINGLE = "project.req"
FILE_VARIABLE = "REQ_FILE"
_BACKUPS = "*.bak-*"
_ANYWHERE = Selection(folders=(".",), patterns=(SINGLE, INDEX), skip=(_BACKUPS,), gitignore=True)
_OWN_PROJECT = (CLEW_TOML, ELSPAIS_TOML, ".git")
_TAG = DIRECTORY_TAG.encode()


class RegisterLocations:
    """Looks through the tree again only where a folder or a register changed."""

    def __init__(self, root: Path, environment: Mapping[str, str] = os.environ) -> None:
        self._root = root
        self._environment = environment
        self._lock = threading.Lock()
        self._follower = Follower(root, {"register": _ANYWHERE}, max_file_bytes=MAX_BYTES)
        self._below: tuple[str, ...] = ()

    def found(self) -> tuple[str, ...]:
        """The registers, each by the path of its file, or of its folder where it is many files."""
        named = self._named()
        if named is not None:
            return (named,)
        at_root = [name for name in (SINGLE, INDEX) if self._is_register(name)]
        if at_root:
            return tuple(_called(name) for name in at_root)
        with self._lock:
            if not self._follower.is_current():
                self._look()
            return self._below

    def _named(self) -> str | None:
        """The register that the environment names, where that is in the project."""
        given = self._environment.get(FILE_VARIABLE, "").strip()
        place = (self._root / given).resolve() if given else None
        root = self._root.resolve()
        return display(place.relative_to(root).as_posix()) if place is not None and root in place.parents else None

    def _look(self) -> None:
        self._follower.note_all()
        paths = [path for path, _ in self._follower.keys]
        self._below = tuple(_called(path) for path in paths if self._is_register(path) and not self._is_others(path))

    def _is_register(self, path: str) -> bool:
        """Whether a file of the right name is one; an index says of itself what it is the index of."""
        place = self._root / path
        try:
            return place.is_file() and (place.name != INDEX or _TAG in place.read_bytes())
        except OSError:
            return False

    def _is_others(self, path: str) -> bool:
        """Whether it lies in a folder that is a project of its own."""
        folders = [self._root / folder for folder in PurePosixPath(path).parents if folder.name]
        return any((folder / mark).exists() for folder in folders for mark in _OWN_PROJECT)


def _called(path: str) -> str:
    """A register of many files is called by its folder."""
    return (path.removesuffix(INDEX).rstrip("/") or ".") if path.endswith(INDEX) else path


def globs_of(places: tuple[str, ...], root: Path) -> tuple[str, ...]:
    """The files of these registers. That of the root is always among them, so that a new one is noticed."""
    found: dict[str, None] = {SINGLE: None}
    for place in places:
        if (root / place).is_dir():
            folder = "" if place == "." else f"{escape(place)}/"
            found.update({f"{folder}{INDEX}": None, f"{folder}{FOLDER}/REQ-*{ENDING}": None})
        else:
            found[escape(place)] = None
    return tuple(found)
