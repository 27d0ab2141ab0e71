"""Connections to one schema: how they are lent, and how they come back after the database was gone.

Writers of one schema take turns behind the lock of a table that only writers may lock, so that the numbers of events
rise in the order of commits. The lock belongs to a transaction: it ends with it, however that ends. A schema to which
nobody has added that table yet has a number that everybody can lock instead.

A writer lets the next one go before its own write is on the disk, and is told that it has written only after: so one
wait for the disk serves all who write at that time. The log of the database is written in order; what follows is never
there without what came before. Others may see a write a moment before it is on the disk. Who copies it to another
place waits for that moment (`demand_on_disk`).
"""

import logging
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache
from typing import Any, cast

import psycopg
from psycopg import sql
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from clew.errors import StoreBusy, StoreError
from clew.store.postgres.faults import damaged, fault, is_lost, read_only, translated, unreachable
from clew.store.postgres.pipeline import (
    PreparedStatement,
    StatementCall,
    StatementResult,
    answers,
    ask,
    has_ended,
    roll_back,
)
from clew.store.sql.connections import StatementRows, taken_back
from clew.text.database_address import Address

CONNECT_SECONDS = 5
"""Longest time of one attempt to reach the database."""
UNACKNOWLEDGED_MILLISECONDS = 10_000
"""After which a connection to a host that does not answer any more counts as lost."""
MOST_CONNECTIONS = 16
"""Of one process; more threads than that wait for each other."""
_AGAIN_SECONDS = 1.0
"""For so long after a failed attempt, others fail at once with the same error."""

_TO_DISK = PreparedStatement(b"clew_to_disk", "SELECT pg_logical_emit_message(true, 'clew', '')")
"""A note in the database's log that says nothing: it is acknowledged when it is on the disk with all that came
before."""
MAY_TAKE_TO_DISK = """
    SELECT coalesce(bool_and(has_function_privilege(oid, 'EXECUTE')), false) FROM pg_proc
    WHERE proname = 'pg_logical_emit_message' AND proargtypes[2] = 'text'::regtype
"""
"""True if this user may leave such a note, which PostgreSQL lets everybody do unless an administrator forbade it."""
_LOOKS_SECONDS = (0.0, 0.001, 0.002, 0.004, 0.008)
"""A writer takes its write to the disk at once; a reader that waits for it checks so often before doing so itself."""
_LEFT_TO_DATABASE_SECONDS = (*(0.016 * 2**look for look in range(5)), *[0.5] * 80)
"""A reader that may not do so asks on: the database writes its log within three times `wal_writer_delay`, which is at
most 10 s."""

NOW = """to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
"""The time by the database's clock, in the one spelling of the store."""

_BEGIN = PreparedStatement(b"clew_begin", "BEGIN")
_COMMIT = StatementCall(PreparedStatement(b"clew_commit", "COMMIT"))
_ENDS = {True: (_COMMIT, StatementCall(_TO_DISK)), False: (_COMMIT,)}
"""The end of a transaction: with a flush of its writes to the disk, and without."""

Lent = psycopg.Connection[tuple[Any, ...]]


class PostgresConnection:
    """A lent connection in the words of the shared statements."""

    def __init__(self, pool: "PostgresConnections", lent: Lent, *, at: str = "", again: bool = False) -> None:
        self._pool = pool
        self.lent = lent
        self._at = at
        self._again = again
        """True if a statement may be sent once more on another connection, because each is its own transaction."""

    def execute(self, query: str, values: Sequence[Any] = (), /) -> StatementRows:
        try:
            return cast(StatementRows, self.lent.execute(_placed(query), values or None))
        except psycopg.OperationalError as error:
            if not self._again or not is_lost(error) or not self.lent.closed:
                raise
            self._again = False
            self.lent = self._pool.another(self.lent)
            return cast(StatementRows, self.lent.execute(_placed(query), values or None))

    def executemany(self, query: str, rows: Sequence[Any], /) -> None:
        if rows:
            self.lent.cursor().executemany(_placed(query), rows)

    def moment(self) -> str:
        return self._at or str(self.lent.execute(f"SELECT {NOW}").fetchone()[0])  # type: ignore[index]


