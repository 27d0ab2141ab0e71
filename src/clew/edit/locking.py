"""A lock on a file that all processes of the machine respect. The system lets go of it when its holder ends, however it
ends. Such a file is never removed: a lock on a removed file is invisible to other processes.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

_STEP_SECONDS = 0.01


@contextmanager
def locked(file: IO[bytes], patience: float) -> Iterator[bool]:
    """Lock an open file; gives False where another holds it for longer than `patience` seconds."""
    deadline = time.monotonic() + patience
    while not _taken(file.fileno()):
        if time.monotonic() >= deadline:
            yield False
            return
        time.sleep(_STEP_SECONDS)
    try:
        yield True
    finally:
        _let_go(file.fileno())


if sys.platform == "win32":
    import msvcrt

    def _taken(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _let_go(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _taken(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _let_go(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
