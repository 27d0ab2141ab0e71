"""Statements of a search to an index in a file of SQLite."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from clew.search.lexical import tables as lexical_tables
from clew.search.lexical.full_text import FullTextReader, in_json
from clew.search.lexical.packing import UnitText
from clew.search.rank.mentions import MAX_BEARERS
from clew.search.reading import UnitFacts
from clew.search.unit_store import KnownUnit
from clew.search.units import Unit
from clew.store.sql.conditions import Condition
from clew.text.hashing import short_hash

WRITES_NOTED = 256
"""A reader that is at most this many writes behind reads only what changed since."""
_LOOKED_AT_FOR_EACH = 10
"""Units for each one of a sample, before all are."""
# Words hold no blank, and nothing that a key can hold sorts between a blank and the exclamation mark.
_TITLES_BEGUN = """
    SELECT value FROM json_each(?)
    WHERE EXISTS (SELECT 1 FROM unit_titles WHERE key >= value AND key < value || '!')
"""


_SAME = {
    "session": "units.session = own.session",
    # The document of a unit is not indexed where its file is. All pieces of a document have the time of its file.
    "document": "(units.file = own.file OR units.whole_document = own.document) AND units.document = own.document",
}


class UnitRest(msgspec.Struct, frozen=True, array_like=True):
    """The fields of a unit that have no column."""

    links: tuple[str, ...]
    """Empty for its own id."""
    time: str | None
    """As it was given, where that differs from the form in which times are compared."""


ONLY_ITSELF = UnitRest(("",), None)
"""The value of most units; it is not written."""
_REST = msgspec.msgpack.Decoder(UnitRest)
_TAGS = msgspec.json.Decoder(tuple[str, ...])
_UNIT = """
    SELECT number, rest, list, id, part, time, quoted, document, path, status, session, agent, place, speaker, role
    FROM indexed_units JOIN tag_lists USING (tags) WHERE number = ?
    """
_PLAIN = ("document", "path", "status", "session", "agent", "place", "speaker", "role")


def _unit(said: UnitText, packed: bytes | None, tags: str, *columns: Any) -> Unit:
    rest = _REST.decode(packed) if packed is not None else ONLY_ITSELF
    id, part, time, quoted, *plain = columns
    return Unit(
        id=id,
        part=part,
        title=said.title,
        body=said.body,
        tags=_TAGS.decode(tags),
        time=rest.time or time,
        links=tuple(link or id for link in rest.links),
        quoted=bool(quoted),
        **dict(zip(_PLAIN, plain, strict=True)),
    )


class EmbeddedIndexReader(FullTextReader):
    # Units

    def writes(self) -> tuple[str, int]:
        series, number = self.connection.execute("SELECT series, version FROM index_state").fetchone()
        return series, number

    def touched_since(self, version: int, most: int) -> list[int] | None:
        """The numbers of units that were added, changed or deleted after a write; None if that is unknown, or if they
        are more than `most`."""
        _, now = self.writes()
        if not now - WRITES_NOTED <= version <= now:
            return None
        found: set[int] = set()
        runs = self.connection.execute("SELECT first, last FROM unit_changes WHERE version > ?", (version,))
        for first, last in runs:
            found.update(range(first, min(last, first + most) + 1))
            if len(found) > most:
                return None
        return sorted(found)

    def parts(self) -> dict[str, int]:
        find = "SELECT part, units FROM unit_parts WHERE units > 0 ORDER BY part"
        return dict(self.connection.execute(find).fetchall())

    def allowed(self, condition: Condition, among: Sequence[int]) -> list[int]:
        # The condition is Clew's own text; every value is a parameter.
        statement = f"""
            SELECT number FROM json_each(?) CROSS JOIN indexed_units AS units ON number = value WHERE {condition.sql}
        """  # noqa: S608
        rows = self.connection.execute(statement, (in_json(list(among)), *condition.parameters))
        return sorted(number for (number,) in rows)

    def units_of(self, numbers: Iterable[int]) -> dict[int, Unit]:
        wanted = tuple(dict.fromkeys(numbers))
        # One query each, because texts are long: a caller that wants many asks for some at a time.
        rows = [row for number in wanted if (row := self.connection.execute(_UNIT, (number,)).fetchone()) is not None]
        said = lexical_tables.texts(self.connection, [row[0] for row in rows])
        return {number: _unit(said[number], *row) for number, *row in rows if number in said}

    def ids_of(self, numbers: Iterable[int]) -> dict[int, str]:
        return dict(self._column("id", numbers))

    def documents_of(self, numbers: Iterable[int]) -> dict[int, str | None]:
        return dict(self._column("document", numbers))

    def _column(self, column: str, numbers: Iterable[int]) -> list[tuple[int, str]]:
        """A column of the wanted rows in one query: asking for hundreds of rows one by one takes longer than ranking
        them."""
        statement = f"""
            SELECT number, units.{column} FROM json_each(?) CROSS JOIN indexed_units AS units ON number = value
        """  # noqa: S608
        return self.connection.execute(statement, (in_json(list(numbers)),)).fetchall()

    def known(self, ids: Iterable[str]) -> dict[str, KnownUnit]:
        """The units with these ids in the index."""
        find = "SELECT number, content_hash, text_hash FROM indexed_units WHERE hash = ? AND id = ?"
        rows = ((id, self.connection.execute(find, (short_hash(id), id)).fetchone()) for id in ids)
        return {id: KnownUnit(*row) for id, row in rows if row}

    def numbers_of(self, ids: Iterable[str]) -> dict[str, int]:
        return {id: known.number for id, known in self.known(ids).items()}

    # Neighbours and titles

    def neighbours(
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
        rows = self.connection.execute(statement, (*values * count, in_json(numbers)))
        return [(number, tuple(beside)) for number, *beside in rows.fetchall()]

    def facts(self, numbers: Sequence[int]) -> dict[int, UnitFacts]:
        statement = """
            SELECT number, speaker, role, time, characters FROM json_each(?) CROSS JOIN indexed_units ON number = value
        """
        rows = self.connection.execute(statement, (in_json(numbers),)).fetchall()
        return {number: UnitFacts(*fact) for number, *fact in rows}

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

    def title_beginnings(self, beginnings: Sequence[str]) -> list[str]:
        return [row[0] for row in self.connection.execute(_TITLES_BEGUN, (in_json(beginnings),))]

    def units_titled(self, keys: Sequence[str], restrict: Condition | None) -> Mapping[str, Sequence[int]]:
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
        values = (*(restrict.parameters if restrict else ()), in_json(keys))
        rows = self.connection.execute(statement, values)
        return {key: msgspec.json.decode(numbers, type=list[int]) for key, numbers in rows}
