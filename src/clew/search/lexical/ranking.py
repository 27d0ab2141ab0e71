"""Ranking of candidates: BM25 over their streams, with terms learned from the best ones.

The index only picks candidates: FTS5's own BM25 knows no weights for terms and has to look at every match. They are
ranked here, where repeated words, replacements of misspelt ones and terms learnt from the first results have weights of
their own.

Terms are counted by their keys, in one array of all candidates: a search counts some twenty terms in two hundred texts,
and text by text that takes most of its time. A key is the hash of a term, or its number where an index keeps the
numbers of a unit's terms, so that no text is read and split. Phrases and beginnings are counted in the texts.

The streams are kept for the next ranking, since many searches meet the same units.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec

from clew.cache import Cache
from clew.errors import InvalidArgument
from clew.search.lexical.expression import Phrase
from clew.search.lexical.packing import UnitTerms
from clew.search.lexical.plan import PlannedTerm, rarity
from clew.search.lexical.tables import length
from clew.text.keywords import STOP_TERMS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.search.reading import IndexReader

    Keys: TypeAlias = NDArray[np.signedinteger]
    Counts: TypeAlias = NDArray[np.float64]

_LAST_BITS = 0xFFFF
_OVERHEAD = 400
_LONGEST = 100_000
"""A longer text is read again each time, rather than put out many others."""


class Stream(NamedTuple):
    unit: int
    words: int
    """The number of words."""
    characters: int
    """As many as they take as text."""
    in_title: int
    """The number of words that are in the title."""
    keys: "Keys"
    """Of the terms: those of the title, of the body and of the compounds."""
    row: UnitTerms | None
    """The text, where it was read."""

    @property
    def size(self) -> int:
        """Its approximate size in memory, in bytes."""
        return _OVERHEAD + self.keys.nbytes + (0 if self.row is None else self.characters)


class Streams:
    """The cached streams of an index, in which the number of a unit belongs to one text for ever. Safe under
    threads."""

    def __init__(self, size: int) -> None:
        """`size` is the approximate number of bytes to keep."""
        self._kept: Cache[int, Stream] = Cache(size, size_of=attrgetter("size"))

    def of(self, reading: "IndexReader", units: Sequence[int]) -> Iterator[list[Stream]]:
        """The streams of these units, in their order, some at a time. They are read as they are asked for: some may be
        very long."""
        for start in range(0, len(units), reading.streams_at_once):
            part = units[start : start + reading.streams_at_once]
            known = self._kept.get_many(part)
            missing = [unit for unit in part if unit not in known]
            if missing:
                read = {stream.unit: stream for stream in reading.numbered_streams(missing)}
                texts = reading.streams(unread) if (unread := [unit for unit in missing if unit not in read]) else ()
                read |= {row.unit: _stream(row) for row in texts}
                self._kept.put_many({unit: each for unit, each in read.items() if each.characters <= _LONGEST})
                known |= read
            yield [known[unit] for unit in part if unit in known]

    def rows_of(self, reading: "IndexReader", streams: Sequence[Stream]) -> list[UnitTerms]:
        """The texts of some streams in this state of the index, in their order; those that had to be read are
        cached."""
        unread = {each.unit: each for each in streams if each.row is None}
        kept = self._kept.get_many(unread)
        read = {unit: each.row for unit, each in kept.items() if each.row is not None}
        if missing := [unit for unit in unread if unit not in read]:
            rows = {row.unit: row for row in reading.streams(missing)}
            self._kept.put_many(
                {
                    unit: unread[unit]._replace(row=row)
                    for unit, row in rows.items()
                    if unread[unit].characters <= _LONGEST
                }
            )
            read |= rows
        return [each.row or read[each.unit] for each in streams]


def _stream(row: UnitTerms) -> Stream:
    import numpy as np

    characters = len(row.title) + len(row.body) + len(row.compounds)
    terms = f"{row.title}{row.body}{row.compounds}".split()
    hashes = np.fromiter(map(hash, terms), np.int64, len(terms))
    return Stream(row.unit, length(row), characters, max(row.title.count(" ") - 1, 0), hashes, row)


_MIN_LEARNT_CHARACTERS = 3
_MIN_LEARNT_UNITS = 2
_MIN_HOLDERS = 2


class Bm25Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of the ranking, as data."""

    saturation: float = 1.2
    """The speed at which repetitions of a term stop counting (k1)."""
    length_share: float = 0.75
    """The effect of a unit's length (b): a long unit has to hold a term more often."""
    title_weight: int = 2
    """The number of times that a title counts."""
    feedback_units: int = 8
    feedback_terms: int = 12
    feedback_share: float = 0.5
    """The share of the score that comes from terms learnt from the best units; 0 learns nothing."""
    feedback_from_words: int = 3
    """A query with fewer plain words says too little to learn from."""
    feedback_named_share: float = 0.15
    """A query of which more than this names something asks for that thing, not for its neighbourhood."""

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


