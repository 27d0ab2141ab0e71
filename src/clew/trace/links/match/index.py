"""Shared words: how much the texts of two sides have in common, from an inverted index.

The measure is the cosine of weighted term counts. A term weighs more the rarer it is on both sides: what every
requirement says tells as little as what every file says. A comparison costs one pass over the postings of the terms of
a text, so texts that share nothing cost nothing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from clew.text.inverted import Inverted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

Counts = Mapping[str, float]

_DENSE_FROM = 0.02
"""Terms that more than this share of the candidates holds are kept as rows of a matrix: there are few of them, and
multiplying is much faster than following long postings one by one."""
_DENSE_CELLS = 8_000_000
_TEXTS_AT_ONCE = 256


class TermIndex:
    """The candidates of one side, by their terms."""

    def __init__(self, candidates: Sequence[Counts], others: Sequence[Counts]) -> None:
        """`others` are the texts of the other side: they take part in saying how rare a term is."""
        self._size = len(candidates)
        self._others = len(others)
        self._here = Counter(term for counts in candidates for term in counts)
        self._there = Counter(term for counts in others for term in counts)
        self._rarities: dict[str, float] = {}
        found: Inverted[str, int, float] = Inverted()
        for number, counts in enumerate(candidates):
            found.add(number, self._weighted(counts))
        frequent = sorted(
            (term for term, weights in found.items() if len(weights) > self._size * _DENSE_FROM),
            key=lambda term: -len(found.holders(term)),
        )
        self._rows = {term: row for row, term in enumerate(frequent[: _DENSE_CELLS // max(self._size, 1)])}
        self._dense = np.zeros((len(self._rows), self._size), np.float32)
        self._postings: dict[str, tuple[NDArray[np.int32], Matrix]] = {}
        for term, weights in found.items():
            numbers, values = np.array(list(weights), np.int32), np.array(list(weights.values()), np.float32)
            if term in self._rows:
                self._dense[self._rows[term], numbers] = values
            else:
                self._postings[term] = numbers, values

    def rarity(self, term: str) -> float:
        known = self._rarities.get(term)
        if known is None:
            here = log((self._size + 1) / (self._here[term] + 0.5))
            known = (here + log((self._others + 1) / (self._there[term] + 0.5))) / 2
            self._rarities[term] = known
        return known

    def cosines(self, texts: Sequence[Counts]) -> "Matrix":
        """One row for each text, one column for each candidate."""
        found = np.zeros((len(texts), self._size), np.float32)
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            block = texts[start : start + _TEXTS_AT_ONCE]
            frequent = np.zeros((len(block), len(self._rows)), np.float32)
            for number, counts in enumerate(block):
                row = found[start + number]
                for term, weight in self._weighted(counts).items():
                    if (place := self._rows.get(term)) is not None:
                        frequent[number, place] = weight
                    elif (posting := self._postings.get(term)) is not None:
                        row[posting[0]] += np.float32(weight) * posting[1]
            found[start : start + len(block)] += frequent @ self._dense
        return found

    def cosine(self, one: Counts, other: Counts) -> float:
        """Of two texts that need not be candidates."""
        left, right = self._weighted(one), self._weighted(other)
        return sum(weight * right[term] for term, weight in left.items() if term in right)

    def shared(self, one: Counts, other: Counts) -> list[str]:
        """The terms two texts share, those that bind them most first."""
        left, right = self._weighted(one), self._weighted(other)
        products = {term: weight * right[term] for term, weight in left.items() if term in right}
        return sorted(products, key=lambda term: (-products[term], term))

    def _weighted(self, counts: Counts) -> dict[str, float]:
        """Weights of length 1; a term that occurs nearly everywhere has none."""
        weights = {term: sqrt(count) * self.rarity(term) for term, count in counts.items()}
        weights = {term: weight for term, weight in weights.items() if weight > 0}
        length = sqrt(sum(weight * weight for weight in weights.values()))
        return {term: weight / length for term, weight in weights.items()}
