"""The engine on one schema of a PostgreSQL database."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from psycopg.errors import InsufficientPrivilege

from clew.errors import StoreError
from clew.store.arguments import LARGEST_NUMBER, encode
from clew.store.comparing import BLOCK, COLUMNS, Row, in_sql
from clew.store.interface import Record
from clew.store.postgres import inspection
from clew.store.postgres.compacting import compact
from clew.store.postgres.connections import MAY_TAKE_TO_DISK, PostgresConnection, PostgresConnections
from clew.store.postgres.faults import translated
from clew.store.postgres.migrations import HAS_TURNS, SCHEMA_VERSION, check_version, found_version, migrate
from clew.store.postgres.writing import PostgresTransaction, Put
from clew.store.sql.engine import SqlStore
from clew.store.sql.records import check_place
from clew.text.database_address import Address

BUSY_TIMEOUT = 30.0
"""Seconds a writer waits for another one."""

_SIGNED = "events_are_signed"
"""The trigger that makes the database's user the first part of every actor."""


def open_postgres(
    address: Address, schema: str, *, create: bool = False, busy_timeout: float = BUSY_TIMEOUT
) -> "PostgresStore":
    """The store in this schema. With `create`, the schema is made where it is missing, for its maker alone; a team's is
    made by `clew store init`, with roles."""
    connections = PostgresConnections(address, schema, patience=busy_timeout)
    try:
        with connections.reading() as connection:
            _prepare(connections, connection, create=create)
    except BaseException:
        connections.close()
        raise
    return PostgresStore(connections)


def _prepare(connections: PostgresConnections, connection: PostgresConnection, *, create: bool) -> None:
    address, schema = connections.address, connections.schema
    connection.execute("SELECT 1")
    try:
        found, needs = found_version(connection.lent, schema)
    except InsufficientPrivilege:
        raise StoreError(
            f"This user of the database has no role in the project: nothing of {schema} in {address} may be read.",
            hint="Ask an owner of the project for one: `clew store init --reader USER`, or `--writer USER`.",
            data={"schema": schema},
        ) from None
    if not found:
        if not create:
            raise StoreError(
                f"The database {address} holds nothing of this project (no schema {schema}).",
                hint="Make it with `clew store init`, or move what is here with `clew store migrate --to URL`.",
                data={"schema": schema},
            )
        with translated(address):
            migrate(connection.lent, schema)
        found = SCHEMA_VERSION
    else:
        check_version(found, needs, f"The store {address}")
    if found >= HAS_TURNS:
        connections.take_turns()
    row = connection.lent.execute(
        """
        SELECT session_user, has_table_privilege(%(events)s, 'INSERT'), EXISTS (
            SELECT 1 FROM pg_trigger WHERE tgrelid = %(events)s::regclass AND tgname = %(signed)s
        )
        """,
        {"events": f'"{schema}".events', "signed": _SIGNED},
    ).fetchone()
    user, connections.may_write, is_signed = row or ("", False, False)
    connections.principal = user if is_signed else None
    (connections.may_take_to_disk,) = connection.lent.execute(MAY_TAKE_TO_DISK).fetchone() or (False,)


class PostgresStore(SqlStore[PostgresConnections]):
    transaction_type = PostgresTransaction
    get_many_query = """
        SELECT records.id, version, data, updated_at, true
        FROM jsonb_array_elements_text(?::jsonb) WITH ORDINALITY AS asked (id, place)
        JOIN records ON collection = ? AND records.id = asked.id ORDER BY asked.place
    """

    def put(
        self, collection: str, id: str, data: Any, *, actor: str, reason: str = "", if_version: int | None = None
    ) -> Record:
        signer = self._signed(actor, reason)
        check_place(collection, id, if_version)
        put = Put(collection, id, encode(collection, id, data), if_version, signer, reason)
        return put.record(self._connections.write(put.asked()))

    @property
    def schema(self) -> str:
        """Also the channel on which listeners are woken after every write."""
        return self._connections.schema

    @property
    def address(self) -> Address:
        return self._connections.address

    @property
    def principal(self) -> str | None:
        """The database's user, if it signs its writes."""
        return self._connections.principal

    @property
    def may_write(self) -> bool:
        return self._connections.may_write

    def origin(self) -> bytes:
        """The time when this schema was created; it tells the schema from another one of the same name."""
        with self._connections.reading() as connection:
            (at,) = connection.execute("SELECT min(at) FROM versions").fetchone()
        return str(at).encode()

    def demand_known(self) -> None:
        """StoreTooNew where the schema has become one that this version may not work on."""
        with self._connections.reading() as connection:
            find = "SELECT coalesce(max(number), 0), coalesce(max(needs), 0) FROM versions"
            found, needs = connection.execute(find).fetchone()
        check_version(found, needs, f"The store {self.address}")

    def purged(self, *, after: int) -> tuple[list[tuple[str, str]], int]:
        """Collections and ids of purged records after a number, and the number of the last purge."""
        with self._connections.reading() as connection:
            rows = connection.execute(
                "SELECT number, collection, id FROM purged WHERE number > ? ORDER BY number", (after,)
            ).fetchall()
        return list(dict.fromkeys((row[1], row[2]) for row in rows)), rows[-1][0] if rows else after

    def event_rows(
        self,
        *,
        collection: str = "",
        id: str = "",
        after: int = -LARGEST_NUMBER,
        before: int = LARGEST_NUMBER,
        limit: int = LARGEST_NUMBER,
    ) -> list[Row]:
        """Events between two numbers as they are in the table, for a copy: also damaged ones. With a collection and an
        id, only those of that record."""
        given = "AND collection = ? AND id = ?" if id else ""
        query = f"SELECT {COLUMNS} FROM events WHERE seq > ? AND seq < ? {given} ORDER BY seq LIMIT ?"  # noqa: S608
        with self._connections.reading() as connection:
            values = (after, before, *((collection, id) if id else ()), limit)
            return [tuple(row) for row in connection.execute(query, values).fetchall()]

    def digests(self, first: int, last: int) -> dict[int, tuple[int, int]]:
        """Count and digest of the events in each of the blocks from one to another."""
        with self._connections.reading() as connection:
            bounds = first * BLOCK, min((last + 1) * BLOCK, LARGEST_NUMBER)
            rows = connection.execute(in_sql(), bounds).fetchall()
        return {int(block): (int(count), int(total)) for block, count, total in rows}

    def demand_on_disk(self) -> None:
        """Wait until everything that was read is on the disk, for a copy of it."""
        with self._connections.reading() as connection:
            self._connections.demand_on_disk(connection.lent)

    @contextmanager
    def moving(self) -> Iterator[PostgresConnection]:
        """A transaction that copies records of other authors; only for owners of the project."""
        with super().moving() as connection:
            connection.execute("SET LOCAL clew.moving = 'on'")
            yield connection

    @contextmanager
    def changing_events(self, connection: PostgresConnection) -> Iterator[None]:
        # Until the transaction ends: what is looked at then is allowed by it too.
        connection.execute("SET LOCAL clew.purging = 'on'")
        yield

    def compact(self, *, waits: bool = True) -> None:
        compact(self._connections, self._connections.patience if waits else 0)

    def describe(self, *, counts: bool = True) -> Mapping[str, Any]:
        with self._connections.reading() as connection:
            description = inspection.described(connection, self._connections)
            return description | inspection.counted(connection) if counts else description

    def check(self) -> list[str]:
        with self._connections.reading() as connection:
            return inspection.damage(connection)
