"""A SQLite file that was made from something else: opened, checked, thrown away and made again in one way.

Its owner says which tables it has and which version they are. A file that is damaged, or that another version of Clew
made, is replaced by an empty one, which the owner fills again. Writes may be lost with the machine's power, never by
half.
"""

import logging
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from clew.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull
from clew.store.sqlite.compacting import compact
from clew.store.sqlite.connections import Connection, Connections
from clew.store.sqlite.faults import fault, protected, translated

PATIENCE_SECONDS = 10.0
_PAUSE = 0.005
_WORTH_TIDYING, _GROWN = 64, 1.5
"""Pages from which on a file is tidied, and how many times as many there are since that was last done."""
_ROOM = 2
"""How many times what a file holds has to be free on the disk where it is written anew: SQLite puts all of it into a
temporary file, and into the log."""
_DAMAGED = "was damaged"
_TABLE = re.compile(r"\s*CREATE (?:VIRTUAL )?TABLE (\w+)")

log = logging.getLogger(__name__)


class Schema(NamedTuple):
    """What such a file holds."""

    name: str
    """How messages name it, at the beginning of a sentence."""
    version: int
    """From 1. Another one means other tables, or other content in them."""
    statements: tuple[str, ...]
    """What makes the tables of an empty file."""
    remedy: str
    """What becomes of one that was replaced, as the end of a sentence."""
    page_size: int = 4096
    """Bytes. Small pages leave less room unused behind values of a few kilobytes; large ones are fewer to look at."""
    upgrade: Callable[[Connection], bool] = lambda connection: False
    """Brings the tables of an earlier version up to this one; False where that is not worth it."""

    def create(self, connection: Connection) -> None:
        for statement in self.statements:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {self.version:d}")

    def is_whole(self, connection: Connection) -> bool:
        """Whether the tables are those of this version, all of them."""
        own = {found[1] for statement in self.statements if (found := _TABLE.match(statement))}
        return _version(connection) == self.version and own <= _tables(connection)


