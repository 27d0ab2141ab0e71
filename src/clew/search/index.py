"""The units of a project in a file of SQLite, and the lexical index over them.

Writes are transactions: a unit is in the tables and in the lexical index together, or in neither. Any number of threads
and processes may read and write. Nothing here uses vectors; they are kept apart, under the numbers of the units.

Everything in the file can be made again from what the units were made of, so a damaged file is replaced by an empty
one. Of one that an older Clew cut into words in another way the embeddings stay, which take long to make.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from clew.derived.file import PATIENCE_SECONDS, DerivedFile
from clew.errors import StoreCorrupt
from clew.search.embedded import ONLY_ITSELF, WRITES_NOTED, EmbeddedIndexReader, UnitRest
from clew.search.index_tables import SCHEMA
from clew.search.lexical import tables as lexical_tables
from clew.search.lexical.full_text import in_json
from clew.search.rank.mentions import title_key
from clew.search.unit_store import IndexedText, KnownUnit, NewUnit, UnitStore
from clew.search.units import Unit, moment
from clew.store.sqlite.connections import SqliteConnection
from clew.text.hashing import short_hash

_REMEDY = "Run `clew index --rebuild`."


class UnitIndex(DerivedFile, UnitStore):
    series = ""

    def __init__(self, path: Path, *, patience: float = PATIENCE_SECONDS) -> None:
        super().__init__(path, SCHEMA, patience=patience)
        with self.reading() as connection:
            (self.series,) = connection.execute("SELECT series FROM index_state").fetchone()
        """Names this file: another one, even at the same place, counts its units again."""

    @contextmanager
    def reading(self) -> Iterator[SqliteConnection]:
        with self._naming_itself(), super().reading() as connection:
            yield connection

    @contextmanager
    def writing(self, *, durable: bool = False) -> Iterator[SqliteConnection]:
        with self._naming_itself(), super().writing(durable=durable) as connection:
            yield connection

    @contextmanager
    def unbound(self) -> Iterator[SqliteConnection]:
        with self._naming_itself(), super().unbound() as connection:
            yield connection

    @contextmanager
    def _naming_itself(self) -> Iterator[None]:
        """An error by damage names the index that has it."""
        try:
            yield
        except StoreCorrupt as error:
            if error.data.get("path", str(self.path)) != str(self.path):
                # A search follows edges, which other files hold.
                raise
            raise StoreCorrupt(error.message, hint=_REMEDY, data={**error.data, "index": self.series}) from error

    @contextmanager
    def asked(self) -> Iterator[EmbeddedIndexReader]:
        with self.reading() as connection:
            yield EmbeddedIndexReader(connection)

    @contextmanager
    def changing(self) -> Iterator["_FileTables"]:
        with self.writing() as connection:
            tables = _FileTables(connection)
            yield tables
            tables.finish()

    def before_tidying(self, connection: SqliteConnection) -> None:
        sweep(connection)
        repack(connection)
        # What many writes left behind is merged as well.
        connection.execute("INSERT INTO lexical (lexical) VALUES ('optimize')")

    def hashes(self, part: str) -> dict[str, str]:
        with self.reading() as connection:
            rows = connection.execute("SELECT id, content_hash FROM indexed_units WHERE part = ?", (part,))
            return dict(rows.fetchall())

    def units_of_others(self, part: str) -> list[Unit]:
        with self.asked() as reading:
            find = "SELECT number FROM indexed_units WHERE part <> ? ORDER BY number"
            rows = reading.connection.execute(find, (part,)).fetchall()
            return list(reading.units_of(number for (number,) in rows).values())

    def beyond_files(self) -> tuple[IndexedText, ...]:
        return ()


class _FileTables:
    """Changes of units in one transaction."""

    def __init__(self, connection: SqliteConnection) -> None:
        self._connection = connection
        self._touched: list[int] = []
        self._files: set[tuple[int]] = set()

    def known(self, ids: Sequence[str]) -> dict[str, KnownUnit]:
        return EmbeddedIndexReader(self._connection).known(ids)

    def insert(self, units: Sequence[NewUnit]) -> None:
        numbers = [(_insert(self._connection, new), new.unit) for new in units]
        self._touched += [number for number, _ in numbers]
        # What is quoted is in a file of the project; what somebody asked to remember may have to go without a
        # trace.
        lasting = frozenset(number for number, unit in numbers if unit.quoted)
        lexical_tables.put(self._connection, ((number, unit.title, unit.body) for number, unit in numbers), lasting)

    def update(self, units: Sequence[tuple[int, NewUnit]]) -> None:
        self._touch([number for number, _ in units])
        columns = ", ".join(f"{column} = ?" for column in _CHANGEABLE)
        for number, new in units:
            values = (*_changeable(self._connection, new), number)
            self._connection.execute(f"UPDATE unit_rows SET {columns} WHERE number = ?", values)  # noqa: S608

    def remove(self, numbers: Sequence[int]) -> None:
        self._touch(numbers)
        said = lexical_tables.texts(self._connection, numbers)
        keys = [(title_key(text.title), number) for number, text in said.items()]
        self._connection.executemany("DELETE FROM unit_titles WHERE key = ? AND number = ?", keys)
        lexical_tables.remove(self._connection, numbers)
        self._connection.executemany("DELETE FROM unit_rows WHERE number = ?", [(number,) for number in numbers])

    def finish(self) -> None:
        """Count the write with the units that it touched, and remove files without units. An edited file gets a new
        time; its former units are not compared again."""
        unused = "NOT EXISTS (SELECT 1 FROM unit_rows WHERE unit_rows.file = unit_files.file)"
        self._connection.executemany(f"DELETE FROM unit_files WHERE file = ? AND {unused}", self._files)  # noqa: S608
        if not self._touched:
            return
        self._connection.execute("UPDATE index_state SET version = version + 1")
        _, version = EmbeddedIndexReader(self._connection).writes()
        runs = [(version, *run) for run in _runs(self._touched)]
        self._connection.executemany("INSERT INTO unit_changes VALUES (?, ?, ?)", runs)
        self._connection.execute("DELETE FROM unit_changes WHERE version <= ?", (version - WRITES_NOTED,))

    def _touch(self, numbers: Sequence[int]) -> None:
        self._touched += numbers
        find = "SELECT DISTINCT file FROM json_each(?) CROSS JOIN unit_rows ON number = value WHERE file IS NOT NULL"
        self._files.update(self._connection.execute(find, (in_json(numbers),)).fetchall())


def _insert(connection: SqliteConnection, new: NewUnit) -> int:
    unit = new.unit
    columns = (
        *(short_hash(unit.id), bytes.fromhex(new.text_hash), len(unit.title) + len(unit.body), unit.quoted),
        *_changeable(connection, new),
    )
    inserted = connection.execute(
        f"""
        INSERT INTO unit_rows (hash, text, characters, quoted, {", ".join(_CHANGEABLE)})
        VALUES (?, ?, ?, ?, {", ".join("?" * len(_CHANGEABLE))})
        """,  # noqa: S608 - names of columns
        columns,
    )
    number = inserted.lastrowid
    assert number is not None  # noqa: S101
    if key := title_key(unit.title):
        connection.execute("INSERT OR IGNORE INTO unit_titles VALUES (?, ?)", (key, number))
    return number


_CHANGEABLE = (
    *("whole_id", "end_of_id", "whole_document", "file", "part", "status", "session", "agent", "own_time"),
    *("place", "speaker", "role", "tags", "rest", "content"),
)
"""The columns that may change while the text of a unit stays."""


def _changeable(connection: SqliteConnection, new: NewUnit) -> tuple[object, ...]:
    unit = new.unit
    id = (None, unit.id.removeprefix(unit.document)) if unit.document and unit.id.startswith(unit.document) else None
    before_path = None
    if unit.document is not None and unit.path and unit.document.endswith(unit.path):
        before_path = unit.document.removesuffix(unit.path)
    time = moment(unit.time)
    return (
        *(id or (unit.id, None)),
        *(unit.document if before_path is None else None, _file(connection, unit.path, before_path, time)),
        *(unit.part, unit.status, unit.session, unit.agent, time if unit.path is None else None),
        *(unit.place, unit.speaker, unit.role, _tags(connection, unit.tags), _rest(unit)),
        bytes.fromhex(new.content_hash),
    )


def _rest(unit: Unit) -> bytes | None:
    links = tuple("" if link == unit.id else link for link in unit.links)
    time = None if unit.time == moment(unit.time) else unit.time
    rest = UnitRest(links, time)
    return msgspec.msgpack.encode(rest) if rest != ONLY_ITSELF else None


def _file(connection: SqliteConnection, path: str | None, before_path: str | None, time: str | None) -> int | None:
    """The number of the row that units of one file share; None for a unit without a file."""
    if path is None:
        return None
    find = "SELECT file FROM unit_files WHERE path = ? AND before_path IS ? AND common_time IS ?"
    known = connection.execute(find, (path, before_path, time)).fetchone()
    if known is not None:
        return int(known[0])
    put = "INSERT INTO unit_files (path, before_path, common_time) VALUES (?, ?, ?)"
    return connection.execute(put, (path, before_path, time)).lastrowid


def _tags(connection: SqliteConnection, tags: tuple[str, ...]) -> int:
    """The number of a list of tags."""
    listed = (msgspec.json.encode(tags).decode(),)
    find = "SELECT tags FROM tag_lists WHERE list = ?"
    known = connection.execute(find, listed).fetchone()
    if known is None:
        number = connection.execute("INSERT INTO tag_lists (list) VALUES (?)", listed).lastrowid
        connection.executemany("INSERT OR IGNORE INTO listed_tags VALUES (?, ?)", [(number, tag) for tag in tags])
        known = (number,)
    return int(known[0])


def sweep(connection: SqliteConnection) -> None:
    """Delete rows that belonged to units that are gone."""
    lexical_tables.sweep(connection)
    for table in ("listed_tags", "tag_lists"):
        connection.execute(f"DELETE FROM {table} WHERE tags NOT IN (SELECT tags FROM unit_rows)")  # noqa: S608
    used = "SELECT file FROM unit_rows WHERE file IS NOT NULL"
    connection.execute(f"DELETE FROM unit_files WHERE file NOT IN ({used})")  # noqa: S608


def repack(connection: SqliteConnection) -> None:
    """Pack all units again without texts of deleted units."""
    rows = connection.execute("SELECT number FROM indexed_units WHERE quoted ORDER BY number")
    lexical_tables.repack(connection, [number for (number,) in rows])


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of numbers that follow one another."""
    first = last = None
    for number in sorted(set(numbers)):
        if last is not None and number == last + 1:
            last = number
            continue
        if first is not None and last is not None:
            yield first, last
        first = last = number
    if first is not None and last is not None:
        yield first, last
