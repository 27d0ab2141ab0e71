"""Units in the tables of a database: how they get in and out.

A write is a transaction: a unit is in all tables or in none. Writers take turns, as with a file; a reader sees the
state before or after. Nothing that others could be searching is locked.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

from clew.cache import Cache
from clew.search.database.connecting import Database
from clew.search.database.reading import STATE, DatabaseIndexReader, Terms, decoded, encoded
from clew.search.database.tables import SHARED, TERM_NUMBERS
from clew.search.lexical import tables as lexical_tables
from clew.search.lexical.packing import UnitTerms
from clew.search.rank.mentions import title_key
from clew.search.unit_store import AT_ONCE, IndexedText, KnownUnit, NewUnit, UnitStore
from clew.search.units import Unit, moment
from clew.store.postgres.pipeline import StatementCall

if TYPE_CHECKING:
    from psycopg import Connection

_TERMS_KEPT = 50_000
SHARED_PARTS = frozenset({"memory", "episode"})
"""Parts that everybody who uses the database sees. All other units are read from files of one work tree."""
LARGEST_IMPACT = 30_000
_SATURATION, _LENGTH_SHARE, _TITLE_WEIGHT = 1.2, 0.75, 2
_USUAL_WORDS = 100
"""The length at which a text counts as neither long nor short. A figure of its own rather than the mean of all texts:
impacts are written once and stay right."""
_COLUMNS = (
    "id, part, title, document, path, status, session, agent, time, content_hash, text_hash, characters,"
    " place, speaker, role, quoted"
)


class DatabaseUnits(UnitStore):
    notes = ()
    is_replaced = False

    def __init__(self, database: Database) -> None:
        self._database = database
        self._terms: Terms = Cache(_TERMS_KEPT)

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def asked(self) -> Iterator[DatabaseIndexReader]:
        space = self._database.space
        with self._database.reading(StatementCall(STATE, (str(space),))) as (connection, (state,)):
            has_numbers = self._database.has_term_numbers
            reading = DatabaseIndexReader(connection, space, self._terms, has_numbers=has_numbers)
            reading.begin(state.rows)
            yield reading

    @contextmanager
    def changing(self) -> Iterator["_DatabaseTables"]:
        own = self._database.space
        with self._database.writing() as connection:
            yield _DatabaseTables(connection, own, with_numbers=self._database.has_term_numbers)

    def tidy(self) -> bool:
        """Nothing: PostgreSQL frees the space of deleted rows by itself."""
        return False

    def hashes(self, part: str) -> dict[str, str]:
        find = "SELECT id, content_hash FROM units WHERE space = ANY(%s) AND part = %s"
        return dict(self._rows(find, part))

    def units_of_others(self, part: str) -> list[Unit]:
        find = """
            SELECT data, body FROM units JOIN unit_bodies USING (number)
            WHERE space = ANY(%s) AND part <> %s ORDER BY number
            """
        return [decoded(*row) for row in self._rows(find, part)]

    def _rows(self, find: str, part: str) -> list[tuple[Any, ...]]:
        """A connection for updates of the index, beside those of searches."""
        spaces = [SHARED, self._database.space]
        with self._database.connection() as connection:
            return connection.execute(find, (spaces, part)).fetchall()

    def beyond_files(self) -> Iterator[IndexedText]:
        # Some units at a time: their texts may be more than fits.
        find = """
            SELECT number, id, part, path, quoted, title, body FROM units JOIN unit_bodies USING (number)
            WHERE space = %s AND number > %s ORDER BY number LIMIT %s
            """
        own, after = self._database.space, 0
        while True:
            with self._database.connection() as connection:
                page = connection.execute(find, (own, after, AT_ONCE)).fetchall()
            for after, id, part, path, quoted, title, body in page:  # noqa: B007
                yield IndexedText(id, part, path, quoted, f"{path or ''}\n{title}\n{body}")
            if len(page) < AT_ONCE:
                return


class _DatabaseTables:
    """Changes of units in one transaction. Units from a work tree's files are in its own space."""

    def __init__(self, connection: "Connection[Any]", own: int, *, with_numbers: bool) -> None:
        self._connection = connection
        self._own = own
        self._with_numbers = with_numbers

    def known(self, ids: Sequence[str]) -> dict[str, KnownUnit]:
        find = "SELECT id, number, content_hash, text_hash FROM units WHERE space = ANY(%s) AND id = ANY(%s)"
        rows = self._connection.execute(find, ([SHARED, self._own], list(ids)))
        return {id: KnownUnit(*rest) for id, *rest in rows}

    def _space_of(self, unit: Unit) -> int:
        return SHARED if unit.part in SHARED_PARTS else self._own

    def insert(self, units: Sequence[NewUnit]) -> None:
        if not units:
            return
        take = "SELECT nextval(pg_get_serial_sequence('units', 'number')) FROM generate_series(1, %s)"
        numbers = [number for (number,) in self._connection.execute(take, (len(units),))]
        numbered = [(number, self._space_of(new.unit), new) for number, new in zip(numbers, units, strict=True)]
        # One COPY for each table: with one INSERT for each row, the way there and back takes most of the time.
        rows: dict[str, Iterable[Sequence[Any]]] = {
            f"units (number, space, {_COLUMNS})": ((number, space, *_columns(new)) for number, space, new in numbered),
            "unit_bodies (number, body, data)": (
                (number, plain(new.unit.body), encoded(new.unit)) for number, _, new in numbered
            ),
            "unit_tags (number, tag)": (row for number, _, new in numbered for row in _tags(number, new.unit)),
            "unit_titles (key, space, number)": (
                (plain(key), space, number) for number, space, new in numbered if (key := title_key(new.unit.title))
            ),
        }
        for target, own in rows.items():
            _copy(self._connection, target, own)
        for space in {space for _, space, _ in numbered}:
            there = [(number, new.unit) for number, of, new in numbered if of == space]
            _index(self._connection, space, there, with_numbers=self._with_numbers)
            _count(self._connection, space, Counter(unit.part for _, unit in there), 1)

    def update(self, units: Sequence[tuple[int, NewUnit]]) -> None:
        for number, new in units:
            _update(self._connection, number, new, self._space_of(new.unit))

    def remove(self, numbers: Sequence[int]) -> None:
        if numbers:
            _remove(self._connection, list(numbers))


