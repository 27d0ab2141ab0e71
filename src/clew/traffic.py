"""Which calls are under way, for work in the background that gives way to them."""

import threading
import time
from collections.abc import Callable


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

    def call(self) -> "Counted":
        """A call, as long as the block lasts."""
        return Counted(self.count, 1)

    def aside(self) -> "Counted":
        """A call that waits for work in the background itself: nothing has to give way to it."""
        return Counted(self.count, -1)

    def count(self, by: int) -> None:
        with self._lock:
            self._under_way += by
            self._last = self._clock()


class Counted:
    """A block that counts as long as it lasts. Every call enters one, so it is no generator."""

    __slots__ = ("_by", "_count")

    def __init__(self, count: Callable[[int], None], by: int) -> None:
        self._count = count
        self._by = by

    def __enter__(self) -> None:
        self._count(self._by)

    def __exit__(self, *error: object) -> None:
        self._count(-self._by)