Texts = Callable[[Sequence[Stream]], list[UnitTerms]]
"""Reads the texts of streams."""


class Scorer:
    """Scores some units of one collection, in arrays with a place for each of them."""

    def __init__(
        self, ranking: Bm25Settings, reading: "IndexReader", streams: Sequence[Stream], texts: "Texts"
    ) -> None:
        import numpy as np

        totals = reading.totals()
        self._ranking = ranking
        self._reading = reading
        self._all_units = totals.units
        self._streams = streams
        self._texts = texts
        self._terms = _Terms(reading, texts, streams, ranking.title_weight)
        words = np.array([stream.words for stream in streams])
        share, average = ranking.length_share, max(totals.words / max(totals.units, 1), 1.0)
        self._norms = ranking.saturation * (1 - share + share * words / average)
        """The saturation of the counts of terms, scaled by the length of each unit."""
        self._units = np.array([stream.unit for stream in streams])
        self._scores = np.zeros(len(streams))
        self._labels: tuple[str, ...] = ()
        self._held = np.zeros((len(streams), 0), np.bool_)
        """For each unit, which of the items with these labels it holds."""

    def score(self, items: Sequence[PlannedTerm]) -> bool:
        """Score by the items of the query; whether any unit has one. An index without positions of words admits
        candidates that have the words of a phrase apart from each other."""
        self._labels = tuple(item.label for item in items)
        self._held = self._add(items).T > 0
        return bool(self._held.any())

    def ranked(self) -> list[tuple[Stream, float, tuple[str, ...]]]:
        """The units, best first, with their scores and the labels of the query's items that they have."""
        import numpy as np

        order = self._order()
        best = [self._streams[place] for place in order]
        # Which items a unit holds is a bit of a number for each, of MAX_ITEMS. Most units hold the same few.
        kinds = (self._held[order] @ (1 << np.arange(len(self._labels)))).tolist()
        labels = {kind: self._labels_of(kind) for kind in set(kinds)}
        return list(zip(best, self._scores[order].tolist(), map(labels.__getitem__, kinds), strict=True))

    def _labels_of(self, kind: int) -> tuple[str, ...]:
        return tuple(label for place, label in enumerate(self._labels) if kind >> place & 1)

    def learn(self, items: Sequence[PlannedTerm]) -> list[PlannedTerm]:
        """Add the scores of terms that are typical of the best units; returns these terms."""
        learnt = self._telling_terms(self._order()[: self._ranking.feedback_units])
        if learnt:
            share = self._ranking.feedback_share
            strength = sum(item.weight for item in items) * share / (1 - share) / sum(item.weight for item in learnt)
            self._add([item._replace(weight=item.weight * strength) for item in learnt])
        return learnt

    def _order(self) -> list[int]:
        """The positions of the units with any score, best first."""
        import numpy as np

        order = np.lexsort((self._units, -self._scores))
        best: list[int] = order[self._held[order].sum(axis=1) > 0].tolist()
        return best

    def _add(self, items: Sequence[PlannedTerm]) -> "Counts":
        """Add the scores of the items; returns how often each item, in the order given, is in each unit."""
        import numpy as np

        if not items:
            return np.empty((0, len(self._streams)))
        times = self._terms.times(items)
        weights = np.array([item.weight * item.rarity * (self._ranking.saturation + 1) for item in items])
        # Item by item: equal texts get equal scores, wherever they stand.
        self._scores += (weights[:, None] * times / (times + self._norms)).sum(axis=0)
        return times

    def _telling_terms(self, best: Sequence[int]) -> list[PlannedTerm]:
        """The terms that the best units share and others lack, with weights."""
        import numpy as np

        texts = self._texts([self._streams[place] for place in best])
        said = [f"{row.title}{row.body}".split() for row in texts]
        terms = list(chain.from_iterable(said))
        hashes = np.fromiter(map(hash, terms), np.int64, len(terms))
        _, first, of = np.unique(hashes, return_index=True, return_inverse=True)
        owners = np.repeat(np.arange(len(best)), [*map(len, said)])
        times = np.bincount(of * len(best) + owners, minlength=len(first) * len(best)).reshape(-1, len(best))
        trust = self._scores[best] / self._scores[best[0]]
        presence = (trust * times / (times + self._norms[best])).sum(axis=1)
        shared = np.flatnonzero(np.count_nonzero(times, axis=1) >= _MIN_HOLDERS)
        present = dict(zip([terms[at] for at in first[shared].tolist()], presence[shared].tolist(), strict=True))
        rarities = {
            term: (held, rarity(held, self._all_units))
            for term, held in self._reading.units_with(term for term in present if _is_telling(term)).items()
            if held >= _MIN_LEARNT_UNITS
        }
        weights = {term: present[term] * weight for term, (_, weight) in rarities.items()}
        chosen = sorted(weights, key=lambda term: (-weights[term], term))[: self._ranking.feedback_terms]
        return [PlannedTerm(term, Phrase((term,)), (f" {term} ",), weights[term], *rarities[term]) for term in chosen]


