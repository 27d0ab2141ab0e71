"""Leaving no byte of what was deleted in a file, and letting events be changed while something is taken out."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from clew.errors import StoreBusy
from clew.store.sqlite.connections import Connections
from clew.store.sqlite.faults import translated
from clew.store.sqlite.glance import log_of, size_of
from clew.store.sqlite.migrations import EVENTS_ARE_NEVER_CHANGED

_PAUSE = 0.05


@contextmanager
def changing_events(connection: sqlite3.Connection) -> Iterator[None]:
    """In a transaction of the caller: nobody else can change an event meanwhile."""
    connection.execute("DROP TRIGGER events_are_never_changed")
    yield
    connection.execute(EVENTS_ARE_NEVER_CHANGED)


def compact(connections: Connections, patience: float) -> None:
    """Write the file anew without what was deleted, and empty the log beside it. StoreBusy where others read or write
    all the time."""
    deadline = time.monotonic() + patience
    while True:
        try:
            with (
                connections.reading() as connection,
                translated(connections.path),
                _waiting(connection, deadline - time.monotonic()),
            ):
                connection.execute("VACUUM")
                busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not busy and not size_of(log_of(connections.path)):
                return
        except StoreBusy:
            if time.monotonic() >= deadline:
                raise
        if time.monotonic() >= deadline:
            raise StoreBusy(
                f"The log of {connections.path} cannot be emptied: another process reads the store all the time.",
                hint="End the other processes of Clew on this project, and run the command again.",
            )
        time.sleep(_PAUSE)


@contextmanager
def _waiting(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """SQLite itself waits for others at most this long, instead of the connection's usual time."""
    (usual,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {max(0, int(seconds * 1000))}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {usual}")
