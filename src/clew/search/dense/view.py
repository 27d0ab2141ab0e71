"""Snapshot of a vector space: it never changes, so that any number of threads can search it.

Its rows are those of the mapped file and, after them, those that the table got since the file was written.

A query is compared with all rows, and many threads may ask at once. One query reads the matrix row by row on one core,
as fast as memory gives it: BLAS takes twice the time for the product with one vector, and on a busy machine many times
as long, because it shares the product out to all cores. For many queries BLAS is faster, but its products in several
threads at the same time only get in each other's way: with 32 threads, each waits for all others and the throughput
falls to a tenth. So one comparison runs at a time in the whole process, and threads that wait for the same matrix share
the next one: a product with many queries reads the matrix once for all of them.
"""

import threading
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clew.derived.vector_file import VectorFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clew.derived.vector_file import Numbers, Vectors


_FEW = 1 / 16
"""Up to this share of the rows, fetching the wanted ones is faster than going over all."""
_GATHERED_AT_ONCE = 4096
_ROUNDING = 1e-5
"""Largest rounding error of a product, as a share of the largest score."""
_REPLACED = -1


class VectorRows(NamedTuple):
    numbers: "Numbers"
    """The unit of each row; one with several vectors comes several times."""
    vectors: "Vectors"

    def replaced_by(self, newer: "VectorRows") -> "VectorRows":
        """These without the units of the newer ones, and the newer ones."""
        staying = np.isin(self.numbers, newer.numbers, invert=True)
        return VectorRows(
            np.concatenate([self.numbers[staying], newer.numbers]),
            np.concatenate([self.vectors[staying], newer.vectors]),
        )


class View:
    def __init__(self, file: VectorFile | None, newer: VectorRows, *, last_row: int, seen: int) -> None:
        self.file = file
        self.newer = newer
        self.last_row = last_row
        """The last row of the table that is one of these."""
        self.seen = seen
        """The last row that the table had, whichever embedder made it."""
        self.filed = 0 if file is None else len(file.numbers)
        """The number of rows in the file."""
        self.numbers: Numbers = newer.numbers
        """The unit in each row, -1 where a newer row took its place."""
        if file is not None:
            self.numbers = np.concatenate([file.numbers, newer.numbers])
            self.numbers[file.rows_of(np.unique(newer.numbers))] = _REPLACED

    @cached_property
    def _counted(self) -> "tuple[Numbers, NDArray[np.intp]]":
        """The units, sorted, and how many rows each has."""
        if self.file is not None and not len(self.newer.numbers):
            first = np.flatnonzero(self.file.is_first)
            return self.numbers[first], np.diff(first, append=self.filed)
        return np.unique(self.numbers[self.numbers >= 0], return_counts=True)

    @property
    def units(self) -> "Numbers":
        """The units that have a vector, sorted."""
        return self._counted[0]

    @cached_property
    def most_rows(self) -> int:
        """The most vectors that one unit has."""
        return int(self._counted[1].max(initial=1))

    def check(self) -> None:
        """StoreCorrupt where the mapped vectors are damaged."""
        if self.file is not None:
            self.file.check()

    def first_rows_of(self, numbers: "Numbers") -> "tuple[Numbers, Numbers]":
        """The units that have a vector, in the given order, and the first row of each."""
        order = np.argsort(self.newer.numbers, kind="stable") + self.filed
        found = _first(self.numbers[order], order, numbers)
        if self.file is not None:
            filed = _first(self.file.numbers, np.arange(self.filed), numbers)
            found = np.where(found >= 0, found, filed)
        return numbers[found >= 0], found[found >= 0]

    def vectors_of(self, rows: "Numbers") -> "Vectors":
        """The vectors in some rows, in the given order."""
        if self.file is None:
            return np.asarray(self.newer.vectors[rows])
        found = np.empty((len(rows), self.newer.vectors.shape[1]), np.float32)
        filed = rows < self.filed
        found[filed] = self.file.vectors[rows[filed]]
        found[~filed] = self.newer.vectors[rows[~filed] - self.filed]
        return found

    def eligible(self, allowed: "NDArray[np.bool_] | None") -> "NDArray[np.bool_]":
        """For each row, whether its unit is allowed: whether the place of its number in the mask is true."""
        if allowed is None:
            return self.numbers >= 0
        # Replaced rows and units beyond the mask both end up at a last place, which is false.
        mask = np.append(allowed, False)
        return np.asarray(mask[np.where(self.numbers < len(allowed), self.numbers, _REPLACED)])

    def search(self, query: "Vectors", k: int, eligible: "NDArray[np.bool_]") -> "tuple[Numbers, Vectors]":
        """The k nearest units among the eligible rows: exactly."""
        self.check()
        if self.is_few(eligible):
            return self.among(np.flatnonzero(eligible), query, k)
        parts = [] if self.file is None else [scores(self.file.vectors, query)]
        if len(self.newer.numbers):
            parts.append(scores(self.newer.vectors, query))
        found = parts[0] if len(parts) == 1 else np.concatenate(parts)
        found[~eligible] = -np.inf
        return self.among(self._candidates(found, k), query, k)

    def is_few(self, eligible: "NDArray[np.bool_]") -> bool:
        return bool(np.count_nonzero(eligible) <= len(eligible) * _FEW)

    def among(self, rows: "Numbers", query: "Vectors", k: int) -> "tuple[Numbers, Vectors]":
        """The k best units of these rows by the score of their best vector, equal scores by number. The score of a row
        depends on nothing but the row and the query."""
        found = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), _GATHERED_AT_ONCE):
            part = slice(start, start + _GATHERED_AT_ONCE)
            found[part] = np.einsum("ij,j->i", self.vectors_of(rows[part]), query)
        numbers = self.numbers[rows]
        order = np.lexsort((numbers, -found))
        if self.most_rows > 1:
            order = order[np.sort(np.unique(numbers[order], return_index=True)[1])]
        return numbers[order[:k]], found[order[:k]]

    def _candidates(self, found: "Vectors", k: int) -> "Numbers":
        """The rows that may be of the k best units."""
        # So many rows hold k units even where the best one has all of its vectors among them.
        rows = k * self.most_rows
        least = np.partition(found, len(found) - rows)[len(found) - rows] if len(found) > rows else -np.inf
        if least == -np.inf:
            return np.flatnonzero(found > -np.inf)
        return np.flatnonzero(found >= least - _ROUNDING * max(1.0, float(np.abs(found[found > -np.inf]).max())))


