"""Shared words: how much the texts of two sides have in common, from an inverted index.

Two measures: the cosine of weighted term counts, and BM25. A term weighs more the rarer it is on both sides: one that
is in nearly every text of a side tells none of them apart, however rare it is on the other. A comparison costs one
pass over the postings of the terms of a text, so texts that share nothing cost nothing.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, repeat
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clew.trace.links.match.texts import Names

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
_FEW_TEXTS = 10
_SATURATION, _LENGTH_SHARE = 1.2, 0.75
"""Of BM25, as everybody has them."""


class Weighted(NamedTuple):
    """The weighted terms of many texts in one piece, those of one text side by side."""

    rows: "NDArray[np.int64]"
    """Of which text each term is."""
    terms: "NDArray[np.int64]"
    weights: "Matrix"
    size: int
    """The number of texts."""


class Postings:
    """Weighted terms of the candidates, for products with the weighted terms of others. Everything is worked out for
    many texts at once: term by term, Python would take most of the time."""

    def __init__(self, candidates: Weighted, terms: int) -> None:
        """`terms` is how many there are in all."""
        self._size = candidates.size
        held = np.bincount(candidates.terms, minlength=terms)
        frequent = np.flatnonzero(held > self._size * _DENSE_FROM)
        frequent = frequent[np.argsort(-held[frequent], kind="stable")][: _DENSE_CELLS // max(self._size, 1)]
        self._place = np.full(terms, -1, np.int64)
        """Of a frequent term, its row in the matrix."""
        self._place[frequent] = np.arange(len(frequent))
        places = self._place[candidates.terms]
        is_frequent = places >= 0
        self._dense = np.zeros((len(frequent), self._size), np.float32)
        self._dense[places[is_frequent], candidates.rows[is_frequent]] = candidates.weights[is_frequent]
        rare = np.flatnonzero(~is_frequent)
        rare = rare[np.argsort(candidates.terms[rare], kind="stable")]
        self._numbers, self._values = candidates.rows[rare], candidates.weights[rare]
        self._lengths = np.where(self._place < 0, held, 0)
        self._starts = np.cumsum(self._lengths) - self._lengths

    def products(self, texts: Weighted) -> "Matrix":
        """One row for each text, one column for each candidate."""
        found = np.zeros((texts.size, self._size), np.float32)
        at_once = max(1, _CELLS_AT_ONCE // max(1, self._size))
        for start in range(0, texts.size, at_once):
            stop = min(start + at_once, texts.size)
            first, last = np.searchsorted(texts.rows, (start, stop))
            rows, terms = texts.rows[first:last] - start, texts.terms[first:last]
            found[start:stop] = self._block(rows, terms, texts.weights[first:last], stop - start)
        return found

    def _block(self, rows: "NDArray[Any]", terms: "NDArray[Any]", weights: "Matrix", size: int) -> "Matrix":
        places = self._place[terms]
        is_frequent = places >= 0
        frequent = np.zeros((size, len(self._dense)), np.float32)
        frequent[rows[is_frequent], places[is_frequent]] = weights[is_frequent]
        rare = ~is_frequent
        cells, shares = self._added(rows[rare], terms[rare], weights[rare])
        added = np.bincount(cells, shares, size * self._size).reshape(size, self._size)
        return np.asarray(frequent @ self._dense + added, np.float32)

    def _added(self, rows: "NDArray[Any]", terms: "NDArray[Any]", values: "Matrix") -> "tuple[NDArray[Any], Matrix]":
        """The cell to which each posting of each term is added, and the amount."""
        lengths = self._lengths[terms]
        before = np.cumsum(lengths) - lengths
        at = np.repeat(self._starts[terms] - before, lengths) + np.arange(lengths.sum())
        return np.repeat(rows, lengths) * self._size + self._numbers[at], np.repeat(values, lengths) * self._values[at]


class TermIndex:
    """The candidates of one side, by their terms."""

    def __init__(self, candidates: Sequence[Counts], others: Sequence[Counts], *, length_share: float = 1.0) -> None:
        """`others` are the texts of the other side: they count in the rarity of a term. `length_share` is the weight of
        a candidate's own length; below 1 the mean length takes the rest, so that long texts are reduced less."""
        holding = [Counter(chain.from_iterable(side)) for side in (candidates, others)]
        self._numbers = {term: number for number, term in enumerate(holding[0] | holding[1])}
        # What no text held is the last one.
        held = np.array([[*map(side.__getitem__, self._numbers), 0] for side in holding], np.float32)
        self._rarities = _rarities(held, np.array([[len(candidates)], [len(others)]], np.float32))
        self._counted = self._rows(candidates)
        self._postings = Postings(self._of_length_one(self._counted, length_share), len(self._rarities))
        self._documents: Postings | None = None
        """The candidates as documents of BM25, and as its queries, once they were asked as such."""
        self._queries: Postings | None = None

    def rarity(self, term: str) -> float:
        return float(self._rarities[self._numbers.get(term, -1)])

    def cosines(self, texts: Sequence[Counts]) -> "Matrix":
        """One row for each text, one column for each candidate."""
        return self._postings.products(self._of_length_one(self._rows(texts)))

    def bm25(self, texts: Sequence[Counts], *, documents: bool) -> "Matrix":
        """The root of BM25 with requirements as documents and files as queries: a requirement's words are searched in a
        file, however much else the file contains. `documents` tells if the candidates are the documents."""
        asking = self._rows(texts)
        if documents:
            if self._documents is None:
                self._documents = Postings(self._saturated(self._counted), len(self._rarities))
            found = self._documents.products(_once(asking))
        else:
            if self._queries is None:
                self._queries = Postings(_once(self._counted), len(self._rarities))
            found = self._queries.products(self._saturated(asking))
        return np.sqrt(np.maximum(found, 0))

    def _rows(self, texts: Sequence[Counts]) -> Weighted:
        """The texts with how often each term occurs."""
        sizes = [len(counts) for counts in texts]
        total, unknown = sum(sizes), len(self._numbers)
        terms = np.fromiter(map(self._numbers.get, chain.from_iterable(texts), repeat(unknown)), np.int64, total)
        counted = np.fromiter(chain.from_iterable(counts.values() for counts in texts), np.float32, total)
        return Weighted(np.repeat(np.arange(len(texts)), sizes), terms, counted, len(texts))

    def _of_length_one(self, counted: Weighted, share: float = 1.0) -> Weighted:
        """Weights divided by the lengths of their texts, or by a share of them and the rest of the mean length."""
        weights = np.sqrt(counted.weights) * self._rarities[counted.terms]
        lengths = np.sqrt(np.bincount(counted.rows, weights * weights, counted.size))
        mean = float(lengths.mean()) if counted.size else 0.0
        divided = weights / np.maximum(share * lengths + (1 - share) * mean, 1e-12)[counted.rows]
        return counted._replace(weights=np.asarray(divided, np.float32))

    def _saturated(self, counted: Weighted) -> Weighted:
        """The weights that BM25 gives the terms of documents."""
        lengths = np.bincount(counted.rows, counted.weights, counted.size)
        mean = max(float(lengths.mean()) if counted.size else 0.0, 1e-9)
        share = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths / mean)[counted.rows]
        weights = self._rarities[counted.terms] * counted.weights * (_SATURATION + 1) / (counted.weights + share)
        return counted._replace(weights=np.asarray(weights, np.float32))

    def cosine(self, one: Counts, other: Counts) -> float:
        """The cosine of two texts, which need not be candidates."""
        left, right = self._weighted(one), self._weighted(other)
        return sum(weight * right[term] for term, weight in left.items() if term in right)

    def shared(self, one: Counts, other: Counts) -> list[str]:
        """The terms that two texts share, the heaviest first."""
        left, right = self._weighted(one), self._weighted(other)
        products = {term: weight * right[term] for term, weight in left.items() if term in right}
        return sorted(products, key=lambda term: (-products[term], term))

    def _weighted(self, counts: Counts) -> dict[str, float]:
        """Weights of length 1."""
        weights = {term: sqrt(count) * self.rarity(term) for term, count in counts.items()}
        length = max(sqrt(sum(weight * weight for weight in weights.values())), 1e-12)
        return {term: weight / length for term, weight in weights.items()}


