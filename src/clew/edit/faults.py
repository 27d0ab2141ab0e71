"""System errors as errors that say what to do."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clew.errors import ClewError, StoreError, StoreFull, StoreReadOnly


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
