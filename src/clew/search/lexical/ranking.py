"""Ranking of candidates: BM25 over their streams, and what the best of them teach about the query.

The index only picks candidates: FTS5's own BM25 knows no weights for terms and has to look at every match. They are
ranked here, where repeated words, replacements of misspelt ones and terms learnt from the first results have weights of
their own.

Terms are counted by their hashes, in one array of all candidates: a search counts some twenty terms in two hundred
texts, and text by text that takes most of its time. Phrases and beginnings are counted in the texts.

The streams are kept for the next ranking, since many searches meet the same units.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, Self, TypeAlias

import msgspec

from clew.cache import Cache
from clew.errors import InvalidArgument
from clew.search.lexical.expression import Phrase
from clew.search.lexical.packing import Row
from clew.search.lexical.plan import Item, rarity
from clew.search.lexical.tables import Totals, length
from clew.search.rank.recipes import Feedback
from clew.text.keywords import STOP_TERMS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.search.reading import Reading

    Hashes: TypeAlias = NDArray[np.int64]
    Counts: TypeAlias = NDArray[np.float64]

MOST_CHARACTERS = 8_000_000
_LAST_BITS = 0xFFFF
_LONGEST = 100_000
"""A longer text is read again each time, rather than put out many others."""


class Stream(NamedTuple):
    row: Row
    words: int
    """How many there are."""
    characters: int
    in_title: int
    """How many of the words stand in the title."""
    hashes: "Hashes"
    """Of the terms: those of the title, of the body and of the compounds."""


class Streams:
    """Of one index, in which the number of a unit stands for one text for ever. Any thread may ask."""

    def __init__(self, characters: int = MOST_CHARACTERS) -> None:
        self._kept: Cache[int, Stream] = Cache(characters, size_of=attrgetter("characters"))

    def of(self, reading: "Reading", units: Sequence[int]) -> Iterator[list[Stream]]:
        """The streams of these units, in their order, some at a time. They are read as they are asked for: some may be
        very long."""
        for start in range(0, len(units), reading.streams_at_once):
            part = units[start : start + reading.streams_at_once]
            known = self._kept.get_many(part)
            missing = [unit for unit in part if unit not in known]
            if missing:
                read = {row.unit: _stream(row) for row in reading.streams(missing)}
                self._kept.put_many({unit: each for unit, each in read.items() if each.characters <= _LONGEST})
                known |= read
            yield [known[unit] for unit in part if unit in known]


def _stream(row: Row) -> Stream:
    import numpy as np

    characters = len(row.title) + len(row.body) + len(row.compounds)
    terms = f"{row.title}{row.body}{row.compounds}".split()
    hashes = np.fromiter(map(hash, terms), np.int64, len(terms))
    return Stream(row, length(row), characters, max(row.title.count(" ") - 1, 0), hashes)


_MIN_LEARNT_CHARACTERS = 3
_MIN_LEARNT_UNITS = 2
_MIN_HOLDERS = 2


UnitsWith = Callable[[Iterable[str]], Mapping[str, int]]
"""In how many units each of some terms occurs."""


class Bm25Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of the ranking, as data."""

    saturation: float = 1.2
    """How fast repetitions of a term stop counting (k1)."""
    length_share: float = 0.75
    """How much a long unit has to hold more (b)."""
    title_weight: int = 2
    """How often a title counts."""
    feedback_units: int = 8
    feedback_terms: int = 12
    feedback_share: float = 0.5
    """The share of the score that comes from terms learnt from the best units; 0 learns nothing."""
    feedback_from_words: int = 3
    """A query with fewer plain words says too little to learn from."""
    feedback_named_share: float = 0.15
    """A query of which more than this names something asks for that thing, not for its neighbourhood."""

    @classmethod
    def learning(cls, feedback: Feedback | None) -> Self:
        """The ranking that learns as a recipe says: nothing without feedback."""
        if feedback is None:
            return cls(feedback_share=0.0)
        return cls(feedback_units=feedback.documents, feedback_terms=feedback.terms, feedback_share=feedback.weight)

    def __post_init__(self) -> None:
        if self.title_weight < 1:
            raise InvalidArgument(
                f"A title cannot count {self.title_weight} times.", hint="Let it count at least once."
            )
        if not 0 <= self.feedback_share < 1:
            raise InvalidArgument(
                f"The share of the score from learnt terms cannot be {self.feedback_share}.",
                hint="Give a share from 0 to below 1; 0 learns nothing.",
            )


