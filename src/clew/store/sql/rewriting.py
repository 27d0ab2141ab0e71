"""Removing stored values for good, also from the history: the one exception to the rule that events never change."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from clew.store.interface import Rewrite
from clew.store.sql.connections import Connection, Connections
from clew.store.sql.records import decode

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


def rewrite(connection: Connection, store: Connections, edit: Rewrite) -> int:
    """Replace every value and reason that `edit` changes; returns their number. The caller's transaction allows events
    to change."""
    return sum(_rewrite_table(connection, store, edit, table) for table in _TABLES)


def erase(connection: Connection, collection: str, ids: Sequence[str]) -> list[str]:
    """Remove deleted values of some ids, in a transaction of the caller; returns the ids that were erased."""
    erased: list[str] = []
    for id in ids:
        gone = connection.execute(_DELETE_TOMBSTONE, (collection, id))
        if gone.rowcount:
            connection.execute(
                "UPDATE events SET before = NULL, after = NULL WHERE id = ? AND collection = ?", (id, collection)
            )
            erased.append(id)
    return erased


def _rewrite_table(connection: Connection, store: Connections, edit: Rewrite, table: str) -> int:
    key, values, texts = _TABLES[table]
    place = "'', id" if table == "jobs" else "collection, id"
    columns = (*values, *texts)
    setting = ", ".join(f"{column} = ?" for column in columns)
    same = " AND ".join(f"{column} = ?" for column in key.split(", "))
    changed = 0
    for row in _rows(connection, f"SELECT {key}, {place}, {', '.join(columns)} FROM {table}"):  # noqa: S608
        width = len(key.split(", "))
        (collection, id), stored = row[width : width + 2], row[width + 2 :]
        new = [_edited(edit, collection, id, text, store) for text in stored[: len(values)]]
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


def _edited(edit: Rewrite, collection: str, id: str, text: str | None, store: Connections) -> str | None:
    if text is None:
        return None
    before = decode(text, store, collection, id)
    after = edit(collection, id, before)
    if after is before or after == before:
        return text
    return None if after is None else msgspec.json.encode(after).decode()


def _rows(connection: Connection, query: str) -> Iterator[tuple[Any, ...]]:
    """Rows of a table that is written to meanwhile."""
    rows = connection.execute(query)
    kept: list[tuple[Any, ...]] = []
    while some := rows.fetchmany(_AT_ONCE):
        kept += some
    yield from kept
