"""The engine: every method of the contract, each as one call or one transaction on a connection of its own."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Generic, TypeVar

from clew.errors import InvalidArgument
from clew.store.arguments import LARGEST_NUMBER, check_name, check_number, check_text
from clew.store.interface import Damaged, Event, Job, Record, Rewrite, Tombstone, Transaction
from clew.store.person import person, signed
from clew.store.sql import jobs, records, rewriting
from clew.store.sql.connections import Connection, Connections

C = TypeVar("C", bound=Connections)


class SqlStore(Generic[C]):
    """The part of the store that both engines share. An engine adds how it opens, describes, checks and compacts
    itself."""

    get_many_query: str
    """Takes a JSON list of ids and a collection; gives id, version, data, time and whether the record is as it was
    written, in the order of the ids."""

    transaction_type: type[records.SqlTransaction[Any]] = records.SqlTransaction

    def __init__(self, connections: C) -> None:
        self._connections = connections

    def changing_events(self, connection: Any) -> AbstractContextManager[None]:
        """Lets the values of events be changed during the block."""
        raise NotImplementedError

    def asking(self) -> AbstractContextManager[Connection]:
        """A connection for statements that move or copy whole stores."""
        return self._connections.reading()

    @contextmanager
    def moving(self) -> Iterator[Any]:
        """A transaction that moves or copies whole stores: rows keep their authors and times."""
        with self._connections.writing() as connection, self._connections.translated():
            yield connection

    def found_setting(self, name: str) -> bytes | None:
        with self._connections.reading() as connection:
            return _setting(connection, name)

    @contextmanager
    def transaction(self, *, actor: str, reason: str = "") -> Iterator[Transaction]:
        signer = self._signed(actor, reason)
        with self._connections.writing() as connection:
            transaction = self.transaction_type(connection, self._connections, actor=signer, reason=reason)
            try:
                yield transaction
            finally:
                transaction.close()
            transaction.demand_whole()

    def put(
        self, collection: str, id: str, data: Any, *, actor: str, reason: str = "", if_version: int | None = None
    ) -> Record:
        with self.transaction(actor=actor, reason=reason) as transaction:
            return transaction.put(collection, id, data, if_version=if_version)

    def _signed(self, actor: str, reason: str) -> str:
        check_name("actor", actor)
        check_text("reason", reason)
        return signed(actor, self._connections.principal, person())

    def get(self, collection: str, id: str) -> Record | None:
        check_name("collection", collection)
        check_name("id", id)
        with self._connections.reading() as connection:
            return records.get(connection, self._connections, collection, id)

    def get_many(self, collection: str, ids: Iterable[str], *, damaged: Damaged | None = None) -> dict[str, Record]:
        check_name("collection", collection)
        wanted = list(dict.fromkeys(ids))
        for id in wanted:
            check_name("id", id)
        with self._connections.reading() as connection:
            return records.get_many(connection, self._connections, self.get_many_query, collection, wanted, damaged)

    def scan(
        self, collection: str, *, after: str = "", limit: int | None = None, damaged: Damaged | None = None
    ) -> list[Record]:
        check_name("collection", collection)
        check_text("after", after)
        with self._connections.reading() as connection:
            return records.scan(connection, self._connections, collection, after, _limit(limit), damaged)

    def count(self, collection: str) -> int:
        check_name("collection", collection)
        with self._connections.reading() as connection:
            return records.count(connection, collection)

    def mark(self) -> object:
        return None

    def events(
        self,
        *,
        collection: str | None = None,
        id: str | tuple[str, ...] | None = None,
        after: int = 0,
        limit: int | None = None,
        latest_first: bool = False,
    ) -> list[Event]:
        if collection is not None:
            check_name("collection", collection)
        ids = (id,) if isinstance(id, str) else id
        for each in ids or ():
            check_name("id", each)
        check_number("after", after)
        with self._connections.reading() as connection:
            return records.events(
                connection, self._connections, collection, ids, after, _limit(limit), latest_first=latest_first
            )

    def tombstones(self, collection: str, *, limit: int | None = None) -> list[Tombstone]:
        check_name("collection", collection)
        with self._connections.reading() as connection:
            return records.tombstones(connection, self._connections, collection, _limit(limit))

    def start_job(self, kind: str, *, total: int | None = None) -> Job:
        check_name("kind", kind)
        _check_total(total)
        with self._connections.writing() as connection, self._connections.translated():
            return jobs.start(connection, kind, total)

    def advance_job(self, id: str, *, done: int, total: int | None = None, message: str = "") -> Job:
        check_name("id", id)
        check_number("done", done)
        _check_total(total)
        check_text("message", message)
        # Progress is reported often and worth little after a loss of power.
        with self._connections.writing(durable=False) as connection, self._connections.translated():
            job = jobs.advance(connection, id, done, total, message)
        jobs.refuse_cancelled(job)
        return job

    def renew_job(self, id: str) -> None:
        check_name("id", id)
        with self._connections.writing(durable=False) as connection, self._connections.translated():
            jobs.renew(connection, id)

    def finish_job(self, id: str, *, state: str = "done", message: str = "", done: int | None = None) -> Job:
        check_name("id", id)
        if done is not None:
            check_number("done", done)
        jobs.check_state(state, jobs.ENDINGS)
        check_text("message", message)
        with self._connections.writing() as connection, self._connections.translated():
            return jobs.finish(connection, id, state, message, done)

    def cancel_job(self, id: str) -> Job:
        check_name("id", id)
        with self._connections.writing() as connection, self._connections.translated():
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
        value = self.found_setting(name)
        if value is not None:
            return value
        with self._connections.writing() as connection, self._connections.translated():
            connection.execute("INSERT INTO settings VALUES (?, ?) ON CONFLICT DO NOTHING", (name, default))
            value = _setting(connection, name)
        return default if value is None else value

    def rewrite(self, edit: Rewrite) -> int:
        with self._changing_history() as connection:
            return rewriting.rewrite(connection, self._connections, edit)

    def erase(self, collection: str, ids: Iterable[str]) -> list[str]:
        check_name("collection", collection)
        wanted = list(dict.fromkeys(ids))
        for id in wanted:
            check_name("id", id)
        with self._changing_history() as connection:
            return rewriting.erase(connection, collection, wanted)

    @contextmanager
    def _changing_history(self) -> Iterator[Connection]:
        store = self._connections
        with store.writing() as connection, store.translated(), self.changing_events(connection):
            yield connection

    def close(self) -> None:
        self._connections.close()


def _limit(limit: int | None) -> int:
    if limit is None:
        return LARGEST_NUMBER
    check_number("limit", limit)
    return limit


def _check_total(total: int | None) -> None:
    if total is not None:
        check_number("total", total)


def _setting(connection: Connection, name: str) -> bytes | None:
    row = connection.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    return None if row is None else bytes(row[0])