class Scorer:
    """Scores some units of one collection, in arrays with a place for each of them."""

    def __init__(self, ranking: Bm25Settings, totals: Totals, streams: Sequence[Stream]) -> None:
        import numpy as np

        self._ranking = ranking
        self._all_units = totals.units
        self._streams = streams
        self._terms = _Terms(streams, ranking.title_weight)
        words = np.array([stream.words for stream in streams])
        share, average = ranking.length_share, max(totals.words / max(totals.units, 1), 1.0)
        self._norms = ranking.saturation * (1 - share + share * words / average)
        """What the length of a unit makes of the counts of terms."""
        self._units = np.array([stream.row.unit for stream in streams])
        self._scores = np.zeros(len(streams))
        self._labels: tuple[str, ...] = ()
        self._held = np.zeros((len(streams), 0), np.bool_)
        """For each unit, which of the items with these labels it holds."""

    def score(self, items: Sequence[Item]) -> bool:
        """Score by the items of the query; whether a unit holds one. An index that keeps no places of words lets
        through what holds those of a phrase apart from each other."""
        self._labels = tuple(item.label for item in items)
        self._held = self._add(items).T > 0
        return bool(self._held.any())

    def ranked(self) -> list[tuple[Row, float, tuple[str, ...]]]:
        """The units, the best first, with their scores and the labels of the query's items that they hold."""
        import numpy as np

        order = self._order()
        rows = [self._streams[place].row for place in order]
        # Which items a unit holds is a bit of a number for each, of MAX_ITEMS. Most units hold the same few.
        kinds = (self._held[order] @ (1 << np.arange(len(self._labels)))).tolist()
        labels = {kind: self._labels_of(kind) for kind in set(kinds)}
        return list(zip(rows, self._scores[order].tolist(), map(labels.__getitem__, kinds), strict=True))

    def _labels_of(self, kind: int) -> tuple[str, ...]:
        return tuple(label for place, label in enumerate(self._labels) if kind >> place & 1)

    def learn(self, items: Sequence[Item], units_with: UnitsWith) -> list[Item]:
        """Add what terms that set the best units apart are worth, beside the items of the query; those terms."""
        learnt = self._telling_terms(self._order()[: self._ranking.feedback_units], units_with)
        if learnt:
            share = self._ranking.feedback_share
            strength = sum(item.weight for item in items) * share / (1 - share) / sum(item.weight for item in learnt)
            self._add([item._replace(weight=item.weight * strength) for item in learnt])
        return learnt

    def _order(self) -> list[int]:
        """The places of the units that hold something of the query, the best first."""
        import numpy as np

        order = np.lexsort((self._units, -self._scores))
        best: list[int] = order[self._held[order].sum(axis=1) > 0].tolist()
        return best

    def _add(self, items: Sequence[Item]) -> "Counts":
        """Add what the items are worth to the scores; how often each item, in the order given, is in each unit."""
        import numpy as np

        if not items:
            return np.empty((0, len(self._streams)))
        times = self._terms.times(items)
        weights = np.array([item.weight * item.rarity * (self._ranking.saturation + 1) for item in items])
        # Item by item: equal texts get equal scores, wherever they stand.
        self._scores += (weights[:, None] * times / (times + self._norms)).sum(axis=0)
        return times

    def _telling_terms(self, best: Sequence[int], units_with: UnitsWith) -> list[Item]:
        """The terms that the best units share and others lack, weighted."""
        import numpy as np

        streams = [self._streams[place] for place in best]
        hashes = np.concatenate([stream.hashes[: stream.words] for stream in streams])
        _, first, of = np.unique(hashes, return_index=True, return_inverse=True)
        owners = np.repeat(np.arange(len(best)), [stream.words for stream in streams])
        times = np.bincount(of * len(best) + owners, minlength=len(first) * len(best)).reshape(-1, len(best))
        trust = self._scores[best] / self._scores[best[0]]
        presence = (trust * times / (times + self._norms[best])).sum(axis=1)
        shared = np.flatnonzero(np.count_nonzero(times, axis=1) >= _MIN_HOLDERS)
        terms = " ".join(f"{stream.row.title}{stream.row.body}" for stream in streams).split()
        present = dict(zip([terms[at] for at in first[shared].tolist()], presence[shared].tolist(), strict=True))
        rarities = {
            term: (held, rarity(held, self._all_units))
            for term, held in units_with(term for term in present if _is_telling(term)).items()
            if held >= _MIN_LEARNT_UNITS
        }
        weights = {term: present[term] * weight for term, (_, weight) in rarities.items()}
        chosen = sorted(weights, key=lambda term: (-weights[term], term))[: self._ranking.feedback_terms]
        return [Item(term, Phrase((term,)), (f" {term} ",), weights[term], *rarities[term]) for term in chosen]


