"""Moving authored data from one store to another: history, records, deletions and settings.

An event is known by its collection, id and version, which never mean two things. So a copy can be interrupted and
repeated: what is there already is compared, and only what is missing is written. The source is only read.
"""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from clew.errors import Conflict, StoreError
from clew.store.sql.engine import SqlStore

AT_ONCE = 1_000
LOCAL_SETTINGS = frozenset({"cursor_key"})
"""Settings that belong to one checkout."""

_EVENT = "at, actor, operation, reason, collection, id, version, before, after"
_ENTRY = "collection, id, version, data, updated_at"
_TOMBSTONE = "collection, id, version, data, deleted_at, actor, reason"

Store = SqlStore[Any]
Row = tuple[Any, ...]
Wanted = Callable[[str], bool]
"""True for a collection that is to be copied."""
Report = Callable[[str, int], None]
"""Progress: a name for the work, and the number of rows that are done."""


class Content(msgspec.Struct, frozen=True):
    """Content of a store, as counts and a hash that does not depend on the order of rows."""

    records: int
    tombstones: int
    events: int
    sha256: str


class Copied(msgspec.Struct, frozen=True):
    events: int
    """Written now; those that were there already do not count."""
    content: Content
    """The same on both sides."""


def everything(_: str) -> bool:
    return True


class CopyPlan(msgspec.Struct, frozen=True):
    """The writes of a copy."""

    known: frozenset[Row]
    """The events that the target has already."""
    settings: tuple[tuple[str, bytes], ...]


def plan(source: Store, target: Store, wanted: Wanted = everything) -> CopyPlan:
    """Compare both sides without writing. Conflict if the target has writes that the source does not have."""
    return CopyPlan(_known(source, target, wanted), _settings(source, target))


def copy(
    source: Store,
    target: Store,
    wanted: Wanted = everything,
    report: Report = lambda _, __: None,
    planned: CopyPlan | None = None,
) -> Copied:
    """Copy the wanted collections, and verify that both sides are equal. Conflict, before anything is written, if the
    target has writes that the source does not have. If several copies are made together, all of them are `planned`
    before the first one is written."""
    if planned is None:
        planned = plan(source, target, wanted)
    with target.moving() as connection:
        connection.executemany(
            "INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            planned.settings,
        )
    written = 0
    for batch in _batches(source, "events", "seq", _EVENT, wanted):
        missing = [row for row in batch if _key(row) not in planned.known]
        if missing:
            with target.moving() as connection:
                connection.executemany(f"INSERT INTO events ({_EVENT}) VALUES ({_marks(_EVENT)})", missing)  # noqa: S608
            written += len(missing)
            report("events", written)
    _copy_entries(source, target, wanted, report)
    _copy_tombstones(source, target, wanted, report)
    here, there = content(source, wanted), content(target, wanted)
    if here != there:
        raise StoreError(
            f"The copy differs from its source: {_described(here)} here, {_described(there)} there.",
            hint="Somebody may have written meanwhile: run the command again. The source is as it was.",
        )
    return Copied(written, here)


def content(store: Store, wanted: Wanted = everything) -> Content:
    """Counts and a hash of the wanted collections of a store."""
    total, counts = 0, {"entries": 0, "tombstones": 0, "events": 0}
    for table, columns, key in (
        ("entries", _ENTRY, None),
        ("tombstones", _TOMBSTONE, "number"),
        ("events", _EVENT, "seq"),
    ):
        rows = _entries(store, wanted) if key is None else _batches(store, table, key, columns, wanted)
        for batch in rows:
            for row in batch:
                total = (total + int.from_bytes(_digest(row, table))) % 2**256
                counts[table] += table != "entries" or row[3] is not None
    return Content(counts["entries"], counts["tombstones"], counts["events"], f"{total:064x}")


def _known(source: Store, target: Store, wanted: Wanted) -> frozenset[Row]:
    """The events that the target has already."""
    there = {_key(row): _digest(row) for batch in _batches(target, "events", "seq", _EVENT, wanted) for row in batch}
    if not there:
        return frozenset()
    found = 0
    for batch in _batches(source, "events", "seq", _EVENT, wanted):
        for row in batch:
            if (digest := there.get(_key(row))) is not None:
                found += 1
                if digest != _digest(row):
                    raise _differs(*_key(row))
    if found < len(there):
        raise Conflict(
            f"The target holds {len(there) - found} writes that the source does not have.",
            hint="Copy into a project that holds nothing yet, or only what was copied from here. Nothing was written.",
        )
    return frozenset(there)


