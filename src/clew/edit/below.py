"""Files in the folders in which Clew keeps its own things, opened without following a link.

A clone, an archive or a `git pull` may put links there, to make Clew write somewhere else. So whoever opens, makes or
removes a file there does it here: each name is looked up in the open folder above it, and none of them may be a link.
Where a system has no such calls, every name is looked at first.
"""

# Implements: REQ-d00622

import errno
import os
import stat
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

STATE_FOLDER = ".clew"
SHARED_FOLDER = "clew"
"""Of the folder in which git keeps a repository: what all its work trees share."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0)
_TO_LOOK_UP = getattr(os, "O_PATH", os.O_RDONLY)
"""A folder that may be entered need not be one that may be listed."""
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)
_HAS_DESCRIPTORS = bool(_NO_LINK and _FOLDER) and os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd
_REFUSAL = "it is a link or something else than Clew makes there, and is left alone; remove it"
BESIDE = ("", "-wal", "-shm", "-journal")
"""Endings of the files that SQLite opens for one database."""


def refused(path: Path) -> OSError:
    return OSError(errno.ELOOP, _REFUSAL, str(path))


def is_refusal(error: OSError) -> bool:
    """True if something was not opened because it is a link, or no plain file."""
    return error.errno == errno.ELOOP


def anchor_of(path: Path) -> tuple[Path, tuple[str, ...]]:
    """The folder that is opened by its path, and the names below it, none of which may be a link. The folder is the
    state folder, or else the one that holds the file."""
    anchor, names = _steps(path)
    return Path(anchor), names


def _steps(path: Path) -> tuple[str, tuple[str, ...]]:
    text = str(path)
    return _steps_of(text if path.is_absolute() else os.path.abspath(text))  # noqa: PTH100 - resolving follows links


@lru_cache(maxsize=256)
def _steps_of(path: str) -> tuple[str, tuple[str, ...]]:
    """The same for the text of an absolute path: each database has its files looked at several times."""
    parts = Path(os.path.normpath(path)).parts
    if STATE_FOLDER in parts:
        first = len(parts) - 1 - parts[::-1].index(STATE_FOLDER)
    else:
        first = max(len(parts) - 2, 1)
    return str(Path(*parts[:first])), parts[first:]


class holding:  # noqa: N801 - it is used like a function; a generator would cost more than all that is done in it
    """The open folder that holds a file; None on systems that work with paths only."""

    __slots__ = ("_descriptor", "_path")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def __enter__(self) -> int | None:
        anchor, names = _steps(self._path)
        if not _HAS_DESCRIPTORS:
            _look_at(Path(anchor), names[:-1])
            return None
        descriptor = os.open(anchor, _TO_LOOK_UP | _FOLDER)
        for name in names[:-1]:
            above = descriptor
            try:
                descriptor = os.open(name, _TO_LOOK_UP | _FOLDER | _NO_LINK, dir_fd=above)
            except NotADirectoryError as error:
                # So the system says of a link, too.
                raise refused(self._path) from error
            finally:
                os.close(above)
        self._descriptor = descriptor
        return descriptor

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)


def _look_at(anchor: Path, names: tuple[str, ...]) -> None:
    place = anchor
    for name in names:
        place /= name
        status = place.lstat()
        if not stat.S_ISDIR(status.st_mode) or _is_junction(place):
            raise refused(place)


def _is_junction(place: Path) -> bool:
    return Path(os.path.realpath(place)) != Path(os.path.realpath(place.parent), place.name)


def _named(path: Path, folder: int | None) -> str:
    return path.name if folder is not None else str(path)


def open_file(path: Path, flags: int, mode: int = 0o600) -> int:
    """A descriptor of a plain file. OSError where it, or a folder on its way, is a link."""
    with holding(path) as folder:
        return _opened(path, folder, flags, mode)


def _opened(path: Path, folder: int | None, flags: int, mode: int) -> int:
    name = _named(path, folder)
    if not _NO_LINK:
        _demand(path, folder, path.name)
    binary = getattr(os, "O_BINARY", 0)
    # A pipe is opened at once, and refused then.
    descriptor = os.open(name, flags | _NO_LINK | _AT_ONCE | binary, mode, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise refused(path)
    return descriptor


def status_of(path: Path) -> os.stat_result | None:
    """The status of the entry with this name, without following a link; None if there is none."""
    try:
        with holding(path) as folder:
            return os.stat(_named(path, folder), dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def demand_plain(path: Path) -> tuple[int, int] | None:
    """Refuse a database if one of its files is a link or not a plain file. Returns its identity, None before it exists:
    SQLite opens files by name, so the caller compares the identity again after opening."""
    status = statuses_of(path)[0]
    return None if status is None else (status.st_dev, status.st_ino)


def statuses_of(path: Path) -> list[os.stat_result | None]:
    """The status of each file of a database, in the order of BESIDE; None for a missing one. OSError for a link or
    anything but a plain file."""
    with holding(path) as folder:
        return _statuses(path, folder)


def statuses_and(path: Path, ending: str, limit: int) -> tuple[list[os.stat_result | None], bytes]:
    """The same, with the content of one more file of the database, which is small; empty if it cannot be read."""
    with holding(path) as folder:
        statuses = _statuses(path, folder)
        try:
            return statuses, _content(path.with_name(path.name + ending), folder, limit)
        except OSError:
            return statuses, b""


def _statuses(path: Path, folder: int | None) -> list[os.stat_result | None]:
    return [_demand(path, folder, path.name + ending) for ending in BESIDE]


def _demand(path: Path, folder: int | None, name: str) -> os.stat_result | None:
    try:
        place = name if folder is not None else str(path.with_name(name))
        status = os.stat(place, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise refused(path.with_name(name))
    return status


def read(path: Path, limit: int) -> bytes:
    """The content of a plain file, at most `limit` bytes."""
    with holding(path) as folder:
        return _content(path, folder, limit)


def _content(path: Path, folder: int | None, limit: int) -> bytes:
    descriptor = _opened(path, folder, os.O_RDONLY, 0o600)
    try:
        content = b""
        # Without a buffer: most are small, and read whenever something is opened.
        while len(content) < limit and (part := os.read(descriptor, limit - len(content))):
            content += part
        return content
    finally:
        os.close(descriptor)


def write(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace a small file. A link of that name is replaced, not followed."""
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}.clew-tmp")
    with holding(path) as folder:
        try:
            with os.fdopen(_opened(temporary, folder, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
                file.write(data)
            os.replace(_named(temporary, folder), _named(path, folder), src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(_named(temporary, folder), dir_fd=folder)
            raise


def remove(path: Path) -> None:
    """Remove a file, or a link, that may be gone already."""
    with suppress(FileNotFoundError), holding(path) as folder:
        os.unlink(_named(path, folder), dir_fd=folder)


def remove_folder(path: Path) -> None:
    """Remove a folder with all that is in it, or a link to one, which is not followed."""
    status = status_of(path)
    if status is None:
        return
    if not stat.S_ISDIR(status.st_mode):
        remove(path)
        return
    from shutil import rmtree  # it loads every way to compress files

    with holding(path) as folder:
        rmtree(_named(path, folder), ignore_errors=True, dir_fd=folder)


def make_folder(path: Path, mode: int = 0o777) -> None:
    """Make a folder and its missing parents. None of them may be a link."""
    anchor, names = anchor_of(path)
    anchor.mkdir(parents=True, exist_ok=True)
    place = anchor
    for name in names:
        place /= name
        with holding(place) as folder:
            with suppress(FileExistsError):
                os.mkdir(_named(place, folder), mode, dir_fd=folder)
            status = os.stat(_named(place, folder), dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISDIR(status.st_mode):
                raise refused(place)
