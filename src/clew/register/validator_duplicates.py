"""Requirements that say much the same, found without comparing each with each.

Two texts are alike when their sets of stems overlap by 65 % (Jaccard). Sets that alike share one of their rarest
stems, however the stems are ordered, as long as the order is the same for both: so each set is looked up only under a
few of its rarest stems, and only against sets of about its own size.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import ceil
from typing import NamedTuple

from clew.formats.register.ids import sort_key
from clew.formats.register.model import Requirement
from clew.register.validator_rules import Finding, finding
from clew.text.stem import stem

THRESHOLD = 0.65
MOST_CANDIDATES = 32
"""Looked at for one requirement at most. Only a register of dozens of clones has more, and there each of them finds
enough of the others."""
_NAMED, _TERMS = 3, 6

_WORD = re.compile(r"[a-z0-9]{3,}")
_STOP_WORDS = frozenset(
    ["the", "and", "for", "with", "that", "this", "shall", "must", "should", "will", "system", "cli"]
)


class Twin(NamedTuple):
    first: str
    second: str
    similarity: float


def content_stems(requirement: Requirement) -> frozenset[str]:
    words = _WORD.findall(f"{requirement.title} {requirement.statement}".lower())
    return frozenset(stem(word) for word in words if word not in _STOP_WORDS)


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def find_twins(stems: Mapping[str, frozenset[str]]) -> Iterator[Twin]:
    """Pairs of ids whose stems are alike, the smaller id first."""
    for id, others in candidates(stems):
        own = stems[id]
        for other in others:
            score = similarity(own, stems[other])
            if score >= THRESHOLD:
                yield Twin(id, other, score)


def candidates(stems: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, list[str]]]:
    """For each id the larger ones worth comparing it with. A set is looked up before it is indexed, so every pair comes
    up once."""
    frequency = Counter(term for terms in stems.values() for term in terms)
    index: dict[str, list[str]] = {}
    for id in sorted(stems, key=sort_key, reverse=True):
        own = stems[id]
        rare = sorted(own, key=lambda term: (frequency[term], term))[: len(own) - ceil(THRESHOLD * len(own)) + 1]
        yield id, _candidates(rare, index, stems, len(own))
        for term in rare:
            index.setdefault(term, []).append(id)


def _candidates(
    rare: list[str], index: Mapping[str, list[str]], stems: Mapping[str, frozenset[str]], size: int
) -> list[str]:
    least, most = ceil(THRESHOLD * size), int(size / THRESHOLD)
    found: dict[str, None] = {}
    for term in rare:
        # What was indexed last is nearest in number, and nearest is likeliest to be the copy.
        for other in reversed(index.get(term, ())):
            if other not in found and least <= len(stems[other]) <= most:
                found[other] = None
                if len(found) >= MOST_CANDIDATES:
                    return list(found)
    return list(found)


def check_duplicates(live: Iterable[Requirement]) -> list[Finding]:
    """One finding for each requirement that has twins with larger ids: the nearest explained, the others named."""
    stems = {requirement.id: content_stems(requirement) for requirement in live}
    by_first: dict[str, list[Twin]] = {}
    for twin in find_twins(stems):
        by_first.setdefault(twin.first, []).append(twin)
    return [finding("0020", id, _explained(twins, stems)) for id, twins in by_first.items()]


def _explained(twins: list[Twin], stems: Mapping[str, frozenset[str]]) -> str:
    nearest, *others = sorted(twins, key=lambda twin: (-twin.similarity, sort_key(twin.second)))
    one, two = stems[nearest.first], stems[nearest.second]
    message = f"It says {round(nearest.similarity * 100)} % the same as {nearest.second}: both speak of "
    message += _some(one & two)
    if one != two:
        message += f"; they differ in {_some(one ^ two)}"
    if others:
        named = ", ".join(f"{twin.second} ({round(twin.similarity * 100)} %)" for twin in others[:_NAMED])
        more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
        message += f". Also alike: {named}{more}"
    return message + "."


def _some(terms: frozenset[str]) -> str:
    shown = ", ".join(sorted(terms)[:_TERMS])
    return f"{shown} and {len(terms) - _TERMS} more" if len(terms) > _TERMS else shown
