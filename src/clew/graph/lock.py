"""Many readers or one writer."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class ReadWriteLock:
    """Readers share it; a writer waits until there are no readers.

    Readers are let in while a writer waits, so that a slow reader holds up writers but never another reader. A writer
    cannot starve: after `patience` seconds of waiting it closes the door behind the readers already inside.
    """

    def __init__(self, patience: float = 1.0) -> None:
        self._changed = threading.Condition()
        self._waiting = 0
        """Writers that wait until there is no reader."""
        self._patience = patience
        self._readers = 0
        self._writing = False
        self._closing = 0
        self._reader = ReadSide(self._begin_reading, self._end_reading)

    def reading(self) -> "ReadSide":
        """A block that reads."""
        return self._reader

    def _begin_reading(self) -> None:
        with self._changed:
            while self._writing or self._closing:
                self._changed.wait()
            self._readers += 1

    def _end_reading(self) -> None:
        with self._changed:
            self._readers -= 1
            if not self._readers and self._waiting:
                self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._changed:
            self._waiting += 1
            try:
                if not self._changed.wait_for(self._free, timeout=self._patience):
                    self._closing += 1
                    try:
                        self._changed.wait_for(self._free)
                    finally:
                        self._closing -= 1
            finally:
                self._waiting -= 1
            self._writing = True
        try:
            yield
        finally:
            with self._changed:
                self._writing = False
                self._changed.notify_all()

    def _free(self) -> bool:
        return not self._writing and not self._readers


class ReadSide:
    """The block of a reader. A class and not a generator, because every call enters one."""

    __slots__ = ("_begin", "_end")

    def __init__(self, begin: Callable[[], None], end: Callable[[], None]) -> None:
        self._begin = begin
        self._end = end

    def __enter__(self) -> None:
        self._begin()

    def __exit__(self, *error: object) -> None:
        self._end()
