"""Memories with too much weight: important, and linked to memories about many different things."""

import math
from collections import Counter
from collections.abc import Sequence

from clew.errors import SemanticCancer
from clew.memory.model import Memory
from clew.memory.storage.library import MemoryReader

CANCER_IMPORTANCE, CANCER_ENTROPY, CANCER_DEGREE = 0.8, 0.7, 5


def neighbour_entropies(library: MemoryReader, groups: Sequence[Sequence[str]]) -> list[tuple[float, int]]:
    """For each group of memories: how mixed the domains of its neighbours are, from 0 (one domain) to 1, and how many
    neighbours there are."""
    around = library.index.around(id for group in groups for id in group)
    rows = library.index.visible(set[str]().union(*around.values()), library.viewer)
    others = [set[str]().union(*(around[id] for id in group)) - set(group) for group in groups]
    return [_entropy(Counter(rows[id].domain for id in each if id in rows)) for each in others]


def _entropy(domains: Counter[str]) -> tuple[float, int]:
    total = domains.total()
    if len(domains) < 2:
        return 0.0, total
    entropy = -sum(n / total * math.log(n / total) for n in domains.values())
    return round(entropy / math.log(len(domains)), 3), total


def refuse_cancer(library: MemoryReader, importance: float, memories: Sequence[Memory]) -> None:
    """Refuse to raise the importance of a memory to which many unlike ones are linked."""
    ids = [memory.id for memory in memories]
    ((entropy, degree),) = neighbour_entropies(library, [ids])
    if importance > CANCER_IMPORTANCE and entropy > CANCER_ENTROPY and degree >= CANCER_DEGREE:
        raise SemanticCancer(
            f"An importance of {importance:.2f} would make {ids[0]} weigh on everything: its {degree} neighbours"
            f" are about different things (entropy {entropy:.2f}).",
            hint="Split it, or link it to fewer memories, before it is made more important.",
            data={"importance": importance, "entropy": entropy, "degree": degree},
        )