class DerivedFile:
    """Any number of threads and processes may read and write."""

    def __init__(self, path: Path, schema: Schema, *, patience: float = PATIENCE_SECONDS) -> None:
        self.path = path
        self._schema = schema
        self._patience = patience
        self._opening = threading.Lock()
        self.notes: tuple[str, ...] = ()
        """What happened to the file when it was opened."""
        self._connections = self._open()

    @property
    def is_replaced(self) -> bool:
        """Whether another file took the place of this one, or none did."""
        return self._connections.is_replaced

    @property
    def opening(self) -> object:
        """Another one whenever the file was opened anew."""
        return self._connections

    def close(self) -> None:
        self._connections.close()

    def follow(self) -> bool:
        """Open the file that is there now, where it was deleted or made anew since it was opened; whether it was."""
        with self._opening:
            if self._connections.is_closed or not self._connections.is_replaced:
                return False
            self._connections.close()
            self._connections = self._open()
            return True

    def renew(self) -> None:
        """Begin with an empty file. A process that has the old one open notices, and opens the new one."""
        with self._opening:
            self._connections.close()
            throw_away(self.path)
            self._connections = self._open()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One state of the file for a whole block, whatever others write meanwhile."""
        with self._connections.reading() as connection, self._translated():
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def writing(self, *, durable: bool = False) -> Iterator[Connection]:
        """A transaction. What is written without `durable` may be lost with the machine's power, never by half."""
        with self._connections.writing(durable=durable) as connection, self._translated():
            yield connection

    @contextmanager
    def reading_latest(self) -> Iterator[Connection]:
        """One state of the file that is there now, also where another process made it anew."""
        self.follow()
        with self.reading() as connection:
            yield connection

    @contextmanager
    def writing_latest(self) -> Iterator[Connection]:
        """A transaction on the file that is there now."""
        self.follow()
        with self.writing() as connection:
            yield connection

    def compact(self) -> None:
        """Leave no byte of what was deleted in the file or beside it."""
        compact(self._connections, self._patience)

    # Implements: REQ-o00010-D
    def tidy(self) -> bool:
        """Write the file anew where it grew by half since that was last done, or where most of it is free: rows that
        come in any order leave a quarter of their pages empty. Whether that was done. It takes as long as reading all
        of it and no longer than filling it took, and others may read meanwhile. A file that others keep busy, or for
        which the disk has no room, stays as it is and is tidied another time."""
        try:
            if not self._is_loose():
                return False
            self._write_anew()
        except StoreError as error:
            log.info("%s stays as it is: %s", self.path, error)
            if isinstance(error, StoreFull):
                # The log keeps its size when what was written to it is taken back, and with it the rest of the disk.
                with suppress(StoreError), self.unbound() as connection:
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return False
        return True

    def _write_anew(self) -> None:
        with self.writing() as connection:
            self.before_tidying(connection)
        with self.unbound() as connection:
            _vacuum(connection)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def before_tidying(self, connection: Connection) -> None:
        """What the owner takes out on this occasion."""

    def _is_loose(self) -> bool:
        with self.unbound() as connection:
            pages = _pages(connection)
            (free,) = connection.execute("PRAGMA freelist_count").fetchone()
            (before,) = connection.execute("PRAGMA application_id").fetchone()
            loose = pages >= _WORTH_TIDYING and (pages >= before * _GROWN or free * 2 >= pages)
            return loose and self._has_room(connection)

    def _has_room(self, connection: Connection) -> bool:
        """Whether the disk has room for writing the file anew."""
        (free,) = connection.execute("PRAGMA freelist_count").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        from shutil import disk_usage  # it loads every way to compress files

        return bool((_pages(connection) - free) * size * _ROOM <= disk_usage(self.path.parent).free)

    @contextmanager
    def unbound(self) -> Iterator[Connection]:
        """A connection outside of any transaction, for what SQLite does only there."""
        with self._connections.reading() as connection, self._translated():
            yield connection

    # Implements: REQ-o00010-C
    def _translated(self) -> AbstractContextManager[None]:
        """The file was opened with all its tables, so a statement that does not fit them has met damage."""
        return translated(self.path, tables_known=True)

    def _open(self) -> Connections:
        self.notes = ()
        try:
            connections = self._ready()
            cause = self._flaw(connections)
            if cause is None:
                return connections
            connections.close()
        except StoreCorrupt:
            cause = _DAMAGED
        throw_away(self.path)
        self.notes = (f"{self._schema.name} {cause}; {self._schema.remedy}.",)
        return self._ready()

    def _flaw(self, connections: Connections) -> str | None:
        """Why a file that could be opened is of no use."""
        try:
            with connections.reading() as connection:
                if self._schema.is_whole(connection):
                    return None
            with connections.writing() as connection, self._translated():
                # Another process may have been faster.
                if not self._schema.is_whole(connection) and not self._schema.upgrade(connection):
                    return "was made by another version of Clew"
                connection.execute(f"PRAGMA user_version = {self._schema.version:d}")
            self._change_pages(connections)
        except StoreCorrupt:
            return _DAMAGED
        return None

    def _change_pages(self, connections: Connections) -> None:
        """Write a file that was upgraded anew with pages of its present size. SQLite does that without its log alone,
        which nobody else may have open; otherwise the pages stay as they are."""
        with suppress(StoreBusy, StoreFull), connections.reading() as connection:
            (size,) = connection.execute("PRAGMA page_size").fetchone()
            if size == self._schema.page_size or not self._has_room(connection):
                return
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute(f"PRAGMA page_size = {self._schema.page_size:d}")
            _vacuum(connection)
        self._make(connections)

    def _ready(self) -> Connections:
        """Connections to the file, with tables in it."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o644))
        except OSError as error:
            raise protected(self.path, f"it cannot be made ({error.strerror})") from error
        connections = Connections(self.path, read_only=False, busy_timeout=self._patience)
        try:
            self._make(connections)
        except BaseException:
            connections.close()
            raise
        return connections

    def _make(self, connections: Connections) -> None:
        """Give the file a log, and tables where it has none."""
        deadline = time.monotonic() + self._patience
        # Two processes that make one file meet where SQLite reports "busy" without waiting.
        while not self._is_made(connections, give_up=time.monotonic() >= deadline):
            time.sleep(_PAUSE)

    def _is_made(self, connections: Connections, *, give_up: bool) -> bool:
        try:
            with connections.reading() as connection:
                if connection.refusal is not None:
                    # Its owner writes to it, and can do so elsewhere.
                    raise fault(connection.refusal, self.path)
                (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
                if journal != "wal":
                    # Only before the first table, and before the log.
                    connection.execute(f"PRAGMA page_size = {self._schema.page_size:d}")
                    connection.execute("PRAGMA journal_mode = WAL")
                is_empty = not _tables(connection)
            if is_empty:
                with connections.writing(durable=False) as connection:
                    if not _tables(connection):
                        self._schema.create(connection)
        except StoreBusy:
            if give_up:
                raise
            return False
        return True


def in_memory(statements: Iterable[str]) -> Connection:
    """Tables that are gone with the connection. One thread at a time may use it."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=Connection)
    for statement in statements:
        connection.execute(statement)
    return connection


def throw_away(place: Path) -> None:
    """Delete a derived file with what SQLite keeps beside it, or a whole folder of derived files. A process that has it
    open notices, and opens the new file."""
    if place.is_dir():
        from shutil import rmtree

        rmtree(place, ignore_errors=True)
        return
    for suffix in ("", "-wal", "-shm", "-journal"):
        place.with_name(place.name + suffix).unlink(missing_ok=True)


def _vacuum(connection: Connection) -> None:
    """Write a file anew, and note its size: from there it grows."""
    connection.execute("VACUUM")
    # The header has a place for a number of the owner's. Zero of an untouched file is less than any.
    connection.execute(f"PRAGMA application_id = {_pages(connection):d}")


def _pages(connection: Connection) -> int:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    return int(pages)


def _version(connection: Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _tables(connection: Connection) -> set[str]:
    own = "type = 'table' AND name NOT LIKE 'sqlite_%'"
    return {name for (name,) in connection.execute(f"SELECT name FROM sqlite_master WHERE {own}")}  # noqa: S608
