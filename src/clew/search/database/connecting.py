"""Connections to the database of a search index."""

import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import log10

import psycopg

from clew.errors import StoreBusy
from clew.once import close_parts, lazy
from clew.search.database.tables import ON_START, are_made, has_term_numbers, make_tables, space_of, take_steps
from clew.store.postgres.connections import MOST_CONNECTIONS, Lent, PostgresConnections, options
from clew.store.postgres.faults import translated
from clew.store.postgres.pipeline import PreparedStatement, StatementCall, StatementResult
from clew.text.database_address import Address

log = logging.getLogger(__name__)

_ANSWER_SECONDS = 30
AT_ONCE = max(4, min(MOST_CONNECTIONS, 2 * (os.cpu_count() or 1)))
"""Connections of one process, and its searches at once where the database has a machine of its own; others wait. A
search is ranked here by half, one at a time: four keep a processor here and two of the database busy. Each further
connection is one more process of the database that reads the same pages into its memory, and makes every search
dearer."""
AT_ONCE_HERE = AT_ONCE // 2
"""Searches at once where the database runs on this machine: both halves of a search take the same processors, and more
of them only make each other wait."""
BOUNDED = f"SET statement_timeout = '{_ANSWER_SECONDS}s'"
NEAREST_LOOKED_AT = 100
"""The number of nearest vectors that an approximate search keeps in view (`hnsw.ef_search`), and finds at most. Of the
ten nearest among 100,000 it finds .965 with 100, and .99 with 200 for twice the time; rankings are as good with
either."""
_ENOUGH_FOR = 100_000
GO_ON = "SET LOCAL hnsw.iterative_scan = relaxed_order"
"""An approximate search goes on until it has as many as are wanted. It keeps what it passes over for that, so it is
asked for only where the nearest in view may not do."""


def look_further(vectors: int) -> str | None:
    """The setting of a search among so many vectors; None if the usual one is enough. Among a million vectors, 100 in
    view find .85 of the ten nearest, and 200 find .95."""
    if vectors <= _ENOUGH_FOR:
        return None
    return f"SET LOCAL hnsw.ef_search = {min(1000, round(NEAREST_LOOKED_AT * (1 + log10(vectors / _ENOUGH_FOR)))):d}"


_SETTINGS = (
    BOUNDED,
    f"SET hnsw.ef_search = {NEAREST_LOOKED_AT}",
    # A search is short; planning for several processes costs more than it gains.
    "SET max_parallel_workers_per_gather = 0",
    "SET jit = off",
)


_OLDER_WRITERS = """
    SELECT bool_or(has_table_privilege(holder.usesysid, 'units', 'INSERT'))
    FROM pg_locks JOIN pg_stat_activity AS holder USING (pid)
    WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND holder.datname = current_database()
        AND objid::bigint = hashtext(%s)::bigint & 4294967295
"""
"""True if the holder of a number may write; null if nobody holds it any more."""
_LOOKS_SECONDS = 0.02

