"""Connections to the database of a search index."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from clew.errors import StoreError, StoreUnreachable, Unavailable
from clew.once import Once
from clew.search.database.tables import make_tables, space_of

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg_pool import ConnectionPool

MOST_CONNECTIONS = 16
CONNECT_SECONDS = 5
_ANSWER_MILLISECONDS = 30_000
_UNACKNOWLEDGED_MILLISECONDS = 10_000
"""After which a connection to a host that does not answer any more counts as lost."""
NEAREST_LOOKED_AT = 200
"""How many of the nearest vectors an approximate search keeps in view (`hnsw.ef_search`): with 200, at least 98 of 100
are those of an exact search."""


class Database:
    """The schema of one project's search index, and the space of one work tree in it. Connections are opened when they
    are first needed."""

    def __init__(self, url: str, schema: str, space: str = "own") -> None:
        self.url = url
        self.schema = schema
        self.space_name = space
        self._pool: Once[ConnectionPool[Connection[Any]]] = Once(self._open)
        self._space: int | None = None
        self._lock = threading.Lock()

    @property
    def space(self) -> int:
        """The number of this work tree's space."""
        if self._space is None:
            with self._lock, self.connection() as connection:
                self._space = space_of(connection, self.space_name)
        return self._space

    def close(self) -> None:
        pool = self._pool.end()
        if pool is not None:
            pool.close()

    @contextmanager
    def reading(self, first: str = "SELECT 1") -> "Iterator[tuple[Connection[Any], list[tuple[Any, ...]]]]":
        """One state of the tables for a whole block, and what is asked first, together with the beginning."""
        with self._borrowed() as connection:
            cursor = connection.execute(f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {first}")
            cursor.nextset()
            try:
                yield connection, cursor.fetchall()
            finally:
                if not connection.closed:
                    connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> "Iterator[Connection[Any]]":
        """A transaction. One writer of the units at a time, as with a file; readers and makers of vectors go on."""
        with self._borrowed() as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (f"clew search {self.schema} units",))
            yield connection

    @contextmanager
    def connection(self) -> "Iterator[Connection[Any]]":
        """A connection outside of any transaction."""
        with self._borrowed() as connection:
            yield connection

    @contextmanager
    def _borrowed(self) -> "Iterator[Connection[Any]]":
        import psycopg
        from psycopg_pool import PoolTimeout

        try:
            with self._pool.get().connection(CONNECT_SECONDS) as connection:
                yield connection
        except PoolTimeout as error:
            raise gone(self.url, "no connection within a few seconds") from error
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise gone(self.url, str(error).strip().partition("\n")[0]) from error
        except psycopg.Error as error:
            raise StoreError(
                f"The search index in the database could not be used: {str(error).strip()}",
                hint="`clew doctor` checks the database.",
            ) from error

    def _open(self) -> "ConnectionPool[Connection[Any]]":
        try:
            from psycopg_pool import ConnectionPool
        except ImportError as error:
            raise Unavailable(
                "A database is configured, but psycopg is not installed.",
                hint="Install Clew with its extra `postgres`: pip install 'clew[postgres]'.",
            ) from error
        options: dict[str, Any] = {
            "autocommit": True,
            "connect_timeout": CONNECT_SECONDS,
            "tcp_user_timeout": _UNACKNOWLEDGED_MILLISECONDS,
            "application_name": "clew search",
        }
        with connected(self.url) as connection:
            make_tables(connection, self.schema)
        return ConnectionPool(
            self.url, kwargs=options, min_size=1, max_size=MOST_CONNECTIONS, configure=self._configure, open=True
        )

    def _configure(self, connection: "Connection[Any]") -> None:
        connection.execute(f'SET search_path TO "{self.schema}", public')
        connection.execute(f"SET statement_timeout = {_ANSWER_MILLISECONDS}")
        # Where a search may not see all units, an approximate search goes on until it has enough of those it may.
        connection.execute("SET hnsw.iterative_scan = relaxed_order")
        connection.execute(f"SET hnsw.ef_search = {NEAREST_LOOKED_AT}")
        # A search is short; planning for several processes costs more than it gains.
        connection.execute("SET max_parallel_workers_per_gather = 0")
        connection.execute("SET jit = off")


@contextmanager
def connected(url: str) -> "Iterator[Connection[Any]]":
    """A connection of one's own, for what is done once."""
    import psycopg

    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_SECONDS) as connection:
            yield connection
    except psycopg.OperationalError as error:
        raise gone(url, str(error).strip().partition("\n")[0]) from error
    except psycopg.Error as error:
        raise StoreError(
            f"The search index could not be made in the database: {str(error).strip()}",
            hint="Its owner makes it once: `clew store init`.",
        ) from error


def gone(url: str, cause: str) -> StoreUnreachable:
    return StoreUnreachable(
        f"The database {without_password(url)} does not answer: {cause}.",
        hint="Start it, or wait: Clew tries again by itself.",
    )


def without_password(url: str) -> str:
    """The address as it may be shown."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host = parts.hostname or "local socket"
        return f"{host}{f':{parts.port}' if parts.port else ''}/{parts.path.lstrip('/')}"
    except ValueError:
        return "of the configuration"
