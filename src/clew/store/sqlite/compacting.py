"""Rewriting a database file so that no byte of deleted values is left in it or beside it."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from clew.edit import below
from clew.errors import StoreBusy
from clew.store.sqlite.connections import SqliteConnections
from clew.store.sqlite.faults import translated
from clew.store.sqlite.light_connection import log_of, size_of
from clew.store.sqlite.migrations import EVENTS_ARE_NEVER_CHANGED
from clew.store.sqlite.note import note_of

_PAUSE = 0.05


@contextmanager
def changing_events(connection: sqlite3.Connection) -> Iterator[None]:
    """Let the block change events. The caller holds a transaction, so nobody else can change them."""
    connection.execute("DROP TRIGGER events_are_never_changed")
    yield
    connection.execute(EVENTS_ARE_NEVER_CHANGED)


def compact(connections: SqliteConnections, patience: float) -> None:
    """Write the file again without deleted values, and empty the log beside it. StoreBusy if others read or write all
    the time."""

    def is_done(left: float) -> bool:
        with (
            connections.moving() as connection,
            translated(connections.path),
            _waiting(connection, left),
        ):
            connection.execute("VACUUM")
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy and not size_of(log_of(connections.path))

    _try_until_done(
        is_done,
        patience,
        StoreBusy(
            f"The log of {connections.path} cannot be emptied: another process reads the store all the time.",
            hint="End the other processes of Clew on this project, and run the command again.",
        ),
    )


def put_into_one_file(path: Path, patience: float) -> None:
    """Move the log of a closed store into the store itself, and write without a log from now on: the file can be copied
    alone, also while others read it, and without a note beside it. StoreBusy if somebody has it open all the time."""

    def is_done(_: float) -> bool:
        # SQLite itself does not wait here for others that have the file open.
        try:
            with (
                closing(SqliteConnections(path.absolute(), read_only=False, busy_timeout=0)) as connections,
                connections.moving() as connection,
            ):
                (journal,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        except StoreBusy:
            return False
        below.remove(note_of(path))
        return str(journal) == "delete"

    _try_until_done(
        is_done,
        patience,
        StoreBusy(
            f"'{path}' is not complete: somebody else has it open, and a part of it lies in the log beside it.",
            hint="Close what has it open, and run the command again.",
        ),
    )


def _try_until_done(is_done: Callable[[float], bool], patience: float, refusal: StoreBusy) -> None:
    """Repeat an attempt until it succeeds, with the remaining seconds each time; raises the last refusal when no time
    is left."""
    deadline = time.monotonic() + patience
    while True:
        try:
            if is_done(deadline - time.monotonic()):
                return
        except StoreBusy:
            if time.monotonic() >= deadline:
                raise
        if time.monotonic() >= deadline:
            raise refusal
        time.sleep(_PAUSE)


@contextmanager
def _waiting(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """Let SQLite itself wait for others at most this long, instead of the connection's usual time."""
    (usual,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {max(0, int(seconds * 1000))}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {usual}")
