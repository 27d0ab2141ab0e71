"""A copy of the register's own history, in a file beside it.

Releases of req write only the keys that they know, so `_history` is gone from the register after the next change by one
of them. The copy has one entry a line. It is written after the register, and adds what that lacks when Clew reads it.
A line that is no entry, such as the mark of a conflict, counts for nothing.
"""

import logging
from collections.abc import Iterable
from pathlib import Path

import msgspec

from clew.edit.replacing import replace_file
from clew.edit.targets import read_if_there
from clew.errors import ClewError
from clew.formats.register.canonical import canonical
from clew.formats.register.model import HistoryEntry, Register
from clew.formats.register.records import decode_history, encode_history

log = logging.getLogger(__name__)

REMOVED = "removed"
"""The first word of an entry about a requirement that was removed."""

ENDING = ".history"


def with_copy(register: Register, copy: bytes | None) -> Register:
    """The register with the entries that only the copy of its history has, in the order of time."""
    if not copy:
        return register
    known = set(_lines(register.history))
    lost = [entry for line, entry in _entries(copy) if line not in known and _is_of(register, entry)]
    if not lost:
        return register
    history = sorted((*register.history, *lost), key=lambda entry: entry.at)
    return msgspec.structs.replace(register, history=tuple(history))


def _is_of(register: Register, entry: HistoryEntry) -> bool:
    """True if an entry fits the register, which may have been rebuilt or restored from git since."""
    is_back = any(entry.action.startswith(f"{REMOVED} {id} ") for id in register.requirements)
    return entry.at >= register.created and not is_back


def keep(place: Path, register: Register) -> bytes | None:
    """Bring the copy up to date, and return it; None where there is nothing to keep and no copy."""
    before = None
    try:
        before = read_if_there(place)
        # What this state of the register does not have stays: it may be that of another branch, or have been misread.
        lines = dict.fromkeys((*(line for line, _ in _entries(before or b"")), *_lines(register.history)))
        after = b"".join(line + b"\n" for line in lines)
        if not register.history or after == before:
            return before
        replace_file(place, after)
    except (OSError, ClewError) as error:
        # The register itself is written and has every entry, so the next write tries again.
        log.warning("The copy of the history could not be written to %s: %s.", place, error)
        return before
    return after


def _lines(history: tuple[HistoryEntry, ...]) -> list[bytes]:
    return [canonical(entry) for entry in encode_history(history)]


def _entries(copy: bytes) -> Iterable[tuple[bytes, HistoryEntry]]:
    for line in dict.fromkeys(copy.splitlines()):
        try:
            decoded = decode_history([msgspec.json.decode(line)])
        except msgspec.DecodeError:
            continue
        if decoded:
            yield _lines(decoded)[0], decoded[0]
