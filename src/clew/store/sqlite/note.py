"""Note beside a database: its size and time as Clew left it, the start of the machine that its index is of, and of a
small derived file a checksum.

A database whose size or time is another one was changed by something else than Clew: cut off, damaged, or put in its
place. SQLite finds a part of such damage only, and a page that is sound and not the right one never, so whoever opens
the database looks through it then, or makes it again. Whatever moves writes of Clew's from the log into the database
notes it here.
"""

# Implements: REQ-d00647

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from clew.edit import below
from clew.store.processes import boot_id

ENDING = "-note"
_LONGEST = 256
_COARSE_NS, _MOST_COARSE_NS = 1_000_000, 2_000_000_000


class DatabaseState(NamedTuple):
    """State of a database file, as the system tells it."""

    size: int
    mtime_ns: int

    def is_like(self, other: "DatabaseState | None") -> bool:
        """True if nobody wrote to the file between two states. Some file systems tell a finer time at first than the
        one that they keep."""
        if other is None or self.size != other.size:
            return False
        one, two = sorted((self.mtime_ns, other.mtime_ns))
        return one == two or (one % _COARSE_NS == 0 and two - one < _MOST_COARSE_NS)


class DatabaseNote(NamedTuple):
    start: str = ""
    """The start of the machine at which a process last opened the database."""
    state: DatabaseState | None = None
    checksum: int | None = None
    """Checksum of all bytes of the file, where somebody noted one."""


NO_NOTE = DatabaseNote()


def note_of(database: Path) -> Path:
    return database.with_name(database.name + ENDING)


def state_of(status: os.stat_result) -> DatabaseState:
    return DatabaseState(status.st_size, status.st_mtime_ns)


def read_note(database: Path) -> DatabaseNote:
    """The note beside a database; an empty one where there is none, or a part of one."""
    try:
        return _decoded(below.read(note_of(database), _LONGEST))
    except OSError:
        return NO_NOTE


def statuses_and_note(database: Path) -> tuple[list[os.stat_result | None], DatabaseNote]:
    """The status of each file of a database, none of which may be a link, and the note beside them."""
    statuses, content = below.statuses_and(database, ENDING, _LONGEST)
    return statuses, _decoded(content)


def _decoded(content: bytes) -> DatabaseNote:
    try:
        start, size, mtime_ns, *checksum, end = content.decode("ascii").split(" ")
        state = DatabaseState(int(size), int(mtime_ns))
        is_whole = end == "\n" and len(checksum) <= 1
        return DatabaseNote(start, state, *map(int, checksum)) if is_whole else NO_NOTE
    except ValueError:
        return NO_NOTE


def write_note(database: Path, state: DatabaseState, *, checksum: int | None = None) -> DatabaseNote:
    """Note the state of a database, and the present start of the machine. Where it cannot be noted, the database is
    looked through when it is opened again."""
    note = DatabaseNote(boot_id(), state, checksum)
    values = (note.start, *state, *(() if checksum is None else (checksum,)))
    with suppress(OSError):
        below.write(note_of(database), f"{' '.join(map(str, values))} \n".encode("ascii"))
    return note


def is_of_this_start(note: DatabaseNote) -> bool:
    """True if the index beside the database was created since the machine started."""
    return note.start == boot_id() != ""
