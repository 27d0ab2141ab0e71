"""Records, their events and their tombstones.

Rows are fetched before they are decoded: an error in the middle of a query would leave it open on a connection that
others use after.
"""

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, Generic, TypeVar

import msgspec

from clew.errors import Conflict, NotFound, StoreError
from clew.store.arguments import check_name, check_number, encode
from clew.store.interface import Damaged, Event, Record, Tombstone
from clew.store.sql.connections import Connection, Connections, taken_back

_WRITE_ENTRY = """
    INSERT INTO entries (collection, id, version, data, updated_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (collection, id) DO UPDATE SET
        version = excluded.version, data = excluded.data, updated_at = excluded.updated_at
"""
_WRITE_TOMBSTONE = """
    INSERT INTO tombstones (collection, id, version, data, deleted_at, actor, reason) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_DROP_TOMBSTONE = "DELETE FROM tombstones WHERE collection = ? AND id = ?"
_APPEND_EVENT = """
    INSERT INTO events (at, actor, operation, reason, collection, id, version, before, after)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_Statement = tuple[str, tuple[object, ...]]


C = TypeVar("C", bound=Connection)


class SqlTransaction(Generic[C]):
    """The writes of one block, on a connection that holds the writer's lock."""

    def __init__(self, connection: C, store: Connections, *, actor: str, reason: str) -> None:
        self._connection = connection
        self._store = store
        self._actor = actor
        self._reason = reason
        # Read under the writer's lock, so that times rise with the numbers of the events.
        self._at = connection.moment()
        self._thread = threading.get_ident()
        self._open = True
        self._failed = False

    def put(self, collection: str, id: str, data: Any, *, if_version: int | None = None) -> Record:
        self._check(collection, id, if_version)
        text = encode(collection, id, data)
        version, before = self._entry(collection, id)
        demand_version(collection, id, version if before is not None else 0, if_version)
        version += 1
        self._write(
            (_WRITE_ENTRY, (collection, id, version, text, self._at)),
            self._event("put", collection, id, version, before, text),
        )
        return Record(collection, id, version, msgspec.json.decode(text), self._at)

    def delete(self, collection: str, id: str, *, if_version: int | None = None) -> Tombstone:
        self._check(collection, id, if_version)
        version, before = self._entry(collection, id)
        if before is None:
            raise NotFound(f"There is no record {collection}/{id}.", hint="Scan the collection for its ids.")
        demand_version(collection, id, version, if_version)
        version += 1
        self._write(
            (_WRITE_ENTRY, (collection, id, version, None, self._at)),
            # Anew rather than changed: its number says which deletion was the last.
            (_DROP_TOMBSTONE, (collection, id)),
            (_WRITE_TOMBSTONE, (collection, id, version, before, self._at, self._actor, self._reason)),
            self._event("delete", collection, id, version, before, None),
        )
        data = decode(before, self._store, collection, id)
        return Tombstone(collection, id, version, data, self._at, self._actor, self._reason)

    def restore(self, collection: str, id: str) -> Record:
        self._check(collection, id, None)
        version, present = self._entry(collection, id)
        if present is not None:
            raise Conflict(
                f"The record {collection}/{id} cannot be restored: the id is in use again, with version {version}.",
                hint="Delete or rename the present record first.",
                data={"version": version},
            )
        row = self._row("SELECT data FROM tombstones WHERE collection = ? AND id = ?", collection, id)
        if row is None:
            raise NotFound(f"No record {collection}/{id} was ever deleted.", hint="List the collection's tombstones.")
        text = str(row[0])
        version += 1
        self._write(
            (_WRITE_ENTRY, (collection, id, version, text, self._at)),
            (_DROP_TOMBSTONE, (collection, id)),
            self._event("restore", collection, id, version, None, text),
        )
        return Record(collection, id, version, decode(text, self._store, collection, id), self._at)

    def get(self, collection: str, id: str) -> Record | None:
        self._check(collection, id, None)
        with self._store.translated():
            return get(self._connection, self._store, collection, id)

    def close(self) -> None:
        """Nothing more may be written."""
        self._open = False

    def demand_whole(self) -> None:
        """StoreError if a write failed and the block continued: its other writes must not be committed."""
        if self._failed:
            raise taken_back(self._store.name)

    def _check(self, collection: str, id: str, if_version: int | None) -> None:
        if not self._open:
            raise StoreError("This transaction has ended.", hint="Start another one. Nothing was written.")
        if self._thread != threading.get_ident():
            raise StoreError(
                "A transaction belongs to the thread that started it.", hint="Start one in this thread as well."
            )
        if self._failed:
            raise StoreError("A write in this transaction has failed.", hint="Leave the block and run it again.")
        check_place(collection, id, if_version)

    def _entry(self, collection: str, id: str) -> tuple[int, str | None]:
        """The last version used under the id, live or not, and the value of the live record."""
        row = self._row("SELECT version, data FROM entries WHERE collection = ? AND id = ?", collection, id)
        if row is None:
            return 0, None
        version, before = row
        if not isinstance(version, int):
            raise self._store.damaged(f"the version of {collection}/{id} is no number")
        return version, before

    def _row(self, query: str, *values: str) -> tuple[Any, ...] | None:
        with self._store.translated():
            row: tuple[Any, ...] | None = self._connection.execute(query, values).fetchone()
        return row

    def _event(
        self, operation: str, collection: str, id: str, version: int, before: str | None, after: str | None
    ) -> _Statement:
        values = (self._at, self._actor, operation, self._reason, collection, id, version, before, after)
        return _APPEND_EVENT, values

    def _write(self, *statements: _Statement) -> None:
        with self._writing():
            for statement, values in statements:
                self._connection.execute(statement, values)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with self._store.translated():
                yield
        except BaseException:
            self._failed = True
            raise


