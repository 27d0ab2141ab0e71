"""A SQLite file that was made from something else: opened, checked, thrown away and made again in one way.

Its owner says which tables it has and which version they are. A file that is damaged, or that another version of Clew
made, is replaced by an empty one, which the owner fills again. Writes may be lost with the machine's power, never by
half.
"""

import logging
import os
import sqlite3
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from clew.derived.as_left import FileDoubt, doubt_of, keep_checksum, looking
from clew.derived.sealed import checksum
from clew.edit import below
from clew.edit.state_folder import make_folder_in
from clew.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreReadOnly
from clew.store.sqlite.compacting import compact
from clew.store.sqlite.connections import SqliteConnection, SqliteConnections
from clew.store.sqlite.faults import damaged, fault, protected, translated
from clew.store.sqlite.guard import foreign_objects, guard, missing_objects, schema_of, unsound
from clew.store.sqlite.note import ENDING

PATIENCE_SECONDS = 10.0
_PAUSE = 0.005
_WORTH_TIDYING, _GROWN = 64, 1.5
"""Pages from which on a file is tidied, and how many times as many there are since that was last done."""
_ROOM = 2
"""The free space, in multiples of the file's content, that writing it again takes: SQLite puts all of it into a
temporary file, and into the log."""
_DAMAGED = "was damaged"
_CHANGED = "was damaged, or changed by another program"
_OTHER_TABLES = "was made by another version of Clew, or by somebody else"

_UNDECODABLE = (UnicodeDecodeError, msgspec.MsgspecError, zlib.error)
_BY_VALUES = (*_UNDECODABLE, ValueError, TypeError, LookupError, ArithmeticError, AttributeError)
"""Errors in a block that meets values which were never written."""

log = logging.getLogger(__name__)


class FileSchema(NamedTuple):
    """Schema of a derived file."""

    name: str
    """The name of the file in messages, at the beginning of a sentence."""
    version: int
    """From 1. Another one means other tables, or other content in them."""
    statements: tuple[str, ...]
    """The statements that make the tables of an empty file."""
    remedy: str
    """The remedy for a file that was replaced, as the end of a sentence."""
    page_size: int = 4096
    """Bytes. Small pages leave less room unused behind values of a few kilobytes; large ones are fewer to look at."""
    is_checked_by_row: bool = False
    """Each row is checked when it is read, and a missing one is made again for itself. Any other file is thrown away
    where something else than Clew changed it."""
    extra: tuple[str, ...] = ()
    """Statements of tables that a file may have besides."""
    upgrade: Callable[[SqliteConnection], bool] = lambda connection: False
    """Brings the tables of an earlier version up to this one; False where that is not worth it."""

    def create(self, connection: SqliteConnection) -> None:
        for statement in self.statements:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {self.version:d}")

    def is_whole(self, connection: SqliteConnection) -> bool:
        """True if the file has the current version and all objects that Clew creates."""
        return _version(connection) == self.version and self.is_own(connection)

    # Implements: REQ-d00646-A
    def is_own(self, connection: SqliteConnection) -> bool:
        """True if the file has exactly the tables, indexes, views and triggers that Clew creates."""
        there = schema_of(connection)
        return not (
            foreign_objects(there, (*self.statements, *self.extra))
            or missing_objects(there, self.statements, ("table", "view", "index", "trigger"))
        )


