"""Putting a file in the place of another: it is there whole or not at all, whatever kills the writer.

The new content is written to a file beside the old one, synced, and renamed over it. Whoever is killed in between
leaves the file beside; its name tells whose it is.
"""

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

_CANNOT = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF})
"""What file systems say that sync files only."""
TOKEN_BYTES = 6
"""Tell apart the files of those who replace one file at the same time."""


def beside(place: Path, ending: str) -> Path:
    """A name for the new content, in the folder of the file that it shall replace."""
    return place.with_name(f".{place.name}.{secrets.token_hex(TOKEN_BYTES)}{ending}")


def write_beside(temporary: Path, data: bytes, place: Path) -> None:
    """Write a new file that survives a crash of the machine, with the permissions of the one that it shall replace."""
    # Not through tempfile, which makes private files: a file that is new follows the user's umask.
    with temporary.open("xb") as file:
        # Before there is anything in it: what is private is so at every moment.
        with suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(place.stat().st_mode))
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def replace_file(place: Path, data: bytes, ending: str) -> None:
    """Put a file in the place of another. Once this returns, the new content survives a crash of the machine."""
    temporary = beside(place, ending)
    try:
        write_beside(temporary, data, place)
        temporary.replace(place)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(place.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can do that for a folder. OSError where it fails."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
    finally:
        os.close(descriptor)
