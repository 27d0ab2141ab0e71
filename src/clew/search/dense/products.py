"""Scores of all rows of a matrix for a query, fast also where many threads ask at once.

BLAS uses every core for one product, so that products in several threads at the same time only get in each other's
way: with 32 threads, each waits for all others and the throughput falls to a tenth. So one product runs at a time in
the whole process, and whoever waits for the same matrix joins the next one: a product with many queries reads the
matrix once for all of them.
"""

import threading
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from clew.derived.vector_file import Vectors

_TOGETHER_FROM = 4
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
    """Who waits for a product; one of them makes it, for all that wait for the same matrix."""

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
        """The queries that one product answers: this one, and those that wait for the same matrix."""
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
            each.scores = matrix @ each.query
        return
    for each, found in zip(together, np.stack([each.query for each in together]) @ matrix.T, strict=True):
        each.scores = found
