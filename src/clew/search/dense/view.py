"""What a vector space held at one moment: it never changes, so that any number of threads can search it."""

from typing import TYPE_CHECKING

import numpy as np

from clew.search.dense.entries import Journal
from clew.search.dense.files import Manifest
from clew.search.dense.rows import MappedRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clew.search.dense.rows import Numbers, Vectors

_FEW = 1 / 16
"""Up to this share of the rows, fetching the wanted ones is faster than going over all."""
_GATHERED_AT_ONCE = 4096
_DEAD = -1


class View:
    def __init__(
        self, manifest: Manifest, rows: MappedRows, number_of_row: "Numbers", numbers: "Numbers", row_of: "Numbers"
    ) -> None:
        self.manifest = manifest
        self.rows = rows
        self.number_of_row = number_of_row
        """The unit in each row, -1 in a dead one."""
        self.numbers = numbers
        """The unit of each live row, sorted: one with several vectors comes several times."""
        self.row_of = row_of
        """The row of each of `numbers`; those of one unit in the order of its vectors."""
        self._is_first = np.diff(numbers, prepend=-1) != 0
        self.units = int(np.count_nonzero(self._is_first))
        self._most_rows = _longest_run(self._is_first) if self.units < len(numbers) else 1

    @classmethod
    def empty(cls, manifest: Manifest, rows: MappedRows) -> "View":
        none = np.empty(0, np.int64)
        return cls(manifest, rows, none, none, none)

    def advanced(self, manifest: Manifest, rows: MappedRows, entries: "Numbers") -> "View":
        """The view after more entries of the journal."""
        journal = Journal(entries)
        placed, placed_row = journal.placed, journal.placed_row + len(self.number_of_row)
        number_of_row = np.concatenate([self.number_of_row, np.full(journal.rows, _DEAD, np.int64)])
        gone = self._places(journal.settled)
        number_of_row[self.row_of[gone]] = _DEAD
        number_of_row[placed_row] = placed

        staying = np.ones(len(self.numbers), bool)
        staying[gone] = False
        numbers, row_of = self.numbers[staying], self.row_of[staying]
        at = np.searchsorted(numbers, placed, side="right")
        return View(manifest, rows, number_of_row, np.insert(numbers, at, placed), np.insert(row_of, at, placed_row))

    def distinct(self) -> "Numbers":
        """The units, sorted."""
        distinct: Numbers = self.numbers[self._is_first]
        return distinct

    def known(self, numbers: "Numbers") -> "Numbers":
        """Those of the units that are here."""
        return numbers[self._positions(numbers)[0]]

    def first_rows_of(self, numbers: "Numbers") -> "Numbers":
        """Of those of the units that are here, in the given order."""
        known, position = self._positions(numbers)
        return self.row_of[position[known]]

    def rows_of(self, numbers: "Numbers") -> "Numbers":
        """All rows of those of the units that are here; each unit is given once."""
        return self.row_of[self._places(numbers)]

    def units_in(self, rows: "Numbers | None") -> int:
        """How many units the live `rows` are of; how many there are by default."""
        return self.units if rows is None else len(np.unique(self.number_of_row[rows]))

    def rows_allowed_by(self, mask: "NDArray[np.bool_]") -> "Numbers":
        """Rows of the units whose place in the mask is true; what lies beyond the mask is not allowed."""
        inside = np.searchsorted(self.numbers, len(mask))
        return self.row_of[:inside][mask[self.numbers[:inside]]]

    def search(self, query: "Vectors", k: int, rows: "Numbers | None" = None) -> "tuple[Numbers, Vectors]":
        """The k nearest units among the live `rows`, or among all: exactly."""
        if rows is not None and self.is_few(rows):
            return self.among(rows, query, k)
        self.rows.check()
        scores = np.where(self.eligible(rows), self.rows.vectors @ query, np.float32(-np.inf))
        numbers, best = self._best(self.number_of_row, scores, k)
        wanted = best > -np.inf
        return numbers[wanted], best[wanted]

    def is_few(self, rows: "Numbers | None") -> bool:
        return rows is not None and len(rows) <= len(self.number_of_row) * _FEW

    def eligible(self, rows: "Numbers | None") -> "NDArray[np.bool_]":
        """For each row, whether it is one of the given live ones; whether it is live at all by default."""
        if rows is None:
            return self.number_of_row >= 0
        result = np.zeros(len(self.number_of_row), bool)
        result[rows] = True
        return result

    def among(self, rows: "Numbers", query: "Vectors", k: int) -> "tuple[Numbers, Vectors]":
        """Like search, for few rows."""
        rows = np.sort(rows)
        self.rows.check(rows)
        scores = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), _GATHERED_AT_ONCE):
            part = slice(start, start + _GATHERED_AT_ONCE)
            scores[part] = self.rows.vectors[rows[part]] @ query
        return self._best(self.number_of_row[rows], scores, k)

    def _best(self, numbers: "Numbers", scores: "Vectors", k: int) -> "tuple[Numbers, Vectors]":
        """The k best units by the score of their best vector, equal scores by number."""
        # So many rows hold k units even where the best one has all of its vectors among them.
        rows = k * self._most_rows
        if len(scores) > rows:
            least = np.partition(scores, len(scores) - rows)[len(scores) - rows]
            kept = np.flatnonzero(scores >= least)
            numbers, scores = numbers[kept], scores[kept]
        order = np.lexsort((numbers, -scores))
        if self._most_rows > 1:
            order = order[np.sort(np.unique(numbers[order], return_index=True)[1])]
        return numbers[order[:k]], scores[order[:k]]

    def _places(self, numbers: "Numbers") -> "NDArray[np.intp]":
        """Where in `self.numbers` the units are, with all of their rows."""
        start = np.searchsorted(self.numbers, numbers)
        count = np.searchsorted(self.numbers, numbers, side="right") - start
        before = np.cumsum(count) - count
        return np.repeat(start - before, count) + np.arange(count.sum())

    def _positions(self, numbers: "Numbers") -> "tuple[NDArray[np.bool_], NDArray[np.intp]]":
        """Which of the numbers are known, and where in `self.numbers` each one is, or would be."""
        position = np.searchsorted(self.numbers, numbers)
        inside = position < len(self.numbers)
        known = inside.copy()
        known[inside] = self.numbers[position[inside]] == numbers[inside]
        return known, position


def _longest_run(is_first: "NDArray[np.bool_]") -> int:
    """The most vectors that one unit has."""
    return int(np.diff(np.flatnonzero(is_first), append=len(is_first)).max())
