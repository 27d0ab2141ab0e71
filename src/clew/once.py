"""A value that is made when it is first asked for, once, whoever asks first."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self.made: T | None = None
        """None as long as nobody asked."""

    def get(self) -> T:
        with self._lock:
            if self.made is None:
                self.made = self._make()
            return self.made
