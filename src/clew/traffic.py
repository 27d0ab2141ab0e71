"""Which calls are under way, for work in the background that gives way to them."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Traffic:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._under_way = 0
        self._last = clock()

    def quiet_for(self) -> float:
        """Seconds since the last call ended; 0 while one is under way."""
        with self._lock:
            return 0.0 if self._under_way > 0 else self._clock() - self._last

    @contextmanager
    def call(self) -> Iterator[None]:
        """A call, as long as the block lasts."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """A call that waits for work in the background itself: nothing has to give way to it."""
        self._count(-1)
        try:
            yield
        finally:
            self._count(1)

    def _count(self, by: int) -> None:
        with self._lock:
            self._under_way += by
            self._last = self._clock()