_BEGIN = PreparedStatement(b"clew_begin_reading", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")


class Database:
    """The schema of one project's search index, and the space of one work tree in it. Connections are opened when they
    are first needed."""

    def __init__(self, address: Address, schema: str, space: str = "own", *, awaits_service: bool = False) -> None:
        """`awaits_service` says that searches wait for an embedding service, and not only for processors."""
        self.address = address
        self.schema = schema
        self.space_name = space
        self._awaits_service = awaits_service
        self._searches = threading.Semaphore(AT_ONCE)
        self._space: int | None = None
        self._has_term_numbers = False
        self._lock = threading.Lock()
        self._turn = threading.Semaphore()
        """Of who writes. Threads wait for each other here, and not with a connection that a search could have."""

    @property
    def space(self) -> int:
        """The number of this work tree's space."""
        if self._space is None:
            with self._lock, self.connection() as connection:
                self._space = space_of(connection, self.space_name)
        return self._space

    @property
    def has_term_numbers(self) -> bool:
        """True if the terms of units were stored as numbers when the connections were opened."""
        _ = self._connections
        return self._has_term_numbers

    def is_made(self) -> bool:
        """True if the schema has its tables. The question does not create them."""
        with connected(self.address) as connection:
            return are_made(connection, self.schema)

    def close(self) -> None:
        close_parts(self)

    @contextmanager
    def reading(self, *first: StatementCall) -> Iterator[tuple[Lent, list[StatementResult]]]:
        """One state of the tables for a whole block; the first question is sent together with the beginning of the
        transaction."""
        # First, because opening decides how many searches go on at once.
        connections = self._connections
        with (
            _in_turn(self._searches, f"Others searched the index in the schema {self.schema}"),
            connections.lent(StatementCall(_BEGIN), *first) as (connection, (_, *answers)),
        ):
            yield connection, answers

    @contextmanager
    def writing(self) -> Iterator[Lent]:
        """A transaction. One writer of the units at a time, as with a file; readers and makers of vectors go on."""
        others = f"Others wrote to the search index in the schema {self.schema}"
        with _in_turn(self._turn, others), self.connection() as connection, connection.transaction():
            # Only a writer may lock it so; others read it and write to it meanwhile.
            connection.execute("LOCK TABLE embedders IN SHARE UPDATE EXCLUSIVE MODE")
            _await_older_writers(connection, f"clew search {self.schema} units")
            yield connection

    @contextmanager
    def connection(self) -> Iterator[Lent]:
        """A connection outside of any transaction."""
        with self._connections.lent() as (connection, _):
            yield connection

    @lazy
    def _connections(self) -> PostgresConnections:
        with connected(self.address) as connection:
            make_tables(connection, self.schema)
            self._take_steps(connection)
            self._has_term_numbers = has_term_numbers(connection, self.schema)
            if _is_here(connection) and not self._awaits_service:
                self._searches = threading.Semaphore(AT_ONCE_HERE)
        return PostgresConnections(
            self.address,
            self.schema,
            patience=_ANSWER_SECONDS,
            name="clew search",
            settings=_SETTINGS,
            extensions=True,
            most=AT_ONCE,
        )

    def _take_steps(self, connection: Lent) -> None:
        """Take pending migration steps. A search works without them: it does not wait long for one, and no failure
        stops it."""
        try:
            take_steps(connection, self.schema, ON_START)
        except psycopg.Error as error:
            log.warning(
                "A step of the search index in the schema %s was not taken (%s). Searches work without what it mends "
                "or makes faster; an owner of the project takes it with `clew store init`.",
                *(self.schema, self.address.cleaned(" ".join(str(error).split())).rstrip(".")),
            )


def _await_older_writers(connection: Lent, lock: str) -> None:
    """Wait for servers of the version before, which lock with a single number. Other holders of that lock, which
    anybody can take, are not waited for."""
    until = time.monotonic() + _ANSWER_SECONDS
    while not (connection.execute("SELECT pg_try_advisory_xact_lock(hashtext(%s))", (lock,)).fetchone() or (True,))[0]:
        connection.execute("SELECT pg_stat_clear_snapshot()")
        if connection.execute(_OLDER_WRITERS, (lock,)).fetchone() == (False,):
            return
        if time.monotonic() > until:
            raise StoreBusy(f"An older server kept writing for {_ANSWER_SECONDS} s.", hint="Try again.")
        time.sleep(_LOOKS_SECONDS)


@contextmanager
def connected(address: Address) -> Iterator[Lent]:
    """A new connection for one task."""
    with translated(address), psycopg.connect(address.url, **options("clew search")) as connection:
        yield connection


@contextmanager
def _in_turn(turn: threading.Semaphore, others: str) -> Iterator[None]:
    if not turn.acquire(timeout=_ANSWER_SECONDS):
        raise StoreBusy(f"{others} for {_ANSWER_SECONDS} s.", hint="Try again. Nothing was written.")
    try:
        yield
    finally:
        turn.release()


def _is_here(connection: Lent) -> bool:
    """True if the database runs on this machine, as far as its address tells: a tunnel or a pooler here counts too."""
    host = connection.info.hostaddr or connection.info.host
    # A socket is a path.
    return host.startswith(("/", "127.")) or host == "::1"