class _Terms:
    """The terms of some streams, of which items that are whole terms for the most part are counted."""

    def __init__(self, streams: Sequence[Stream], title_weight: int) -> None:
        import numpy as np

        self._rows = [stream.row for stream in streams]
        self._title_weight = title_weight
        hashes = [stream.hashes for stream in streams]
        self._hashes = np.concatenate([np.empty(0, np.int64), *hashes])
        self._last_bits = self._hashes & _LAST_BITS
        lengths = np.array([*map(len, hashes)], np.int64)
        self._ends = np.cumsum(lengths)
        self._title_ends = self._ends - lengths + np.array([stream.in_title for stream in streams], np.int64)

    def times(self, items: Sequence[Item]) -> "Counts":
        """How often each item is in each stream."""
        import numpy as np

        needles = list(dict.fromkeys(needle for item in items for needle in item.needles))
        terms = [needle for needle in needles if _is_term(needle)]
        of_terms = self._counted(terms)
        if len(terms) == len(items) and all(len(item.needles) == 1 for item in items):
            # Each item is a term of its own, as nearly always.
            return of_terms
        counted = dict(zip(terms, of_terms, strict=True))
        for needle in needles:
            if needle not in counted:
                found = map(str.count, self._texts(), repeat(needle))
                counted[needle] = np.fromiter(found, np.float64, len(self._rows))
        return np.array([np.sum([counted[needle] for needle in item.needles], axis=0) for item in items])

    def _counted(self, needles: Sequence[str]) -> "Counts":
        import numpy as np

        hashes = np.fromiter((hash(needle[1:-1]) for needle in needles), np.int64, len(needles))
        order = np.argsort(hashes)
        # Nearly all terms are none of those that are counted, as their last bits tell already.
        wanted = np.zeros(_LAST_BITS + 1, np.bool_)
        wanted[hashes & _LAST_BITS] = True
        places = np.flatnonzero(wanted[self._last_bits])
        found = self._hashes[places]
        which = order[np.searchsorted(hashes, found, sorter=order).clip(max=len(order) - 1)]
        same = hashes[which] == found
        places, which = places[same], which[same]
        owners = np.searchsorted(self._ends, places, side="right")
        weights = np.where(places < self._title_ends[owners], self._title_weight, 1)
        shape = (len(needles), len(self._rows))
        counts = np.bincount(which * len(self._rows) + owners, weights, shape[0] * shape[1])
        return np.asarray(counts, np.float64).reshape(shape)

    def _texts(self) -> list[str]:
        return [row.title * self._title_weight + row.body + row.compounds for row in self._rows]


def _is_term(needle: str) -> bool:
    return needle.endswith(" ") and needle.count(" ") == 2


def _is_telling(term: str) -> bool:
    return len(term) >= _MIN_LEARNT_CHARACTERS and term not in STOP_TERMS and not term.isdigit()
