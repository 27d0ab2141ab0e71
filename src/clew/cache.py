"""The one bounded cache: it keeps the values used last, up to a size, and forgets those unused for a while.

Every cache of Clew whose entries leave one by one is one of these, or counts them with a `Quota`. Rows of an array have
`Rows`, and a pure function has `functools.lru_cache`.
"""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
        self._limit = size
        self._size_of = size_of
        self._idle_seconds = idle_seconds
        self._clock = clock
        # In the order of the last use. Nothing in these calls back into Python: a search asks for a thousand keys.
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._sizes: dict[K, float] = {}
        self._used: dict[K, float] = {}
        self._size = 0.0

    def get(self, key: K) -> V | None:
        with self._lock:
            self._drop_idle()
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            self._note_use((key,))
            return self._kept[key]

    def get_many(self, keys: Iterable[K]) -> dict[K, V]:
        """The cached values of these keys; each counts as used."""
        with self._lock:
            self._drop_idle()
            kept = self._kept
            found = {key: kept[key] for key in keys if key in kept}
            for key in found:
                kept.move_to_end(key)
            self._note_use(found)
            return found

    def put(self, key: K, value: V) -> None:
        self.put_many({key: value})

    def put_many(self, values: Mapping[K, V]) -> None:
        """Keep the values. One that is larger than the whole cache is not kept."""
        with self._lock:
            self._drop_idle()
            if self._size_of is None and self._idle_seconds is None and len(values) <= self._limit:
                self._put_alike(values)
                return
            for key, value in values.items():
                self._put(key, value)

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """The cached value, or the one that `make` returns. If several threads make it at once, all get the first
        one."""
        found = self.get(key)
        if found is not None:
            return found
        new = make()
        with self._lock:
            first = self._kept.get(key)
            if first is None:
                self._put(key, new)
            return new if first is None else first

    def pop(self, key: K) -> V | None:
        with self._lock:
            self._drop_idle()
            return self._drop(key) if key in self._kept else None

    def __len__(self) -> int:
        with self._lock:
            self._drop_idle()
            return len(self._kept)

    # With the lock held

    def _put(self, key: K, value: V) -> None:
        size = 1.0 if self._size_of is None else self._size_of(value)
        if size > self._limit:
            return
        if key in self._kept:
            self._drop(key)
        while self._size + size > self._limit:
            self._drop(next(iter(self._kept)))
        self._kept[key] = value
        self._size += size
        if self._size_of is not None:
            self._sizes[key] = size
        self._note_use((key,))

    def _put_alike(self, values: Mapping[K, V]) -> None:
        """Put values that all count as size one. Together, that takes a fraction of the time."""
        kept = self._kept
        for key in kept.keys() & values.keys():
            del kept[key]
        kept.update(values)
        while len(kept) > self._limit:
            kept.popitem(last=False)
        self._size = float(len(kept))

    def _drop(self, key: K) -> V:
        self._size -= self._sizes.pop(key, 1.0)
        self._used.pop(key, None)
        return self._kept.pop(key)

    def _note_use(self, keys: Iterable[K]) -> None:
        if self._idle_seconds is not None:
            self._used.update(dict.fromkeys(keys, self._clock()))

    def _drop_idle(self) -> None:
        if self._idle_seconds is None:
            return
        last = self._clock() - self._idle_seconds
        while self._kept and self._used[oldest := next(iter(self._kept))] <= last:
            self._drop(oldest)


class RowCache:
    """Rows of an array, each under a whole number from 0 up. Any thread may ask.

    A row takes the place of the one whose number leaves the same remainder, so hundreds are looked up at once, in a
    fraction of the time of as many keys. Numbers that were given one after the other do not put each other out.
    """

    def __init__(self, count: int, width: int, kind: str) -> None:
        import numpy as np

        self._lock = threading.Lock()
        self._numbers = np.full(max(count, 1), -1, np.int64)
        # Memory is taken as rows come.
        self._rows: NDArray[Any] = np.empty((max(count, 1), width), kind)

    def get_many(self, numbers: Sequence[int]) -> "tuple[list[int], NDArray[Any]]":
        """The numbers that have a row, and their rows."""
        import numpy as np

        wanted = np.asarray(numbers, np.int64)
        places = wanted % len(self._numbers)
        with self._lock:
            known = self._numbers[places] == wanted
            return wanted[known].tolist(), self._rows[places[known]]

    def put_many(self, numbers: Sequence[int], rows: "NDArray[Any]") -> None:
        import numpy as np

        wanted = np.asarray(numbers, np.int64)
        places, first = np.unique(wanted % len(self._numbers), return_index=True)
        with self._lock:
            self._numbers[places] = wanted[first]
            self._rows[places] = rows[first]


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
