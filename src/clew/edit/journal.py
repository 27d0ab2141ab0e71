"""The journal of a transaction: a file that lists the writes under way, so that the next process can complete them or
take them back if the writer is killed.

Its first line is the plan. Each later line is a state that the transaction reached. The writer holds a lock on the
journal for as long as it lives, so the transaction of a living process is never taken for an interrupted one.
"""

import errno
import hmac
import logging
import os
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from enum import StrEnum
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import msgspec

from clew.edit import below, stamp
from clew.edit.edits import Inverse
from clew.edit.locking import locked
from clew.edit.replacing import sync_folder
from clew.edit.state_folder import STATE_FOLDER
from clew.workspace.find import paths_named

log = logging.getLogger(__name__)

_PATIENCE_SECONDS = 1.0
_TRIES = 10
_ENDING = ".clew-journal"
_PATTERN = f".{'[0-9a-f]' * 32}{_ENDING}"


_BEGINNING, _USE = "journal's beginning", "journal"
"""Purposes of the codes in journals."""


class ForeignJournal(Exception):
    """A journal that came from elsewhere. Nothing in it is carried out."""


class TransactionState(StrEnum):
    PLANNED = "planned"
    """Temporary files are being written. No file has changed."""
    PREPARED = "prepared"
    """All temporary files are complete: from here on the transaction happens."""
    DONE = "done"
    """All files are in place. The store may not have the event yet."""
    TAKING_BACK = "taking back"
    """It failed, and the files that changed already get their former content again."""


class FileStep(msgspec.Struct, frozen=True, tag="file"):
    path: str
    temporary: str
    """The name of the file beside it that holds the new content."""
    before: str | None
    """Hash of the content that is replaced; None where there is no file yet."""
    after: str | None
    """Hash of the new content; None where the file is removed."""
    inverse: Inverse
    mode: int | None
    """The permissions of the file before."""
    prune: str | None


class MoveStep(msgspec.Struct, frozen=True, tag="move"):
    source: str
    target: str
    contents: dict[str, str]


Step = FileStep | MoveStep


class EventToRecord(msgspec.Struct, frozen=True):
    """The event that the store is to record. The inverse of the steps is added to the data."""

    id: str
    actor: str
    reason: str
    data: Mapping[str, Any]


class TransactionPlan(msgspec.Struct, frozen=True):
    steps: tuple[Step, ...]
    folders: tuple[str, ...]
    """Folders that the transaction makes, outermost first."""
    event: EventToRecord | None


class Journal:
    """An open journal, locked by this process."""

    def __init__(
        self, place: Path, file: IO[bytes], lock: ExitStack, plan: TransactionPlan | None, state: TransactionState
    ) -> None:
        self._place = place
        self._file = file
        self._lock = lock
        self.plan = plan
        """None where the writer was killed before it had written the plan: then nothing else was written either."""
        self.state = state

    @classmethod
    def begin(
        cls, folder: Path, id: str, steps: tuple[Step, ...], folders: tuple[str, ...], event: EventToRecord | None
    ) -> "Journal":
        # Each try under a name of its own: who took the file of the one before may be about to remove that name again.
        for name in (id, *(uuid4().hex for _ in range(_TRIES - 1))):
            place = folder / f".{name}{_ENDING}"
            try:
                begun = cls._begun(place, steps, folders, event)
            except BaseException:
                with suppress(OSError):
                    place.unlink(missing_ok=True)
                raise
            if begun is not None:
                return begun
        raise BlockingIOError(errno.EAGAIN, "another process holds the journal; try again")

    @classmethod
    def _begun(
        cls, place: Path, steps: tuple[Step, ...], folders: tuple[str, ...], event: EventToRecord | None
    ) -> "Journal | None":
        """A new journal, locked. None if another process took it for the empty journal of a killed writer and removed
        it, between its creation and its lock."""
        with ExitStack() as stack:
            file = stack.enter_context(os.fdopen(below.open_file(place, os.O_RDWR | os.O_CREAT | os.O_EXCL), "r+b"))
            if stack.enter_context(locked(file, _PATIENCE_SECONDS)) and _is_at(file, place):
                plan = TransactionPlan(steps, folders, event)
                _write_synced(file, _signed(file, place, msgspec.json.encode(plan)))
                # Before there is any temporary file: an unrecorded file would never be removed.
                sync_folder(place.parent)
                return cls(place, file, stack.pop_all(), plan, TransactionState.PLANNED)
        with suppress(OSError):
            place.unlink(missing_ok=True)
        return None

    @classmethod
    def reopen(cls, place: Path) -> "Journal | None":
        """The journal that a killed process left; None where its writer lives, or somebody else completed it."""
        with ExitStack() as stack, suppress(FileNotFoundError):
            file = stack.enter_context(os.fdopen(below.open_file(place, os.O_RDWR), "r+b"))
            if stack.enter_context(locked(file, 0.0)) and _is_at(file, place):
                plan, state = _read(file, place)
                return cls(place, file, stack.pop_all(), plan, state)
        return None

    def mark(self, state: TransactionState) -> None:
        """Note that a state is reached. Once this returns, the note survives a crash of the machine."""
        _write_synced(self._file, f"{state}\n".encode())
        self.state = state

    def remove(self) -> None:
        """The transaction is over."""
        # While it is locked: nobody may take it for interrupted. Windows removes only files that are closed.
        with suppress(OSError):
            self._place.unlink(missing_ok=True)
        self.release()
        with suppress(OSError):
            self._place.unlink(missing_ok=True)

    def release(self) -> None:
        """Leave the journal to the next process that looks for interrupted transactions."""
        # A state that could not be written is tried once more when the file is closed.
        with suppress(OSError):
            self._lock.close()


