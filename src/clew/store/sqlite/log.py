"""Check that the log beside a store still holds every acknowledged write.

SQLite reads its log up to the first frame that does not match its checksum and takes the rest for writes that were
never finished. That is right after a loss of power, and wrong where bytes were changed: then acknowledged writes would
be gone without a word. So the first process that opens a store after all others ended reads the log before SQLite:

- a commit behind a frame that cannot be read proves that something was lost;
- the index beside the log knows how many frames were committed, as long as the machine runs. After another start of
  it, the index on the disk may be ahead of the log. So the note beside the store says which start the index is of; the
  times of files do not, since a clock may be set back.

The formats are those of https://sqlite.org/walformat.html.
"""

import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from operator import mul
from pathlib import Path

import msgspec

from clew.store.sqlite.connections import index_of
from clew.store.sqlite.light_connection import log_of, size_of
from clew.store.sqlite.note import DatabaseNote, is_of_this_start

if sys.platform != "win32":
    import fcntl

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = 0x377F0682
"""The last bit says in which order checksums read the bytes of a word."""
_INDEX_BYTES = 48
_PRESENCE_BYTE = 128
"""Every process that has the store open holds a lock on this byte of the index."""
_MASK = 0xFFFFFFFF

Sums = tuple[int, int]


class Frame(msgspec.Struct, frozen=True):
    is_sound: bool
    """True if it matches its checksum, given the one of the frame before."""
    is_commit: bool
    is_of_this_log: bool
    """False for what an earlier, longer log left behind."""


def lost_writes(store: Path, note: DatabaseNote) -> str | None:
    """The committed part of the log that cannot be read, as the end of a sentence; None if there is none, or if another
    process has the store open: the first process that opened it checked the log."""
    if not size_of(log_of(store)):
        return None
    with alone(store) as is_alone:
        if not is_alone:
            return None
        try:
            data = log_of(store).read_bytes()
        except OSError:
            # SQLite says why.
            return None
        return _fault(data, _committed(store, data[16:24], note))


def _fault(log: bytes, committed: int) -> str | None:
    header = log[: _HEADER.size]
    if len(log) <= _HEADER.size or not any(header):
        return None
    magic, _, page_bytes, _, *_, first, second = _HEADER.unpack(header)
    if magic & ~1 != _MAGIC or not 512 <= page_bytes <= 65536:
        return "the head of the log beside it cannot be read, so that its last writes are lost"
    order = ">" if magic & 1 else "<"
    if _sums(header[:24], (0, 0), order) != (first, second):
        return "the head of the log beside it does not match its checksum, so that its last writes are lost"
    sound, is_broken = 0, False
    for frame in _frames(log, page_bytes, order):
        if not is_broken and frame.is_sound and frame.is_of_this_log:
            sound += 1
            continue
        is_broken = True
        if frame.is_sound and frame.is_of_this_log and frame.is_commit:
            return f"page {sound + 1} in the log beside it cannot be read, so that this and later writes are lost"
    if sound < committed:
        return f"page {sound + 1} of {committed} in the log beside it cannot be read, so that its last writes are lost"
    return None


def _frames(log: bytes, page_bytes: int, order: str) -> Iterator[Frame]:
    salts, before = log[16:24], log[24:32]
    for start in range(_HEADER.size, len(log) - _FRAME.size - page_bytes + 1, _FRAME.size + page_bytes):
        head = log[start : start + _FRAME.size]
        _, pages, _, _, *stored = _FRAME.unpack(head)
        is_of_this_log = head[8:16] == salts
        sums = (0, 0)
        if is_of_this_log:
            content = head[:8] + log[start + _FRAME.size : start + _FRAME.size + page_bytes]
            seed: Sums = struct.unpack(">2I", before)
            sums = _sums(content, seed, order)
        yield Frame(sums == tuple(stored), pages > 0, is_of_this_log)
        before = head[16:24]


def _sums(data: bytes, seed: Sums, order: str) -> Sums:
    """The checksum of SQLite's logs. Each pair of words a, b turns the sums s, t into s + t + a and s + 2t + a + b, so
    the result is a sum of all words, each times a number that depends only on its place."""
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    first, second, turned = _factors(len(words))
    return (
        (turned[0] * seed[0] + turned[1] * seed[1] + sum(map(mul, first, words))) & _MASK,
        (turned[1] * seed[0] + turned[2] * seed[1] + sum(map(mul, second, words))) & _MASK,
    )


@cache
def _factors(words: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, int, int]]:
    """Factors of each word in the two sums, and factors of the sums before."""
    first: list[int] = []
    second: list[int] = []
    # The symmetric matrix that turns the sums once for every pair that follows: ((p, q), (q, r)).
    p, q, r = 1, 0, 1
    for _ in range(words // 2):
        first += (q, (p + q) & _MASK)
        second += (r, (q + r) & _MASK)
        p, q, r = (p + q) & _MASK, (p + 2 * q) & _MASK, (q + 2 * r) & _MASK
    # They were made from the last pair to the first.
    return tuple(reversed(first)), tuple(reversed(second)), (p, q, r)


def _committed(store: Path, salts: bytes, note: DatabaseNote) -> int:
    """The number of committed frames of this log, according to the index."""
    index = index_of(store)
    try:
        with index.open("rb") as file:
            head, copy = file.read(_INDEX_BYTES), file.read(_INDEX_BYTES)
    except OSError:
        return 0
    order = "<" if sys.byteorder == "little" else ">"
    if len(copy) < _INDEX_BYTES or head != copy or head[32:40] != salts or not is_of_this_start(note):
        return 0
    if _sums(head[:40], (0, 0), order) != struct.unpack(f"{order}2I", head[40:48]):
        return 0
    return int(struct.unpack_from(f"{order}I", head, 16)[0])


@contextmanager
def alone(store: Path) -> Iterator[bool]:
    """Lock the store for the block, so that no other process opens it; yields False if one has it open."""
    if sys.platform == "win32":
        yield False
    else:
        try:
            file = index_of(store).open("r+b")
        except FileNotFoundError:
            yield True
            return
        except OSError:
            yield False
            return
        with file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _PRESENCE_BYTE)
            except OSError:
                yield False
                return
            try:
                yield True
            finally:
                with suppress(OSError):
                    fcntl.lockf(file, fcntl.LOCK_UN, 1, _PRESENCE_BYTE)