def _tags(number: int, unit: Unit) -> Iterator[tuple[int, str]]:
    return ((number, plain(tag)) for tag in dict.fromkeys(unit.tags))


def _columns(new: NewUnit) -> tuple[Any, ...]:
    unit = new.unit
    return (
        *(unit.id, unit.part, plain(unit.title), plain(unit.document), plain(unit.path)),
        *(plain(unit.status), plain(unit.session), plain(unit.agent), moment(unit.time)),
        *(new.content_hash, new.text_hash, len(unit.title) + len(unit.body)),
        *(unit.place, plain(unit.speaker), plain(unit.role), unit.quoted),
    )


def _update(connection: "Connection[Any]", number: int, new: NewUnit, space: int) -> None:
    unit = new.unit
    (part,) = connection.execute("SELECT part FROM units WHERE number = %s", (number,)).fetchone() or ("",)
    connection.execute(
        """
        UPDATE units SET part = %s, document = %s, path = %s, status = %s, session = %s, agent = %s, time = %s,
            place = %s, speaker = %s, role = %s, content_hash = %s WHERE number = %s
        """,
        (
            *(unit.part, plain(unit.document), plain(unit.path), plain(unit.status), plain(unit.session)),
            *(plain(unit.agent), moment(unit.time), unit.place, plain(unit.speaker), plain(unit.role)),
            *(new.content_hash, number),
        ),
    )
    connection.execute("UPDATE unit_bodies SET data = %s WHERE number = %s", (encoded(unit), number))
    connection.execute("DELETE FROM unit_tags WHERE number = %s", (number,))
    _copy(connection, "unit_tags (number, tag)", _tags(number, unit))
    if part != unit.part:
        _count(connection, space, Counter((part,)), -1)
        _count(connection, space, Counter((unit.part,)), 1)
    else:
        connection.execute("UPDATE spaces SET version = version + 1 WHERE number = %s", (space,))


def _remove(connection: "Connection[Any]", wanted: list[int]) -> None:
    rows = connection.execute("DELETE FROM units WHERE number = ANY(%s) RETURNING number, space, part", (wanted,))
    gone = rows.fetchall()
    streams = connection.execute(
        "DELETE FROM streams WHERE unit = ANY(%s) RETURNING unit, title, body, compounds", (wanted,)
    )
    kept = {unit: UnitTerms(unit, *rest) for unit, *rest in streams}
    for table in ("unit_bodies", "unit_tags", "unit_titles", "vectors"):
        connection.execute(f"DELETE FROM {table} WHERE number = ANY(%s)", (wanted,))  # noqa: S608
    for space in {space for _, space, _ in gone}:
        own = [kept[number] for number, of, _ in gone if of == space and number in kept]
        _unindex(connection, space, own)
        _count(connection, space, Counter(part for _, of, part in gone if of == space), -1)