def _is_at(file: IO[bytes], place: Path) -> bool:
    """True if a name still leads to an open file."""
    with suppress(OSError):
        return os.path.samestat(os.fstat(file.fileno()), place.stat())
    return False


def _write_synced(file: IO[bytes], line: bytes) -> None:
    file.write(line)
    file.flush()
    os.fsync(file.fileno())


def _signed(file: IO[bytes], place: Path, plan: bytes) -> bytes:
    """The first line of a journal: two codes that only this user's key makes, one for the file and one for the plan,
    and the plan. Without a key there are no codes, and no other process goes on with the journal."""
    about = _about(file, place)
    return b"%s%s %s\n" % (_beginning(about), (stamp.code(_USE, *about, plan) or "-").encode(), plan)


def _beginning(about: tuple[str, str]) -> bytes:
    return f"{stamp.code(_BEGINNING, *about) or '-'} ".encode()


def _about(file: IO[bytes], place: Path) -> tuple[str, str]:
    """The journal's place and its number, which a copy does not have."""
    real = os.path.join(os.path.realpath(place.parent), place.name)  # noqa: PTH118
    return real, str(os.fstat(file.fileno()).st_ino)


def _read(file: IO[bytes], place: Path) -> tuple[TransactionPlan | None, TransactionState]:
    about = _about(file, place)
    own = _beginning(about)
    # A journal may hold much, so that no more than this is read of one that came from elsewhere.
    beginning = file.read(len(own))
    if not hmac.compare_digest(own[: len(beginning)], beginning):
        raise ForeignJournal(place)
    # A line without an end was being written when the process was killed: it does not count.
    first, *states = file.read().split(b"\n")[:-1] or [b""]
    if not first:
        return None, TransactionState.PLANNED
    code, _, plan = first.partition(b" ")
    if not stamp.is_code(code.decode("ascii", "replace"), _USE, *about, plan):
        raise ForeignJournal(place)
    try:
        return msgspec.json.decode(plan, type=TransactionPlan), TransactionState(
            states[-1].decode()
        ) if states else TransactionState.PLANNED
    except (msgspec.DecodeError, ValueError):
        return None, TransactionState.PLANNED


def journals(root: Path) -> list[Path]:
    """The journals of the transactions below a folder: in its state folder, or in the folder itself."""
    return sorted(path for folder in (root / STATE_FOLDER, root) for path in paths_named(folder, _PATTERN))


def journal_folder(root: Path) -> Path:
    """The folder for the journal of a transaction: the state folder, or the project's folder if there is none."""
    folder = root / STATE_FOLDER
    return folder if folder.is_dir() and os.access(folder, os.W_OK) else root
