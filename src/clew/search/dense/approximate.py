"""An approximate index over the rows of a large vector space, from the faiss library.

Rows are grouped into cells around centres; a search looks only into the cells nearest to the query, at vectors in 8
bits. What it finds are candidates: their scores are computed from the full vectors afterwards. The index is built once
and never changed. Rows that were added since are searched exactly beside it, rows that died are barred; so it stays
right as long as the rows keep their places.

faiss is an optional dependency: without it every search is exact.
"""

import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clew.search.dense.rows import Numbers, Vectors

LIBRARY = "faiss-cpu"
_ROWS_PER_CENTRE_TRAINED = 40
_ADDED_AT_ONCE = 16_384
_LOOKED_INTO = 32
"""Cells per search, where all rows are eligible."""
_READ_AT_ONCE = 1 << 20


def library() -> Any | None:
    try:
        import faiss  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        return None
    return faiss


def build(faiss: Any, vectors: "Vectors", rows: "Numbers", path: Path) -> int:
    """Index the given rows into a file; its checksum."""
    dimensions = vectors.shape[1]
    centres = max(1, int(4 * np.sqrt(len(rows))))
    index = faiss.index_factory(dimensions, f"IVF{centres},SQ8", faiss.METRIC_INNER_PRODUCT)
    # The same rows give the same index: the sample is spread evenly instead of drawn.
    wanted = min(len(rows), centres * _ROWS_PER_CENTRE_TRAINED)
    sample = rows[np.linspace(0, len(rows) - 1, wanted).astype(np.int64)]
    index.train(vectors[np.sort(sample)])
    for start in range(0, len(rows), _ADDED_AT_ONCE):
        part = rows[start : start + _ADDED_AT_ONCE]
        index.add_with_ids(vectors[part], part)
    faiss.write_index(index, str(path))
    return checksum(path)


def checksum(path: Path) -> int:
    result = 0
    with path.open("rb") as file:
        while part := file.read(_READ_AT_ONCE):
            result = zlib.crc32(part, result)
    return result


def opened(path: Path, rows: int, expected: int) -> "ApproximateIndex | None":
    """The index in a file, where the library is there and the file is whole."""
    faiss = library()
    try:
        if faiss is None or checksum(path) != expected:
            return None
        return ApproximateIndex(faiss, path, rows)
    except (OSError, RuntimeError):
        return None


class ApproximateIndex:
    def __init__(self, faiss: Any, path: Path, rows: int) -> None:
        self._faiss = faiss
        self._index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY)
        self.rows = rows

    def candidates(self, query: "Vectors", count: int, eligible: "NDArray[np.bool_]") -> "Numbers":
        """Up to `count` rows near the query out of the eligible ones."""
        share = max(1, int(np.count_nonzero(eligible[: self.rows]))) / self.rows
        # The fewer rows are eligible, the farther the nearest ones lie apart, and the less each cell costs.
        cells = min(self._index.nlist, int(_LOOKED_INTO / share**2))
        # faiss keeps no reference to the bits.
        bits = np.packbits(eligible[: self.rows], bitorder="little")
        chosen = self._faiss.IDSelectorBitmap(bits)
        parameters = self._faiss.SearchParametersIVF(sel=chosen, nprobe=cells)
        _, found = self._index.search(query[None, :], count, params=parameters)
        rows: Numbers = found[0][found[0] >= 0].astype(np.int64)
        return rows[rows < self.rows]
