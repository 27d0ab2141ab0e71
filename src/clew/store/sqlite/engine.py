"""The engine itself: every method of the contract, each one call or one transaction on a connection of its own."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clew.errors import InvalidArgument, StoreCorrupt
from clew.store.arguments import check_name, check_number, check_text
from clew.store.interface import Event, Job, Record, Rewrite, Tombstone, Transaction
from clew.store.sqlite import inspection, jobs, records, rewriting
from clew.store.sqlite.connections import Connections
from clew.store.sqlite.faults import translated
from clew.store.sqlite.log import forget_start
from clew.store.sqlite.opening import open_connections

BUSY_TIMEOUT = 30.0
"""Seconds a writer waits for another one."""
COMPACTING_SECONDS = 10.0
"""How long readers are waited for."""


def open_sqlite(path: Path, *, read_only: bool = False, busy_timeout: float = BUSY_TIMEOUT) -> "SqliteStore":
    """The store in this file. It and its folder are created where they are missing, and an older one is brought to the
    present schema, unless `read_only`. Where the file or its folder is write-protected, reading works all the same."""
    return SqliteStore(open_connections(path, read_only=read_only, busy_timeout=busy_timeout))


class SqliteStore:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._path = connections.path

    @contextmanager
    def transaction(self, *, actor: str, reason: str = "") -> Iterator[Transaction]:
        check_name("actor", actor)
        check_text("reason", reason)
        with self._connections.writing() as connection:
            transaction = records.SqliteTransaction(connection, self._path, actor=actor, reason=reason)
            try:
                yield transaction
            finally:
                transaction.close()
            transaction.demand_whole()

    def get(self, collection: str, id: str) -> Record | None:
        check_name("collection", collection)
        check_name("id", id)
        with self._connections.reading() as connection:
            return records.get(connection, self._path, collection, id)

    def get_many(self, collection: str, ids: Iterable[str]) -> dict[str, Record]:
        check_name("collection", collection)
        wanted = list(dict.fromkeys(ids))
        for id in wanted:
            check_name("id", id)
        with self._connections.reading() as connection:
            return records.get_many(connection, self._path, collection, wanted)

    def scan(self, collection: str, *, after: str = "", limit: int | None = None) -> list[Record]:
        check_name("collection", collection)
        check_text("after", after)
        with self._connections.reading() as connection:
            return records.scan(connection, self._path, collection, after, _limit(limit))

    def count(self, collection: str) -> int:
        check_name("collection", collection)
        with self._connections.reading() as connection:
            return records.count(connection, collection)

    def events(
        self,
        *,
        collection: str | None = None,
        id: str | None = None,
        after: int = 0,
        limit: int | None = None,
        latest_first: bool = False,
    ) -> list[Event]:
        if collection is not None:
            check_name("collection", collection)
        if id is not None:
            check_name("id", id)
        check_number("after", after)
        with self._connections.reading() as connection:
            return records.events(
                connection, self._path, collection, id, after, _limit(limit), latest_first=latest_first
            )

    def tombstones(self, collection: str, *, limit: int | None = None) -> list[Tombstone]:
        check_name("collection", collection)
        with self._connections.reading() as connection:
            return records.tombstones(connection, self._path, collection, _limit(limit))

    def start_job(self, kind: str, *, total: int | None = None) -> Job:
        check_name("kind", kind)
        _check_total(total)
        with self._connections.writing() as connection, translated(self._path):
            return jobs.start(connection, kind, total)

    def advance_job(self, id: str, *, done: int, total: int | None = None, message: str = "") -> Job:
        check_name("id", id)
        check_number("done", done)
        _check_total(total)
        check_text("message", message)
        # Progress is reported often and worth little after a loss of power.
        with self._connections.writing(durable=False) as connection, translated(self._path):
            job = jobs.advance(connection, id, done, total, message)
        jobs.refuse_cancelled(job)
        return job

    def finish_job(self, id: str, *, state: str = "done", message: str = "") -> Job:
        check_name("id", id)
        jobs.check_state(state, jobs.ENDINGS)
        check_text("message", message)
        with self._connections.writing() as connection, translated(self._path):
            return jobs.finish(connection, id, state, message)

    def cancel_job(self, id: str) -> Job:
        check_name("id", id)
        with self._connections.writing() as connection, translated(self._path):
            return jobs.cancel(connection, id)

    def jobs(self, *, state: str | None = None, limit: int | None = None) -> list[Job]:
        if state is not None:
            jobs.check_state(state, jobs.STATES)
        _limit(limit)
        with self._connections.reading() as connection:
            return jobs.listed(connection, state, limit)

    def setting(self, name: str, default: bytes) -> bytes:
        check_name("name", name)
        if not isinstance(default, bytes):
            raise InvalidArgument(
                f"The default of setting {name} must be bytes, not {type(default).__name__}.", hint="Pass bytes."
            )
        with self._connections.reading() as connection:
            value = _setting(connection, name)
        if value is not None:
            return value
        with self._connections.writing() as connection, translated(self._path):
            connection.execute("INSERT OR IGNORE INTO settings VALUES (?, ?)", (name, default))
            value = _setting(connection, name)
        return default if value is None else value

    def rewrite(self, edit: Rewrite) -> int:
        with self._connections.writing() as connection, translated(self._path):
            return rewriting.rewrite(connection, self._path, edit)

    def erase(self, collection: str, ids: Iterable[str]) -> list[str]:
        check_name("collection", collection)
        wanted = list(dict.fromkeys(ids))
        for id in wanted:
            check_name("id", id)
        with self._connections.writing() as connection, translated(self._path):
            return rewriting.erase(connection, collection, wanted)

    def compact(self) -> None:
        rewriting.compact(self._connections, COMPACTING_SECONDS)

    def describe(self, *, counts: bool = True) -> Mapping[str, Any]:
        with self._connections.reading() as connection:
            told = inspection.described(connection, self._path)
            return told | inspection.counted(connection) if counts else told

    def check(self) -> list[str]:
        try:
            with self._connections.reading() as connection:
                return inspection.damage(connection)
        except StoreCorrupt as error:
            return [error.message]

    def close(self) -> None:
        self._connections.close()
        forget_start(self._path)


def _limit(limit: int | None) -> int:
    """As SQLite has it: -1 is none."""
    if limit is None:
        return -1
    check_number("limit", limit)
    return limit


def _check_total(total: int | None) -> None:
    if total is not None:
        check_number("total", total)


def _setting(connection: sqlite3.Connection, name: str) -> bytes | None:
    row = connection.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    return None if row is None else bytes(row[0])
