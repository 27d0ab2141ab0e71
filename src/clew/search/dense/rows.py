"""Rows of vectors in a mapped file, each block checked before it is first used."""

import mmap
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from clew.search.dense.files import damaged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]
    Numbers: TypeAlias = NDArray[np.int64]
    Checksums: TypeAlias = NDArray[np.uint64]

BLOCK = 1024


class MappedRows:
    """A read-only view of the first rows of a file."""

    def __init__(self, path: Path, dimensions: int, checksums: "Checksums", rows: int) -> None:
        self._path = path
        self._checksums = checksums
        self._unchecked = np.ones(len(checksums), bool)
        self.vectors: Vectors = np.empty((0, dimensions), np.float32)
        if rows:
            with path.open("rb") as file:
                self._check_size(rows * dimensions * 4)
                mapped = mmap.mmap(file.fileno(), rows * dimensions * 4, access=mmap.ACCESS_READ)
            self.vectors = np.frombuffer(mapped, np.float32).reshape(rows, dimensions)

    def grown(self, checksums: "Checksums", rows: int) -> "MappedRows":
        """The same file with more rows. Blocks that were checked and have not changed stay so."""
        result = MappedRows(self._path, self.vectors.shape[1], checksums, rows)
        known = min(len(checksums), len(self._checksums))
        result._unchecked[:known] = self._unchecked[:known] | (checksums[:known] != self._checksums[:known])
        return result

    def check(self, rows: "Numbers | None" = None) -> None:
        """StoreCorrupt where a block that holds one of the rows is not what was written; all blocks by default."""
        self._check_size()
        if not self._unchecked.any():
            return
        blocks = np.flatnonzero(self._unchecked)
        if rows is not None:
            blocks = np.intersect1d(blocks, rows // BLOCK)
        for block in blocks:
            found = with_rows(np.zeros(0, np.uint64), 0, self.vectors[block * BLOCK : (block + 1) * BLOCK])
            if found[0] != self._checksums[block]:
                raise damaged(self._path.parent, f"block {block} of {self._path.name} does not match its checksum")
            self._unchecked[block] = False

    def _check_size(self, size: int | None = None) -> None:
        """Touching what was mapped but is no longer in the file would end the process."""
        try:
            if self._path.stat().st_size < (self.vectors.nbytes if size is None else size):
                raise damaged(self._path.parent, f"{self._path.name} has been cut off")
        except FileNotFoundError:
            # The writer has moved on; what is mapped stays readable.
            if size is not None:
                raise


def with_rows(checksums: "Checksums", rows: int, added: "Vectors") -> "Checksums":
    """The checksums of a file of `rows` rows after more were added.

    A block's checksum is the sum of its rows' words, each row times an odd number of its own, modulo 2**64. A row that
    changes always shows, rows that change places do too; and it costs a tenth of a cyclic checksum.
    """
    total = rows + len(added)
    result = np.zeros(-(-total // BLOCK), np.uint64)
    result[: len(checksums)] = checksums
    if len(added):
        place = np.arange(rows, total, dtype=np.uint64)
        np.add.at(result, place // BLOCK, _sums(added) * (2 * (place % BLOCK) + 1))
    return result


def _sums(vectors: "Vectors") -> "Checksums":
    # Words of 64 bits halve the work; a row of an odd number of floats has none.
    words = vectors.view(np.uint64 if vectors.shape[1] % 2 == 0 else np.uint32)
    return np.asarray(words.sum(axis=1, dtype=np.uint64))
