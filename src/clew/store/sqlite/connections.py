"""Connections to one store file: how they are opened, handed out and given back."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from weakref import ref

from clew.edit import below
from clew.errors import StoreCorrupt, StoreError
from clew.store.clock import now
from clew.store.sqlite.faults import (
    NOT_UTF8,
    damaged,
    fault,
    is_out_of_space,
    is_refused_access,
    protected,
    translated,
    unusable,
)
from clew.store.sqlite.guard import guard
from clew.store.sqlite.light_connection import AS_WRITTEN, VALUE, log_of, size_of
from clew.store.sqlite.note import DatabaseNote, DatabaseState, read_note, state_of, write_note
from clew.text.hashing import short_hash

_MOST_IDLE = 32
"""As many threads as a busy server has. Opening a connection again takes longer than most questions."""

_MOST_LOOKS = 5
"""How often the state of a file is noted at once, where others change it at the same time."""

_ACCESS = {"write": "mode=rw", "read": "mode=ro", "frozen": "mode=ro&immutable=1"}
"""Modes in which a file is opened. `frozen` is for a folder in which SQLite cannot make the two files it needs beside a
store, because it is protected or the disk is full: it reads the one file alone, and is right only while no process
writes."""

_SETTINGS = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA synchronous = FULL",
    # What is deleted is overwritten with zeros; that costs too little to be measured.
    "PRAGMA secure_delete = ON",
    # Cuts the log back to this size after a burst of writes.
    "PRAGMA journal_size_limit = 16777216",
)


class SqliteConnection(sqlite3.Connection):
    access: str
    number: int
    """Of all connections of this process."""
    writable: bool
    durable: bool = True
    path: Path
    found: DatabaseState | None = None
    """The state of the file when the connection was handed out."""
    refusal: sqlite3.Error | None = None
    """The error if the disk had no room for opening it for writing."""

    def moment(self) -> str:
        return now()

    def mark(self) -> object:
        """A value that changes with every write. SQLite tells a connection of the writes of all others, and counts its
        own; so the mark belongs to this connection, and another one has a different mark for the same state."""
        if self.access == "frozen":
            return None
        (others,) = self.execute("PRAGMA data_version").fetchone()
        return self.number, others, self.total_changes

    def close(self) -> None:
        super().close()
        _forget(self)


_numbers = count()

_living: "dict[int, ref[SqliteConnection | SqliteConnections]]" = {}
"""Connections that have a file open in this process, or are about to open one, by identity. No lock guards it: whatever
the garbage collector closes is forgotten in the middle of any line, also while the same thread looks. Each look and
each change is one operation of the dictionary, which nothing interrupts."""


def _remember(living: "SqliteConnection | SqliteConnections") -> None:
    key = id(living)
    _living[key] = ref(living, lambda _: _living.pop(key, None))


def _forget(living: "SqliteConnection | SqliteConnections") -> None:
    _living.pop(id(living), None)


def is_open_here(path: Path) -> bool:
    """True if this process has the file open through SQLite. Then it must not be opened in any other way: closing it
    again would drop every lock that the process has on it."""
    found = (each() for each in list(_living.values()))
    return any(each is not None and each.path == path for each in found)


class SqliteConnections:
    """Connections to one file. Each serves one call or one transaction at a time, so that no two threads use the same
    one."""

    principal: str | None = None
    """No principal: everybody who may open the file may write it."""
    as_written = AS_WRITTEN
    value = VALUE

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool,
        busy_timeout: float,
        refusal: StoreError | None = None,
        note: DatabaseNote | None = None,
        status: os.stat_result | None = None,
    ) -> None:
        """`refusal` is the reason why nothing is written, if the file is opened for reading only. Whoever looked at
        the names of the file and of those beside it gives the note and the status that it found."""
        self.path = path
        self._refusal = refusal
        self._busy_timeout = busy_timeout
        self._ways = ("read", "frozen") if read_only else ("write", "read", "frozen")
        self._idle: list[SqliteConnection] = []
        self._lock = threading.Lock()
        self._closed = False
        self._process = os.getpid()
        self._looked_at = status is not None
        status = status or _status(path)
        self._file = _identity(status)
        self._left = None if status is None else state_of(status)
        """The state of the file in which this process found it, or left it."""
        self.note = None if read_only else note or read_note(path)
        """The note beside the file as this process saw or wrote it last; None where it writes none."""
        self._thread = threading.local()
        self._damage: StoreCorrupt | None = None
        _remember(self)

    @property
    def name(self) -> str:
        return f"the store {self.path}"

    def translated(self) -> AbstractContextManager[None]:
        return translated(self.path)

    def damaged(self, cause: str) -> StoreError:
        return damaged(self.path, cause)

    @property
    def is_closed(self) -> bool:
        return self._closed

    @property
    def is_replaced(self) -> bool:
        """True if the file that was opened is gone, or is another one."""
        return _identity(_status(self.path)) != self._file

    @contextmanager
    def reading(self) -> Iterator[SqliteConnection]:
        """A connection for a block of the engine's own statements; their errors are translated into those of the
        store."""
        # Every call reads something, so this is `_lent` and `translated` in one.
        connection = self._take()
        try:
            yield connection
        except sqlite3.Error as error:
            failure = fault(error, self.path)
            self._notice(failure)
            raise failure from error
        except StoreCorrupt as error:
            self._notice(error)
            raise
        finally:
            self._give_back(connection)

    @contextmanager
    def moving(self) -> Iterator[SqliteConnection]:
        """A connection for statements that write to the file itself, past the log."""
        with self.reading() as connection:
            yield connection
            self.note_change(connection.found)

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[SqliteConnection]:
        """The writer's lock and a transaction around the block. What is written without `durable` may be lost with the
        machine's power, though never with the process, and is never there by half."""
        if getattr(self._thread, "writes", False):
            raise StoreError(
                f"A transaction on the store {self.path} is already open in this thread.",
                hint="Write through that transaction, or end it first. Nothing was written.",
            )
        if self._damage is not None:
            # To write on would make it worse.
            raise StoreCorrupt(self._damage.message, hint=self._damage.hint, data=self._damage.data)
        with self._lent() as connection:
            if connection.refusal is not None:
                raise fault(connection.refusal, self.path)
            if self._refusal is not None:
                raise self._refusal
            if not connection.writable:
                raise protected(self.path, "it was opened for reading, or may not be written")
            with translated(self.path):
                _begin(connection, durable)
            self._thread.writes = True
            try:
                yield connection
                with translated(self.path):
                    connection.execute("COMMIT")
                self.note_change(connection.found)
            finally:
                self._thread.writes = False
                _take_back(connection)

    def close(self) -> None:
        """Close idle connections; a connection in use is closed when it comes back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        if idle:
            self._end(*idle)
        _forget(self)

    # Implements: REQ-d00647-C
    def note_change(self, before: DatabaseState | None) -> None:
        """Note the state of the file if writes were moved from the log into it. `before` is its state before that: one
        that nobody noted was not Clew's work, and stays so, unless another process has noted a state since."""
        if self.note is None:
            return
        for _ in range(_MOST_LOOKS):
            now = self._state()
            if now is None or now == self._left:
                return
            note = read_note(self.path)
            if note.state is None or (
                note == self.note and not (now.is_like(note.state) or note.state.is_like(before))
            ):
                return
            self._left, self.note = now, note
            if note.state != now:
                # Another process may move more meanwhile, and note it earlier.
                self.note = write_note(self.path, now)

    def keep_note(self) -> None:
        """Note the present state of the file, which is known to be Clew's work."""
        now = self._state()
        if now is not None:
            self._left, self.note = now, write_note(self.path, now)

    def _state(self) -> DatabaseState | None:
        """The state of the file; None if it was taken away, or replaced."""
        status = _status(self.path)
        return None if status is None or _identity(status) != self._file else state_of(status)

    def _end(self, *connections: SqliteConnection) -> None:
        """Close connections. With the last one SQLite moves the log into the file."""
        before = self._state()
        for connection in connections:
            connection.close()
        self.note_change(before)

    @contextmanager
    def _lent(self) -> Iterator[SqliteConnection]:
        connection = self._take()
        try:
            yield connection
        except StoreCorrupt as error:
            self._notice(error)
            raise
        finally:
            self._give_back(connection)

    def _notice(self, error: StoreError) -> None:
        """Remember that the file is damaged. The block may also be a caller's, at work on another store."""
        if isinstance(error, StoreCorrupt) and error.data.get("path") == str(self.path):
            self._damage = error

    def _take(self) -> SqliteConnection:
        if self._process != os.getpid():
            raise StoreError(
                f"The store {self.path} was opened by process {self._process} and cannot be used after a fork.",
                hint="Open the store in the child process.",
            )
        with self._lock:
            if self._closed:
                raise StoreError(f"The store {self.path} is closed.", hint="Open it again.")
            connection = self._idle.pop() if self._idle else None
        status = _status(self.path)
        # A write to a file that is gone would be acknowledged and lost.
        if _identity(status) != self._file:
            if connection is not None:
                connection.close()
            raise StoreError(
                f"The store {self.path} was deleted, moved or replaced while it was open.",
                hint="Restart Clew. Nothing was written.",
            )
        if connection is None:
            with translated(self.path):
                connection = self._connect()
        connection.found = None if status is None else state_of(status)
        return connection

    def _give_back(self, connection: SqliteConnection) -> None:
        with self._lock:
            keep = (
                not self._closed
                and not connection.in_transaction
                and connection.access != "frozen"
                and len(self._idle) < _MOST_IDLE
            )
            if keep:
                self._idle.append(connection)
        if not keep:
            self._end(connection)

    def _connect(self) -> SqliteConnection:
        refusal: sqlite3.Error | None = None
        for access in self._ways[:-1]:
            try:
                looked_at, self._looked_at = self._looked_at, False
                return _connect(self.path, access, self._busy_timeout, self._file if looked_at else None)
            except sqlite3.OperationalError as error:
                if is_out_of_space(error):
                    refusal = refusal or error
                elif not is_refused_access(error) or os.access(self.path.parent, os.W_OK):
                    raise
        if size_of(log_of(self.path)):
            if refusal is not None:
                raise refusal
            raise protected(self.path, "its last writes are in the log beside it, which only a writable folder reveals")
        connection = _connect(self.path, "frozen", self._busy_timeout)
        connection.refusal = refusal
        return connection


