"""Measures of the quality and the speed of a ranking.

Measures look at one query: the ids a system returned, best first, and what a judge said. A query for which nothing is
relevant has no value and is refused; leave it out of the average.
"""

import math
import random
from collections.abc import Collection, Hashable, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

import msgspec

from clew.errors import InvalidArgument

Id = TypeVar("Id", bound=Hashable)


class Gain(StrEnum):
    """The value of a judgement in nDCG."""

    BINARY = "binary"
    """Anything above 0 is worth 1."""
    LINEAR = "linear"
    """A grade is worth itself."""
    EXPONENTIAL = "exponential"
    """A grade is worth 2 ** grade - 1."""


class Interval(msgspec.Struct, frozen=True):
    mean: float
    low: float
    high: float


class Latency(msgspec.Struct, frozen=True):
    """In the unit of the values, nearest rank: each is a time that was really measured."""

    p50: float
    p95: float
    p99: float
    most: float
    count: int


def ndcg(ranked: Sequence[Id], grades: Mapping[Id, float], k: int, gain: Gain = Gain.BINARY) -> float:
    """Normalised discounted cumulative gain of the first k. An id ranked twice counts once, where it stands first."""
    ideal = sorted((_gain(grade, gain) for grade in grades.values()), reverse=True)
    best = _discounted(ideal[: _depth(k)])
    if best <= 0:
        raise _nothing_relevant()
    first_k = tuple(dict.fromkeys(ranked))[:k]
    return _discounted([_gain(grades.get(item, 0.0), gain) for item in first_k]) / best


def recall(ranked: Sequence[Id], relevant: Collection[Id], k: int, *, capped: bool = False) -> float:
    """The share of the relevant ids that is among the first k; with `capped`, of no more than k of them."""
    wanted = set(relevant)
    if not wanted:
        raise _nothing_relevant()
    found = len(wanted.intersection(ranked[: _depth(k)]))
    return found / (min(k, len(wanted)) if capped else len(wanted))


def reciprocal_rank(ranked: Sequence[Id], relevant: Collection[Id], k: int | None = None) -> float:
    """1 / rank of the first relevant id, 0 when there is none (among the first k). Its mean is MRR."""
    wanted = set(relevant)
    if not wanted:
        raise _nothing_relevant()
    seen = ranked if k is None else ranked[: _depth(k)]
    return next((1 / rank for rank, item in enumerate(seen, start=1) if item in wanted), 0.0)


def average_precision(ranked: Sequence[Id], relevant: Collection[Id]) -> float:
    """The mean precision at the ranks of the relevant ids; 0 for an id that is not found. Its mean is MAP."""
    wanted = set(relevant)
    if not wanted:
        raise _nothing_relevant()
    places = (rank for rank, item in enumerate(dict.fromkeys(ranked), start=1) if item in wanted)
    return math.fsum(found / rank for found, rank in enumerate(places, start=1)) / len(wanted)


def bootstrap(values: Sequence[float], *, seed: int, resamples: int = 5_000, confidence: float = 0.95) -> Interval:
    """The mean of the values, and its interval over resampled queries. The same seed gives the same interval."""
    if not values:
        raise InvalidArgument("There are no values to average.", hint="Pass one value per query.")
    if resamples < 1 or not 0 < confidence < 1:
        raise InvalidArgument(
            f"{resamples} resamples at confidence {confidence} give no interval.",
            hint="Pass at least 1 resample and a confidence between 0 and 1.",
        )
    draws = random.Random(seed)  # noqa: S311 - statistics, not a secret
    count = len(values)
    means = sorted(math.fsum(draws.choices(values, k=count)) / count for _ in range(resamples))
    outside = (1 - confidence) / 2
    return Interval(math.fsum(values) / count, percentile(means, outside), percentile(means, 1 - outside))


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of the values that at least this share of them does not exceed (nearest rank)."""
    if not values or not 0 <= share <= 1:
        raise InvalidArgument(
            f"There is no percentile {share} of {len(values)} values.", hint="Pass values and a share from 0 to 1."
        )
    # Rounded, because 0.95 * 20 is a hair above 19 in binary and would skip a rank.
    return sorted(values)[max(0, math.ceil(round(share * len(values), 9)) - 1)]


def latency(values: Sequence[float]) -> Latency:
    return Latency(
        percentile(values, 0.50), percentile(values, 0.95), percentile(values, 0.99), max(values), len(values)
    )


def _gain(grade: float, gain: Gain) -> float:
    if grade <= 0:
        return 0.0
    if gain is Gain.BINARY:
        return 1.0
    return grade if gain is Gain.LINEAR else math.exp2(grade) - 1


def _discounted(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(place + 2) for place, gain in enumerate(gains))


def _depth(k: int) -> int:
    if k < 1:
        raise InvalidArgument(f"k is {k}, but must be 1 or more.", hint="Pass how many results count.")
    return k


def _nothing_relevant() -> InvalidArgument:
    return InvalidArgument("Nothing is relevant to this query.", hint="Leave queries without relevant documents out.")
