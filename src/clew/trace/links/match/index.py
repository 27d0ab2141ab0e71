"""Shared words: how much the texts of two sides have in common, from an inverted index.

Two measures: the cosine of weighted term counts, and BM25. A term weighs more the rarer it is in the texts of both
sides together. A comparison costs one pass over the postings of the terms of a text, so texts that share nothing cost
nothing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log, sqrt
from typing import TYPE_CHECKING, Any

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
_CELLS_AT_ONCE = 1_000_000
"""Of the scores that are worked out together: few large products wait less for each other's threads than many."""
_SATURATION, _LENGTH_SHARE = 1.2, 0.75
"""Of BM25, as everybody has them."""


class Postings:
    """Weighted terms of the candidates, for products with the weighted terms of others."""

    def __init__(self, candidates: Sequence[Counts]) -> None:
        self._size = len(candidates)
        found: Inverted[str, int, float] = Inverted()
        for number, weights in enumerate(candidates):
            found.add(number, weights)
        frequent = sorted(
            (term for term, held in found.items() if len(held) > self._size * _DENSE_FROM),
            key=lambda term: -len(found.holders(term)),
        )
        frequent = frequent[: _DENSE_CELLS // max(self._size, 1)]
        dense = frozenset(frequent)
        rare = [term for term, _ in found.items() if term not in dense]
        self._places = {term: place for place, term in enumerate((*frequent, *rare))}
        self._dense = np.zeros((len(frequent), self._size), np.float32)
        for place, term in enumerate(frequent):
            held = found.holders(term)
            self._dense[place, list(held)] = list(held.values())
        postings = [found.holders(term) for term in rare]
        self._lengths = np.array([len(held) for held in postings], np.int64)
        self._starts = np.cumsum(self._lengths) - self._lengths
        self._numbers = np.fromiter((number for held in postings for number in held), np.int64)
        self._values = np.fromiter((value for held in postings for value in held.values()), np.float32)

    def products(self, texts: Sequence[Counts]) -> "Matrix":
        """One row for each text, one column for each candidate."""
        found = np.zeros((len(texts), self._size), np.float32)
        at_once = max(1, _CELLS_AT_ONCE // max(1, self._size))
        for start in range(0, len(texts), at_once):
            block = texts[start : start + at_once]
            found[start : start + len(block)] = self._block(block)
        return found

    def _block(self, texts: Sequence[Counts]) -> "Matrix":
        """Products term by term would take most of the time in Python; so all postings of all texts are added up at
        once."""
        places: list[int] = []
        weights: list[float] = []
        ends: list[int] = []
        find = self._places.get
        for text in texts:
            for term, weight in text.items():
                if (place := find(term)) is not None:
                    places.append(place)
                    weights.append(weight)
            ends.append(len(places))
        terms, values = np.array(places, np.int64), np.array(weights, np.float32)
        rows = np.repeat(np.arange(len(texts)), np.diff(ends, prepend=0))
        is_frequent = terms < len(self._dense)
        frequent = np.zeros((len(texts), len(self._dense)), np.float32)
        frequent[rows[is_frequent], terms[is_frequent]] = values[is_frequent]
        rare = ~is_frequent
        cells, shares = self._added(rows[rare], terms[rare] - len(self._dense), values[rare])
        added = np.bincount(cells, shares, len(texts) * self._size).reshape(len(texts), self._size)
        return np.asarray(frequent @ self._dense + added, np.float32)

    def _added(self, rows: "NDArray[Any]", terms: "NDArray[Any]", values: "Matrix") -> "tuple[NDArray[Any], Matrix]":
        """For each posting of each of the terms, which cell it is added to, and how much."""
        lengths = self._lengths[terms]
        before = np.cumsum(lengths) - lengths
        at = np.repeat(self._starts[terms] - before, lengths) + np.arange(lengths.sum())
        return np.repeat(rows, lengths) * self._size + self._numbers[at], np.repeat(values, lengths) * self._values[at]


class TermIndex:
    """The candidates of one side, by their terms."""

    def __init__(self, candidates: Sequence[Counts], others: Sequence[Counts]) -> None:
        """`others` are the texts of the other side: they take part in saying how rare a term is."""
        self._texts = len(candidates) + len(others)
        holding = Counter(term for counts in (*candidates, *others) for term in counts)
        self._rarities = {term: self._rarity(held) for term, held in holding.items()}
        self._unknown = self._rarity(0)
        self._candidates = candidates
        self._postings = Postings([self._weighted(counts) for counts in candidates])
        self._documents: Postings | None = None
        """The candidates as documents of BM25, once they were asked as such."""

    def rarity(self, term: str) -> float:
        return self._rarities.get(term, self._unknown)

    def _rarity(self, holding: int) -> float:
        return log((self._texts + 1) / (holding + 0.5))

    def cosines(self, texts: Sequence[Counts]) -> "Matrix":
        """One row for each text, one column for each candidate."""
        return self._postings.products([self._weighted(counts) for counts in texts])

    def bm25(self, texts: Sequence[Counts], *, documents: bool) -> "Matrix":
        """The root of BM25 with requirements as documents and files as queries: what a requirement says is looked for
        in a file, however much else that holds. `documents` says whether the candidates are the documents."""
        mean = _mean_length(self._candidates if documents else texts)
        if documents:
            if self._documents is None:
                self._documents = Postings([self._bm25_weights(counts, mean) for counts in self._candidates])
            found = self._documents.products([dict.fromkeys(counts, 1.0) for counts in texts])
        else:
            held = Postings([dict.fromkeys(counts, 1.0) for counts in self._candidates])
            found = held.products([self._bm25_weights(counts, mean) for counts in texts])
        return np.sqrt(np.maximum(found, 0))

    def _bm25_weights(self, counts: Counts, mean_length: float) -> dict[str, float]:
        share = 1 - _LENGTH_SHARE + _LENGTH_SHARE * sum(counts.values()) / max(mean_length, 1e-9)
        rarity, unknown = self._rarities.get, self._unknown
        return {
            term: rarity(term, unknown) * count * (_SATURATION + 1) / (count + _SATURATION * share)
            for term, count in counts.items()
        }

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
        rarity, unknown = self._rarities.get, self._unknown
        weights = {term: sqrt(count) * rarity(term, unknown) for term, count in counts.items()}
        weights = {term: weight for term, weight in weights.items() if weight > 0}
        length = sqrt(sum(weight * weight for weight in weights.values()))
        return {term: weight / length for term, weight in weights.items()}


def _mean_length(texts: Sequence[Counts]) -> float:
    return sum(sum(counts.values()) for counts in texts) / max(1, len(texts))