@lru_cache(maxsize=256)
def _placed(query: str) -> bytes:
    return query.replace("?", "%s").encode()


class PostgresConnections:
    as_written = "true"
    value = "data"

    def __init__(
        self,
        address: Address,
        schema: str,
        *,
        patience: float,
        name: str = "clew",
        settings: Sequence[str] = (),
        extensions: bool = False,
        most: int = MOST_CONNECTIONS,
    ) -> None:
        """`settings` are statements that every connection begins with; with `extensions`, extensions of the database
        are on the search path. At most `most` connections are open at once; others wait."""
        self.address = address
        self.schema = schema
        self.principal: str | None = None
        """The database's user, where it signs what it writes."""
        self._options = options(name)
        self._settings = (*settings, f"SET lock_timeout = {max(1, int(patience * 1000))}")
        self._extensions = extensions
        self._locks = _locks(schema, turns=False)
        self.may_write = True
        self.may_take_to_disk = True
        """Elsewhere a writer keeps the others waiting until its write is on the disk."""
        self.patience = patience
        self._process = os.getpid()
        self._thread = threading.local()
        self._lock = threading.Lock()
        self._down: tuple[float, str] | None = (0.0, "it was not reached yet")
        """When the database was last found to be gone, and why. The pool alone would wait for it, and not say why."""
        # A caller that waits for a connection reports why there is none.
        logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
        self._pool: ConnectionPool[Lent] = ConnectionPool(
            address.url,
            kwargs=self._options,
            min_size=0,
            max_size=most,
            configure=self._configure,
            timeout=patience,
            # After an error the next caller looks for itself, and says why.
            reconnect_timeout=1.0,
            num_workers=1,
            name=name,
            open=True,
        )

    @property
    def name(self) -> str:
        return f"the store {self.address}"

    def take_turns(self) -> None:
        """Lock the table that the schema has for it, from now on."""
        self._locks = _locks(self.schema, turns=True)

    def translated(self) -> AbstractContextManager[None]:
        return translated(self.address)

    def damaged(self, cause: str) -> StoreError:
        return damaged(self.address, cause)

    @contextmanager
    def reading(self) -> Iterator[PostgresConnection]:
        """A connection for statements that each are alone."""
        lent = PostgresConnection(self, self._take(), again=True)
        try:
            with self.translated():
                yield lent
        finally:
            self._give_back(lent.lent)

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[PostgresConnection]:
        """The lock of the schema's writers and a transaction around the block."""
        self._demand_writable()
        takes_to_disk = durable and self.may_take_to_disk
        lent, at = self._begun(waits=durable and not takes_to_disk)
        self._thread.writes = True
        try:
            yield PostgresConnection(self, lent, at=at)
            self._commit(lent, takes_to_disk=takes_to_disk)
        finally:
            self._thread.writes = False
            self._roll_back(lent)

    def write(self, asked: StatementCall) -> StatementResult:
        """A statement in a transaction of its own: lock, statement, commit and wait for the disk in one question."""
        self._demand_writable()
        lent = self._take()
        try:
            if has_ended(lent):
                # What breaks while it is asked is not asked again: it may have been written.
                lent = self.another(lent)
            return self._written(lent, asked)
        finally:
            self._roll_back(lent)

    def _written(self, lent: Lent, asked: StatementCall) -> StatementResult:
        takes_to_disk = self.may_take_to_disk
        with self._ending():
            begins = (StatementCall(_BEGIN), StatementCall(self._locks[not takes_to_disk]))
            _, _, done, *ends = answers(lent, *begins, asked, *_ENDS[takes_to_disk])
        if isinstance(done, psycopg.errors.InvalidSqlStatementName):
            roll_back(lent)
            return self._written(lent, asked)
        if isinstance(done, psycopg.Error):
            raise fault(done, self.address)
        with self._ending():
            self._settle(lent, *ends)
        return done

    def _demand_writable(self) -> None:
        if getattr(self._thread, "writes", False):
            raise StoreError(
                f"A transaction on the store {self.address} is already open in this thread.",
                hint="Write through that transaction, or end it first. Nothing was written.",
            )
        if not self.may_write:
            raise read_only(self.address, "it has the role reader only")

    def _begun(self, *, waits: bool) -> tuple[Lent, str]:
        """A transaction whose commit waits for the disk as the session is set, or not at all."""
        lent, (_, locked) = self._asked(StatementCall(_BEGIN), StatementCall(self._locks[waits]))
        return lent, locked.rows[0][0] or ""

    @contextmanager
    def lent(self, *first: StatementCall) -> Iterator[tuple[Lent, list[StatementResult]]]:
        """A connection, and the answers to the first statements. A transaction that is open when the block ends is
        rolled back."""
        lent, answers = self._asked(*first) if first else (self._take(), [])
        try:
            with self.translated():
                yield lent, answers
        finally:
            self._roll_back(lent)

    def _asked(self, *first: StatementCall) -> tuple[Lent, list[StatementResult]]:
        """A connection that has answered its first statements."""
        lent = self._take()
        try:
            try:
                return lent, ask(lent, *first)
            except psycopg.errors.InvalidSqlStatementName:
                roll_back(lent)
            except psycopg.OperationalError as error:
                if not is_lost(error) or not lent.closed:
                    raise
                lent = self.another(lent)
            # Nothing has been written yet, so it may be asked again.
            return lent, ask(lent, *first)
        except BaseException as error:
            self._roll_back(lent)
            if isinstance(error, psycopg.Error):
                raise fault(error, self.address) from None
            raise

    def _roll_back(self, lent: Lent) -> None:
        with suppress(psycopg.Error):
            if not lent.closed and lent.pgconn.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                roll_back(lent)
        self._give_back(lent)

    def _commit(self, lent: Lent, *, takes_to_disk: bool) -> None:
        if lent.info.transaction_status == psycopg.pq.TransactionStatus.INERROR:
            # PostgreSQL takes back, without an error, what holds a statement that failed.
            raise taken_back(self.name)
        with self._ending():
            self._settle(lent, *answers(lent, *_ENDS[takes_to_disk]))

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """Mark an error at the end of a transaction: it may be committed."""
        try:
            yield
        except (psycopg.Error, StoreBusy) as error:
            lost = fault(error, self.address) if isinstance(error, psycopg.Error) else error
            raise type(lost)(
                lost.message.replace("cannot be reached", "was lost while a write was being committed"),
                hint="It is not known whether that write is there. Look before you write it again.",
            ) from None

    def _settle(
        self, lent: Lent, committed: StatementResult | psycopg.Error, *on_disk: StatementResult | psycopg.Error
    ) -> None:
        """Wait for the end of the transaction: when this returns, the commit is on the disk."""
        if isinstance(committed, psycopg.Error):
            raise committed
        for each in on_disk:
            if isinstance(each, psycopg.errors.InsufficientPrivilege):
                # An administrator forbade the note meanwhile.
                self.may_take_to_disk = False
                self.demand_on_disk(lent)
            elif isinstance(each, psycopg.Error):
                raise each

    def demand_on_disk(self, lent: Lent) -> None:
        """Wait until everything that was readable so far is on the database's disk, and cannot be lost."""
        find = "SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_insert_lsn()::text END"
        (place,) = lent.execute(find).fetchone() or (None,)
        if place is None:
            return
        if _is_on_disk(lent, place, _LOOKS_SECONDS):
            return
        if self.may_take_to_disk and self._takes_to_disk(lent):
            return
        # A transaction that ends here is what the database writes its log for; of one that is open it may keep a part.
        lent.execute("SELECT pg_current_xact_id()")
        if not _is_on_disk(lent, place, _LEFT_TO_DATABASE_SECONDS):
            raise StoreBusy(
                f"The store {self.address} did not write what was read to its disk in"
                f" {sum(_LEFT_TO_DATABASE_SECONDS):.0f} s, and this user may not ask for it.",
                hint="Try again, or let the database's administrator grant EXECUTE on pg_logical_emit_message to it.",
            )

    def _takes_to_disk(self, lent: Lent) -> bool:
        """Have the database write its log; False where an administrator forbade this user to ask for it meanwhile."""
        try:
            ask(lent, StatementCall(_TO_DISK))
        except psycopg.errors.InsufficientPrivilege:
            self.may_take_to_disk = False
        return self.may_take_to_disk

    def another(self, broken: Lent) -> Lent:
        """A connection in the place of one that the database closed, as it does when it is started again."""
        self._give_back(broken)
        self._pool.check()
        self._down = (0.0, "the connection was lost")
        return self._take()

    def close(self) -> None:
        self._pool.close()

    def _take(self) -> Lent:
        if self._process != os.getpid():
            raise StoreError(
                f"The store {self.address} was opened by process {self._process} and cannot be used after a fork.",
                hint="Open the store in the child process.",
            )
        if self._down is not None:
            self._look()
        try:
            return self._pool.getconn()
        except PoolClosed:
            raise StoreError(f"The store {self.address} is closed.", hint="Open it again.") from None
        except PoolTimeout:
            self._look()
            raise StoreBusy(
                f"All connections to the store {self.address} were in use for {self.patience:.0f} s.",
                hint="Try again. Nothing was written.",
            ) from None

    def _look(self) -> None:
        """Check the database; StoreUnreachable if it does not answer. One thread checks, and those that come right
        after use its result."""
        with self._lock:
            if self._down is not None and time.monotonic() < self._down[0] + _AGAIN_SECONDS:
                raise unreachable(self.address, self._down[1])
            try:
                psycopg.connect(self.address.url, **self._options).close()
            except psycopg.Error as error:
                cause = self.address.cleaned(" ".join(str(error).split()))
                self._down = (time.monotonic(), cause)
                raise unreachable(self.address, cause) from None
            self._down = None

    def _give_back(self, lent: Lent) -> None:
        if lent.closed:
            self._down = (0.0, "the connection was lost")
        with suppress(PoolClosed, ValueError):
            self._pool.putconn(lent)

    def _configure(self, lent: Lent) -> None:
        also = sql.SQL(", public") if self._extensions else sql.SQL("")
        lent.execute(sql.SQL("SET search_path = {}{}").format(sql.Identifier(self.schema), also))
        for statement in self._settings:
            lent.execute(statement.encode())


