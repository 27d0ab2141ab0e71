"""Replace one file: afterwards it has the old content or the new one, whatever kills the writer.

The new content is written to a temporary file beside the old one, synced, and renamed over it. A writer that is killed
before the rename leaves the temporary file.
"""

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import IO

from clew.errors import ClewError, StoreError, StoreFull, StoreReadOnly
from clew.workspace.find import names_in

_TOKEN_BYTES = 6
_ENDING = ".clew-tmp"
_TEMPORARY = re.compile(rf"[0-9a-f]{{{2 * _TOKEN_BYTES}}}{re.escape(_ENDING)}")
_NO_FOLDER_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF})
"""The errors of file systems that can sync files but not folders."""


def temporary_beside(place: Path) -> Path:
    """The path of a new temporary file in the folder of a file. It is unique: several writers may replace one file."""
    return place.with_name(f".{place.name}.{secrets.token_hex(_TOKEN_BYTES)}{_ENDING}")


def write_beside(temporary: Path, data: bytes, place: Path) -> None:
    """Write and sync a new file, with the permissions of the file that it is going to replace."""
    # Not through tempfile, which makes private files: a new file follows the user's umask.
    with temporary.open("xb") as file:
        # Before there is anything in it: a private file stays private at every moment.
        with suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(place.stat().st_mode))
        _write_synced(file, data)


def write_private(file: Path, data: bytes) -> None:
    """Write and sync a new file that nobody else may read, not even for a moment."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
        _write_synced(opened, data)


def _write_synced(file: IO[bytes], data: bytes) -> None:
    file.write(data)
    file.flush()
    os.fsync(file.fileno())


def put_in_place(temporary: Path, place: Path) -> None:
    """Rename a finished temporary file over its target. Readers see either the old file or the new one."""
    temporary.replace(place)


def add_in_place(temporary: Path, place: Path) -> None:
    """Give a finished temporary file its name, unless another file has that name: then that one stays, and the
    temporary one is removed."""
    try:
        os.link(temporary, place)
    except FileExistsError:
        pass
    except OSError:
        # A file system without links. A process that is faster in between loses a file that is still empty.
        if temporary.exists() and not place.exists():
            put_in_place(temporary, place)
    temporary.unlink(missing_ok=True)
    sync_folder(place.parent)


def replace_file(place: Path, data: bytes) -> None:
    """Write a file, whatever it holds now. Once this returns, the new content survives a crash of the machine."""
    make_folder(place.parent)
    temporary = temporary_beside(place)
    try:
        write_beside(temporary, data, place)
        put_in_place(temporary, place)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(place.parent)


def leftovers(place: Path) -> list[Path]:
    """Temporary files of writers of this file that are at work or were killed."""
    beginning = f".{place.name}."
    found = (name for name in names_in(place.parent) if name.startswith(beginning))
    return [place.parent / name for name in found if _TEMPORARY.fullmatch(name.removeprefix(beginning))]


def copy_in_place(file: Path, place: Path) -> None:
    """Copy a file to a place where there is none, whole or not at all, by a link where the file system has links."""
    try:
        os.link(file, place)
        sync_folder(place.parent)
    except OSError:
        replace_file(place, file.read_bytes())


def sweep(place: Path) -> None:
    """Remove the temporary files that killed writers of this file left. Call it only while a lock keeps other writers
    of the file out."""
    for leftover in leftovers(place):
        leftover.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Make a folder, and those around it that are missing. Once this returns, their names survive a crash of the
    machine."""
    missing = list(takewhile(lambda each: not each.exists(), (folder, *folder.parents)))
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        sync_folder(each.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can do that for a folder. OSError where it fails."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)


@contextmanager
def translated(place: Path) -> Iterator[None]:
    """Turn a system error that leaves the block into an error about this file."""
    try:
        yield
    except OSError as error:
        raise _fault(error, place) from error


def _fault(error: OSError, place: Path) -> ClewError:
    cause = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return StoreFull(f"{place} cannot be written: {cause}.", hint="Free some space. The file is as it was before.")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return StoreReadOnly(
            f"{place} cannot be used: {cause}.", hint="Check the permissions of the file and its folder."
        )
    return StoreError(f"{place} cannot be used: {cause}.", hint="Check the path and the disk.")
