"""What a vector space held at one moment: it never changes, so that any number of threads can search it."""

from typing import TYPE_CHECKING

import numpy as np

from clew.search.vectors_files import Manifest
from clew.search.vectors_rows import MappedRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clew.search.vectors_rows import Numbers, Vectors

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
        """All units, sorted."""
        self.row_of = row_of
        """The row of each of `numbers`."""

    @classmethod
    def empty(cls, manifest: Manifest, rows: MappedRows) -> "View":
        none = np.empty(0, np.int64)
        return cls(manifest, rows, none, none, none)

    def advanced(self, manifest: Manifest, rows: MappedRows, entries: "Numbers") -> "View":
        """The view after more entries of the journal."""
        puts = entries >= 0
        units = np.where(puts, entries, -entries - 1)
        entry_row = len(self.number_of_row) + np.cumsum(puts) - 1
        # Of several entries for one unit the last counts.
        touched, from_end = np.unique(units[::-1], return_index=True)
        last = len(entries) - 1 - from_end
        placed, placed_row = touched[puts[last]], entry_row[last][puts[last]]

        number_of_row = np.concatenate([self.number_of_row, np.full(int(puts.sum()), _DEAD, np.int64)])
        known, position = self._positions(touched)
        number_of_row[self.row_of[position[known]]] = _DEAD
        number_of_row[placed_row] = placed

        staying = np.ones(len(self.numbers), bool)
        staying[position[known]] = False
        numbers, row_of = self.numbers[staying], self.row_of[staying]
        at = np.searchsorted(numbers, placed)
        return View(manifest, rows, number_of_row, np.insert(numbers, at, placed), np.insert(row_of, at, placed_row))

    def known(self, numbers: "Numbers") -> "Numbers":
        """Those of the units that are here."""
        return numbers[self._positions(numbers)[0]]

    def rows_of(self, numbers: "Numbers") -> "Numbers":
        """Of those of the units that are here, in the given order."""
        known, position = self._positions(numbers)
        return self.row_of[position[known]]

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
        numbers, best = _best(self.number_of_row, scores, k)
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
        return _best(self.number_of_row[rows], scores, k)

    def _positions(self, numbers: "Numbers") -> "tuple[NDArray[np.bool_], NDArray[np.intp]]":
        """Which of the numbers are known, and where in `self.numbers` each one is, or would be."""
        position = np.searchsorted(self.numbers, numbers)
        inside = position < len(self.numbers)
        known = inside.copy()
        known[inside] = self.numbers[position[inside]] == numbers[inside]
        return known, position


def _best(numbers: "Numbers", scores: "Vectors", k: int) -> "tuple[Numbers, Vectors]":
    """The k best by score, equal scores by number."""
    if len(scores) > k:
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        kept = np.flatnonzero(scores >= least)
        numbers, scores = numbers[kept], scores[kept]
    order = np.lexsort((numbers, -scores))[:k]
    return numbers[order], scores[order]
