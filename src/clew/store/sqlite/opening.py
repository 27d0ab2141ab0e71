"""From a path to connections on a store that is Clew's, sound at first sight and of the present schema."""

import errno
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from clew.edit import below
from clew.edit.replacing import add_in_place, make_folder, sweep, temporary_beside
from clew.errors import StoreBusy, StoreError, StoreFull
from clew.store.processes import boot_id
from clew.store.sqlite.connections import SqliteConnection, SqliteConnections, is_open_here
from clew.store.sqlite.damaged_copies import unfinished
from clew.store.sqlite.faults import damaged, fault, protected, translated, unusable
from clew.store.sqlite.inspection import flaw
from clew.store.sqlite.light_connection import log_of, size_of
from clew.store.sqlite.log import alone, lost_writes
from clew.store.sqlite.migrations import SCHEMA_VERSION, check_origin, migrate
from clew.store.sqlite.note import NO_NOTE, DatabaseNote, state_of, statuses_and_note

log = logging.getLogger(__name__)

_PAUSE = 0.005
_SMALLEST_PAGE = 512

_opening = threading.Lock()
"""To close a file drops every lock that the process has on it, those of another thread's connections included. So no
thread opens a file through SQLite while another one still looks at it."""

_PROTECTED = (errno.EACCES, errno.EPERM, errno.EROFS)
_OUT_OF_SPACE = (errno.ENOSPC, errno.EDQUOT)


def open_connections(
    path: Path, *, read_only: bool, busy_timeout: float, refusal: StoreError | None = None
) -> SqliteConnections:
    path = path.absolute()
    with _opening:
        found = _demand_file(path, read_only)
        connections = SqliteConnections(
            path,
            read_only=read_only,
            busy_timeout=busy_timeout,
            refusal=refusal,
            note=found.note,
            status=found.status,
        )
    deadline = time.monotonic() + busy_timeout
    try:
        # Two processes that create one store meet where SQLite reports "busy" without waiting.
        while not _is_ready(connections, give_up=time.monotonic() >= deadline):
            time.sleep(_PAUSE)
        if found.is_doubtful:
            _look_through(connections)
        if not read_only and (found.is_doubtful or found.note.state is None or found.note.start != boot_id()):
            connections.keep_note()
    except BaseException:
        connections.close()
        raise
    return connections


# Implements: REQ-d00647-B
def _look_through(connections: SqliteConnections) -> None:
    """StoreCorrupt if the store is damaged. It takes as long as reading all of it."""
    with connections.reading() as connection:
        cause = flaw(connection)
        if cause is not None:
            raise damaged(connections.path, cause)


def _is_ready(connections: SqliteConnections, *, give_up: bool) -> bool:
    try:
        with connections.moving() as connection:
            _prepare(connection, connections.path)
    except StoreBusy:
        if give_up:
            raise
        return False
    return True


