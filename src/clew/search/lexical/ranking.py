"""Ranking of candidates: BM25 over their streams, and what the best of them teach about the query.

The index only picks candidates: FTS5's own BM25 knows no weights for terms and has to look at every match. They are
ranked here, where repeated words, replacements of misspelt ones and terms learnt from the first results have weights of
their own.

The streams are kept for the next ranking, since many searches meet the same units.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, Self

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
    from clew.search.reading import Reading

MOST_CHARACTERS = 8_000_000
_LONGEST = 100_000
"""A longer text is read again each time, rather than put out many others."""


class Stream(NamedTuple):
    row: Row
    words: int
    """How many there are."""


class Streams:
    """Of one index, in which the number of a unit stands for one text for ever. Any thread may ask."""

    def __init__(self, characters: int = MOST_CHARACTERS) -> None:
        self._kept: Cache[int, Stream] = Cache(characters, size_of=_characters)

    def of(self, reading: "Reading", units: Sequence[int]) -> Iterator[Stream]:
        """The streams of these units, in their order. They are read as they are asked for: some may be very long."""
        for start in range(0, len(units), reading.streams_at_once):
            part = units[start : start + reading.streams_at_once]
            known = self._kept.get_many(part)
            missing = [unit for unit in part if unit not in known]
            if missing:
                read = {row.unit: Stream(row, length(row)) for row in reading.streams(missing)}
                self._kept.put_many({unit: each for unit, each in read.items() if _characters(each) <= _LONGEST})
                known |= read
            yield from (known[unit] for unit in part if unit in known)


def _characters(stream: Stream) -> int:
    return len(stream.row.title) + len(stream.row.body) + len(stream.row.compounds)


_MIN_LEARNT_CHARACTERS = 3
_MIN_LEARNT_UNITS = 2
_MIN_HOLDERS = 2


_SCORE = attrgetter("score")

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
    """A unit with its score; `text` is what terms are counted in, `norm` what its length makes of the counts."""

    row: Row
    text: str
    norm: float
    score: float
    matched: tuple[str, ...]
    """The labels of the query's items that the unit holds."""


class Scorer:
    """Scores units of one collection."""

    def __init__(self, ranking: Bm25Settings, totals: Totals) -> None:
        self._ranking = ranking
        self._all_units = totals.units
        self._average_length = max(totals.words / max(totals.units, 1), 1.0)

    def rank(self, streams: Sequence[Stream], items: Sequence[Item]) -> list[ScoredUnit]:
        """The units of the streams, the best first."""
        rows = [stream.row for stream in streams]
        texts = [row.title * self._ranking.title_weight + row.body + row.compounds for row in rows]
        share, saturation = self._ranking.length_share, self._ranking.saturation
        norms = [saturation * (1 - share + share * length / self._average_length) for _, length in streams]
        held: list[list[str]] = [[] for _ in rows]
        scores = self._scored(texts, norms, [0.0] * len(rows), items, held)
        return _best_first(map(ScoredUnit, rows, texts, norms, scores, map(tuple, held)))

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
        rows, texts, norms, before, matched = zip(*map(msgspec.structs.astuple, ranked), strict=True)
        scores = self._scored(texts, norms, list(before), learnt)
        return _best_first(map(ScoredUnit, rows, texts, norms, scores, matched))

    def _scored(
        self,
        texts: Sequence[str],
        norms: Sequence[float],
        scores: list[float],
        items: Sequence[Item],
        held: list[list[str]] | None = None,
    ) -> list[float]:
        """The scores with what the items add to them. `held` is told for each text the labels of the items in it."""
        for item in items:
            weight = item.weight * item.rarity * (self._ranking.saturation + 1)
            for at, times in enumerate(_counts(texts, item.needles)):
                if times:
                    scores[at] += weight * times / (times + norms[at])
                    if held is not None:
                        held[at].append(item.label)
        return scores

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


def _best_first(ranked: Iterable[ScoredUnit]) -> list[ScoredUnit]:
    found = sorted(ranked, key=lambda each: each.row.unit)
    found.sort(key=_SCORE, reverse=True)
    return found


def _counts(texts: Sequence[str], needles: Sequence[str]) -> Iterator[int]:
    # A term that directly follows itself is counted once: good enough, and far faster than splitting.
    counts = [map(str.count, texts, repeat(needle)) for needle in needles]
    return counts[0] if len(counts) == 1 else map(sum, zip(*counts, strict=True))


def _is_telling(term: str) -> bool:
    return len(term) >= _MIN_LEARNT_CHARACTERS and term not in STOP_TERMS and not term.isdigit()
