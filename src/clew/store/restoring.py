"""The copy of a backup that is being restored.

It holds a whole memory, so it lies among what Clew keeps of the project, for the user alone, and not in a folder for
temporary files. A restore that is killed leaves it; the next start, the next restore and every purge delete it. A lock
tells them whether a restore is still under way.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from clew.edit import below
from clew.edit.locking import locked
from clew.edit.replacing import translated
from clew.edit.state_folder import STATE_FOLDER, make_state_folder
from clew.errors import StoreBusy

FOLDER = "restoring"
_LOCK = "restoring.lock"


@contextmanager
def private_folder(root: Path) -> Iterator[Path]:
    """A new folder in the state folder of the project at `root`, deleted when the block ends. StoreBusy if another
    restore is under way."""
    state = root / STATE_FOLDER
    folder = state / FOLDER
    with translated(state / _LOCK):
        make_state_folder(root)
        lock = _opened(state / _LOCK)
    with lock, locked(lock, 0) as is_alone:
        if not is_alone:
            raise StoreBusy(
                f"Another process restores a backup into the project at '{root}'.",
                hint="Wait until it has ended, and run the command again. Nothing was restored.",
            )
        with translated(folder):
            _delete(folder)
            below.make_folder(folder, 0o700)
        try:
            yield folder
        finally:
            with suppress(OSError):
                _delete(folder)


def delete_leftover(state: Path) -> bool:
    """Delete the folder of a killed restore; returns whether there was one. The folder of a restore that is under way
    stays."""
    folder = state / FOLDER
    if not os.path.lexists(folder):
        return False
    with suppress(OSError), _opened(state / _LOCK) as lock, locked(lock, 0) as is_alone:
        if is_alone:
            _delete(folder)
    return not os.path.lexists(folder)


def _opened(lock: Path) -> IO[bytes]:
    """The lock that a restore left, or a new one where it is gone; never a file elsewhere that a link names."""
    return os.fdopen(below.open_file(lock, os.O_RDWR | os.O_CREAT), "r+b")


def _delete(folder: Path) -> None:
    below.remove_folder(folder)
