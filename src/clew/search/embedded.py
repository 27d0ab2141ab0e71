"""The index in a file of SQLite, as a search asks it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from clew.search import index
from clew.search.index import UnitIndex
from clew.search.lexical import full_text
from clew.search.lexical import tables as lexical_tables
from clew.search.lexical.expression import Expression
from clew.search.lexical.packing import Row
from clew.search.lexical.plan import Plan
from clew.search.lexical.ranking import Bm25Settings, Streams
from clew.search.lexical.search import Effort, LexicalSearch
from clew.search.lexical.tables import Totals
from clew.search.rank.mentions import MAX_BEARERS
from clew.search.reading import Fact, IndexedText, Spelt
from clew.search.units import Condition, Unit
from clew.store.sqlite.connections import Connection

_LOOKED_AT_FOR_EACH = 10
"""Units for each one of a sample, before all are."""
_LOOK_UP = """
    SELECT lexical_terms.term, lexical_terms.units, lexical_terms.term AS word FROM lexical_terms
    WHERE lexical_terms.term IN (SELECT value FROM json_each(?1))
    UNION ALL
    SELECT lexical_terms.term, lexical_terms.units, lexical_words.word FROM lexical_words
    JOIN lexical_terms USING (term)
    WHERE lexical_words.word IN (SELECT value FROM json_each(?1))
"""
_BEGINNING_ALIKE = """
    SELECT term, units, term AS word FROM lexical_terms
    WHERE term >= ?1 AND term < ?2 AND length(term) BETWEEN ?3 AND ?4
    UNION ALL
    SELECT lexical_terms.term, lexical_terms.units, lexical_words.word FROM lexical_words
    JOIN lexical_terms USING (term)
    WHERE lexical_words.word >= ?1 AND lexical_words.word < ?2 AND length(lexical_words.word) BETWEEN ?3 AND ?4
    LIMIT ?5
"""
_TERMS_BEGINNING = """
    SELECT term, units FROM lexical_terms WHERE term IN (
        SELECT term FROM lexical_terms WHERE term >= ?1 AND term < ?2
        UNION SELECT term FROM lexical_words WHERE word >= ?1 AND word < ?2
    ) ORDER BY units DESC, term LIMIT ?3
"""
# Words hold no blank, and nothing that a key can hold sorts between a blank and the exclamation mark.
_BEGUN = """
    SELECT value FROM json_each(?)
    WHERE EXISTS (SELECT 1 FROM unit_titles WHERE key >= value AND key < value || '!')
