"""Texts that say much the same, each a unit with a number, found without comparing each with each.

Two units are alike when their sets of terms overlap far enough (Jaccard). How far they have to overlap follows from
their sizes, and so does how many terms they may miss: sets that alike share one of their rarest terms, by the number
of units that have each. So each unit is looked up only under a few of its rarest terms, and only against units of about
its own size for which the term is among the rarest too. Nothing that is alike is missed, except where hundreds of units
share their rarest terms; there the likeliest are compared.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from math import ceil
from typing import NamedTuple

from clew.text.stem import stem
from clew.text.words import split

MOST_ALIKE = 16
"""Found for one unit at most: where dozens are alike, nobody reads who with whom, and all pairs would be too many."""
MOST_COMPARED = 400
"""Compared with one unit at most, so that the time grows with the number of units and not with its square."""
_ROUNDING = 1e-9
LEAST_CHARACTERS = 3
"""Shorter words of ASCII letters and digits say little; a single ideograph says much."""

Terms = Mapping[int, frozenset[str]]
"""The terms of units, by number."""


class SimilarUnit(NamedTuple):
    one: int
    other: int
    """The larger number of the two."""
    similarity: float


def terms_in(text: str, ignored: frozenset[str] = frozenset()) -> frozenset[str]:
    """The terms of a text, as a search counts them."""
    words, compounds = split(text)
    return _significant((stem(word) for word in words), compounds, ignored)


def _significant(words: Iterable[str], compounds: Iterable[str], ignored: frozenset[str]) -> frozenset[str]:
    long_enough = (word for word in words if len(word) >= LEAST_CHARACTERS or not word.isascii())
    # Where words are not divided by spaces, a single character is ambiguous; together with its neighbour it is not.
    pairs = (pair for pair in compounds if not pair.isascii())
    return frozenset((*long_enough, *pairs)) - ignored


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def alike(terms: Terms, threshold: float) -> Iterator[SimilarUnit]:
    """The pairs of units that are alike."""
    units_with = Counter(term for own in terms.values() for term in own)
    rarest_first = sorted(units_with, key=lambda term: (units_with[term], term))
    ranks = {term: rank for rank, term in enumerate(rarest_first)}
    noted = _Noted(threshold, sum(count < 2 for count in units_with.values()))
    # A unit is looked up before it is noted, so every pair comes up once.
    for unit in sorted(terms, reverse=True):
        own = sorted(ranks[term] for term in terms[unit])
        if own:
            yield from noted.met(unit, own)
            noted.note(unit, own)


class _Noted:
    """Units under the places that their rarest terms have among their terms."""

    def __init__(self, threshold: float, unshared: int) -> None:
        self._threshold = threshold
        self._unshared = unshared
        """The ranks below this are terms that one unit has alone."""
        self._places: dict[tuple[int, int, int], list[int]] = {}
        """By term, number of terms and place."""
        self._masks: dict[int, tuple[int, int]] = {}
        """The terms of a unit that others may share, as bits, and how many terms it has in all: two of these are
        compared faster than two sets."""

    def note(self, unit: int, own: list[int]) -> None:
        size = len(own)
        self._masks[unit] = self._mask(own), size
        for place, term in enumerate(own[: size - ceil(self._threshold * size - _ROUNDING) + 1]):
            self._places.setdefault((term, size, place), []).append(unit)

    def _mask(self, own: list[int]) -> int:
        mask = 0
        for rank in own:
            if rank >= self._unshared:
                mask |= 1 << rank - self._unshared
        return mask

    def met(self, unit: int, own: list[int]) -> Iterator[SimilarUnit]:
        mask, size = self._mask(own), len(own)
        seen: set[int] = set()
        count = 0
        for other in self._candidates(own):
            if other in seen:
                continue
            seen.add(other)
            other_mask, other_size = self._masks[other]
            shared = (mask & other_mask).bit_count()
            score = shared / (size + other_size - shared)
            if score >= self._threshold:
                yield SimilarUnit(unit, other, score)
                count += 1
            if count >= MOST_ALIKE or len(seen) >= MOST_COMPARED:
                return

    def _candidates(self, own: list[int]) -> Iterator[int]:
        size = len(own)
        for other_size, needed in _sizes(size, self._threshold):
            for term in own[: size - needed + 1]:
                for place in range(other_size - needed + 1):
                    # What was noted last is nearest in number, and nearest is likeliest to be the copy.
                    yield from reversed(self._places.get((term, other_size, place), ()))


@lru_cache(maxsize=1 << 12)
def _sizes(size: int, threshold: float) -> tuple[tuple[int, int], ...]:
    """The numbers of terms that a similar unit may have, each with the number of terms that the two must share; the
    likeliest first."""
    possible = range(ceil(threshold * size - _ROUNDING), int(size / threshold + _ROUNDING) + 1)
    share = threshold / (1 + threshold)
    nearest = sorted(possible, key=lambda other: abs(other - size))
    return tuple((other, ceil(share * (size + other) - _ROUNDING)) for other in nearest)


def like(unit: int, terms: Terms, threshold: float) -> Iterator[SimilarUnit]:
    """The pairs of one unit with all others: after a change of one unit, this is faster than `alike`."""
    own = terms[unit]
    least, most = threshold * len(own) - _ROUNDING, len(own) / threshold + _ROUNDING
    for other, others_terms in terms.items():
        if other != unit and least <= len(others_terms) <= most:
            score = similarity(own, others_terms)
            if score >= threshold:
                yield SimilarUnit(min(unit, other), max(unit, other), score)