def _is_on_disk(lent: Lent, place: str, looks: Sequence[float]) -> bool:
    """True once the database's log is on the disk up to a place; it is checked several times, with these pauses in
    seconds."""
    for seconds in looks:
        time.sleep(seconds)
        (is_there,) = lent.execute("SELECT pg_current_wal_flush_lsn() >= %s::pg_lsn", (place,)).fetchone() or (0,)
        if is_there:
            return True
    return False


def options(name: str) -> dict[str, Any]:
    """Options of every connection to a team's database."""
    return {
        "autocommit": True,
        "connect_timeout": CONNECT_SECONDS,
        "tcp_user_timeout": UNACKNOWLEDGED_MILLISECONDS,
        # A host that goes away while its answer is waited for owes no acknowledgement: it is asked whether it is there.
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "application_name": name,
        "client_encoding": "UTF8",
    }


def _locks(schema: str, *, turns: bool) -> dict[bool, PreparedStatement]:
    """The lock of the writers, and the time when it was got. The commit waits for the disk (True), or not at all."""
    lock = "lock_writers()" if turns else f"pg_advisory_xact_lock({lock_of(schema)})"
    name = b"clew_turn" if turns else b"clew_lock"
    at_once = ", set_config('synchronous_commit', 'off', true)"
    return {
        waits: PreparedStatement(
            name + (b"_and_wait" if waits else b""),
            f"SELECT {NOW}{'' if waits else at_once} FROM {lock}",  # noqa: S608 (Clew's own)
        )
        for waits in (False, True)
    }


def lock_of(schema: str) -> int:
    """The number that the writers of a schema lock where it has no table for it."""
    import hashlib

    return int.from_bytes(hashlib.sha256(schema.encode()).digest()[:8], signed=True)
