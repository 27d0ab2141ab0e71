"""Fusion: several rankings of the same items become one, and every result can explain its position.

A ranking is a sequence of ids with scores, best first; what a signal did not find counts as nothing, never as bad.
Equal results are ordered by their best rank in any signal and then by id, so the same rankings always give the same
order.

Before a ranking is shown, results that are too alike may make room for others. All functions keep the order they are
given (`spread` apart, whose purpose is another one) and keep or drop whole items.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import compress, count, repeat
from operator import attrgetter, eq, itemgetter, mul
from statistics import fmean
from typing import Generic, TypeVar

import msgspec

from clew.errors import InvalidArgument
from clew.search.rank.recipes import Fusion, Normalisation, Recipe, Signal

Id = TypeVar("Id", str, int)
Ranking = Sequence[tuple[Id, float]]

PAGERANK = "pagerank"
_SCORE = attrgetter("score")


class SignalScore(msgspec.Struct, frozen=True, gc=False):
    """The share of one signal in a result's score."""

    signal: str
    rank: int
    score: float
    """The score as the signal gave it."""
    value: float
    """The amount that it adds to the fused score."""


class Fused(msgspec.Struct, Generic[Id], frozen=True, gc=False):
    id: Id
    score: float
    contributions: tuple[SignalScore, ...]
    """In the order of the recipe's signals; together their values are the score."""

    def explain(self) -> str:
        parts = (
            f"{part.signal} {part.value:.4f} (rank {part.rank}, score {part.score:.4g})" for part in self.contributions
        )
        return f"{self.score:.4f} = {' + '.join(parts)}"


def fuse(rankings: Mapping[str, Ranking[Id]], recipe: Recipe) -> tuple[Fused[Id], ...]:
    """The rankings of a recipe's signals as one ranking. A signal that was not asked is simply missing."""
    by_name = {signal.name: signal for signal in recipe.signals}
    for name in rankings:
        if name not in by_name:
            raise InvalidArgument(
                f"Recipe {recipe.name!r} has no signal {name!r}.", hint=f"It has: {', '.join(by_name)}."
            )
    longest = max((min(len(rankings.get(name, ())), signal.depth) for name, signal in by_name.items()), default=0)
    found: dict[Id, tuple[SignalScore, ...]] = {}
    for name, signal in by_name.items():
        ranking = _checked(name, rankings.get(name, ())[: signal.depth])
        scores = [score for _, score in ranking]
        # A call in Python for each result would take most of the time.
        parts = map(SignalScore, repeat(name), count(1), scores, _values(scores, signal, recipe, longest))
        own = dict(zip(map(itemgetter(0), ranking), zip(parts), strict=True))
        own.update({item: found[item] + own[item] for item in found.keys() & own.keys()})
        found.update(own)
    return in_order([Fused(item, _sum(parts), parts) for item, parts in found.items()])


def expand(fused: Sequence[Fused[Id]], scores: Mapping[Id, float], weight: float) -> tuple[Fused[Id], ...]:
    """A ranking joined with the results of a walk along its links; the best of the walk is worth `weight` best results.

    Both are brought to one scale by their best, so that what was ranked stays in proportion. Results that only the walk
    found come in; those it did not touch stay.
    """
    best = max((result.score for result in fused), default=0.0)
    walked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    most = walked[0][1] if walked else 0.0
    found = {result.id: [_scaled(part, best) for part in result.contributions] for result in fused}
    for rank, (item, score) in enumerate(walked, start=1):
        value = weight * score / most if most > 0 else 0.0
        found.setdefault(item, []).append(SignalScore(PAGERANK, rank, score, value))
    return in_order(Fused(item, _sum(parts), tuple(parts)) for item, parts in found.items())


def _scaled(part: SignalScore, best: float) -> SignalScore:
    return msgspec.structs.replace(part, value=part.value / best) if best > 0 else part


def in_order(results: Iterable[Fused[Id]]) -> tuple[Fused[Id], ...]:
    """The results by score, the best first. Of equal scores, a better rank in some signal comes first, then the lower
    id."""

    def place(result: Fused[Id]) -> tuple[float, int, Id]:
        parts = result.contributions
        return -result.score, parts[0].rank if len(parts) == 1 else min(part.rank for part in parts), result.id

    found = sorted(results, key=_SCORE, reverse=True)
    scores = list(map(_SCORE, found))
    # A call for each result takes longer than the rest; few are equal.
    end = 0
    for start in compress(count(), map(eq, scores, scores[1:])):
        if start >= end:
            end = next((at for at in range(start, len(scores)) if scores[at] != scores[start]), len(scores))
            found[start:end] = sorted(found[start:end], key=place)
    return tuple(found)


