"""A read-only connection to a SQLite file for a process that has no time to load more than SQLite: a hook."""

import sqlite3
from pathlib import Path

from clew.edit import below
from clew.store.sqlite.guard import guard

_PROTECTED = "mode=ro&immutable=1"
"""The mode for a protected folder, in which SQLite cannot make the files it needs beside a store."""

VALUE = "CAST(records.data AS BLOB)"
AS_WRITTEN = """coalesce((
    SELECT events.after = records.data FROM events WHERE events.id = records.id
        AND events.collection = records.collection AND events.version = records.version AND events.after IS NOT NULL
    ORDER BY events.seq DESC LIMIT 1
), 1)"""
"""SQLite notices a page whose structure is damaged, and not a letter that changed inside of a text. What a record holds
is there twice, in the record and in its event, so that a change of either is noticed."""


def light_connection(path: Path, patience: float) -> sqlite3.Connection:
    """A read-only connection that waits for others so many seconds. The file may come with a cloned project, so its
    schema may call harmless functions only."""
    try:
        return _opened(path, "mode=ro", patience)
    except sqlite3.OperationalError as error:
        # The file alone lacks what is in its log, a purge perhaps.
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or size_of(log_of(path)):
            raise
        return _opened(path, _PROTECTED, patience)


def _opened(path: Path, access: str, patience: float) -> sqlite3.Connection:
    try:
        below.demand_plain(path)
    except OSError as error:
        raise sqlite3.DatabaseError(str(error)) from error
    connection = sqlite3.connect(f"{path.as_uri()}?{access}", uri=True, timeout=patience)
    try:
        guard(connection)
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def log_of(path: Path) -> Path:
    """The write-ahead log beside a store: writes that SQLite has not yet moved into the store itself."""
    return path.with_name(f"{path.name}-wal")


def size_of(path: Path) -> int:
    """The size of a file; 0 if it does not exist."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
