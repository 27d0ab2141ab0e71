"""Places that index files of other programs bind to symbols, kept beside the records of source files.

Of each file they are kept with the hash of the content that they are about: they count only as long as the file has it.
"""

# Implements: REQ-d00788

from collections.abc import Callable, Iterable, Sequence

import msgspec

from clew.derived.file import DerivedFile
from clew.derived.sealed import checksum, sealed, unsealed
from clew.store.sqlite.connections import SqliteConnection
from clew.store.sqlite.faults import damaged

INDEXED_TABLES = (
    """CREATE TABLE indexes (
        path TEXT PRIMARY KEY, stamp TEXT NOT NULL, said TEXT NOT NULL, checked INTEGER NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE indexed (
        number INTEGER PRIMARY KEY, path TEXT NOT NULL, origin TEXT NOT NULL, content_hash TEXT NOT NULL,
        places BLOB NOT NULL, UNIQUE (origin, path)
    )""",
    "CREATE INDEX indexed_by_path ON indexed (path)",
    """CREATE TABLE indexed_names (
        symbol INTEGER NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (symbol, file)
    ) WITHOUT ROWID""",
)
_PRESENT = (
    "SELECT indexed.origin, indexed.path, indexed.places FROM indexed "
    "JOIN files ON files.path = indexed.path AND files.content_hash = indexed.content_hash"
)
CALLED = 1 << 20
"""Among the roles of a place: a bracket follows the name."""
PLACE_SIZE = 4
"""Numbers of one place: line, column (in characters, from 0), roles, and the place of its symbol in `symbols`."""


class IndexedFile(msgspec.Struct, frozen=True, array_like=True):
    """The places of one file that an index binds."""

    path: str
    content_hash: str
    """Of the content that the places are about; empty if the file is another one than the indexer read."""
    symbols: tuple[str, ...]
    places: tuple[int, ...]


class KnownIndex(msgspec.Struct, frozen=True):
    path: str
    stamp: str
    """Size and time of the file that was read."""
    said: str
    """The name and version of the program that wrote it, or the reason for which it was not read."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(IndexedFile).decode


def count_write(connection: SqliteConnection) -> None:
    """Say that answers may differ from here on."""
    connection.execute("INSERT INTO marks VALUES ('writes', 1) ON CONFLICT DO UPDATE SET value = value + 1")


class IndexedPlaces:
    def __init__(self, file: DerivedFile, number_of: Callable[[str], int]) -> None:
        self._file = file
        self._number_of = number_of

    def indexes(self) -> list[KnownIndex]:
        with self._file.reading_latest() as connection:
            rows = connection.execute("SELECT path, stamp, said, checked FROM indexes ORDER BY path")
            return [KnownIndex(*row[:3]) for row in self._file.checked(rows)]

    def put(self, index: KnownIndex, files: Iterable[IndexedFile]) -> None:
        """Replace what is kept of an index."""
        with self._file.writing_latest() as connection:
            count_write(connection)
            self._forget(connection, index.path)
            values = (index.path, index.stamp, index.said)
            connection.execute("INSERT INTO indexes VALUES (?, ?, ?, ?)", (*values, checksum(*values)))
            # An index may name a file twice, in several spellings.
            for each in {each.path: each for each in files}.values():
                packed = sealed(_encode(each), index.path, each.path)
                number = connection.execute(
                    "INSERT INTO indexed (path, origin, content_hash, places) VALUES (?, ?, ?, ?)",
                    (each.path, index.path, each.content_hash, packed),
                ).lastrowid
                numbers = {self._number_of(symbol) for symbol in each.symbols}
                connection.executemany("INSERT INTO indexed_names VALUES (?, ?)", [(one, number) for one in numbers])

    def forget(self, paths: Sequence[str]) -> None:
        """Forget what is kept of indexes that are gone."""
        with self._file.writing_latest() as connection:
            count_write(connection)
            for path in paths:
                self._forget(connection, path)

    def _forget(self, connection: SqliteConnection, path: str) -> None:
        own = "SELECT number FROM indexed WHERE origin = ?"
        connection.execute(f"DELETE FROM indexed_names WHERE file IN ({own})", (path,))  # noqa: S608 - no value in it
        connection.execute("DELETE FROM indexed WHERE origin = ?", (path,))
        connection.execute("DELETE FROM indexes WHERE path = ?", (path,))

    def of_file(self, path: str) -> list[IndexedFile]:
        """The places of a file in every index that is about its present content."""
        return self._found("indexed.path = ?", path)

    def with_symbol(self, symbol: str) -> list[IndexedFile]:
        """The files that may use a symbol, as far as an index is about their present content."""
        number = self._number_of(symbol)
        return self._found("indexed.number IN (SELECT file FROM indexed_names WHERE symbol = ?)", number)

    def counts(self) -> tuple[int, int]:
        """The numbers of files that indexes are about, and of those that have another content now."""
        query = (
            "SELECT count(*), ifnull(sum(indexed.content_hash != files.content_hash), 0) FROM indexed "
            "JOIN files ON files.path = indexed.path"
        )
        with self._file.reading_latest() as connection:
            files, changed = connection.execute(query).fetchone()
        return int(files), int(changed)

    def _found(self, where: str, value: object) -> list[IndexedFile]:
        query = f"{_PRESENT} WHERE {where} ORDER BY indexed.path, indexed.origin"
        found = []
        with self._file.reading_latest() as connection:
            for origin, path, packed in connection.execute(query, (value,)):
                data = unsealed(packed, origin, path)
                if data is None:
                    raise damaged(self._file.path, "what an index knows is not what was written")
                found.append(_decode(data))
        return found
