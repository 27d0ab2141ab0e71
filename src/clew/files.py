"""The files of a project: which there are, and reading them without leaving the project's folder."""

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from clew.errors import FormatError, NotFound, OutsideProject

if TYPE_CHECKING:
    from clew.ignore import IgnoreRules

ALWAYS_SKIPPED = frozenset(
    {".git", ".hg", ".svn", ".clew", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".mypy_cache"}
)


class FileEntry(msgspec.Struct, frozen=True, gc=False):
    path: str
    """Relative to the project, with forward slashes."""
    size: int
    mtime_ns: int


class Selection(msgspec.Struct, frozen=True):
    """Which files a reader wants."""

    folders: tuple[str, ...]
    patterns: tuple[str, ...]
    """Matched against the file's name, or against its whole path where the pattern has a slash."""
    skip: tuple[str, ...] = ()
    """Matched against the file's name, every folder on its way, and the whole path; with a leading slash, against the
    whole path only."""
    gitignore: bool = False
    """Leave out what .gitignore files name."""


class Tree(msgspec.Struct, frozen=True):
    """What a selection found."""

    files: tuple[FileEntry, ...]
    """Sorted by path."""
    marks: dict[str, int]
    """Times of the folders that were looked into, 0 for one that does not exist: as long as they stay the same, no
    file was added or removed."""


def scan(root: Path, selection: Selection) -> Tree:
    """Find the selected files."""
    base = os.path.realpath(root)
    found: dict[str, FileEntry] = {}
    walk = _Walk(base, selection)
    for folder in selection.folders:
        relative = _normal(folder)
        if not _inside(base, os.path.realpath(os.path.join(base, relative))):  # noqa: PTH118 - strings are faster here
            raise OutsideProject(
                f"The folder '{folder}' lies outside the project.", hint="Name folders below the project's own folder."
            )
        for entry in walk.below(relative):
            found[entry.path] = entry
    return Tree(files=tuple(found[path] for path in sorted(found)), marks=walk.marks)


def time_of(root: Path, path: str) -> int:
    """When the file or folder was last changed, in nanoseconds; 0 where it does not exist."""
    try:
        return os.stat(os.path.join(root, path)).st_mtime_ns  # noqa: PTH116, PTH118 - called for every file
    except OSError:
        return 0


class _Walk:
    def __init__(self, base: str, selection: Selection) -> None:
        self._base = base
        self._selection = selection
        self.marks: dict[str, int] = {}

    def below(self, relative: str) -> Iterator[FileEntry]:
        ignores: tuple[IgnoreRules, ...] = ()
        parts = relative.split("/") if relative else []
        for depth in range(len(parts)):
            ignores = self._with_rules("/".join(parts[:depth]), ignores)
        yield from self._scan(relative, ignores)

    def _scan(self, folder: str, ignores: "tuple[IgnoreRules, ...]") -> Iterator[FileEntry]:
        self.marks[folder] = time_of(Path(self._base), folder)
        ignores = self._with_rules(folder, ignores)
        try:
            entries = sorted(os.scandir(os.path.join(self._base, folder)), key=lambda entry: entry.name)  # noqa: PTH118
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            # A linked folder is never entered: it may leave the project or lead in circles.
            is_folder = entry.is_dir(follow_symlinks=False)
            if self._skipped(entry.name, path) or self._ignored(f"{path}/" if is_folder else path, ignores):
                continue
            if is_folder:
                yield from self._scan(path, ignores)
            elif self._wanted(entry.name, path):
                file = self._file(entry, path)
                if file is not None:
                    yield file

    def _file(self, entry: os.DirEntry[str], path: str) -> FileEntry | None:
        if entry.is_symlink() and not _inside(self._base, os.path.realpath(entry.path)):
            return None
        try:
            if not entry.is_file():
                return None
            stat = entry.stat()
        except OSError:
            return None
        return FileEntry(path, stat.st_size, stat.st_mtime_ns)

    def _wanted(self, name: str, path: str) -> bool:
        return any(fnmatchcase(path if "/" in pattern else name, pattern) for pattern in self._selection.patterns)

    def _skipped(self, name: str, path: str) -> bool:
        if name in ALWAYS_SKIPPED:
            return True
        return any(
            fnmatchcase(f"/{path}", pattern)
            if pattern.startswith("/")
            else fnmatchcase(name, pattern) or fnmatchcase(path, pattern)
            for pattern in self._selection.skip
        )

    def _with_rules(self, folder: str, ignores: "tuple[IgnoreRules, ...]") -> "tuple[IgnoreRules, ...]":
        """The rules that hold below a folder, nearest first."""
        if not self._selection.gitignore:
            return ignores
        path = f"{folder}/.gitignore" if folder else ".gitignore"
        self.marks[path] = time_of(Path(self._base), path)
        if not self.marks[path]:
            return ignores
        from clew.ignore import read_rules

        own = read_rules(Path(self._base, path), f"{folder}/" if folder else "")
        return (own, *ignores) if own else ignores

    def _ignored(self, path: str, ignores: "tuple[IgnoreRules, ...]") -> bool:
        if not ignores:
            return False
        from clew.ignore import ignored

        return ignored(path, ignores)


def resolve(root: Path, path: str) -> Path:
    """The real location of a path given relative to the project, refusing to leave it by any way."""
    base = os.path.realpath(root)
    if "\0" in path:
        raise OutsideProject(f"The path {path!r} holds a NUL byte.", hint="Pass a path relative to the project.")
    real = os.path.realpath(os.path.join(base, path))  # noqa: PTH118
    if not _inside(base, real):
        raise OutsideProject(
            f"The path '{path}' lies outside the project.", hint="Pass a path relative to the project's folder."
        )
    return Path(real)


def read_bytes(root: Path, path: str, *, limit: int) -> bytes:
    """A file's content. FormatError where it is larger than the limit or cannot be read."""
    real = resolve(root, path)
    try:
        size = real.stat().st_size
        if size > limit:
            raise FormatError(
                f"'{path}' has {size:,} bytes; files over {limit:,} bytes are not read.",
                hint="Split the file, or raise limits.max_file_bytes in clew.toml.",
            )
        return real.read_bytes()
    except FileNotFoundError as error:
        raise NotFound(f"There is no file '{path}'.", hint="Refresh the graph.") from error
    except OSError as error:
        raise FormatError(
            f"'{path}' cannot be read: {error.strerror or error}.", hint="Check the file's permissions."
        ) from error


def _inside(base: str, real: str) -> bool:
    return real == base or real.startswith(base if base.endswith(os.sep) else base + os.sep)


def _normal(folder: str) -> str:
    relative = os.path.normpath(folder.replace("\\", "/")).replace(os.sep, "/")
    return "" if relative == "." else relative
