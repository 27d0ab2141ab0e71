"""A copy of what happened to a register as a whole, in a file beside it.

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
from clew.formats.register.canonical import canonical
from clew.formats.register.model import HistoryEntry, Register
from clew.formats.register.records import decode_history, encode_history

log = logging.getLogger(__name__)

ENDING = ".history"


def with_copy(register: Register, copy: bytes | None) -> Register:
    """The register with what only the copy of its history remembers, in the order of time."""
    if not copy:
        return register
    known = set(_lines(register.history))
    lost = [entry for line, entry in _entries(copy) if line not in known]
    if not lost:
        return register
    history = sorted((*register.history, *lost), key=lambda entry: entry.at)
    return msgspec.structs.replace(register, history=tuple(history))


def keep(place: Path, register: Register) -> bytes | None:
    """Bring the copy up to date, and return it; None where there is nothing to keep and no copy."""
    before = read_if_there(place)
    if not register.history:
        return before
    after = b"".join(line + b"\n" for line in _lines(register.history))
    if after == before:
        return after
    try:
        replace_file(place, after)
    except OSError as error:
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
