"""Packed texts in derived files: their bytes do not show in the file.

A file that packs texts of the project's files says so in a view, `packed_texts`: the number and the path of each
document, the hash of the file that it was read from, and what was packed. What is deleted from the view is deleted with
everything that was made of the document. A number stands for one content for ever. Another view, `earlier_names`, has
the names by which something was known before, such as by an earlier heading, with the path of the file that it is in.
"""

import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from clew.derived.file import PATIENCE_SECONDS
from clew.errors import StoreCorrupt
from clew.store.sqlite.compacting import compact
from clew.store.sqlite.connections import SqliteConnections

_COLUMNS = """
    SELECT (SELECT count(*) FROM pragma_table_info('packed_texts') WHERE name IN ('number', 'content_hash'))
        + (SELECT count(*) FROM pragma_table_info('earlier_names') WHERE name IN ('name', 'path'))
    """
_VIEW = "SELECT number, path, content_hash, packed FROM packed_texts WHERE number > ?"
"""`packed` is as zlib makes it."""


class PackedText(NamedTuple):
    number: int
    path: str
    content_hash: str
    said: str


def packs_texts(place: Path) -> bool:
    """True if a SQLite file has views of packed texts; False for a damaged one and for one of an earlier Clew."""
    try:
        with closing(_opened(place, read_only=True)) as connections, connections.reading() as connection:
            return bool(connection.execute(_COLUMNS).fetchone() == (4,))
    except StoreCorrupt:
        return False


def packed_texts(place: Path, *, after: int = 0) -> Iterator[PackedText]:
    """The packed texts of documents with a higher number than this."""
    with closing(_opened(place, read_only=True)) as connections, connections.reading() as connection:
        for number, path, content_hash, packed in connection.execute(_VIEW, (after,)):
            # What is damaged is told by its owner.
            with suppress(zlib.error):
                yield PackedText(number, path, content_hash, zlib.decompress(packed).decode("utf-8", "replace"))


def earlier_names(place: Path) -> list[tuple[str, str | None]]:
    """Earlier names of files, each with the present path of the file; None if the file is gone."""
    with closing(_opened(place, read_only=True)) as connections, connections.reading() as connection:
        return connection.execute("SELECT name, path FROM earlier_names").fetchall()


def take_out(place: Path, numbers: Iterable[int], names: Iterable[str] = ()) -> None:
    """Remove documents and earlier names from a file, and every byte of rows deleted before."""
    with closing(_opened(place, read_only=False)) as connections:
        with connections.writing() as connection:
            connection.executemany("DELETE FROM packed_texts WHERE number = ?", [(number,) for number in numbers])
            connection.executemany("DELETE FROM earlier_names WHERE name = ?", [(name,) for name in names])
        compact(connections, PATIENCE_SECONDS)


def _opened(place: Path, *, read_only: bool) -> SqliteConnections:
    return SqliteConnections(place, read_only=read_only, busy_timeout=PATIENCE_SECONDS)
