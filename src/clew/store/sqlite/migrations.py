"""The schema, as the steps that lead to it. A step that has been released is never changed: what comes later is a new
step at the end.

The number of the last step taken is in the file itself (`user_version`), and so is the sign that the file is Clew's
(`application_id`).
"""

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from clew.errors import StoreError, StoreTooNew
from clew.store.sqlite.faults import damaged
from clew.store.sqlite.guard import SchemaRows, foreign_objects, missing_objects, schema_of

APPLICATION_ID = int.from_bytes(b"Clew")


class SqliteMigration(msgspec.Struct, frozen=True):
    number: int
    name: str
    statements: tuple[str, ...]


_RECORDS = (
    # An id keeps its row for good: the version goes on counting. `data` is null while the record is deleted, and the
    # value itself is in `tombstones`, so even a query that went past the view would not see it.
    """
    CREATE TABLE entries (
        collection TEXT NOT NULL,
        id TEXT NOT NULL,
        version INTEGER NOT NULL CHECK (version > 0),
        data TEXT,
        updated_at TEXT NOT NULL,
        PRIMARY KEY (collection, id)
    ) WITHOUT ROWID
    """,
    "CREATE VIEW records AS SELECT collection, id, version, data, updated_at FROM entries WHERE data IS NOT NULL",
    # `number` rises with every deletion: the order in which they happened, whatever the clock says.
    """
    CREATE TABLE tombstones (
        number INTEGER PRIMARY KEY,
        collection TEXT NOT NULL,
        id TEXT NOT NULL,
        version INTEGER NOT NULL,
        data TEXT NOT NULL,
        deleted_at TEXT NOT NULL,
        actor TEXT NOT NULL,
        reason TEXT NOT NULL,
        UNIQUE (collection, id),
        FOREIGN KEY (collection, id) REFERENCES entries (collection, id)
    )
    """,
)

EVENTS_ARE_NEVER_CHANGED = """
    CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END
    """
_EVENTS = (
    """
    CREATE TABLE events (
        seq INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        actor TEXT NOT NULL,
        operation TEXT NOT NULL CHECK (operation IN ('put', 'delete', 'restore')),
        reason TEXT NOT NULL,
        collection TEXT NOT NULL,
        id TEXT NOT NULL,
        version INTEGER NOT NULL,
        before TEXT,
        after TEXT
    )
    """,
    "CREATE INDEX events_by_id ON events (id, collection)",
    "CREATE INDEX events_by_collection ON events (collection)",
    EVENTS_ARE_NEVER_CHANGED,
    """
    CREATE TRIGGER events_are_never_removed BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END
    """,
    # INSERT OR REPLACE removes the old row without the trigger above.
    """
    CREATE TRIGGER events_are_never_replaced BEFORE INSERT ON events
    WHEN EXISTS (SELECT 1 FROM events WHERE seq = NEW.seq)
    BEGIN SELECT RAISE(ABORT, 'events are append-only'); END
    """,
)

_JOBS = (
    """
    CREATE TABLE jobs (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'cancelled')),
        done INTEGER NOT NULL,
        total INTEGER,
        message TEXT NOT NULL,
        cancel_requested INTEGER NOT NULL,
        started_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        host TEXT NOT NULL,
        boot TEXT NOT NULL,
        pid INTEGER NOT NULL,
        process_started TEXT NOT NULL
    )
    """,
)

_FILE_CACHE = (
    # `path` holds bytes because a file's name need not be UTF-8, `mtime_ns` text because a time after the year 2262
    # does not fit 64 bits.
    """
    CREATE TABLE file_cache (
        reader TEXT NOT NULL,
        path BLOB NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns TEXT NOT NULL,
        content_hash TEXT NOT NULL,
        payload BLOB NOT NULL,
        PRIMARY KEY (reader, path)
    )
    """,
)

_SETTINGS = ("CREATE TABLE settings (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",)

MIGRATIONS: tuple[SqliteMigration, ...] = (
    SqliteMigration(1, "records", _RECORDS),
    SqliteMigration(2, "events", _EVENTS),
    SqliteMigration(3, "jobs", _JOBS),
    SqliteMigration(4, "file cache", _FILE_CACHE),
    SqliteMigration(5, "settings", _SETTINGS),
    # What readers made of files is derived data, in a file of its own.
    SqliteMigration(6, "no file cache", ("DROP TABLE file_cache",)),
)

SCHEMA_VERSION = MIGRATIONS[-1].number
_ALL = tuple(statement for migration in MIGRATIONS for statement in migration.statements)
_ALL_THERE = tuple(statement for statement in _ALL if statement not in _FILE_CACHE)
_MOST_NAMED = 3


def check_origin(connection: sqlite3.Connection, path: Path) -> int:
    """The file's schema version; 0 for an empty file. An error, before anything is written, where the file is another
    program's or a newer Clew's."""
    # One read transaction: a process that creates the store meanwhile is seen entirely or not at all.
    connection.execute("BEGIN")
    try:
        (origin,) = connection.execute("PRAGMA application_id").fetchone()
        version = schema_version(connection)
        there = schema_of(connection)
    finally:
        connection.execute("ROLLBACK")
    is_own = origin == APPLICATION_ID and version <= SCHEMA_VERSION
    foreign, missing = _differences(there, is_current=version == SCHEMA_VERSION) if is_own else ((), ())
    if origin != APPLICATION_ID and (origin or version or there):
        raise StoreError(
            f"{path} is an SQLite database of another program, not a Clew store.",
            hint="Move it away, or choose another place for the store. The file was not changed.",
        )
    if version > SCHEMA_VERSION:
        raise StoreTooNew(
            f"The store {path} has schema version {version}; this Clew knows versions up to {SCHEMA_VERSION}.",
            hint="Update Clew to the version that wrote the store. The file was not changed.",
            data={"found": version, "supported": SCHEMA_VERSION},
        )
    if foreign:
        raise StoreError(
            f"The store {path} holds {', '.join(foreign[:_MOST_NAMED])}, which Clew did not make and which could "
            "change what is read or written.",
            hint="If it came from somebody else, move it away, and Clew begins a new store. Otherwise drop what "
            "another program added to it. The file was not changed.",
        )
    if missing:
        raise damaged(path, f"{', '.join(missing[:_MOST_NAMED])} is missing")
    return version


# Nearly every store of a process has the same schema.
@lru_cache(maxsize=4)
def _differences(there: SchemaRows, *, is_current: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The objects of a schema that Clew does not make, and those that it lacks."""
    return foreign_objects(there, _ALL), missing_objects(there, _ALL_THERE) if is_current else ()


def schema_version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def migrate(connection: sqlite3.Connection, migrations: Sequence[SqliteMigration] = MIGRATIONS) -> None:
    """Take the steps that are missing, each in a transaction of its own."""
    for migration in migrations:
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Read under the writer's lock: another process may have taken the step in the meantime.
            if schema_version(connection) < migration.number:
                for statement in migration.statements:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {migration.number}")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
