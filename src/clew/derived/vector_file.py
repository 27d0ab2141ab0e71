"""A file of vectors that is mapped into memory: a copy of a table, made to be searched fast.

    header      one block of 4,096 bytes: JSON with the checksum of the rest, and a checksum of its own
    vectors     rows of 32-bit floats
    numbers     64-bit integers, sorted: the unit of each row. A unit may have several rows, one after another.

A writer makes the whole file under a temporary name and renames it, so that a reader maps the old file or the new one
and never a part of one. The table stays the truth: a file that is damaged, missing or of another format is made again.
"""

import mmap
import os
import zlib
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec
import numpy as np

from clew.edit import below
from clew.edit.replacing import sweep, temporary_beside
from clew.errors import StoreCorrupt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]
    Numbers: TypeAlias = NDArray[np.int64]

FORMAT = 1
_BLOCK = 4096
_ROWS_AT_ONCE = 8192

Stamp: TypeAlias = tuple[int, int, int]


class VectorFileHeader(msgspec.Struct, frozen=True, kw_only=True):
    format: int = FORMAT
    key: str
    """Names the table and the embedder that the vectors are of."""
    dimensions: int
    rows: int = 0
    last_row: int
    """The last row of the table that was copied."""
    checksum: int = 0
    """Of the vectors."""
    numbers_checksum: int = 0


class VectorFile:
    """A mapped file. It stays readable when another one takes its place."""

    def __init__(self, path: Path, mapped: mmap.mmap, header: VectorFileHeader, stamp: Stamp) -> None:
        self.path = path
        self.header = header
        self.stamp = stamp
        self._mapped = mapped
        self._checked = False
        shape = header.rows, header.dimensions
        self.vectors: Vectors = np.frombuffer(mapped, np.float32, shape[0] * shape[1], _BLOCK).reshape(shape)
        self.numbers: Numbers = np.frombuffer(mapped, np.int64, shape[0], _BLOCK + self.vectors.nbytes)

    def check(self) -> None:
        """StoreCorrupt if the vectors were altered. They are checked once; the file's size is checked each time,
        because touching mapped bytes that the file lost would end the process."""
        if self._mapped.size() < _size(self.header):
            raise damaged(self.path, "it was cut off")
        if not self._checked:
            if _checksum(self.vectors) != self.header.checksum:
                raise damaged(self.path, "its vectors do not match their checksum")
            self._checked = True

    @cached_property
    def is_first(self) -> "NDArray[np.bool_]":
        """For each row, whether it is the first of its unit."""
        return np.asarray(np.diff(self.numbers, prepend=-1) != 0)

    def rows_of(self, numbers: "Numbers") -> "Numbers":
        """The rows of those units that are in the file; each unit is given once."""
        start = np.searchsorted(self.numbers, numbers)
        count = np.searchsorted(self.numbers, numbers, side="right") - start
        before = np.cumsum(count) - count
        return np.asarray(np.repeat(start - before, count) + np.arange(count.sum()))


def stamp_of(path: Path) -> Stamp | None:
    """Changes with every new file; None without one."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def open_vector_file(path: Path, key: str, dimensions: int) -> VectorFile | None:
    """The file at `path`; None where there is none, or one of another table or format. StoreCorrupt where the file is
    damaged."""
    try:
        with os.fdopen(below.open_file(path, os.O_RDONLY), "rb") as file:
            status = os.fstat(file.fileno())
            header = _header(path, file.read(_BLOCK))
            if (header.format, header.key, header.dimensions) != (FORMAT, key, dimensions):
                return None
            if status.st_size < _size(header):
                raise damaged(path, "it was cut off")
            mapped = mmap.mmap(file.fileno(), _size(header), access=mmap.ACCESS_READ)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise damaged(path, f"it cannot be read ({error.strerror})") from error
    opened = VectorFile(path, mapped, header, (status.st_ino, status.st_mtime_ns, status.st_size))
    if zlib.crc32(opened.numbers.data) != header.numbers_checksum:
        raise damaged(path, "its numbers do not match their checksum")
    return opened


def write_beside(path: Path, header: VectorFileHeader, batches: "Iterable[tuple[Numbers, Vectors]]") -> Path:
    """Write a whole file, sorted by number as the batches are, under a temporary name beside `path`; its name."""
    sweep(path)
    temporary = temporary_beside(path)
    numbers: list[Numbers] = []
    rows = checksum = 0
    try:
        with os.fdopen(below.open_file(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL), "r+b") as file:
            file.write(bytes(_BLOCK))
            for some, vectors in batches:
                file.write(vectors.data)
                checksum = (checksum + _checksum(vectors, rows)) % 2**64
                numbers.append(some)
                rows += len(vectors)
            written = np.concatenate([*numbers, np.empty(0, np.int64)]).astype(np.int64)
            file.write(written.data)
            file.seek(0)
            file.write(
                _encoded(
                    msgspec.structs.replace(
                        header, rows=rows, checksum=checksum, numbers_checksum=zlib.crc32(written.data)
                    )
                )
            )
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    return temporary


def damaged(path: Path, cause: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"The vectors in {path} are damaged: {cause}.",
        hint="They are a copy of what the index keeps: run `clew index` to write them again.",
        data={"path": str(path)},
    )


def _size(header: VectorFileHeader) -> int:
    return _BLOCK + header.rows * (header.dimensions * 4 + 8)


def _encoded(header: VectorFileHeader) -> bytes:
    body = msgspec.json.encode(header)
    return (body + b"\n%08x\n" % zlib.crc32(body)).ljust(_BLOCK, b"\0")


def _header(path: Path, block: bytes) -> VectorFileHeader:
    body, _, rest = block.partition(b"\n")
    if rest[:8] != b"%08x" % zlib.crc32(body):
        raise damaged(path, "its header does not match its checksum")
    try:
        return msgspec.json.decode(body, type=VectorFileHeader)
    except msgspec.DecodeError:
        # Whole, but written by another version of Clew.
        return VectorFileHeader(format=0, key="", dimensions=0, last_row=0)


def _checksum(vectors: "Vectors", first_row: int = 0) -> int:
    """The sum of the rows' words, each row times an odd number of its own, modulo 2**64. A row that changes always
    shows, rows that change places do too; and it costs a third of a cyclic checksum."""
    total = 0
    # Words of 64 bits halve the work; a row of an odd number of floats has none.
    word = np.uint64 if vectors.shape[1] % 2 == 0 else np.uint32
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        part = vectors[start : start + _ROWS_AT_ONCE]
        place = np.arange(first_row + start, first_row + start + len(part), dtype=np.uint64)
        sums = part.view(word).sum(axis=1, dtype=np.uint64)
        total += int((sums * (2 * place + 1)).sum(dtype=np.uint64))
    return total % 2**64
