"""A value that is made once, at the first request."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from clew.errors import Cancelled

T = TypeVar("T")


class Once(Generic[T]):
    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self.made: T | None = None
        """None before the first request."""
        self._has_ended = False

    def get(self) -> T:
        with self._lock:
            if self.made is None:
                if self._has_ended:
                    raise Cancelled("The project was closed.")
                self.made = self._make()
            return self.made

    def end(self) -> T | None:
        """The value, if it was made; one that is being made is waited for. Afterwards none is made any more."""
        with self._lock:
            self._has_ended = True
            return self.made