def _sum(parts: Sequence[SignalScore]) -> float:
    # What only one signal found is most of a ranking.
    return parts[0].value if len(parts) == 1 else math.fsum(part.value for part in parts)


def _values(scores: Sequence[float], signal: Signal, recipe: Recipe, longest: int) -> list[float]:
    if recipe.fusion is Fusion.RRF:
        return [signal.weight / (recipe.rrf_k + rank) for rank in range(1, len(scores) + 1)]
    unfound = [] if signal.unfound is None else [signal.unfound] * (longest - len(scores))
    values = normalised([*scores, *unfound], recipe.normalisation, signal.floor)
    return [signal.weight * value for value in values[: len(scores)]]


def normalised(scores: Sequence[float], method: Normalisation, floor: float | None = None) -> list[float]:
    """Scores on a scale from 0; a result that is missing counts 0.

    `min_max` ends at 1. `z` counts in standard deviations above the lowest. `arctan` looks at each score alone and
    stays below 1. Where all scores are the same, each is 1 (`min_max` and `z`), because being found is worth something.
    """
    if not scores:
        return []
    lowest = min(scores) if floor is None else min(floor, *scores)
    if method is Normalisation.ARCTAN:
        offset = 0.0 if floor is None else floor
        return [max(0.0, math.atan(score - offset) * 2 / math.pi) for score in scores]
    spread = max(scores) - lowest if method is Normalisation.MIN_MAX else _deviation(scores)
    if spread <= 0:
        return [1.0] * len(scores)
    return [(score - lowest) / spread for score in scores]


def _deviation(scores: Sequence[float]) -> float:
    """The standard deviation of the scores. The standard library computes it with exact fractions, which would take
    most of the time of a fusion and change no visible digit."""
    mean = fmean(scores)
    distances = [score - mean for score in scores]
    return math.sqrt(math.fsum(map(mul, distances, distances)) / len(scores))


def _checked(signal: str, ranking: Ranking[Id]) -> Ranking[Id]:
    if len(dict(ranking)) == len(ranking) and all(map(math.isfinite, map(itemgetter(1), ranking))):
        return ranking
    seen: set[Id] = set()
    for item, score in ranking:
        if item in seen or not math.isfinite(score):
            reason = "twice" if item in seen else f"with score {score}"
            raise InvalidArgument(
                f"Signal {signal!r} ranks {item!r} {reason}.", hint="A ranking has each id once, with a finite score."
            )
        seen.add(item)
    return ranking


Item = TypeVar("Item")


def at_most_per_document(
    items: Iterable[Item], document: Callable[[Item], Hashable], limit: int | None
) -> tuple[Item, ...]:
    """The items without those after the first `limit` of the same document; all of them if it is None."""
    if limit is None:
        return tuple(items)
    _require("max_per_document", limit, limit >= 1, "1 or more, or None for any number")
    seen: Counter[Hashable] = Counter()
    kept = []
    for item in items:
        origin = document(item)
        seen[origin] += 1
        if seen[origin] <= limit:
            kept.append(item)
    return tuple(kept)


def spread(
    items: Sequence[Item],
    relevance: Callable[[Item], float],
    similarity: Callable[[Item, Item], float],
    *,
    novelty: float,
    limit: int,
) -> tuple[Item, ...]:
    """Maximal marginal relevance: `limit` items, each the best by (1 - novelty) * relevance - novelty * likeness.

    Likeness is the similarity to the most similar item already chosen. Both measures should run from 0 to 1. Equal
    items keep their order. Similarity is asked for fewer than limit * len(items) pairs.
    """
    _require("novelty", novelty, 0 <= novelty <= 1, "between 0 and 1")
    _require("limit", limit, limit >= 0, "0 or more")
    worth = [(1 - novelty) * relevance(item) for item in items]
    likeness = [0.0] * len(items)
    left = list(range(len(items)))
    chosen: list[Item] = []
    while left and len(chosen) < limit:
        best = max(left, key=lambda place: (worth[place] - novelty * likeness[place], -place))
        left.remove(best)
        chosen.append(items[best])
        if novelty > 0 and len(chosen) < limit:
            for place in left:
                likeness[place] = max(likeness[place], similarity(items[best], items[place]))
    return tuple(chosen)


def _require(name: str, value: object, fits: bool, rule: str) -> None:
    if not fits:
        raise InvalidArgument(f"{name} is {value}, but must be {rule}.", hint="Pass a value in that range.")