class NameIndex:
    """Names that one side defines and the other mentions; either side may be the one with candidates.

    They count whole and as they are written: the words of `read_only` are in many texts, the name in few. A name
    that many define, or many mention, says little, as with words.
    """

    def __init__(self, candidates: Sequence[Names], others: Sequence[Names]) -> None:
        self._defined, theirs = (
            frozenset(chain.from_iterable(each.defined for each in side)) for side in (candidates, others)
        )
        self._defining = TermIndex(
            [_named(each.defined) for each in candidates], [_named(each.mentioned, self._defined) for each in others]
        )
        self._mentioning = TermIndex(
            [_named(each.mentioned, theirs) for each in candidates], [_named(each.defined) for each in others]
        )

    def cosines(self, texts: Sequence[Names]) -> "Matrix":
        """One row for each text, one column for each candidate: both directions added."""
        mentioned = self._defining.cosines([_named(each.mentioned, self._defined) for each in texts])
        return mentioned + self._mentioning.cosines([_named(each.defined) for each in texts])


def _named(names: Sequence[str], known: Collection[str] | None = None) -> Counts:
    return dict.fromkeys((name for name in names if known is None or name in known), 1.0)


def _rarities(held: "Matrix", texts: "Matrix") -> "Matrix":
    """Of terms that so many of the texts of each side hold: by the share of the side where they are more frequent. A
    side of few texts says little about shares, and counts with so many more texts like those of both sides."""
    both = (held.sum(axis=0) + 0.5) / (texts.sum() + 1)
    shares = (held + _FEW_TEXTS * both) / (texts + _FEW_TEXTS)
    return np.asarray(-np.log(shares.max(axis=0)), np.float32)


def _once(counted: Weighted) -> Weighted:
    """Each term counts once, as in a query."""
    return counted._replace(weights=np.ones_like(counted.weights))
