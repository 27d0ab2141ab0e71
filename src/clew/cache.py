"""The one bounded cache: it keeps the values used last, up to a size, and forgets those unused for a while.

Every cache of Clew whose entries leave one by one is one of these, or counts them with a `Quota`. A pure function has
`functools.lru_cache`.
"""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from clew.once import Once

if TYPE_CHECKING:
    from cachetools import Cache as Kept

K = TypeVar("K")
V = TypeVar("V")


class Cache(Generic[K, V]):
    """Safe under threads. The lock is held for dictionary operations only, never while a value is made."""

    def __init__(
        self,
        size: float,
        *,
        size_of: Callable[[V], float] | None = None,
        idle_seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`size` counts entries, or the sum of `size_of`. `idle_seconds` counts from the last use of an entry."""
        self._lock = threading.Lock()
        self._expires = idle_seconds is not None
        self._opened: Once[Kept[K, V]] = Once(lambda: _kept(size, size_of, idle_seconds, clock))

    @property
    def _kept(self) -> "Kept[K, V]":
        return self._opened.get()

    def get(self, key: K) -> V | None:
        return self.get_many((key,)).get(key)

    def get_many(self, keys: Iterable[K]) -> dict[K, V]:
        """What is kept of these keys, each of which is used by that."""
        kept = self._kept
        with self._lock:
            found = {key: kept[key] for key in keys if key in kept}
            if self._expires:
                kept.update(found)  # writing an entry anew gives it its whole time again
            return found

    def put(self, key: K, value: V) -> None:
        self.put_many({key: value})

    def put_many(self, values: Mapping[K, V]) -> None:
        """Keep the values. One that is larger than the whole cache is not kept."""
        with self._lock:
            kept = self._kept
            for key, value in values.items():
                with suppress(ValueError):
                    kept[key] = value

    def made(self, key: K, make: Callable[[], V]) -> V:
        """The kept value, or the one that `make` returns. Of threads that make it at once, all get the first."""
        found = self.get(key)
        if found is not None:
            return found
        new = make()
        with self._lock, suppress(ValueError):
            return self._kept.setdefault(key, new)
        return new

    def pop(self, key: K) -> V | None:
        with self._lock:
            return self._kept.pop(key, None)

    def __len__(self) -> int:
        with self._lock:
            return len(self._kept)


class Quota(Generic[K]):
    """Sizes in the order of their last use, and which of them are too many.

    For entries that count against several limits at once, where the owner removes them from all. The owner holds the
    lock.
    """

    def __init__(self, limit: float = math.inf) -> None:
        self._limit = limit
        self._sizes: OrderedDict[K, int] = OrderedDict()
        self.size = 0

    def add(self, key: K, size: int = 1) -> None:
        self._sizes[key] = size
        self.size += size

    def use(self, key: K) -> None:
        self._sizes.move_to_end(key)

    def remove(self, key: K) -> None:
        self.size -= self._sizes.pop(key)

    def excess(self) -> list[K]:
        """The keys that were not used for longest, as many as have to go until the rest keeps to the limit."""
        found: list[K] = []
        too_much = self.size - self._limit
        for key, size in self._sizes.items():
            if too_much <= 0:
                break
            found.append(key)
            too_much -= size
        return found

    def __iter__(self) -> Iterator[K]:
        return iter(self._sizes)


def _kept(
    size: float, size_of: Callable[[V], float] | None, idle_seconds: float | None, clock: Callable[[], float]
) -> "Kept[Any, V]":
    from cachetools import LRUCache, TTLCache  # here, so that a start, which caches nothing, does not load it

    if idle_seconds is None:
        return LRUCache(size, size_of)
    return TTLCache(size, idle_seconds, clock, size_of)
