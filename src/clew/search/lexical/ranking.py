"""Ranking of candidates: BM25 over their streams, and what the best of them teach about the query.

The index only picks candidates: FTS5's own BM25 knows no weights for terms and has to look at every match. They are
ranked here, where repeated words, replacements of misspelt ones and terms learnt from the first results have weights of
their own.

Terms are counted by their hashes, in one array of all candidates: a search counts some twenty terms in two hundred
texts, and text by text that takes most of its time. Phrases and beginnings are counted in the texts.

The streams are kept for the next ranking, since many searches meet the same units.
"""

from collections import Counter, defaultdict
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

MOST_CHARACTERS = 8_000_000
_LAST_BITS = 0xFFFF
_LONGEST = 100_000
"""A longer text is read again each time, rather than put out many others."""


class Stream(NamedTuple):
    row: Row
    words: int
    """How many there are."""
    characters: int
    title: "Hashes"
    rest: "Hashes"
    """Of the terms beside those of the title."""


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
    characters = len(row.title) + len(row.body) + len(row.compounds)
    return Stream(row, length(row), characters, _hashes(row.title), _hashes(row.body + row.compounds))


def _hashes(text: str) -> "Hashes":
    import numpy as np

    terms = text.split()
    return np.fromiter(map(hash, terms), np.int64, len(terms))


_MIN_LEARNT_CHARACTERS = 3
_MIN_LEARNT_UNITS = 2
_MIN_HOLDERS = 2


_SCORE, _UNIT = attrgetter("score"), attrgetter("stream.row.unit")

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


class ScoredUnit(msgspec.Struct, frozen=True, gc=False):
    """A unit with its score; `norm` is what its length makes of the counts of terms."""

    stream: Stream
    norm: float
    score: float
    matched: tuple[str, ...]
    """The labels of the query's items that the unit holds."""

    @property
    def row(self) -> Row:
        return self.stream.row


class Scorer:
    """Scores units of one collection."""

    def __init__(self, ranking: Bm25Settings, totals: Totals) -> None:
        self._ranking = ranking
        self._all_units = totals.units
        self._average_length = max(totals.words / max(totals.units, 1), 1.0)

    def rank(self, streams: Sequence[Stream], items: Sequence[Item]) -> list[ScoredUnit]:
        """The units of the streams, the best first."""
        share, saturation = self._ranking.length_share, self._ranking.saturation
        norms = [saturation * (1 - share + share * stream.words / self._average_length) for stream in streams]
        held: list[list[str]] = [[] for _ in streams]
        scores = self._scored(streams, norms, [0.0] * len(norms), items, held)
        return _best_first(map(ScoredUnit, streams, norms, scores, map(tuple, held)))

    def learn(self, ranked: Sequence[ScoredUnit], items: Sequence[Item], units_with: UnitsWith) -> list[Item]:
        """Terms that set the best of the ranked rows apart, with weights for use beside the items of the query."""
        learnt = self._telling_terms(ranked[: self._ranking.feedback_units], units_with)
        if not learnt:
            return []
        share = self._ranking.feedback_share
        strength = sum(item.weight for item in items) * share / (1 - share) / sum(item.weight for item in learnt)
        return [item._replace(weight=item.weight * strength) for item in learnt]

    def rank_again(self, ranked: Sequence[ScoredUnit], learnt: Sequence[Item]) -> list[ScoredUnit]:
        """The units with what the learnt items add to their scores, the best first."""
        streams, norms, before, matched = zip(*map(msgspec.structs.astuple, ranked), strict=True)
        return _best_first(map(ScoredUnit, streams, norms, self._scored(streams, norms, before, learnt), matched))

    def _scored(
        self,
        streams: Sequence[Stream],
        norms: Sequence[float],
        before: Sequence[float],
        items: Sequence[Item],
        held: list[list[str]] | None = None,
    ) -> list[float]:
        """The scores with what the items add to them. `held` gets, for each text, the labels of the items in it."""
        import numpy as np

        if not streams:
            return []
        counting = _Counting(streams, self._ranking.title_weight, [needle for item in items for needle in item.needles])
        scores, of_length = np.array(before), np.array(norms)
        for item in items:
            times = counting.times(item.needles)
            weight = item.weight * item.rarity * (self._ranking.saturation + 1)
            scores += weight * times / (times + of_length)
            if held is not None:
                for at in np.flatnonzero(times).tolist():
                    held[at].append(item.label)
        found: list[float] = scores.tolist()
        return found

    def _telling_terms(self, best: Sequence[ScoredUnit], units_with: UnitsWith) -> list[Item]:
        """The terms that the best units share and others lack, weighted."""
        presence: defaultdict[str, float] = defaultdict(float)
        holders: Counter[str] = Counter()
        for ranked in best:
            trust = ranked.score / best[0].score
            counts = Counter((ranked.row.title + ranked.row.body).split())
            holders.update(counts.keys())
            for term, times in counts.items():
                presence[term] += trust * times / (times + ranked.norm)
        units = units_with(term for term, holding in holders.items() if holding >= _MIN_HOLDERS and _is_telling(term))
        learnt = []
        for term, holding in units.items():
            if holding >= _MIN_LEARNT_UNITS:
                weight = rarity(holding, self._all_units)
                learnt.append(Item(term, Phrase((term,)), (f" {term} ",), presence[term] * weight, holding, weight))
        learnt.sort(key=lambda item: (-item.weight, item.label))
        return learnt[: self._ranking.feedback_terms]


class _Counting:
    """Counts needles, which are whole terms for the most part, in some streams."""

    def __init__(self, streams: Sequence[Stream], title_weight: int, needles: Iterable[str]) -> None:
        import numpy as np

        self._rows = [stream.row for stream in streams]
        self._title_weight = title_weight
        self._terms = {needle: hash(needle[1:-1]) for needle in needles if _is_term(needle)}
        hashes = np.concatenate([part for each in streams for part in (*[each.title] * title_weight, each.rest)])
        lengths = [title_weight * len(stream.title) + len(stream.rest) for stream in streams]
        # Nearly all terms are none of those that are counted, as their last bits tell already.
        wanted = np.zeros(_LAST_BITS + 1, np.bool_)
        wanted[np.fromiter(self._terms.values(), np.int64) & _LAST_BITS] = True
        places = np.flatnonzero(wanted[hashes & _LAST_BITS])
        self._hashes = hashes[places]
        self._owners = np.repeat(np.arange(len(streams)), lengths)[places]

    def times(self, needles: Sequence[str]) -> "Hashes":
        """How often each stream holds one of the needles."""
        import numpy as np

        counts: Hashes = np.zeros(len(self._rows), np.int64)
        for needle in needles:
            if needle in self._terms:
                counts += np.bincount(self._owners[self._hashes == self._terms[needle]], minlength=len(counts))
            else:
                counts += np.fromiter(map(str.count, self._texts(), repeat(needle)), np.int64, len(counts))
        return counts

    def _texts(self) -> list[str]:
        return [row.title * self._title_weight + row.body + row.compounds for row in self._rows]


def _is_term(needle: str) -> bool:
    return needle.endswith(" ") and needle.count(" ") == 2


def _best_first(ranked: Iterable[ScoredUnit]) -> list[ScoredUnit]:
    found = sorted(ranked, key=_UNIT)
    found.sort(key=_SCORE, reverse=True)
    return found


def _is_telling(term: str) -> bool:
    return len(term) >= _MIN_LEARNT_CHARACTERS and term not in STOP_TERMS and not term.isdigit()
