"""What `clew doctor` asks of a store: what is in it, and whether it is whole."""

import sqlite3
from pathlib import Path
from typing import Any

from clew.store.sqlite.connections import Connection, log_of, size_of
from clew.store.sqlite.migrations import schema_version

_COUNTED = {
    "records": "records",
    "events": "events",
    "tombstones": "tombstones",
    "jobs": "jobs",
}

_UNREADABLE = """
    SELECT 'the value of ' || collection || '/' || id || ' is not JSON' FROM records WHERE NOT json_valid(data)
    UNION ALL
    SELECT 'the deleted value of ' || collection || '/' || id || ' is not JSON' FROM tombstones
        WHERE NOT json_valid(data)
    UNION ALL
    SELECT 'event ' || seq || ' is not JSON' FROM events
        WHERE NOT json_valid(coalesce(before, 'null')) OR NOT json_valid(coalesce(after, 'null'))
"""


def described(connection: Connection, path: Path) -> dict[str, Any]:
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


def counted(connection: Connection) -> dict[str, Any]:
    """How many rows of each kind there are."""
    counts = ", ".join(f"(SELECT count(*) FROM {table})" for table in _COUNTED.values())  # noqa: S608
    return dict(zip(_COUNTED, connection.execute(f"SELECT {counts}").fetchone(), strict=True))


def damage(connection: Connection) -> list[str]:
    found = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
    found += [
        f"a row of {table} points to one in {parent} that is not there"
        for table, _, parent, _ in connection.execute("PRAGMA foreign_key_check")
    ]
    # A damaged tree may lose its reader in the middle of it.
    return found or [row[0] for row in connection.execute(_UNREADABLE)]
