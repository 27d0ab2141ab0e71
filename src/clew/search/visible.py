"""Which units a condition lets through, remembered until the index changes."""

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from clew.search import index
from clew.search.lexical import tables as lexical_tables
from clew.search.units import Condition
from clew.store.sqlite.connections import Connection

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CONDITIONS_KEPT = 16

EVERYTHING = Condition("1", ())


class Visibility:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: OrderedDict[tuple[str, Condition], int] = OrderedDict()
        self._numbers: OrderedDict[tuple[str, Condition], NDArray[np.int64]] = OrderedDict()

    def is_everything(self, connection: Connection, condition: Condition) -> bool:
        """Whether the condition lets every unit through: whoever knows that need not ask it of each."""
        key = (index.version(connection), condition)
        with self._lock:
            count = self._counts.get(key)
        if count is None:
            # The condition is Clew's own text; every value is a parameter.
            statement = f"SELECT count(*) FROM units WHERE {condition.sql}"  # noqa: S608
            (count,) = connection.execute(statement, condition.parameters).fetchone()
            with self._lock:
                self._counts[key] = count
                while len(self._counts) > _CONDITIONS_KEPT:
                    self._counts.popitem(last=False)
        return bool(count == lexical_tables.totals(connection).units)

    def numbers(self, connection: Connection, condition: Condition) -> "NDArray[np.int64]":
        """The units that fulfil the condition, sorted."""
        import numpy as np

        key = (index.version(connection), condition)
        with self._lock:
            known = self._numbers.get(key)
            if known is not None:
                self._numbers.move_to_end(key)
                return known
        found = np.array(index.allowed(connection, condition), np.int64)
        with self._lock:
            self._numbers[key] = found
            while len(self._numbers) > _CONDITIONS_KEPT:
                self._numbers.popitem(last=False)
        return found
