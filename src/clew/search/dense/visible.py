"""Which units a condition lets through, remembered until the index changes."""

from typing import TYPE_CHECKING

from clew.cache import Cache
from clew.search import index
from clew.search.lexical import tables as lexical_tables
from clew.search.units import Condition
from clew.store.sqlite.connections import Connection

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

_CONDITIONS_KEPT = 16

EVERYTHING = Condition("1", ())

_Key = tuple[str, Condition]


class Visibility:
    def __init__(self) -> None:
        self._counts: Cache[_Key, int] = Cache(_CONDITIONS_KEPT)
        self._masks: Cache[_Key, Mask] = Cache(_CONDITIONS_KEPT)

    def is_everything(self, connection: Connection, condition: Condition) -> bool:
        """Whether the condition lets every unit through: whoever knows that need not ask it of each."""
        key = (index.version(connection), condition)
        count = self._counts.made(key, lambda: _count(connection, condition))
        return count == lexical_tables.totals(connection).units

    def mask(self, connection: Connection, condition: Condition) -> "Mask":
        """For each number of a unit, whether it fulfils the condition."""
        key = (index.version(connection), condition)
        return self._masks.made(key, lambda: _mask(connection, condition))


def _count(connection: Connection, condition: Condition) -> int:
    # The condition is Clew's own text; every value is a parameter.
    statement = f"SELECT count(*) FROM units WHERE {condition.sql}"  # noqa: S608
    (count,) = connection.execute(statement, condition.parameters).fetchone()
    return int(count)


def _mask(connection: Connection, condition: Condition) -> "Mask":
    import numpy as np

    # All numbers in one row: each row that is fetched has to wait for Python's lock, which other threads want as well.
    statement = f"SELECT group_concat(number), max(number) FROM units WHERE {condition.sql}"  # noqa: S608
    numbers, last = connection.execute(statement, condition.parameters).fetchone()
    if numbers is None:
        return np.zeros(0, bool)
    mask = np.zeros(last + 1, bool)
    mask[np.fromstring(str(numbers), np.int64, sep=",")] = True
    return mask