class DerivedFile:
    """Any number of threads and processes may read and write."""

    def __init__(self, path: Path, schema: FileSchema, *, patience: float = PATIENCE_SECONDS) -> None:
        self.path = path
        self._schema = schema
        self._patience = patience
        self._opening = threading.Lock()
        self.notes: tuple[str, ...] = ()
        """Notes on what happened to the file when it was opened."""
        self._met: SqliteConnections | None = None
        """The opening in which damage was met."""
        self._connections = self._open()
        self._has_written = False
        """True if a transaction of this object may have changed the file since it was opened first."""
        self._held = threading.local()

    @property
    def is_replaced(self) -> bool:
        """True if another file took the place of this one, or it was deleted."""
        return self._connections.is_replaced

    @property
    def opening(self) -> object:
        """Another one whenever the file was opened again."""
        return self._connections

    @property
    def met_damage(self) -> bool:
        """True if damage was met since the file was opened."""
        return self._met is self._connections

    def close(self) -> None:
        self._connections.close()
        note = self._connections.note
        if not self._schema.is_checked_by_row and (self._has_written or note is None or note.checksum is None):
            keep_checksum(self.path)

    def keep_up(self) -> None:
        """Open the present file. A damaged one is thrown away first."""
        if self.met_damage:
            self.renew_damaged()
        self.follow()

    def renew_damaged(self) -> None:
        """Begin with an empty file in place of a damaged one. Of all callers that met the damage, the first does it."""
        with self._opening:
            if self._met is not self._connections or self._connections.is_closed:
                return
            self._connections.close()
            if not self._connections.is_replaced:
                throw_away(self.path)
            self._connections = self._open()
            self.notes = self.notes or (self._note(_DAMAGED),)

    def follow(self) -> bool:
        """Open the present file if the opened one was deleted or rebuilt since; True if it was."""
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
    def reading(self) -> Iterator[SqliteConnection]:
        """One state of the file for a whole block, whatever others write during it."""
        with self._noticing(), self._connections.reading() as connection, self._translated():
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def writing(self, *, durable: bool = False) -> Iterator[SqliteConnection]:
        """A transaction. What is written without `durable` may be lost with the machine's power, never by half."""
        self._has_written = True
        with self._noticing(), self._connections.writing(durable=durable) as connection, self._translated():
            yield connection

    @contextmanager
    def reading_latest(self) -> Iterator[SqliteConnection]:
        """One state of the present file, also if another process made it again, or if it was damaged: the state that
        this thread holds, if it holds one."""
        held: SqliteConnection | None = getattr(self._held, "connection", None)
        if held is not None:
            with self._noticing(), self._translated():
                yield held
            return
        self.keep_up()
        with self.reading() as connection:
            yield connection

    @contextmanager
    def holding(self) -> Iterator[None]:
        """One state of the present file for everything that this thread reads in a block, however often it does."""
        with self.reading_latest() as connection:
            before = getattr(self._held, "connection", None)
            self._held.connection = connection
            try:
                yield
            finally:
                self._held.connection = before

    @contextmanager
    def writing_latest(self) -> Iterator[SqliteConnection]:
        """A transaction on the file that is there now."""
        self.keep_up()
        with self.writing() as connection:
            yield connection

    def compact(self) -> None:
        """Leave no byte of deleted rows in the file or beside it."""
        compact(self._connections, self._patience)

    # Implements: REQ-o00010-D
    def tidy(self) -> bool:
        """Rewrite the file if it grew by half since the last time, or if most of it is free: rows that come in any
        order leave a quarter of their pages empty. True if it was rewritten. It takes as long as reading the file, and
        others may read meanwhile. A busy file, or one for which the disk has no room, is rewritten another time."""
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

    def before_tidying(self, connection: SqliteConnection) -> None:
        """Hook for an owner that deletes rows of its own before tidying."""

    def _is_loose(self) -> bool:
        with self.unbound() as connection:
            pages = _pages(connection)
            (free,) = connection.execute("PRAGMA freelist_count").fetchone()
            (before,) = connection.execute("PRAGMA application_id").fetchone()
            loose = pages >= _WORTH_TIDYING and (pages >= before * _GROWN or free * 2 >= pages)
            return loose and self._has_room(connection)

    def _has_room(self, connection: SqliteConnection) -> bool:
        """True if the disk has room for writing the file again."""
        (free,) = connection.execute("PRAGMA freelist_count").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        from shutil import disk_usage  # it loads every way to compress files

        return bool((_pages(connection) - free) * size * _ROOM <= disk_usage(self.path.parent).free)

    # Implements: REQ-d00645-B
    def checked(self, rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Rows without their last value, which is the checksum of the others. StoreCorrupt where one does not match."""
        found = []
        for *values, expected in rows:
            if checksum(*values) != expected:
                raise damaged(self.path, "a row is not the one that was written")
            found.append(tuple(values))
        return found

    @contextmanager
    def unbound(self) -> Iterator[SqliteConnection]:
        """A connection outside of any transaction, for what SQLite does only there."""
        self._has_written = True
        with self._noticing(), self._connections.moving() as connection, self._translated():
            yield connection

    # Implements: REQ-o00010-C
    def _translated(self) -> AbstractContextManager[None]:
        """Translate errors of SQLite. All tables exist, so an error about a missing one means damage."""
        return translated(self.path, tables_known=True)

    # Implements: REQ-d00645-C
    @contextmanager
    def _noticing(self) -> Iterator[None]:
        """Note damage, so that the file is rebuilt before its next use. A value that cannot be decoded counts as
        damage."""
        connections = self._connections
        try:
            yield
        except StoreCorrupt as error:
            if error.data.get("path") != str(self.path):
                # The block may also have asked another file.
                raise
            self._met = connections
            raise self._as_derived(error) from error
        except StoreReadOnly as error:
            # SQLite says the same of a header in which the number of the format changed.
            if not (os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)):
                raise
            self._met = connections
            raise self._as_derived(damaged(self.path, error.message)) from error
        except _BY_VALUES as error:
            # It may also be a fault in Clew, which has to be seen as one.
            if not isinstance(error, _UNDECODABLE) and self._is_sound():
                raise
            self._met = connections
            raise self._as_derived(damaged(self.path, f"{type(error).__name__}: {error}")) from error

    def _is_sound(self) -> bool:
        """True if a check of the whole file finds nothing wrong."""
        try:
            with self._connections.reading() as connection:
                return unsound(connection) is None
        except StoreCorrupt:
            return False

    def _as_derived(self, error: StoreCorrupt) -> StoreCorrupt:
        """The error with `derived` beside the path: a call that met it can be repeated."""
        hint = f"Nothing that you wrote is in it. Ask again: it is rebuilt, and {self._schema.remedy}."
        return StoreCorrupt(error.message, hint=hint, data={**error.data, "derived": True})

    def _note(self, cause: str) -> str:
        return f"{self._schema.name} {cause}; {self._schema.remedy}."

    def _open(self) -> SqliteConnections:
        self.notes = ()
        with looking:
            doubt = None if self._schema.is_checked_by_row else doubt_of(self.path)
            cause = _CHANGED if doubt is FileDoubt.CHANGED else None
            connections = None if cause else self._connected()
        try:
            if connections is not None:
                self._make_ready(connections)
                cause = self._flaw(connections, is_doubtful=doubt is not None)
                if cause is None:
                    if doubt is not None:
                        connections.keep_note()
                    return connections
                connections.close()
        except StoreCorrupt:
            cause = _DAMAGED
        throw_away(self.path)
        self.notes = (self._note(str(cause)),)
        connections = self._connected()
        self._make_ready(connections)
        connections.keep_note()
        return connections

    def _flaw(self, connections: SqliteConnections, *, is_doubtful: bool) -> str | None:
        """The reason why a file that could be opened cannot be used."""
        try:
            if is_doubtful:
                with connections.reading() as connection:
                    if unsound(connection) is not None:
                        return _DAMAGED
            with connections.reading() as connection:
                if self._schema.is_whole(connection):
                    return None
            with connections.writing() as connection, self._translated():
                # Another process may have been faster.
                if not self._schema.is_whole(connection):
                    if _version(connection) == self._schema.version:
                        return _OTHER_TABLES
                    if not self._schema.upgrade(connection):
                        return "was made by another version of Clew"
                    if not self._schema.is_own(connection):
                        return _OTHER_TABLES
                connection.execute(f"PRAGMA user_version = {self._schema.version:d}")
            self._change_pages(connections)
        except StoreCorrupt:
            return _DAMAGED
        return None

    def _change_pages(self, connections: SqliteConnections) -> None:
        """Rewrite an upgraded file with pages of its present size. SQLite does that without its log alone,
        which nobody else may have open; otherwise the pages stay as they are."""
        with suppress(StoreBusy, StoreFull), connections.moving() as connection:
            (size,) = connection.execute("PRAGMA page_size").fetchone()
            if size == self._schema.page_size or not self._has_room(connection):
                return
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute(f"PRAGMA page_size = {self._schema.page_size:d}")
            _vacuum(connection)
        self._make(connections)

    def _connected(self) -> SqliteConnections:
        """Connections to the file, which is made if it is not there."""
        try:
            make_folder_in(self.path.parent)
            descriptor = below.open_file(self.path, os.O_CREAT | os.O_RDWR)
            try:
                if sys.platform != "win32" and os.fstat(descriptor).st_mode & 0o077:
                    os.fchmod(descriptor, 0o600)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise protected(self.path, f"it cannot be made ({error.strerror})") from error
        return SqliteConnections(self.path, read_only=False, busy_timeout=self._patience)

    def _make_ready(self, connections: SqliteConnections) -> None:
        try:
            self._make(connections)
        except BaseException:
            connections.close()
            raise

    def _make(self, connections: SqliteConnections) -> None:
        """Give the file a log, and tables where it has none."""
        deadline = time.monotonic() + self._patience
        # Two processes that make one file meet where SQLite reports "busy" without waiting.
        while not self._is_made(connections, give_up=time.monotonic() >= deadline):
            time.sleep(_PAUSE)

    def _is_made(self, connections: SqliteConnections, *, give_up: bool) -> bool:
        try:
            with connections.moving() as connection:
                if connection.refusal is not None:
                    # Its owner writes to it, and can do so elsewhere.
                    raise fault(connection.refusal, self.path)
                (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
                if journal != "wal":
                    # Only before the first table, and before the log.
                    connection.execute(f"PRAGMA page_size = {self._schema.page_size:d}")
                    connection.execute("PRAGMA journal_mode = WAL")
                is_empty = _is_empty(connection)
            if is_empty:
                with connections.writing(durable=False) as connection, self._translated():
                    if _is_empty(connection):
                        self._schema.create(connection)
        except StoreBusy:
            if give_up:
                raise
            return False
        return True


def in_memory(statements: Iterable[str]) -> SqliteConnection:
    """Tables that are gone with the connection. One thread at a time may use it."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=SqliteConnection)
    guard(connection)
    for statement in statements:
        connection.execute(statement)
    return connection


def throw_away(place: Path) -> None:
    """Delete a derived file with what SQLite keeps beside it, or a whole folder of derived files. A process that has it
    open notices, and opens the new file."""
    if place.is_dir():
        below.remove_folder(place)
        return
    for ending in (*below.BESIDE, ENDING):
        below.remove(place.with_name(place.name + ending))


def _vacuum(connection: SqliteConnection) -> None:
    """Rewrite a file, and note its size for the next time."""
    connection.execute("VACUUM")
    # The header has a place for a number of the owner's. Zero of an untouched file is less than any.
    connection.execute(f"PRAGMA application_id = {_pages(connection):d}")


def _pages(connection: SqliteConnection) -> int:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    return int(pages)


def _version(connection: SqliteConnection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _is_empty(connection: SqliteConnection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None
