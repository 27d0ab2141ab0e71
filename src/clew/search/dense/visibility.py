"""Masks of the units that fulfil a condition, for an index in a file."""

import threading
from typing import TYPE_CHECKING

import msgspec

from clew.cache import Cache
from clew.store.sql.conditions import Condition

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.search.embedded import EmbeddedIndexReader

    Mask = NDArray[np.bool_]

_CONDITIONS_KEPT = 16

EVERYTHING = Condition("1", ())

_TOUCHED_AT_MOST = 2_000
"""Units that are looked at again; where more changed, all are."""


class _Known(msgspec.Struct, frozen=True):
    """The units that fulfilled a condition after a write."""

    series: str
    version: int
    mask: "Mask"


class Visibility:
    """Cached masks of the units that fulfil a condition. A mask of one state of the index is brought up to the next by
    the changes in between: writing one unit must not cost a look at all of them."""

    def __init__(self) -> None:
        self._counts: Cache[tuple[tuple[str, int], Condition], int] = Cache(_CONDITIONS_KEPT)
        self._masks: Cache[Condition, _Known] = Cache(_CONDITIONS_KEPT)
        self._lock = threading.Lock()

    def is_everything(self, reading: "EmbeddedIndexReader", condition: Condition) -> bool:
        """True if the condition lets every unit through: then it need not be checked for each."""
        if self._masks.get(condition) is not None:
            count = int(self.mask(reading, condition).sum())
        else:
            key = (reading.writes(), condition)
            count = self._counts.get_or_make(key, lambda: _count(reading, condition))
        return count == reading.totals().units

    def mask(self, reading: "EmbeddedIndexReader", condition: Condition) -> "Mask":
        """For each number of a unit, whether it fulfils the condition."""
        state = reading.writes()
        known = self._masks.get(condition)
        if known is None or (known.series, known.version) != state:
            # One looks, and the others wait for what it finds.
            with self._lock:
                known = self._masks.get(condition)
                if known is None or (known.series, known.version) != state:
                    known = _Known(*state, _renewed(reading, condition, known))
                    self._masks.put(condition, known)
        return known.mask


def _renewed(reading: "EmbeddedIndexReader", condition: Condition, known: _Known | None) -> "Mask":
    """An earlier mask updated by later changes, or a new one."""
    import numpy as np

    series, _ = reading.writes()
    touched = None
    if known is not None and known.series == series:
        touched = reading.touched_since(known.version, _TOUCHED_AT_MOST)
    if known is None or touched is None:
        return _mask(reading, condition)
    mask = np.zeros(max(len(known.mask), max(touched, default=0) + 1), bool)
    mask[: len(known.mask)] = known.mask
    mask[touched] = False
    mask[reading.allowed(condition, touched)] = True
    return mask


def _count(reading: "EmbeddedIndexReader", condition: Condition) -> int:
    # The condition is Clew's own text; every value is a parameter.
    statement = f"SELECT count(*) FROM ({_numbers(condition)})"  # noqa: S608
    (count,) = reading.connection.execute(statement, condition.parameters).fetchone()
    return int(count)


def _numbers(condition: Condition) -> str:
    """The units that fulfil a condition. With a limit, SQLite answers this by itself, and leaves the paths of the units
    out where the condition needs none; as part of a sum it would read them."""
    return f"SELECT number FROM indexed_units AS units WHERE {condition.sql} LIMIT -1"  # noqa: S608


def _mask(reading: "EmbeddedIndexReader", condition: Condition) -> "Mask":
    import numpy as np

    # All numbers in one row: each row that is fetched has to wait for Python's lock, which other threads want as well.
    statement = f"SELECT group_concat(number), max(number) FROM ({_numbers(condition)})"  # noqa: S608
    numbers, last = reading.connection.execute(statement, condition.parameters).fetchone()
    if numbers is None:
        return np.zeros(0, bool)
    mask = np.zeros(last + 1, bool)
    mask[np.fromstring(str(numbers), np.int64, sep=",")] = True
    return mask
