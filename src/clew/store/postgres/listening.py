"""Being woken after a write. A lost wake-up only costs time: a listener reads the events anyway."""

from typing import Any

import psycopg
from psycopg import sql

from clew.store.postgres.connections import options
from clew.text.database_address import Address


class Listener:
    """A connection that is notified of every write to a schema."""

    def __init__(self, address: Address, schema: str) -> None:
        self._connection: psycopg.Connection[tuple[Any, ...]] = psycopg.connect(address.url, **options("clew listener"))
        self._connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(schema)))

    def wait(self, seconds: float) -> None:
        for _ in self._connection.notifies(timeout=seconds, stop_after=1):
            return

    def close(self) -> None:
        self._connection.close()