def check_place(collection: str, id: str, if_version: int | None) -> None:
    check_name("collection", collection)
    check_name("id", id)
    if if_version is not None:
        check_number("if_version", if_version)


def get(connection: Connection, store: Connections, collection: str, id: str) -> Record | None:
    query = f"""
        SELECT id, version, {store.value}, updated_at, {store.as_written} FROM records WHERE collection = ? AND id = ?
    """  # noqa: S608
    row = connection.execute(query, (collection, id)).fetchone()
    return None if row is None else _record(row, store, collection)


def get_many(
    connection: Connection,
    store: Connections,
    query: str,
    collection: str,
    ids: Sequence[str],
    damaged: Damaged | None = None,
) -> dict[str, Record]:
    """Records by id. `query` is the engine's own: it takes a JSON list of ids and the collection."""
    rows = connection.execute(query, (json.dumps(ids), collection)).fetchall()
    return {record.id: record for record in _records(rows, store, collection, damaged)}


def scan(
    connection: Connection,
    store: Connections,
    collection: str,
    after: str,
    limit: int,
    damaged: Damaged | None = None,
) -> list[Record]:
    query = f"""
        SELECT id, version, {store.value}, updated_at, {store.as_written} FROM records
        WHERE collection = ? AND id > ? ORDER BY id LIMIT ?
    """  # noqa: S608
    while rows := connection.execute(query, (collection, after, limit)).fetchall():
        if found := list(_records(rows, store, collection, damaged)):
            return found
        after = rows[-1][0]
    return []


def count(connection: Connection, collection: str) -> int:
    (number,) = connection.execute("SELECT count(*) FROM records WHERE collection = ?", (collection,)).fetchone()
    return int(number)


def events(
    connection: Connection,
    store: Connections,
    collection: str | None,
    ids: tuple[str, ...] | None,
    after: int,
    limit: int,
    *,
    latest_first: bool = False,
) -> list[Event]:
    given: dict[str, tuple[object, ...]] = {"seq > ?": (after,)}
    if collection is not None:
        given["collection = ?"] = (collection,)
    if ids is not None:
        given[f"id IN ({', '.join('?' * len(ids)) or 'NULL'})"] = ids
    # Few records have few events: the plus keeps SQLite from going over all of the collection in order.
    order = "+seq" if ids is not None and len(ids) > 1 else "seq"
    query = f"""
        SELECT seq, at, actor, operation, reason, collection, id, version, before, after FROM events
        WHERE {" AND ".join(given)} ORDER BY {order} {"DESC" if latest_first else ""} LIMIT ?
    """  # noqa: S608 (the conditions are the three above)
    return [_event(row, store) for row in connection.execute(query, (*chain(*given.values()), limit)).fetchall()]


def tombstones(connection: Connection, store: Connections, collection: str, limit: int) -> list[Tombstone]:
    query = """
        SELECT id, version, data, deleted_at, actor, reason FROM tombstones WHERE collection = ?
        ORDER BY number DESC LIMIT ?
    """
    return [
        Tombstone(collection, id, version, decode(text, store, collection, id), deleted_at, actor, reason)
        for id, version, text, deleted_at, actor, reason in connection.execute(query, (collection, limit)).fetchall()
    ]


def decode(text: str | bytes | None, store: Connections, collection: str, id: str) -> Any:
    if text is None:
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError) as error:
        raise store.damaged(f"a value of {collection}/{id} is unreadable ({error})") from error


def _records(
    rows: Iterable[tuple[Any, ...]], store: Connections, collection: str, damaged: Damaged | None
) -> Iterator[Record]:
    """The records of rows; the error of a damaged one goes to the caller who takes errors."""
    for row in rows:
        try:
            yield _record(row, store, collection)
        except StoreError as error:
            if damaged is None:
                raise
            damaged[row[0]] = error


def _record(row: tuple[Any, ...], store: Connections, collection: str) -> Record:
    id, version, text, updated_at, is_as_written = row
    data = decode(text, store, collection, id)
    if not is_as_written:
        raise store.damaged(f"the value of {collection}/{id} is not the one that its last event holds")
    return Record(collection, id, version, data, updated_at)


def _event(row: tuple[Any, ...], store: Connections) -> Event:
    seq, at, actor, operation, reason, collection, id, version, before, after = row
    images = decode(before, store, collection, id), decode(after, store, collection, id)
    return Event(seq, at, actor, operation, reason, collection, id, version, *images)


def demand_version(collection: str, id: str, present: int, wanted: int | None) -> None:
    """Conflict unless the record has this version. `present` is 0 if there is no live record."""
    if wanted is None or wanted == present:
        return
    if not present:
        raise Conflict(
            f"There is no record {collection}/{id}; if_version {wanted} demands that version of it.",
            hint="Pass if_version 0 to create it.",
            data={"version": 0},
        )
    raise Conflict(
        f"The record {collection}/{id} has version {present}, not {wanted} as if_version demands.",
        hint=f"Read it again, apply your change to what you find, and write with if_version {present}.",
        data={"version": present},
    )
