"""Files that are there whole or not at all, whatever kills the writer."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clew.edit import replacing
from clew.errors import ClewError, StoreError, StoreFull, StoreReadOnly

_TEMPORARY = ".clew-tmp"


def replace_file(place: Path, data: bytes) -> None:
    """Put a file in the place of another. Once this returns, the new content survives a crash of the machine."""
    place.parent.mkdir(parents=True, exist_ok=True)
    replacing.replace_file(place, data, _TEMPORARY)


def remove_file(place: Path) -> None:
    place.unlink(missing_ok=True)
    replacing.sync_folder(place.parent)


def sweep(folder: Path) -> None:
    """Remove what killed writers left. Only for whoever holds the lock: all others may be writing."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(_TEMPORARY):
                Path(entry.path).unlink(missing_ok=True)


@contextmanager
def translated(place: Path) -> Iterator[None]:
    """Every system error that leaves the block leaves it as one that says what to do."""
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