def _count(connection: "Connection[Any]", space: int, parts: Counter[str], sign: int) -> None:
    for part, units in sorted(parts.items()):
        connection.execute(
            "INSERT INTO unit_parts VALUES (%s, %s, %s) ON CONFLICT (space, part) DO UPDATE"
            " SET units = unit_parts.units + excluded.units",
            (space, part, sign * units),
        )
    connection.execute(
        "UPDATE spaces SET version = version + 1, units = units + %s WHERE number = %s",
        (sign * parts.total(), space),
    )


# Words


def _index(connection: "Connection[Any]", space: int, units: Sequence[tuple[int, Unit]], *, with_numbers: bool) -> None:
    spellings: dict[str, str] = {}
    rows = [lexical_tables.row_of(number, plain(unit.title), plain(unit.body), spellings) for number, unit in units]
    counts = lexical_tables.units_per_term(rows)
    numbers = _terms(connection, space, counts)
    if with_numbers:
        numbered = ((*row, _numbered(row, numbers)) for row in rows)
        _copy(connection, "streams (unit, title, body, compounds, terms)", numbered)
    else:
        _copy(connection, "streams (unit, title, body, compounds)", rows)
    _copy(connection, "postings (term, impact, unit)", _postings(rows, numbers))
    if spellings:
        connection.execute(
            "INSERT INTO words SELECT * FROM unnest(%s::text[], %s::text[]) ON CONFLICT DO NOTHING",
            (list(spellings), list(spellings.values())),
        )
    words = sum(lexical_tables.length(row) for row in rows)
    connection.execute("UPDATE spaces SET words = words + %s WHERE number = %s", (words, space))


def _unindex(connection: "Connection[Any]", space: int, rows: Sequence[UnitTerms]) -> None:
    counts = lexical_tables.units_per_term(rows)
    numbers = _terms(connection, space, Counter({term: -units for term, units in counts.items()}))
    gone = list(_postings(rows, numbers))
    connection.execute(
        """
        DELETE FROM postings USING unnest(%s::int[], %s::smallint[], %s::bigint[]) AS gone (term, impact, unit)
        WHERE postings.term = gone.term AND postings.impact = gone.impact AND postings.unit = gone.unit
        """,
        ([each[0] for each in gone], [each[1] for each in gone], [each[2] for each in gone]),
    )
    terms = list(counts)
    connection.execute("DELETE FROM terms WHERE term = ANY(%s) AND units <= 0", (terms,))
    connection.execute(
        """
        DELETE FROM words WHERE term = ANY(%s) AND NOT EXISTS (SELECT 1 FROM terms WHERE terms.term = words.term)
        """,
        (terms,),
    )
    words = sum(lexical_tables.length(row) for row in rows)
    connection.execute("UPDATE spaces SET words = words - %s WHERE number = %s", (words, space))


def _terms(connection: "Connection[Any]", space: int, counts: Counter[str]) -> dict[str, int]:
    """Count units for terms; the numbers of the terms."""
    rows = connection.execute(
        """
        INSERT INTO terms (space, term, units) SELECT %s, * FROM unnest(%s::text[], %s::int[])
        ON CONFLICT (term, space) DO UPDATE SET units = terms.units + excluded.units RETURNING term, number
        """,
        (space, list(counts), list(counts.values())),
    )
    return dict(rows.fetchall())


def _numbered(row: UnitTerms, numbers: Mapping[str, int]) -> bytes:
    """The terms of a unit as numbers (`tables.TERM_NUMBERS`)."""
    import numpy as np

    title, body, compounds = row.title.split(), row.body.split(), row.compounds.split()
    characters = len(row.title) + len(row.body) + len(row.compounds)
    counts = (len(title), len(title) + len(body), characters)
    terms = (numbers[term] for term in chain(title, body, compounds))
    return np.fromiter(chain(counts, terms), TERM_NUMBERS).tobytes()


def _postings(rows: Iterable[UnitTerms], numbers: dict[str, int]) -> Iterator[tuple[int, int, int]]:
    for row in rows:
        times = Counter(row.body.split())
        times.update(row.compounds.split())
        for term in row.title.split():
            times[term] += _TITLE_WEIGHT
        share = lexical_tables.length(row) / _USUAL_WORDS
        norm = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * share)
        for term, count in times.items():
            yield numbers[term], round(LARGEST_IMPACT * count / (count + norm)), row.unit


def plain(text: Any) -> Any:
    """The text without NUL, which PostgreSQL cannot store."""
    return text.replace("\x00", "\N{REPLACEMENT CHARACTER}") if text and "\x00" in text else text


def _copy(connection: "Connection[Any]", target: str, rows: Iterable[Sequence[Any]]) -> None:
    with connection.cursor().copy(f"COPY {target} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
