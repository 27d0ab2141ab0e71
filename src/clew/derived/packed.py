"""What derived files keep in a packed form, in which their bytes do not show it.

A file that packs texts of the project's files says so in a view, `packed_texts`: the path of each, and what was packed.
"""

import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from clew.derived.file import PATIENCE_SECONDS
from clew.store.sqlite.connections import Connections

_HAS_VIEW = "SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = 'packed_texts'"
_VIEW = "SELECT path, packed FROM packed_texts"
"""`packed` is as zlib makes it."""


def packed_texts(place: Path) -> Iterator[tuple[str, bytes]]:
    """The paths of the files whose texts a SQLite file keeps packed, each with what is kept of it; nothing of a file
    that has no such view."""
    connections = Connections(place, read_only=True, busy_timeout=PATIENCE_SECONDS)
    try:
        with connections.reading() as connection:
            if connection.execute(_HAS_VIEW).fetchone():
                for path, packed in connection.execute(_VIEW):
                    # What is damaged is told by its owner.
                    with suppress(zlib.error):
                        yield path, zlib.decompress(packed)
    finally:
        connections.close()
