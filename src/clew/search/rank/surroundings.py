"""Scores from the neighbours of a result: the turns before and after in a conversation, the sections of a document.

Each of the best results passes a share of its score on to the units beside it, so a unit that no signal found may come
in. Who says something, in which role, when, and at what length count as well, where the recipe says so. Nothing is
indexed twice for this: the index knows the place of each unit, and a few hundred places are looked up.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from clew.search.rank.dates import MONTH, MONTHS, SAYS_WHEN, YEAR
from clew.search.rank.fuse import Fused, SignalScore, in_order
from clew.search.rank.recipes import Surroundings
from clew.store.sql.conditions import Condition

if TYPE_CHECKING:
    from clew.search.reading import IndexReader

SURROUNDINGS = "surroundings"

_ASKS_WHEN = re.compile(
    r"\bwhen\b|\bhow (?:long|recently|many (?:days|weeks|months|years))\b|"
    r"\b(?:what|which) (?:date|day|time|week|month|year)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


def surround(
    reading: "IndexReader",
    fused: Sequence[Fused[int]],
    around: Surroundings,
    query: str,
    restrict: Condition | None,
) -> tuple[Fused[int], ...]:
    """The ranking again, with the neighbours of its best results. `restrict` says which units may be seen; None for
    all."""
    results = {result.id: result for result in fused}
    passed_on = _passed_on(reading, fused[: around.among], around, restrict)
    for number in passed_on:
        results.setdefault(number, Fused(number, 0.0, ()))
    added = {SURROUNDINGS: passed_on, **_traits(reading, list(results), around, query)}
    parts: dict[int, list[SignalScore]] = {number: list(each.contributions) for number, each in results.items()}
    for name, scores in added.items():
        order = sorted(scores, key=lambda number: (-scores[number], number))
        for rank, number in enumerate(order, start=1):
            parts[number].append(SignalScore(name, rank, scores[number], scores[number]))
    return in_order(
        Fused(number, math.fsum(part.value for part in own), tuple(own)) for number, own in parts.items() if own
    )


def _passed_on(
    reading: "IndexReader", best: Sequence[Fused[int]], around: Surroundings, restrict: Condition | None
) -> dict[int, float]:
    """The score that each unit gets from the results beside it."""
    found: dict[int, float] = {}
    scores = {result.id: result.score for result in best}
    # What comes before a result has the result after it, and the other way round.
    for shares, before in ((around.after, True), (around.before, False)):
        if not shares:
            continue
        found_beside = reading.neighbours(
            list(scores), around.within, before=before, count=len(shares), restrict=restrict
        )
        for number, beside in found_beside:
            for share, neighbour in zip(shares, beside, strict=True):
                if neighbour is not None and scores[number] > 0:
                    found[neighbour] = found.get(neighbour, 0.0) + share * scores[number]
    return found


def _traits(
    reading: "IndexReader", numbers: Sequence[int], around: Surroundings, query: str
) -> Mapping[str, dict[int, float]]:
    """Bonuses of units for their speaker and their time, by the name of the reason."""
    asks_when = around.time_words > 0 and _ASKS_WHEN.search(query) is not None
    months, years = _named_times(query) if around.month > 0 else (frozenset(), frozenset())
    if not (around.own_speaker or around.roles or months or years or asks_when or around.length):
        return {}
    facts = reading.facts(numbers)
    words = {word.casefold() for word in _WORD.findall(query)}
    shortest = max(1, min((fact.characters for fact in facts.values()), default=1))
    traits: dict[str, dict[int, float]] = {
        "speaker": {n: around.own_speaker for n, fact in facts.items() if _is_named(fact.speaker, words)},
        "role": {n: weight for n, fact in facts.items() if (weight := around.roles.get(fact.role or "", 0.0))},
        "month": {n: around.month for n, fact in facts.items() if _is_then(fact.time, months, years)},
        "time_words": dict.fromkeys(_saying_when(reading, numbers) if asks_when else (), around.time_words),
        "length": {n: around.length * math.log(max(fact.characters, 1) / shortest) for n, fact in facts.items()},
    }
    return {name: scores for name, scores in traits.items() if any(scores.values())}


def _saying_when(reading: "IndexReader", numbers: Sequence[int]) -> list[int]:
    return [number for number, body in reading.bodies(numbers).items() if SAYS_WHEN.search(body) is not None]


def _named_times(query: str) -> tuple[frozenset[str], frozenset[str]]:
    """The months, as two digits, and the years that a query names."""
    months = (match[0][:3].lower() for match in MONTH.finditer(query))
    numbers = {name[:3]: f"{number:02}" for number, name in enumerate(MONTHS, start=1)}
    return frozenset(numbers[month] for month in months), frozenset(YEAR.findall(query))


def _is_then(time: str | None, months: frozenset[str], years: frozenset[str]) -> bool:
    """True if a time lies in one of the months and years, and any are named."""
    if time is None or not (months or years):
        return False
    return (not months or time[5:7] in months) and (not years or time[:4] in years)


def _is_named(speaker: str | None, words: set[str]) -> bool:
    return speaker is not None and any(word.casefold() in words for word in _WORD.findall(speaker))
