"""State of a derived file since Clew left it: its size and time and, of a small file, a checksum of all its bytes.

A disk that fails changes bytes of which the system knows nothing. A large file is not read through for that at each
opening: what it holds is checked by row, or by SQLite where it meets a page.
"""

# Implements: REQ-d00647

import os
import threading
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from zlib import crc32

from clew.edit import below
from clew.store.sqlite.connections import is_open_here
from clew.store.sqlite.log import alone
from clew.store.sqlite.note import DatabaseNote, state_of, statuses_and_note, write_note

_LARGEST_SUMMED = 4 << 20
"""Bytes. To read so many takes about as long as opening the file does."""
_AT_ONCE = 1 << 16
"""Bytes. Larger parts take longer, because memory is asked of the system for each."""

looking = threading.RLock()
"""To close a file drops every lock that the process has on it, those of another thread's connections included. So no
thread opens a derived file through SQLite while another one still reads its bytes."""


class FileDoubt(Enum):
    UNKNOWN = auto()
    """Nobody noted in which state the file was left."""
    CHANGED = auto()


# Implements: REQ-d00647-A
def doubt_of(path: Path) -> FileDoubt | None:
    """The reason to doubt that a file is as Clew left it. The first process that opens it is the one that looks; one
    that was killed may have moved writes into the file without noting it."""
    try:
        (status, log, *_), note = statuses_and_note(path)
    except FileNotFoundError:
        # The folder is made with the file.
        return FileDoubt.UNKNOWN
    except OSError:
        # Whoever opens it says so.
        return None
    if is_open_here(path):
        return None
    if status is None or not status.st_size:
        return FileDoubt.UNKNOWN
    if _is_as_noted(path, status, note):
        return None
    with alone(path) as is_alone:
        if not is_alone:
            return None
        # Whoever closed it since the first look has noted the state that it left.
        (status, log, *_), note = statuses_and_note(path)
        if is_open_here(path) or (status is not None and _is_as_noted(path, status, note)):
            return None
    if status is not None and state_of(status).is_like(note.state):
        return FileDoubt.CHANGED
    return FileDoubt.UNKNOWN if note.state is None or (log is not None and log.st_size) else FileDoubt.CHANGED


# Implements: REQ-d00647-E
def keep_checksum(path: Path) -> None:
    """Note a checksum of a closed file, unless it is large, or somebody has it open or changed it."""
    with suppress(OSError), looking:
        if is_open_here(path):
            return
        with alone(path) as is_alone:
            (status, *_), note = statuses_and_note(path)
            if not is_alone or status is None or not _is_summed(status) or not state_of(status).is_like(note.state):
                return
            checksum = _sum_of(path)
            # Another process may have opened and closed it meanwhile.
            (again, *_), note_again = statuses_and_note(path)
            if again is not None and (state_of(again), note_again) == (state_of(status), note):
                write_note(path, state_of(status), checksum=checksum)


def _is_as_noted(path: Path, status: os.stat_result, note: DatabaseNote) -> bool:
    if not state_of(status).is_like(note.state):
        return False
    if note.checksum is None or not _is_summed(status):
        return True
    try:
        return _sum_of(path) == note.checksum
    except OSError:
        # Whoever opens it says so.
        return True


def _is_summed(status: os.stat_result) -> bool:
    return status.st_size <= _LARGEST_SUMMED


def _sum_of(path: Path) -> int:
    descriptor = below.open_file(path, os.O_RDONLY)
    try:
        found = 0
        while part := os.read(descriptor, _AT_ONCE):
            found = crc32(part, found)
        return found
    finally:
        os.close(descriptor)
