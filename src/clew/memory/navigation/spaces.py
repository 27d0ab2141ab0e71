"""The thirteen spaces in which two memories are compared: each is one function that gives a number or None.

None means that the space says nothing about the two, and is reported as absent. Only E1 and E6 rank memories, because
only they were measured to pay; the others explain a result and tell in which respects a memory is known.
"""

import math
import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

import msgspec

from clew.memory.judging.causes import causes_in
from clew.memory.model import Memory
from clew.text.keywords import overlap, stems
from clew.text.sentences import plain_spans
from clew.text.words import split

HALF_LIFE_DAYS = 30.0
_SESSION_MINUTES = 10.0
_KEPT = 128
"""Texts whose parts are remembered: one memory is compared with many."""

_IDENTIFIER = re.compile(r"\b(?:[a-z]+_[a-z_0-9]+|[a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+|\w+\(\)|\w+\.\w+\(?)")
_ENTITY = re.compile(r"\b[A-Z][\w-]*(?:\s+[A-Z][\w-]*)*|\b\d[\d.,:-]*\d\b|https?://\S+")


class PairContext(NamedTuple):
    """The context of two memories that are compared."""

    dense: float | None
    """The cosine of their vectors."""
    lexical: float | None
    """The score by words with feedback, as a share of what the first one scores with itself."""
    neighbours: frozenset[str]
    other_neighbours: frozenset[str]


Comparison = Callable[[Memory, Memory, PairContext], float | None]


class MemorySpace(msgspec.Struct, frozen=True):
    id: str
    name: str
    purpose: str
    compare: Comparison


def code_terms(memory: Memory) -> frozenset[str]:
    """The words of the identifiers that a memory names or cites."""
    named = _identifiers(memory.text)
    cited = [cite.node.rpartition("::")[2] for cite in memory.cites if "::" in cite.node]
    return frozenset(word for term in (*named, *cited) for word in split(term).words if len(word) > 1)


def entities(memory: Memory) -> frozenset[str]:
    """The entities in a memory: names, numbers, addresses, and the nodes that it cites."""
    named = _names(memory.text)
    return frozenset((*named, *(cite.node for cite in memory.cites)))


def _semantic(one: Memory, other: Memory, pair: PairContext) -> float | None:
    return None if pair.dense is None else max(pair.dense, 0.0)


def _recency(one: Memory, other: Memory, pair: PairContext) -> float:
    return math.pow(2.0, -_minutes_apart(one, other) / (HALF_LIFE_DAYS * 24 * 60))


def _periodic(one: Memory, other: Memory, pair: PairContext) -> float:
    first, second = _moment(one), _moment(other)
    hours = (first.hour - second.hour) * 2 * math.pi / 24
    days = (first.weekday() - second.weekday()) * 2 * math.pi / 7
    return (math.cos(hours) + math.cos(days) + 2) / 4


def _positional(one: Memory, other: Memory, pair: PairContext) -> float | None:
    if one.origin.session is None or other.origin.session is None:
        return None
    if one.origin.session != other.origin.session:
        return 0.0
    return 1.0 / (1.0 + _minutes_apart(one, other) / _SESSION_MINUTES)


def _causal(one: Memory, other: Memory, pair: PairContext) -> float | None:
    first, second = causes_in(one.text), causes_in(other.text)
    if not first or not second:
        return None
    # One leads to the other, or both say why the same happens.
    return max(
        max(
            overlap(a.effect, b.cause),
            overlap(b.effect, a.cause),
            (overlap(a.cause, b.cause) + overlap(a.effect, b.effect)) / 2,
        )
        for a in first
        for b in second
    )


def _sparse(one: Memory, other: Memory, pair: PairContext) -> float | None:
    return _jaccard(stems(one.text), stems(other.text))


def _code(one: Memory, other: Memory, pair: PairContext) -> float | None:
    return _jaccard(code_terms(one), code_terms(other))


def _graph(one: Memory, other: Memory, pair: PairContext) -> float | None:
    own, others = pair.neighbours - {other.id}, pair.other_neighbours - {one.id}
    return _jaccard(own, others)


def _trigrams(one: Memory, other: Memory, pair: PairContext) -> float | None:
    return _jaccard(_grams(one.text), _grams(other.text))


def _multimodal(one: Memory, other: Memory, pair: PairContext) -> None:
    """There is no encoder of images, so this space is absent."""
    return


def _entity(one: Memory, other: Memory, pair: PairContext) -> float | None:
    return _jaccard(entities(one), entities(other))


def _late_interaction(one: Memory, other: Memory, pair: PairContext) -> float | None:
    first, second = _sentences(one.text), _sentences(other.text)
    if not first or not second:
        return None
    return sum(max(overlap(a, b) for b in second) for a in first) / len(first)


def _expanded(one: Memory, other: Memory, pair: PairContext) -> float | None:
    return pair.lexical


SPACES: tuple[MemorySpace, ...] = (
    MemorySpace("E1", "semantic", "meaning", _semantic),
    MemorySpace("E2", "recency", "freshness", _recency),
    MemorySpace("E3", "periodic", "time of day and week", _periodic),
    MemorySpace("E4", "positional", "order in a session", _positional),
    MemorySpace("E5", "causal", "causes and effects", _causal),
    MemorySpace("E6", "sparse", "words", _sparse),
    MemorySpace("E7", "code", "identifiers", _code),
    MemorySpace("E8", "graph", "shared neighbours", _graph),
    MemorySpace("E9", "trigrams", "spelling", _trigrams),
    MemorySpace("E10", "multimodal", "images", _multimodal),
    MemorySpace("E11", "entity", "names and numbers", _entity),
    MemorySpace("E12", "late interaction", "sentence by sentence", _late_interaction),
    MemorySpace("E13", "expanded", "words with feedback", _expanded),
)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float | None:
    return len(one & other) / len(one | other) if one and other else None


@lru_cache(maxsize=_KEPT)
def _identifiers(text: str) -> tuple[str, ...]:
    return tuple(_IDENTIFIER.findall(text))


@lru_cache(maxsize=_KEPT)
def _names(text: str) -> tuple[str, ...]:
    return tuple(match.strip().casefold() for match in _ENTITY.findall(text))


@lru_cache(maxsize=_KEPT)
def _grams(text: str) -> frozenset[str]:
    line = f" {' '.join(text.casefold().split())[:4_000]} "
    return frozenset(map("".join, zip(line, line[1:], line[2:], strict=False)))


@lru_cache(maxsize=_KEPT)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(text[start:end] for start, end in plain_spans(text))[:20]


def _moment(memory: Memory) -> datetime:
    return datetime.fromisoformat(memory.recorded_at)


def _minutes_apart(one: Memory, other: Memory) -> float:
    return abs((_moment(one) - _moment(other)).total_seconds()) / 60
