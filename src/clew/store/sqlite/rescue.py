"""Rescuing the readable part of a damaged store: `python -P -m clew.store.sqlite.rescue DAMAGED [NEW]`.

Without NEW, the new store takes the place of the damaged one, which is kept beside it. The damaged file is only read.
What a record holds is there twice, in the record and in the last of its events, so it is lost only where both are.
Where they differ, nobody knows which one was changed: the record's value stays, and the other one is in its history.
Jobs and the parse cache are left behind.
"""

import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from clew.edit.replacing import add_in_place, temporary_beside
from clew.errors import ClewError, Conflict, InvalidArgument, NotFound, StoreCorrupt
from clew.store.arguments import check_name
from clew.store.clock import now
from clew.store.sqlite.damaged_copies import put_aside, unfinished
from clew.store.sqlite.opening import filling

_Row = tuple[Any, ...]
_Key = tuple[str, str]


class Rescue(msgspec.Struct, frozen=True):
    """Counts of the rows in the new store."""

    records: int
    rebuilt: int
    """Records that are known from their events alone. A later value may be among what was lost."""
    events: int
    tombstones: int
    differing: tuple[str, ...] = ()
    """Records whose value was not the one that their last event held."""


def rescue(damaged: Path, target: Path) -> Rescue:
    """Create a new store at `target` from the readable part of the damaged one."""
    if not damaged.is_file():
        raise NotFound(f"There is no file {damaged}.", hint="Name the damaged store. Nothing was written.")
    if target.exists():
        raise Conflict(f"{target} already exists.", hint="Name a file that does not exist yet. Nothing was written.")
    with _temporary(target) as temporary:
        found = _saved(unfinished(damaged) or damaged, temporary)
        add_in_place(temporary, target)
    return found


def rescue_in_place(store: Path) -> tuple[Rescue, Path]:
    """Replace a damaged store by a new one with its readable part; returns the new contents, and the path at which the
    damaged one is kept. If nothing can be read, the new one is empty."""
    with _temporary(store) as temporary:
        try:
            found = _saved(unfinished(store) or store, temporary)
        except StoreCorrupt:
            with filling(temporary):
                found = Rescue(0, 0, 0, 0)
        return found, put_aside(store, temporary)


@contextmanager
def _temporary(store: Path) -> Iterator[Path]:
    temporary = temporary_beside(store)
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _saved(damaged: Path, new: Path) -> Rescue:
    with closing(sqlite3.connect(f"{damaged.absolute().as_uri()}?mode=ro", uri=True)) as source:
        _look_into(source, damaged)
        events = [row for row in _numbered(source, "events", "seq") if _is_sound(row[5:7], row[8:])]
        tombstones = [row for row in _numbered(source, "tombstones", "number") if _is_sound(row[1:3], row[4:5])]
        entries = _entries(source, {(row[5], row[6]) for row in events} | {(row[1], row[2]) for row in tombstones})
        settings = {row[0]: row for row in _from_both_ends(source, "settings", "name")}
    rebuilt = _missing(entries, events, tombstones)
    entries |= rebuilt
    differing = _differing(entries, events)
    for number, (key, event) in enumerate(differing.items(), start=max((row[0] for row in events), default=0) + 1):
        entries[key], added = _settled(entries[key], event, number)
        events.append(added)
    with filling(new) as connection:
        connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", entries.values())
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", events)
        connection.executemany("INSERT INTO tombstones VALUES (?, ?, ?, ?, ?, ?, ?, ?)", tombstones)
        connection.executemany("INSERT INTO settings VALUES (?, ?)", settings.values())
    alive = {key for key, row in entries.items() if row[3] is not None}
    return Rescue(len(alive), len(alive & rebuilt.keys()), len(events), len(tombstones), _named(differing))


def _look_into(source: sqlite3.Connection, damaged: Path) -> None:
    try:
        # Lets SQLite look into a file that has lost its end.
        source.execute("PRAGMA writable_schema = ON")
        source.execute("PRAGMA trusted_schema = OFF")
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        raise StoreCorrupt(
            f"Nothing can be read from {damaged}: {error}.",
            hint="Put a backup in its place, or move it away: Clew then starts with a new store.",
        ) from error


