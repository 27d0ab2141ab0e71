"""Taking out for good what was stored, also from the history: the one exception to events that are never changed."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from clew.errors import StoreBusy
from clew.store.interface import Rewrite
from clew.store.sqlite.connections import Connections, log_of, size_of
from clew.store.sqlite.faults import translated
from clew.store.sqlite.migrations import EVENTS_ARE_NEVER_CHANGED
from clew.store.sqlite.records import decode

_TABLES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    # The order of the table, its values, and its texts.
    "entries": ("collection, id", ("data",), ()),
    "tombstones": ("number", ("data",), ("reason",)),
    "events": ("seq", ("before", "after"), ("reason",)),
    "jobs": ("number", (), ("message",)),
}
_DELETE_TOMBSTONE = """
    DELETE FROM tombstones WHERE collection = ? AND id = ? AND EXISTS (
        SELECT 1 FROM entries WHERE entries.collection = tombstones.collection AND entries.id = tombstones.id
            AND entries.data IS NULL
    )
"""
_AT_ONCE = 2_000
_PAUSE = 0.05


def rewrite(connection: sqlite3.Connection, path: Path, edit: Rewrite) -> int:
    """Give every value and every reason that `edit` changes its new value, in a transaction of the caller; how many."""
    with _changing_events(connection):
        return sum(_rewrite_table(connection, path, edit, table) for table in _TABLES)


def erase(connection: sqlite3.Connection, collection: str, ids: Sequence[str]) -> list[str]:
    """Take out what was deleted under some ids, in a transaction of the caller; those that were erased."""
    erased: list[str] = []
    with _changing_events(connection):
        for id in ids:
            gone = connection.execute(_DELETE_TOMBSTONE, (collection, id))
            if gone.rowcount:
                connection.execute(
                    "UPDATE events SET before = NULL, after = NULL WHERE id = ? AND collection = ?", (id, collection)
                )
                erased.append(id)
    return erased


@contextmanager
def _changing_events(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("DROP TRIGGER events_are_never_changed")
    yield
    connection.execute(EVENTS_ARE_NEVER_CHANGED)


def _rewrite_table(connection: sqlite3.Connection, path: Path, edit: Rewrite, table: str) -> int:
    key, values, texts = _TABLES[table]
    place = "'', id" if table == "jobs" else "collection, id"
    columns = (*values, *texts)
    setting = ", ".join(f"{column} = ?" for column in columns)
    same = " AND ".join(f"{column} = ?" for column in key.split(", "))
    changed = 0
    for row in _rows(connection, f"SELECT {key}, {place}, {', '.join(columns)} FROM {table}"):  # noqa: S608
        width = len(key.split(", "))
        (collection, id), stored = row[width : width + 2], row[width + 2 :]
        new = [_edited(edit, collection, id, text, path) for text in stored[: len(values)]]
        if table == "tombstones" and new == [None]:
            # Without a value nothing can be restored from it.
            connection.execute("DELETE FROM tombstones WHERE number = ?", row[:width])
            changed += 1
            continue
        new += [edit(collection, id, text) or "" if text else text for text in stored[len(values) :]]
        if new != list(stored):
            connection.execute(f"UPDATE {table} SET {setting} WHERE {same}", (*new, *row[:width]))  # noqa: S608
            changed += 1
    return changed


def _edited(edit: Rewrite, collection: str, id: str, text: str | None, path: Path) -> str | None:
    if text is None:
        return None
    before = decode(text, path, collection, id)
    after = edit(collection, id, before)
    if after is before or after == before:
        return text
    return None if after is None else msgspec.json.encode(after).decode()


def _rows(connection: sqlite3.Connection, query: str) -> Iterator[tuple[Any, ...]]:
    """Rows of a table that is written to meanwhile."""
    rows = connection.execute(query)
    kept: list[tuple[Any, ...]] = []
    while some := rows.fetchmany(_AT_ONCE):
        kept += some
    yield from kept


def compact(connections: Connections, patience: float) -> None:
    """Write the file anew without what was deleted, and empty the log beside it. StoreBusy where others read or write
    all the time."""
    deadline = time.monotonic() + patience
    while True:
        try:
            with connections.reading() as connection, translated(connections.path):
                connection.execute("VACUUM")
                busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not busy and not size_of(log_of(connections.path)):
                return
        except StoreBusy:
            if time.monotonic() >= deadline:
                raise
        if time.monotonic() >= deadline:
            raise StoreBusy(
                f"The log of {connections.path} cannot be emptied: another process reads the store all the time.",
                hint="End the other processes of Clew on this project, and run the command again.",
            )
        time.sleep(_PAUSE)
