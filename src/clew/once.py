"""Values that are made once, at the first request: `Once` holds one, `lazy` declares one as a part of a class."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, Self, TypeVar, overload

from clew.errors import Cancelled

T = TypeVar("T")
Owner = TypeVar("Owner")


class Once(Generic[T]):
    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._is_made = False
        self.value: T | None = None
        """None before the first request."""
        self._has_ended = False

    def get(self) -> T:
        with self._lock:
            if not self._is_made:
                if self._has_ended:
                    raise Cancelled("The project was closed.")
                self.value, self._is_made = self._make(), True
            return self.value  # type: ignore[return-value]

    def end(self) -> T | None:
        """The value, if it was made; a value that is being made is waited for. Afterwards no value is made."""
        with self._lock:
            self._has_ended = True
            return self.value


class lazy(Generic[Owner, T]):  # noqa: N801 - used as `property` is
    """A part of an object: made by the decorated method at the first use, once for all threads, and an ordinary
    attribute afterwards. Where making it fails, the next use tries again."""

    def __init__(self, make: Callable[[Owner], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, owner: None, type_: type) -> Self: ...
    @overload
    def __get__(self, owner: Owner, type_: type) -> T: ...
    def __get__(self, owner: Owner | None, type_: type) -> Self | T:
        if owner is None:
            return self
        made = self._once(owner).get()
        # From here on Python finds the value without asking the descriptor.
        vars(owner)[self._name] = made
        return made

    def if_made(self, owner: Owner) -> T | None:
        """The part of an object if it was made, else None."""
        return self._once(owner).value

    def end(self, owner: Owner) -> T | None:
        """The part of an object, if it was made; a part that is being made is waited for. Afterwards it is not made."""
        return self._once(owner).end()

    def _once(self, owner: Owner) -> Once[T]:
        once: Once[T] = vars(owner).setdefault(f"{self._name} once", Once(partial(self._make, owner)))
        return once


def close_parts(owner: object) -> None:
    """End the lazy parts of an object and close those that were made, the last declared first."""
    parts = [each for type_ in type(owner).__mro__ for each in vars(type_).values() if isinstance(each, lazy)]
    for part in reversed(parts):
        made: Any = part.end(owner)
        if hasattr(made, "close"):
            made.close()