def _first(sorted_numbers: "Numbers", rows: "Numbers", wanted: "Numbers") -> "Numbers":
    """For each wanted number its first row; -1 if there is none."""
    place = np.searchsorted(sorted_numbers, wanted)
    inside = np.minimum(place, max(len(sorted_numbers) - 1, 0))
    if not len(sorted_numbers):
        return np.full(len(wanted), -1, np.int64)
    return np.where(sorted_numbers[inside] == wanted, rows[inside], -1)


_TOGETHER_FROM = 8
"""Fewer queries take less time one after another than in one product of two matrices."""
_MOST_TOGETHER = 32
_MOST_SCORES = 8_000_000
"""Of one product, so that those of a large matrix do not fill the memory."""


class _Request:
    def __init__(self, matrix: "Vectors", query: "Vectors") -> None:
        self.matrix = matrix
        self.query = query
        self.scores: Vectors | None = None


class _Queue:
    """Requests for the product with a matrix; one caller computes it for all that wait."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[_Request] = []
        self._is_busy = False

    def answer(self, asked: _Request) -> None:
        with self._changed:
            self._waiting.append(asked)
            while self._is_busy and asked.scores is None:
                self._changed.wait()
            if asked.scores is not None:
                return
            self._is_busy = True
            together = self._companions(asked)
        try:
            _answer(together)
        finally:
            with self._changed:
                self._is_busy = False
                # Where it failed, the others stay and try for themselves.
                self._waiting = [each for each in self._waiting if each.scores is None and each is not asked]
                self._changed.notify_all()

    def _companions(self, asked: _Request) -> list[_Request]:
        """The queries that one product answers: this one, and the waiting ones."""
        most = max(1, min(_MOST_TOGETHER, _MOST_SCORES // max(1, len(asked.matrix))))
        others = [each for each in self._waiting if each.matrix is asked.matrix and each is not asked]
        return [asked, *others[: most - 1]]


_queue = _Queue()


def scores(matrix: "Vectors", query: "Vectors") -> "Vectors":
    """The scalar product of each row with the query. Rounding may differ by which queries were asked together."""
    asked = _Request(matrix, query)
    _queue.answer(asked)
    assert asked.scores is not None  # noqa: S101
    return asked.scores


def _answer(together: list[_Request]) -> None:
    matrix = together[0].matrix
    if len(together) < _TOGETHER_FROM:
        for each in together:
            each.scores = np.einsum("ij,j->i", matrix, each.query)
        return
    for each, found in zip(together, np.stack([each.query for each in together]) @ matrix.T, strict=True):
        each.scores = found