def _from_both_ends(source: sqlite3.Connection, table: str, *keys: str) -> Iterator[_Row]:
    """Rows up to the first unreadable page from either end; all rows twice if every page is readable."""
    for direction in ("ASC", "DESC"):
        order = ", ".join(f"{key} {direction}" for key in keys)
        with suppress(sqlite3.Error):
            yield from source.execute(f"SELECT * FROM {table} ORDER BY {order}")  # noqa: S608


def _numbered(source: sqlite3.Connection, table: str, key: str) -> list[_Row]:
    """Every readable row of a table with numbered rows, in order."""
    found = {row[0]: row for row in _from_both_ends(source, table, key)}
    for number in range(1, max(found, default=0)):
        if number not in found:
            row = _lookup(source, f"SELECT * FROM {table} WHERE {key} = ?", number)  # noqa: S608
            found |= {number: row} if row else {}
    return [found[number] for number in sorted(found)]


def _entries(source: sqlite3.Connection, known: set[_Key]) -> dict[_Key, _Row]:
    """Every readable entry; `known` are ids to ask for between the two ends."""
    found = {(row[0], row[1]): row for row in _from_both_ends(source, "entries", "collection", "id")}
    for key in known - found.keys():
        row = _lookup(source, "SELECT * FROM entries WHERE collection = ? AND id = ?", *key)
        found |= {key: row} if row else {}
    return {key: row for key, row in found.items() if _is_sound(row[:2], row[3:4])}


def _lookup(source: sqlite3.Connection, query: str, *values: object) -> _Row | None:
    try:
        row: _Row | None = source.execute(query, values).fetchone()
    except sqlite3.Error:
        return None
    return row


def _is_sound(names: _Row, values: _Row) -> bool:
    try:
        for name in names:
            check_name("name", name)
        for value in values:
            msgspec.json.decode(value or "null")
    except (InvalidArgument, msgspec.DecodeError, TypeError):
        return False
    return True


def _missing(entries: dict[_Key, _Row], events: list[_Row], tombstones: list[_Row]) -> dict[_Key, _Row]:
    """Records that are missing, made from their last event, or else from the tombstone."""
    made: dict[_Key, _Row] = {}
    for _, collection, id, version, _, deleted_at, *_ in tombstones:
        made[collection, id] = (collection, id, version, None, deleted_at)
    for _, at, _, _, _, collection, id, version, _, after in events:
        made[collection, id] = (collection, id, version, after, at)
    return {key: row for key, row in made.items() if key not in entries}


def _differing(entries: dict[_Key, _Row], events: list[_Row]) -> dict[_Key, _Row]:
    """The last events of the records with another value than these."""
    last = {(row[5], row[6]): row for row in events}
    return {
        key: event
        for key, event in sorted(last.items())
        if (entry := entries.get(key)) is not None
        and entry[2] == event[7]
        and None not in (entry[3], event[9])
        and entry[3] != event[9]
    }


def _settled(entry: _Row, event: _Row, number: int) -> tuple[_Row, _Row]:
    """One more version of a record, with its value, and the event that leads to it from the other value."""
    collection, id, version, data, _ = entry
    at = max(now(), event[1])
    reason = "The value of the record and that of its last event differed in a damaged store."
    return (
        (collection, id, version + 1, data, at),
        (number, at, "rescue", "put", reason, collection, id, version + 1, event[9], data),
    )


def _named(keys: Iterable[_Key]) -> tuple[str, ...]:
    return tuple(f"{collection}/{id}" for collection, id in keys)


def _main(damaged: str, *target: str) -> int:
    try:
        if target:
            found, kept = rescue(Path(damaged), Path(target[0])), None
        else:
            found, kept = rescue_in_place(Path(damaged).absolute())
    except ClewError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    where = f"{damaged}. The damaged store is kept as {kept}" if kept else target[0]
    sys.stdout.write(
        f"Rescued {found.records} records ({found.rebuilt} of them from their history), {found.events} events and "
        f"{found.tombstones} deleted records into {where}.\n"
    )
    if found.differing:
        sys.stdout.write(
            "In the damaged store these differed from their last event. Compare both in their history: "
            f"{', '.join(found.differing)}.\n"
        )
    if kept is None:
        sys.stdout.write(f"Put it in the place of {damaged}, without the files whose names end in -wal and -shm.\n")
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python -P -m clew.store.sqlite.rescue DAMAGED [NEW]")
    sys.exit(_main(*sys.argv[1:]))