"""


_SAME = {
    "session": "units.session = own.session",
    # The document of a unit is not indexed where its file is. All pieces of a document have the time of its file.
    "document": "(units.file = own.file OR units.whole_document = own.document) AND units.document = own.document",
}


class EmbeddedReading:
    streams_at_once = 50
    streams_kept = 24_000_000

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    # Units

    def writes(self) -> tuple[str, int]:
        return index.writes(self.connection)

    def parts(self) -> dict[str, int]:
        return index.parts(self.connection)

    def allowed(self, condition: Condition, among: Sequence[int]) -> list[int]:
        return index.allowed(self.connection, condition, among)

    def units_of(self, numbers: Iterable[int]) -> dict[int, Unit]:
        return index.units_of(self.connection, numbers)

    def ids_of(self, numbers: Iterable[int]) -> dict[int, str]:
        return index.ids_of(self.connection, numbers)

    def documents_of(self, numbers: Iterable[int]) -> dict[int, str | None]:
        return index.documents_of(self.connection, numbers)

    def numbers_of(self, ids: Iterable[str]) -> dict[str, int]:
        return index.numbers_of(self.connection, ids)

    # Words

    def totals(self) -> Totals:
        return lexical_tables.totals(self.connection)

    def units_with(self, terms: Iterable[str]) -> dict[str, int]:
        return lexical_tables.units_with(self.connection, terms)

    def spelt(self, words: Iterable[str]) -> list[Spelt]:
        return self.connection.execute(_LOOK_UP, (_json(sorted(words)),)).fetchall()

    def spelt_alike(self, beginning: str, shortest: int, longest: int, most: int) -> list[Spelt]:
        values = (beginning, _after(beginning), shortest, longest, most)
        return self.connection.execute(_BEGINNING_ALIKE, values).fetchall()

    def terms_beginning(self, beginning: str, most: int) -> dict[str, int]:
        return dict(self.connection.execute(_TERMS_BEGINNING, (beginning, _after(beginning), most)).fetchall())

    def is_visible(self, term: str, restrict: Condition) -> bool:
        return full_text.is_visible(self.connection, term, restrict)

    def holds(self, name: str, restrict: Condition | None) -> bool:
        return lexical_tables.holds(self.connection, name, restrict)

    def candidates(
        self,
        plan: Plan,
        restrict: Condition | None,
        *,
        wanted: int,
        enough: int,
        matches: int,
        title_weight: int,
    ) -> list[int]:
        return full_text.candidates(
            self.connection,
            plan,
            restrict,
            wanted=wanted,
            enough=enough,
            matches=matches,
            title_weight=title_weight,
        )

    def streams(self, units: Iterable[int]) -> list[Row]:
        return lexical_tables.streams(self.connection, units)

    def numbered_streams(self, units: Sequence[int]) -> tuple[()]:
        """None: the texts are at hand, and numbers would take as much room again."""
        return ()

    def term_numbers(self, terms: Iterable[str]) -> dict[str, Sequence[int]]:
        return {}

    def holding(self, expression: Expression, units: Sequence[int]) -> set[int]:
        return full_text.among(self.connection, expression, units)

    # What stands beside, and what is named

    def beside(
        self, numbers: Sequence[int], within: str, *, before: bool, count: int, restrict: Condition | None
    ) -> list[tuple[int, tuple[int | None, ...]]]:
        sign, order = ("<", "DESC") if before else (">", "ASC")
        condition, values = ("", ()) if restrict is None else (f" AND {restrict.sql}", restrict.parameters)
        # Everything in the statement is Clew's own text; every value is a parameter.
        nearest = f"""
            SELECT units.number FROM indexed_units AS units
            WHERE {_SAME[within]} AND units.place {sign} own.place{condition}
            ORDER BY units.place {order} LIMIT 1 OFFSET
        """  # noqa: S608
        columns = ", ".join(f"({nearest} {offset})" for offset in range(count))
        statement = f"""
            SELECT own.number, {columns} FROM json_each(?) CROSS JOIN indexed_units AS own ON own.number = value
        """  # noqa: S608
        rows = self.connection.execute(statement, (*values * count, _json(numbers)))
        return [(number, tuple(beside)) for number, *beside in rows.fetchall()]

    def facts(self, numbers: Sequence[int]) -> dict[int, Fact]:
        statement = """
            SELECT number, speaker, role, time, characters FROM json_each(?) CROSS JOIN indexed_units ON number = value
        """
        rows = self.connection.execute(statement, (_json(numbers),)).fetchall()
        return {number: Fact(*fact) for number, *fact in rows}

    def bodies(self, numbers: Sequence[int]) -> dict[int, str]:
        return {number: text.body for number, text in lexical_tables.texts(self.connection, numbers).items()}

    def sample(self, condition: Condition, count: int) -> list[int]:
        # The condition is Clew's own text; every value is a parameter. The first units by hash are read from an index.
        # Where too few of them are meant, all that are meant are sorted: 20 ms for 100,000.
        every = "indexed_units AS units"
        early = f"(SELECT number FROM {every} ORDER BY hash, id LIMIT ?) AS early CROSS JOIN {every} USING (number)"  # noqa: S608
        for among, values in ((early, (_LOOKED_AT_FOR_EACH * count,)), (every, ())):
            pick = f"SELECT number FROM {among} WHERE {condition.sql} ORDER BY hash, id LIMIT ?"  # noqa: S608
            chosen = self.connection.execute(pick, (*values, *condition.parameters, count)).fetchall()
            if len(chosen) == count:
                break
        return [number for (number,) in chosen]

    def begun(self, beginnings: Sequence[str]) -> list[str]:
        return [row[0] for row in self.connection.execute(_BEGUN, (_json(beginnings),))]

    def borne(self, keys: Sequence[str], restrict: Condition | None) -> Mapping[str, Sequence[int]]:
        join, condition = "", ""
        if restrict is not None:
            join, condition = "CROSS JOIN indexed_units AS units USING (number)", f"AND ({restrict.sql})"
        # The condition is Clew's own text; every value is a parameter. A title that very many units bear is not read to
        # its end.
        statement = f"""
            SELECT asked.value, (
                SELECT json_group_array(number) FROM (
                    SELECT number FROM unit_titles {join} WHERE unit_titles.key = asked.value {condition}
                    LIMIT {MAX_BEARERS + 1}
                )
            ) FROM json_each(?) AS asked WHERE EXISTS (SELECT 1 FROM unit_titles WHERE key = asked.value)
        """  # noqa: S608
        values = (*(restrict.parameters if restrict else ()), _json(keys))
        rows = self.connection.execute(statement, values)
        return {key: msgspec.json.decode(numbers, type=list[int]) for key, numbers in rows}


class EmbeddedUnits(UnitIndex):
    """An index in a file, as the engine asks it."""

    @contextmanager
    def asked(self) -> Iterator[EmbeddedReading]:
        with self.reading() as connection:
            yield EmbeddedReading(connection)

    def beyond_files(self) -> tuple[IndexedText, ...]:
        return ()


class LexicalIndex(LexicalSearch):
    """The lexical index in the file behind `connection`. Writes happen in the transaction of the caller."""

    def __init__(
        self,
        connection: Connection,
        *,
        ranking: Bm25Settings | None = None,
        effort: Effort | None = None,
        streams: Streams | None = None,
    ) -> None:
        super().__init__(EmbeddedReading(connection), ranking=ranking, effort=effort, streams=streams)
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


def _after(beginning: str) -> str:
    """The first text after all that begin so."""
    return beginning[:-1] + chr(ord(beginning[-1]) + 1)


def _json(values: Sequence[object]) -> str:
    return msgspec.json.encode(values).decode("utf-8")
