"""Files of tables that can be made again from something else: a damaged one is replaced by an empty one.

Writes may be lost with the machine's power, never by half.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from clew.errors import StoreBusy, StoreCorrupt
from clew.store.sqlite.connections import Connection, Connections
from clew.store.sqlite.faults import protected

_PAUSE = 0.005
_DAMAGED = "was damaged"


class Tables(NamedTuple):
    """What such a file holds."""

    name: str
    """How people are told of it, as the beginning of a sentence."""
    state: str
    """The table that every file of this kind has."""
    create: Callable[[Connection], None]
    is_current: Callable[[Connection], bool]
    """Whether the tables are those of this version of Clew, all of them."""
    remedy: str
    """What becomes of one that was replaced, as the end of a sentence."""


def open_derived(path: Path, tables: Tables, *, busy_timeout: float) -> tuple[Connections, tuple[str, ...]]:
    """Connections to the file at `path`, made where there is none, and what happened to it on the way."""
    try:
        connections = _opened(path, tables, busy_timeout)
        cause = _flaw(connections, tables)
        if cause is None:
            return connections, ()
        connections.close()
    except StoreCorrupt:
        cause = _DAMAGED
    remove(path)
    return _opened(path, tables, busy_timeout), (f"{tables.name} {cause}; {tables.remedy}.",)


def _flaw(connections: Connections, tables: Tables) -> str | None:
    """Why a file that could be opened is of no use."""
    try:
        with connections.reading() as connection:
            return None if tables.is_current(connection) else "was made by another version of Clew"
    except StoreCorrupt:
        return _DAMAGED


def remove(path: Path) -> None:
    """Take the file away. Whoever has it open notices, and opens the one that is made in its place."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _opened(path: Path, tables: Tables, busy_timeout: float) -> Connections:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o644))
    except OSError as error:
        raise protected(path, f"it cannot be made ({error.strerror})") from error
    connections = Connections(path, read_only=False, busy_timeout=busy_timeout)
    deadline = time.monotonic() + busy_timeout
    try:
        # Two processes that make one file meet where SQLite reports "busy" without waiting.
        while not _is_ready(connections, tables, give_up=time.monotonic() >= deadline):
            time.sleep(_PAUSE)
    except BaseException:
        connections.close()
        raise
    return connections


def _is_ready(connections: Connections, tables: Tables, *, give_up: bool) -> bool:
    try:
        with connections.reading() as connection:
            (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
            if journal != "wal":
                connection.execute("PRAGMA journal_mode = WAL")
            is_empty = not _has_tables(connection, tables)
        if is_empty:
            with connections.writing(durable=False) as connection:
                # Another process may have been faster.
                if not _has_tables(connection, tables):
                    tables.create(connection)
    except StoreBusy:
        if give_up:
            raise
        return False
    return True


def _has_tables(connection: Connection, tables: Tables) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (tables.state,)).fetchone() is not None