class _Terms:
    """The terms of some streams, for counting items that are single terms."""

    def __init__(self, reading: "IndexReader", texts: "Texts", streams: Sequence[Stream], title_weight: int) -> None:
        import numpy as np

        self._reading = reading
        self._texts = texts
        self._streams = streams
        self._title_weight = title_weight
        keys = [stream.keys for stream in streams]
        self._keys: Keys = np.concatenate(keys) if keys else np.empty(0, np.int64)
        self._last_bits = self._keys & _LAST_BITS
        lengths = np.array([*map(len, keys)], np.int64)
        self._ends = np.cumsum(lengths)
        self._title_ends = self._ends - lengths + np.array([stream.in_title for stream in streams], np.int64)

    def times(self, items: Sequence[PlannedTerm]) -> "Counts":
        """Counts of each item in each stream."""
        import numpy as np

        needles = list(dict.fromkeys(needle for item in items for needle in item.needles))
        terms = [needle for needle in needles if _is_term(needle)]
        of_terms = self._counted(terms)
        if len(terms) == len(items) and all(len(item.needles) == 1 for item in items):
            # Each item is a term of its own, as nearly always.
            return of_terms
        counted = dict(zip(terms, of_terms, strict=True))
        rows = self._texts(self._streams)
        said = [row.title * self._title_weight + row.body + row.compounds for row in rows]
        for needle in needles:
            if needle not in counted:
                found = map(str.count, said, repeat(needle))
                counted[needle] = np.fromiter(found, np.float64, len(self._streams))
        return np.array([np.sum([counted[needle] for needle in item.needles], axis=0) for item in items])

    def _counted(self, needles: Sequence[str]) -> "Counts":
        import numpy as np

        terms = [needle[1:-1] for needle in needles]
        numbers = self._reading.term_numbers(terms)
        keys_of = [(hash(term), *numbers.get(term, ())) for term in terms]
        keys = np.fromiter(chain.from_iterable(keys_of), np.int64)
        needle_of = np.repeat(np.arange(len(needles)), [*map(len, keys_of)])
        order = np.argsort(keys)
        # Nearly all terms are none of those that are counted, as their last bits tell already.
        wanted = np.zeros(_LAST_BITS + 1, np.bool_)
        wanted[keys & _LAST_BITS] = True
        places = np.flatnonzero(wanted[self._last_bits])
        found = self._keys[places]
        nearest = order[np.searchsorted(keys, found, sorter=order).clip(max=len(order) - 1)]
        same = keys[nearest] == found
        places, which = places[same], needle_of[nearest[same]]
        owners = np.searchsorted(self._ends, places, side="right")
        weights = np.where(places < self._title_ends[owners], self._title_weight, 1)
        shape = (len(needles), len(self._streams))
        counts = np.bincount(which * shape[1] + owners, weights, shape[0] * shape[1])
        return np.asarray(counts, np.float64).reshape(shape)


def _is_term(needle: str) -> bool:
    return needle.endswith(" ") and needle.count(" ") == 2


def _is_telling(term: str) -> bool:
    return len(term) >= _MIN_LEARNT_CHARACTERS and term not in STOP_TERMS and not term.isdigit()
