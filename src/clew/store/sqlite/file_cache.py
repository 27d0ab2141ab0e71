"""What readers made of files, kept so that an unchanged file is not read twice."""

import sqlite3
from collections.abc import Iterable, Sequence

from clew.store.arguments import check_name, check_text
from clew.store.interface import CachedFile

Row = tuple[str, bytes, int, str, str, bytes]
Key = tuple[str, bytes]


def row_of(file: CachedFile) -> Row:
    check_name("reader", file.reader)
    check_text("content_hash", file.content_hash)
    return file.reader, _encoded(file.path), file.size, str(file.mtime_ns), file.content_hash, file.payload


def key_of(entry: tuple[str, str]) -> Key:
    reader, path = entry
    check_name("reader", reader)
    return reader, _encoded(path)


def replace(connection: sqlite3.Connection, rows: Sequence[Row], forget: Sequence[Key]) -> None:
    connection.executemany("DELETE FROM file_cache WHERE reader = ? AND path = ?", forget)
    connection.executemany("INSERT OR REPLACE INTO file_cache VALUES (?, ?, ?, ?, ?, ?)", rows)


def keep_only(connection: sqlite3.Connection, readers: Sequence[str]) -> None:
    stored = {reader for (reader,) in connection.execute("SELECT DISTINCT reader FROM file_cache").fetchall()}
    connection.executemany("DELETE FROM file_cache WHERE reader = ?", [(reader,) for reader in stored - set(readers)])


def cached(connection: sqlite3.Connection, reader: str) -> dict[str, CachedFile]:
    query = "SELECT path, size, mtime_ns, content_hash, payload FROM file_cache WHERE reader = ?"
    return _by_path(
        CachedFile(_decoded(path), reader, size, int(mtime_ns), content_hash, payload)
        for path, size, mtime_ns, content_hash, payload in connection.execute(query, (reader,)).fetchall()
    )


def _by_path(files: Iterable[CachedFile]) -> dict[str, CachedFile]:
    return {file.path: file for file in files}


# A name that is not UTF-8 reaches Python with lone surrogates in it, which SQLite's text does not take.
def _encoded(path: str) -> bytes:
    return path.encode(errors="surrogatepass")


def _decoded(path: bytes) -> str:
    return path.decode(errors="surrogatepass")
