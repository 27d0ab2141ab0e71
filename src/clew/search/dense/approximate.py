"""An approximate index over the rows of a large vector space, from the faiss library.

Rows are grouped into cells around centres; a search looks only into the cells nearest to the query, at vectors in 8
bits. What it finds are candidates: their scores are computed from the full vectors afterwards. The index is built once
for a mapped file and never changed; its name carries the checksum of that file's vectors and its own. Rows that came
since are searched exactly beside it, rows that may not be found are barred.

faiss is an optional dependency: without it every search is exact.
"""

import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clew.edit.replacing import put_in_place, temporary_beside
from clew.workspace.find import paths_named

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clew.derived.vector_file import Numbers, VectorFile, Vectors

LIBRARY = "faiss-cpu"
_SUFFIX = ".index"
_ROWS_PER_CENTRE_TRAINED = 40
_ADDED_AT_ONCE = 16_384
_FEWEST_CELLS = 32
_LARGEST_SHARE = 1 / 2
"""Of the cells that a search looks into where all rows are eligible: at least, and at most. More would take as long as
comparing all rows."""
_TRIED, _NEAREST, _ENOUGH = 100, 10, 0.97
"""Size of the sample; nearest neighbours of each row; share of them that has to be found."""
_READ_AT_ONCE = 1 << 20


def library() -> Any | None:
    try:
        import faiss  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        return None
    return faiss


def build(faiss: Any, file: "VectorFile", place: Path) -> None:
    """Index the rows of a mapped file, into a file beside it. Indexes of its predecessors are deleted."""
    rows, dimensions = file.vectors.shape
    centres = max(1, int(4 * np.sqrt(rows)))
    index = faiss.index_factory(dimensions, f"IVF{centres},SQ8", faiss.METRIC_INNER_PRODUCT)
    # The same rows give the same index: the sample is spread evenly instead of drawn.
    sample = np.linspace(0, rows - 1, min(rows, centres * _ROWS_PER_CENTRE_TRAINED)).astype(np.int64)
    index.train(file.vectors[sample])
    for start in range(0, rows, _ADDED_AT_ONCE):
        index.add(file.vectors[start : start + _ADDED_AT_ONCE])
    index.nprobe = _cells_for(faiss, index, file.vectors)
    temporary = temporary_beside(place)
    faiss.write_index(index, str(temporary))
    finished = place.with_name(f"{_stem(file, place)}{_checksum(temporary):08x}{_SUFFIX}")
    for old in paths_named(place.parent, f"{place.stem}-*{_SUFFIX}"):
        old.unlink(missing_ok=True)
    put_in_place(temporary, finished)


def _cells_for(faiss: Any, index: Any, vectors: "Vectors") -> int:
    """The number of cells that a search looks into. It is measured with a sample of the rows, because a number that is
    enough for clustered vectors finds half of the nearest in evenly spread ones."""
    tried = vectors[np.linspace(0, len(vectors) - 1, min(len(vectors), _TRIED)).astype(np.int64)]
    # Each of them is the nearest to itself.
    _, exact = faiss.knn(tried, vectors, _NEAREST + 1, metric=faiss.METRIC_INNER_PRODUCT)
    cells, most = _FEWEST_CELLS, max(_FEWEST_CELLS, int(index.nlist * _LARGEST_SHARE))
    while cells < most:
        index.nprobe = cells
        # What is found is compared exactly after that, so it only has to be among the first.
        _, found = index.search(tried, 4 * _NEAREST)
        hits = sum(len({*some.tolist()} & {*right[1:].tolist()}) for some, right in zip(found, exact, strict=True))
        if hits >= _ENOUGH * _NEAREST * len(tried):
            break
        cells *= 2
    return min(cells, most)


def file_of(file: "VectorFile", place: Path) -> Path | None:
    """The index file of a mapped file; None if it was not built."""
    return next(iter(paths_named(place.parent, f"{_stem(file, place)}*{_SUFFIX}")), None)


def _stem(file: "VectorFile", place: Path) -> str:
    return f"{place.stem}-{file.header.checksum:016x}-"


def _checksum(path: Path) -> int:
    result = 0
    with path.open("rb") as file:
        while part := file.read(_READ_AT_ONCE):
            result = zlib.crc32(part, result)
    return result


def opened(path: Path, rows: int) -> "ApproximateIndex | None":
    """The index in a file, where the library is there and the file is whole."""
    faiss = library()
    try:
        if faiss is None or f"{_checksum(path):08x}" != path.stem.rpartition("-")[2]:
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
        cells = min(self._index.nlist, int(max(self._index.nprobe, _FEWEST_CELLS) / share**2))
        # faiss keeps no reference to the bits.
        bits = np.packbits(eligible[: self.rows], bitorder="little")
        chosen = self._faiss.IDSelectorBitmap(bits)
        parameters = self._faiss.SearchParametersIVF(sel=chosen, nprobe=cells)
        _, found = self._index.search(query[None, :], count, params=parameters)
        rows: Numbers = found[0][found[0] >= 0].astype(np.int64)
        return rows[rows < self.rows]
