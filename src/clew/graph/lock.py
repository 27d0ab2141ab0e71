"""Many readers or one writer."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReadWriteLock:
    """Readers share; a writer waits until there are none.

    Readers are let in while a writer waits, so that a slow reader holds up writers but never another reader. A writer
    cannot starve: after `patience` seconds of waiting it closes the door behind the readers already inside.
    """

    def __init__(self, patience: float = 1.0) -> None:
        self._changed = threading.Condition()
        self._patience = patience
        self._readers = 0
        self._writing = False
        self._closing = 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._writing and not self._closing)
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._changed:
            if not self._changed.wait_for(self._free, timeout=self._patience):
                self._closing += 1
                try:
                    self._changed.wait_for(self._free)
                finally:
                    self._closing -= 1
            self._writing = True
        try:
            yield
        finally:
            with self._changed:
                self._writing = False
                self._changed.notify_all()

    def _free(self) -> bool:
        return not self._writing and not self._readers
