"""What the store should hold of a document: found by putting it into an empty one.

Whoever compares with that needs to know nothing of how a document is kept, and overlooks no column.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from clew.kb.library import insert_document
from clew.kb.library_file import create_tables
from clew.kb.library_rows import Rows, rows_of
from clew.kb.records import Prepared
from clew.store.sqlite.connections import Connection


class BlankLibrary:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def rows_of(self, prepared: Prepared) -> Rows:
        """The rows that a document would have."""
        self._connection.execute("BEGIN")
        try:
            insert_document(self._connection, prepared, "")
            return rows_of(self._connection, prepared.document.path)
        finally:
            self._connection.execute("ROLLBACK")


@contextmanager
def blank_library() -> Iterator[BlankLibrary]:
    """A store of documents in memory, with nothing in it."""
    connection = sqlite3.connect(":memory:", isolation_level=None, factory=Connection)
    try:
        create_tables(connection)
        yield BlankLibrary(connection)
    finally:
        connection.close()