def _prepare(connection: SqliteConnection, path: Path) -> None:
    version = check_origin(connection, path)
    if not connection.writable:
        if version < SCHEMA_VERSION:
            raise protected(path, f"it has to be brought from schema version {version} to {SCHEMA_VERSION} first")
        return
    (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
    if journal != "wal":
        # Where the file system cannot do this, the answer is the old mode, which is as safe, only slower.
        connection.execute("PRAGMA journal_mode = WAL")
    if version < SCHEMA_VERSION:
        migrate(connection)


class _FoundFile(NamedTuple):
    note: DatabaseNote = NO_NOTE
    is_doubtful: bool = False
    """The file may not be as Clew left it."""
    status: os.stat_result | None = None
    """The status of the file, which was looked at and is no link."""


def _demand_file(path: Path, read_only: bool) -> _FoundFile:
    """The file, sound at first sight; nothing is created for a read-only store."""
    found = _FoundFile()
    try:
        statuses, note = _looked_at(path)
        if not read_only:
            _keep_private(path, statuses)
        if not statuses[0] and not path.exists():
            if read_only:
                raise protected(path, "it does not exist, and read-only access does not create it")
            _create(path)
        elif is_open_here(path):
            found = _FoundFile(note)
        else:
            file, log, *_ = statuses
            if (file is None or file.st_size < _SMALLEST_PAGE) and (kept := unfinished(path)):
                raise damaged(path, f"its rescue was interrupted, and what it held is in {kept.name}")
            _check_size(path, statuses)
            if log is not None and (lost := lost_writes(path, note)):
                raise damaged(path, lost)
            found = _FoundFile(note, _is_doubtful(path, note, file), file)
        with suppress(OSError):
            # Left by processes that were killed when they made the store.
            sweep(path)
    except OSError as error:
        raise _refusal(path, error) from error
    return found


def _is_doubtful(path: Path, note: DatabaseNote, status: os.stat_result | None) -> bool:
    """True if a file is not in the state that was noted, and no other process has it open: the first that opened it
    looked."""
    if status is None or state_of(status).is_like(note.state):
        return False
    with alone(path) as is_alone:
        return is_alone


# Implements: REQ-d00623
def _keep_private(path: Path, found: Sequence[os.stat_result | None]) -> None:
    """Remove rights of others that earlier versions left on the files."""
    for ending, status in zip(below.BESIDE, found, strict=True):
        if status is not None and status.st_mode & 0o077:
            with suppress(OSError):
                path.with_name(path.name + ending).chmod(0o600)


def _looked_at(path: Path) -> tuple[Sequence[os.stat_result | None], DatabaseNote]:
    try:
        return statuses_and_note(path)
    except FileNotFoundError:
        # The folder is made with the store.
        return (None,) * len(below.BESIDE), NO_NOTE


def _check_size(path: Path, found: Sequence[os.stat_result | None]) -> None:
    """Check the size of the file. SQLite takes a file of no or one byte for a new one, and misses the loss of a part of
    the last page."""
    size, logged, _, journal = (0 if status is None else status.st_size for status in found)
    if not size or size % _SMALLEST_PAGE:
        # Sizes in this order: a store that is being created has its file before its log.
        logged, journal, size = (size_of(file) for file in (log_of(path), path.with_name(f"{path.name}-journal"), path))
    if not size:
        raise damaged(path, "it is empty" + ", but there are writes in the log beside it" * bool(logged))
    # While there is a log or a journal, an unfinished page is only unfinished work, which SQLite completes.
    if not logged and not journal and size % _SMALLEST_PAGE:
        raise damaged(path, "it ends in the middle of a page")


def _create(path: Path) -> None:
    """Make a store whole, then give it its name: no process sees a part of it, so an empty file is a damaged one."""
    # What is written to a file survives a loss of power only if the file's name and its folder's do.
    make_folder(path.parent)
    temporary = temporary_beside(path)
    try:
        with filling(temporary):
            pass
        add_in_place(temporary, path)
    except (OSError, StoreError) as error:
        # A process that made the store first cleared this one away.
        if not path.exists():
            # The error is about the store, not about a file with an internal name.
            if isinstance(error.__cause__, sqlite3.Error):
                raise fault(error.__cause__, path) from error
            raise
        log.debug("Another process made the store %s first: %s", path, error)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def filling(path: Path) -> Iterator[SqliteConnection]:
    """Create a store in one file, complete when the block ends. If the process is killed, the file is to be deleted."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    with closing(SqliteConnections(path, read_only=False, busy_timeout=0)) as connections:
        with connections.reading() as connection:
            connection.execute("PRAGMA journal_mode = MEMORY")
            migrate(connection)
        with connections.writing() as connection, translated(path):
            yield connection


def _refusal(path: Path, error: OSError) -> StoreError:
    cause = error.strerror or str(error)
    if below.is_refusal(error):
        return unusable(path, error)
    if error.errno in _PROTECTED:
        return protected(path, f"it may not be opened or created ({cause})")
    if error.errno in _OUT_OF_SPACE:
        return StoreFull(f"There is no room for the store {path}: {cause}.", hint="Free some space.")
    return StoreError(f"The store {path} cannot be opened: {cause}.", hint="Choose another place for it.")