def _differs(collection: str, id: str, version: int) -> Conflict:
    return Conflict(
        f"Version {version} of {collection}/{id} is another one in the target.",
        hint="Copy into a project that holds nothing yet, or only what was copied from here. Nothing was written.",
    )


def _copy_entries(source: Store, target: Store, wanted: Wanted, report: Report) -> None:
    statement = f"""
        INSERT INTO entries ({_ENTRY}) VALUES (?, ?, ?, ?, ?) ON CONFLICT (collection, id) DO UPDATE SET
            version = excluded.version, data = excluded.data, updated_at = excluded.updated_at
    """  # noqa: S608
    done = 0
    for batch in _entries(source, wanted):
        with target.moving() as connection:
            connection.executemany(statement, batch)
        done += len(batch)
        report("records", done)


def _copy_tombstones(source: Store, target: Store, wanted: Wanted, report: Report) -> None:
    """Copy all tombstones again: a record that was restored in the source has none any more."""
    rows = [row for batch in _batches(source, "tombstones", "number", _TOMBSTONE, wanted) for row in batch]
    with target.moving() as connection:
        old = [row[:2] for row in connection.execute("SELECT collection, id FROM tombstones").fetchall()]
        gone = [row for row in old if wanted(row[0])]
        connection.executemany("DELETE FROM tombstones WHERE collection = ? AND id = ?", gone)
        connection.executemany(f"INSERT INTO tombstones ({_TOMBSTONE}) VALUES ({_marks(_TOMBSTONE)})", rows)  # noqa: S608
    report("deleted records", len(rows))


def _settings(source: Store, target: Store) -> tuple[tuple[str, bytes], ...]:
    """Settings that go with the copy: they name the project in memories. A target in which anything was ever written
    keeps its own, by which its content is known."""
    with source.asking() as connection:
        rows = connection.execute("SELECT name, value FROM settings").fetchall()
    moved = tuple((name, bytes(value)) for name, value in rows if name not in LOCAL_SETTINGS)
    differing = [name for name, value in moved if target.found_setting(name) not in (None, value)]
    with target.asking() as connection:
        is_new = connection.execute("SELECT 1 FROM events LIMIT 1").fetchone() is None
    if differing and not is_new:
        raise Conflict(
            f"The setting '{differing[0]}' has another value in the target: it is another project's.",
            hint="Choose another project, or an empty one. Nothing was written.",
        )
    return moved


def _batches(store: Store, table: str, key: str, columns: str, wanted: Wanted) -> Iterator[list[Row]]:
    """The rows of a numbered table in its order, without their numbers."""
    query = f"SELECT {key}, {columns} FROM {table} WHERE {key} > ? ORDER BY {key} LIMIT ?"  # noqa: S608
    place = columns.split(", ").index("collection") + 1
    last = 0
    while True:
        with store.asking() as connection:
            rows = connection.execute(query, (last, AT_ONCE)).fetchall()
        if not rows:
            return
        last = rows[-1][0]
        yield [tuple(row[1:]) for row in rows if wanted(row[place])]


def _entries(store: Store, wanted: Wanted) -> Iterator[list[Row]]:
    with store.asking() as connection:
        names = [row[0] for row in connection.execute("SELECT DISTINCT collection FROM entries").fetchall()]
    query = f"SELECT {_ENTRY} FROM entries WHERE collection = ? AND id > ? ORDER BY id LIMIT ?"  # noqa: S608
    for name in filter(wanted, names):
        last = ""
        while True:
            with store.asking() as connection:
                rows = connection.execute(query, (name, last, AT_ONCE)).fetchall()
            if not rows:
                break
            last = rows[-1][1]
            yield [tuple(row) for row in rows]


def _key(event: Row) -> Row:
    return event[4], event[5], event[6]


def _digest(row: Row, table: str = "events") -> bytes:
    return hashlib.sha256(msgspec.json.encode((table, *row))).digest()


def _marks(columns: str) -> str:
    return ", ".join("?" * len(columns.split(", ")))


def _described(content: Content) -> str:
    return (
        f"{content.records} records, {content.tombstones} deleted and {content.events} events ({content.sha256[:12]})"
    )
