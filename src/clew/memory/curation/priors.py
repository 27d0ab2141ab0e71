"""Whether memories rest on the same assumptions, so that one text can stand for them.

The priors of a memory are its domain, who vouches for it, and what it was stored for and says. Two memories agree as
far as they share these; below 0.7 they are not merged unless somebody insists.
"""

from collections.abc import Sequence
from itertools import combinations

import msgspec

from clew.memory.model import Memory
from clew.memory.storage.units import MemoryUnits
from clew.text.keywords import overlap

COMPATIBLE_FROM = 0.7
_DOMAIN, _TRUST, _MEANING = 0.35, 0.2, 0.45


class Priors(msgspec.Struct, frozen=True):
    one: str
    other: str
    similarity: float
    reasons: tuple[str, ...]


def compare(memories: Sequence[Memory], units: MemoryUnits) -> list[Priors]:
    """The priors of each pair, the least alike first."""
    found = [_pair(one, other, units) for one, other in combinations(memories, 2)]
    return sorted(found, key=lambda pair: pair.similarity)


def _pair(one: Memory, other: Memory, units: MemoryUnits) -> Priors:
    domain, trust = one.domain == other.domain, one.origin.trust is other.origin.trust
    meaning = max(_alike(one.rationale, other.rationale, units), _alike(one.text, other.text, units))
    value = _DOMAIN * domain + _TRUST * trust + _MEANING * meaning
    reasons = (
        f"domain {one.domain}" if domain else f"domains {one.domain} and {other.domain}",
        f"trust {one.origin.trust.value}"
        if trust
        else f"trust {one.origin.trust.value} and {other.origin.trust.value}",
        f"meaning {meaning:.2f}",
    )
    return Priors(one.id, other.id, round(value, 3), reasons)


def _alike(one: str, other: str, units: MemoryUnits) -> float:
    """By meaning, or by shared words where there is no encoder."""
    vectors = units.vectors([one, other])
    if vectors is not None:
        return max(float(vectors[0] @ vectors[1]), 0.0)
    return overlap(one, other)
