"""One writer at a time, over all processes."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clew.search.vectors_files import LOCK, busy

_STEP = 0.01


@contextmanager
def writing(folder: Path, patience: float) -> Iterator[None]:
    """Hold the writer's lock. StoreBusy where another holds it for longer than `patience` seconds.

    The system lets go of the lock when the process ends, however it ends.
    """
    with (folder / LOCK).open("a+b") as file:
        deadline = time.monotonic() + patience
        while not _taken(file.fileno()):
            if time.monotonic() >= deadline:
                raise busy(folder)
            time.sleep(_STEP)
        try:
            yield
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
