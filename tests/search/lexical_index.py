"""A lexical index by itself, without the units around it."""

from collections.abc import Iterable

from clew.search.lexical import tables as lexical_tables
from clew.search.lexical.full_text import FullTextReader
from clew.search.lexical.ranking import Bm25Settings, Streams
from clew.search.lexical.search import Effort, LexicalSearch
from clew.store.sqlite.connections import SqliteConnection


class LexicalIndex(LexicalSearch):
    """The lexical index in the file behind `connection`. Writes happen in the transaction of the caller."""

    def __init__(
        self,
        connection: SqliteConnection,
        *,
        ranking: Bm25Settings | None = None,
        effort: Effort | None = None,
        streams: Streams | None = None,
    ) -> None:
        super().__init__(FullTextReader(connection), ranking=ranking, effort=effort, streams=streams)
        self._connection = connection

    def put(self, units: Iterable[tuple[int, str, str]]) -> None:
        """Add the units (number, title, body), or replace those whose number is there already."""
        lexical_tables.put(self._connection, units)

    def remove(self, units: Iterable[int]) -> None:
        """Take the units out; numbers that are not there are passed over."""
        lexical_tables.remove(self._connection, units)

    def count(self) -> int:
        """The number of units in the index."""
        return lexical_tables.totals(self._connection).units
