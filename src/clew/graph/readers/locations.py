"""Locations of a project's register and specs.

A register is `project.req`, or a folder with `index.req`. One at the root is the project's, and hides those of examples
and tests further down. Without one, every register below counts, except in a folder that is a project of its own and in
one that is kept as a backup.

Specs are where the configuration says, or else in the usual places.
"""

import os
import re
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from glob import escape
from pathlib import Path, PurePosixPath

from clew.config import CLEW_TOML, ELSPAIS_TOML, Config
from clew.errors import ConfigError
from clew.formats.elspais.toml_values import parse_toml
from clew.formats.openspec.layout import (
    SPEC_FILE,
    SPOX_CONFIG,
    Root,
    find_roots,
    may_mark,
    openspec_root,
    spox_root,
    told_apart,
)
from clew.formats.register.directory import ENDING, FOLDER, INDEX, MAX_BYTES
from clew.formats.register.envelope import DIRECTORY_TAG
from clew.workspace.files import time_of
from clew.workspace.find import Selection, names_in, normal_folder
from clew.workspace.follow import Follower
from clew.workspace.paths import display
from clew.workspace.regular import SETTINGS_BYTES, beginning, contents

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
        """True if a file of the right name is a register; an index names its kind in its own text."""
        place = self._root / path
        try:
            return place.is_file() and (place.name != INDEX or _TAG in contents(place))
        except OSError:
            return False

    def _is_others(self, path: str) -> bool:
        """True if a file is in a folder that is a project of its own."""
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


_OPENSPEC = "openspec"
_SPOX = "specs"
_REQUIREMENT = re.compile(rb"(?im)^### Requirement:")
_FIRST_BYTES = 64 * 1024
_LOOKED_AT = 5_000
"""Names that are looked at for trees of specs in packages."""


def spec_roots(config: Config) -> tuple[Root, ...]:
    """The folders of specs; if two have the same id, the earlier one wins."""
    if config.specs:
        alone = len(config.specs) == 1
        return told_apart(_root(config.root, folder, "" if alone else _home(folder)) for folder in config.specs)
    has_openspec, has_spox = (config.root / _OPENSPEC).is_dir(), _is_spox(config.root)
    found = [openspec_root()] if has_openspec or not has_spox else []
    if has_spox:
        found.append(_spox(config.root, ""))
    elif not has_openspec and ELSPAIS_TOML not in config.files:
        # Nobody said where specs are, and there is nothing in the usual place: packages may have specs of their own.
        found = [*_nested(config.root)] or found
    return told_apart(found)


@lru_cache(maxsize=16)
def _nested(root: Path) -> tuple[Root, ...]:
    """Looked for once: specs that move into a package later need a setting or a restart."""
    # Most projects need none of it.
    from clew.workspace.survey import survey

    return find_roots(survey(root, _LOOKED_AT, may_mark).files)


def _root(root: Path, folder: str, prefix: str) -> Root:
    if folder.rpartition("/")[2] == _OPENSPEC or (root / folder / "specs").is_dir():
        return openspec_root(folder, prefix)
    configured = _spox(root, prefix)
    return configured if configured.specs == folder else spox_root(folder, prefix=prefix)


def _home(folder: str) -> str:
    """The folder of the package that a tree of specs belongs to."""
    return folder.rpartition("/")[0]


def _is_spox(root: Path) -> bool:
    marks = (SPOX_CONFIG, f"{_SPOX}/_changes", f"{_SPOX}/_archive")
    if any((root / mark).exists() for mark in marks):
        return True
    return _holds_specs(root, time_of(root, _SPOX))


@lru_cache(maxsize=16)
def _holds_specs(root: Path, looked: int) -> bool:
    """True if a folder `specs` without any mark holds specs of Spec Oxide: many tools have a folder of that name, but
    not requirements of that form. `looked` is the time of the folder, so that a new spec is noticed."""
    for name in names_in(root / _SPOX)[:_LOOKED_AT] if looked else ():
        file = root / _SPOX / name / SPEC_FILE
        with suppress(OSError):
            if _REQUIREMENT.search(beginning(file, _FIRST_BYTES)) is not None:
                return True
    return False


def _spox(root: Path, prefix: str) -> Root:
    """The folders that Spec Oxide's own configuration names."""
    path = root / SPOX_CONFIG
    try:
        paths = parse_toml(contents(path, SETTINGS_BYTES), SPOX_CONFIG).get("paths", {}) if path.exists() else {}
    except OSError as error:
        raise ConfigError(
            f"{SPOX_CONFIG} cannot be read: {error.strerror or error}.",
            hint="It has to be a file that this user may read.",
        ) from error
    named = {key: _inside(value, root) for key, value in paths.items() if isinstance(value, str)}
    return spox_root(
        named.get("spec_folder", _SPOX), named.get("changes_folder"), named.get("archive_folder"), prefix=prefix
    )


def _inside(folder: str, root: Path) -> str:
    spelled = normal_folder(folder, root) if "\0" not in folder else ".."
    if spelled.startswith(("/", "..")):
        raise ConfigError(
            f"{SPOX_CONFIG}: the folder {folder!r} lies outside the project.", hint="Name a folder of the project."
        )
    return spelled
