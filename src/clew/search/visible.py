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

_CONDITIONS_KEPT = 16

EVERYTHING = Condition("1", ())


class Visibility:
    def __init__(self) -> None:
        self._counts: Cache[tuple[str, Condition], int] = Cache(_CONDITIONS_KEPT)
        self._numbers: Cache[tuple[str, Condition], NDArray[np.int64]] = Cache(_CONDITIONS_KEPT)

    def is_everything(self, connection: Connection, condition: Condition) -> bool:
        """Whether the condition lets every unit through: whoever knows that need not ask it of each."""

        def count() -> int:
            # The condition is Clew's own text; every value is a parameter.
            statement = f"SELECT count(*) FROM units WHERE {condition.sql}"  # noqa: S608
            (counted,) = connection.execute(statement, condition.parameters).fetchone()
            return int(counted)

        counted = self._counts.made((index.version(connection), condition), count)
        return counted == lexical_tables.totals(connection).units

    def numbers(self, connection: Connection, condition: Condition) -> "NDArray[np.int64]":
        """The units that fulfil the condition, sorted."""
        import numpy as np

        key = (index.version(connection), condition)
        return self._numbers.made(key, lambda: np.array(index.allowed(connection, condition), np.int64))