def index_of(path: Path) -> Path:
    """The file by which processes share the places of pages in the log."""
    return path.with_name(f"{path.name}-shm")


def _connect(path: Path, access: str, busy_timeout: float, before: tuple[int, int] | None = None) -> SqliteConnection:
    """A connection to a file, whose identity is given where its names have just been looked at."""
    # SQLite opens by name, and follows links: so it may only find what was looked at before.
    try:
        before = before or below.demand_plain(path)
        connection = _opened(path, access, busy_timeout)
    except OSError as error:
        raise unusable(path, error) from error
    try:
        if before is not None and before != _identity(_status(path)):
            raise unusable(path, below.refused(path))
    except BaseException as error:
        connection.close()
        if isinstance(error, OSError):
            raise unusable(path, error) from error
        raise
    return connection


def _opened(path: Path, access: str, busy_timeout: float) -> SqliteConnection:
    connection = sqlite3.connect(
        f"{_uri_of(path)}?{_ACCESS[access]}",
        uri=True,
        timeout=busy_timeout,
        isolation_level=None,
        # A connection has one user at a time, but not always the same thread.
        check_same_thread=False,
        factory=SqliteConnection,
    )
    connection.access = access
    connection.number = next(_numbers)
    connection.path = path
    _remember(connection)
    # SQLite opens a write-protected file for reading without a word.
    connection.writable = access == "write" and os.access(path, os.W_OK)
    connection.create_function("hash_of_id", 1, short_hash, deterministic=True)
    try:
        guard(connection)
        for setting in _SETTINGS:
            connection.execute(setting)
        # The first look at the file, so that one that cannot be read fails here.
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException as error:
        connection.close()
        if isinstance(error, UnicodeDecodeError):
            # SQLite's own message quotes a schema that is no text.
            raise sqlite3.DatabaseError(NOT_UTF8) from error
        raise
    return connection


@lru_cache(maxsize=64)
def _uri_of(path: Path) -> str:
    return path.as_uri()


def _begin(connection: SqliteConnection, durable: bool) -> None:
    if connection.durable is not durable:
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        connection.durable = durable
    connection.execute("BEGIN IMMEDIATE")


def _take_back(connection: SqliteConnection) -> None:
    """Roll back. If even this fails the connection is closed, which rolls back as well."""
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _status(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - twice as fast, before every read
    except OSError:
        return None


def _identity(status: os.stat_result | None) -> tuple[int, int] | None:
    return None if status is None else (status.st_dev, status.st_ino)
