"""Counts and checks of a store for `clew doctor`."""

import sqlite3
from pathlib import Path
from typing import Any

import msgspec

from clew.store.sqlite.connections import SqliteConnection
from clew.store.sqlite.light_connection import AS_WRITTEN, log_of, size_of
from clew.store.sqlite.migrations import schema_version

_COUNTED = {
    "records": "records",
    "events": "events",
    "tombstones": "tombstones",
    "jobs": "jobs",
}

_UNREADABLE = """
    SELECT 'the value of ' || collection || '/' || id || ' is not JSON' FROM records
        WHERE NOT readable(CAST(data AS BLOB))
    UNION ALL
    SELECT 'the deleted value of ' || collection || '/' || id || ' is not JSON' FROM tombstones
        WHERE NOT readable(CAST(data AS BLOB))
    UNION ALL
    SELECT 'event ' || seq || ' is not JSON' FROM events
        WHERE NOT readable(CAST(before AS BLOB)) OR NOT readable(CAST(after AS BLOB))
"""
_CHANGED = f"""
    SELECT 'the value of ' || collection || '/' || id || ' is not the one that its last event holds' FROM records
    WHERE NOT {AS_WRITTEN}
    UNION ALL
    SELECT 'event ' || seq || ' does not begin with the value that the one before it ended with' FROM (
        SELECT seq, version, before, lag(after) OVER same AS ended, lag(version) OVER same AS earlier FROM events
        WINDOW same AS (PARTITION BY collection, id ORDER BY seq)
    ) WHERE version = earlier + 1 AND before <> ended
"""  # noqa: S608


def described(connection: SqliteConnection, path: Path) -> dict[str, Any]:
    (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
    return {
        "engine": "sqlite",
        "engine_version": sqlite3.sqlite_version,
        "location": str(path),
        "schema_version": schema_version(connection),
        "journal_mode": journal,
        "read_only": not connection.writable,
        "disk_full": connection.refusal is not None,
        "bytes": size_of(path) + size_of(log_of(path)),
    }


def counted(connection: SqliteConnection) -> dict[str, Any]:
    """Counts of the rows of each kind."""
    counts = ", ".join(f"(SELECT count(*) FROM {table})" for table in _COUNTED.values())  # noqa: S608
    return dict(zip(_COUNTED, connection.execute(f"SELECT {counts}").fetchone(), strict=True))


_LOST = """
    SELECT 'the record ' || said.collection || '/' || said.id || ' is missing, or older than its last event' FROM (
        SELECT collection, id, max(version) AS version FROM events GROUP BY collection, id
    ) AS said LEFT JOIN entries ON entries.collection = said.collection AND entries.id = said.id
    WHERE entries.version IS NULL OR entries.version < said.version
"""
"""An id keeps its row for good, also when its record is deleted or purged."""


def flaw(connection: SqliteConnection) -> str | None:
    """The first fault in the structure of a store: a damaged page, or one that is not in its place. Values are compared
    when they are read, so that a damaged one takes no other away."""
    (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        # A line about the database as a whole comes first.
        return str(found).splitlines()[-1]
    lost = connection.execute(f"{_LOST} LIMIT 1").fetchone()
    return None if lost is None else str(lost[0])


def damage(connection: SqliteConnection) -> list[str]:
    found = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
    found += [
        f"a row of {table} refers to a row of {parent} that does not exist"
        for table, _, parent, _ in connection.execute("PRAGMA foreign_key_check")
    ]
    # A damaged tree may lose its reader in the middle of it.
    return found or [row[0] for row in connection.execute(_LOST)] or _damaged_values(connection)


def _damaged_values(connection: SqliteConnection) -> list[str]:
    # SQLite's own `json_valid` takes a text that is not UTF-8.
    connection.create_function("readable", 1, _is_readable, deterministic=True)
    unreadable, changed = ((row[0] for row in connection.execute(query)) for query in (_UNREADABLE, _CHANGED))
    return list(unreadable) or list(changed)


def _is_readable(value: bytes | None) -> bool:
    try:
        msgspec.json.decode(b"null" if value is None else value)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True
