"""Cache of parsed files, so that an unchanged file is not read twice."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from clew.derived.file import DerivedFile, FileSchema
from clew.derived.sealed import sealed, unsealed
from clew.store.sqlite.connections import SqliteConnection

FILE = "parsed.db"

_TABLE = """
CREATE TABLE files (
    reader TEXT NOT NULL,
    path BLOB NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    payload BLOB NOT NULL,
    PRIMARY KEY (reader, path)
)
"""
"""`payload` is sealed with all other columns. `path` holds bytes because the name of a file need not be UTF-8,
`mtime_ns` text because a time after the year 2262 does not fit 64 bits."""

SCHEMA = FileSchema("The cache of parsed files", 2, (_TABLE,), "the files are read again", is_checked_by_row=True)


class CachedFile(msgspec.Struct, frozen=True):
    """The records that one reader made of one file."""

    path: str
    reader: str
    """The reader's name with everything its records depend on, such as its version and settings."""
    size: int
    mtime_ns: int
    content_hash: str
    payload: bytes


class ParseCache:
    """Any number of threads and processes may use it."""

    def __init__(self, folder: Path) -> None:
        self._file = DerivedFile(folder / FILE, SCHEMA)

    def close(self) -> None:
        self._file.close()

    def files(self, reader: str) -> dict[str, CachedFile]:
        """Every cached file of a reader, by path. A row that was altered is left out."""
        # As bytes: a text that is not UTF-8 would end the reading of all rows.
        query = """
            SELECT path, size, CAST(mtime_ns AS BLOB), CAST(content_hash AS BLOB), payload FROM files WHERE reader = ?
            """
        with self._file.reading_latest() as connection:
            rows = connection.execute(query, (reader,)).fetchall()
        found: dict[str, CachedFile] = {}
        for path, size, mtime_ns, content_hash, value in rows:
            payload = unsealed(value, reader, path, size, mtime_ns, content_hash)
            if payload is not None:
                name = _decoded(path)
                found[name] = CachedFile(name, reader, size, int(mtime_ns), content_hash.decode(), payload)
        return found

    def put(
        self, files: Iterable[CachedFile], *, forget: Iterable[tuple[str, str]] = (), only: Sequence[str] | None = None
    ) -> None:
        """Write entries and forget those of the given (reader, path) pairs, in one transaction. With `only`, entries of
        every other reader are forgotten as well: records of an earlier version are never read."""
        rows = [_row(file) for file in files]
        gone = [(reader, _encoded(path)) for reader, path in forget]
        with self._file.writing_latest() as connection:
            connection.executemany("DELETE FROM files WHERE reader = ? AND path = ?", gone)
            connection.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)", rows)
            if only is not None:
                _keep_only(connection, only)


def _row(file: CachedFile) -> tuple[object, ...]:
    path, mtime_ns = _encoded(file.path), str(file.mtime_ns)
    payload = sealed(file.payload, file.reader, path, file.size, mtime_ns.encode(), file.content_hash.encode())
    return file.reader, path, file.size, mtime_ns, file.content_hash, payload


def _keep_only(connection: SqliteConnection, readers: Sequence[str]) -> None:
    stored = {reader for (reader,) in connection.execute("SELECT DISTINCT reader FROM files").fetchall()}
    connection.executemany("DELETE FROM files WHERE reader = ?", [(reader,) for reader in stored - set(readers)])


# A name that is not UTF-8 reaches Python with lone surrogates in it, which SQLite's text does not take.
def _encoded(path: str) -> bytes:
    return path.encode(errors="surrogatepass")


def _decoded(path: bytes) -> str:
    return path.decode(errors="surrogatepass")
