"""Memories that weigh on everything: important, and linked to what is about different things."""

import math
from collections import Counter
from collections.abc import Sequence

from clew.errors import SemanticCancer
from clew.memory.library import Library
from clew.memory.model import Memory

CANCER_IMPORTANCE, CANCER_ENTROPY, CANCER_DEGREE = 0.8, 0.7, 5


def neighbour_entropy(library: Library, ids: Sequence[str]) -> tuple[float, int]:
    """How mixed the domains of the neighbours are, from 0 (one domain) to 1, and how many neighbours there are."""
    links = library.index.links(list(ids))
    others = {end for link in links for end in (link.source, link.target)} - set(ids)
    rows = library.index.visible(others, library.asker)
    domains = Counter(row.domain for row in rows.values())
    total = sum(domains.values())
    if len(domains) < 2:
        return 0.0, total
    entropy = -sum(n / total * math.log(n / total) for n in domains.values())
    return round(entropy / math.log(len(domains)), 3), total


def refuse_cancer(library: Library, importance: float, memories: Sequence[Memory]) -> None:
    """Refuse to make a memory more important that many unlike ones are linked to."""
    ids = [memory.id for memory in memories]
    entropy, degree = neighbour_entropy(library, ids)
    if importance > CANCER_IMPORTANCE and entropy > CANCER_ENTROPY and degree >= CANCER_DEGREE:
        raise SemanticCancer(
            f"An importance of {importance:.2f} would make {ids[0]} weigh on everything: its {degree} neighbours"
            f" are about different things (entropy {entropy:.2f}).",
            hint="Split it, or link it to fewer memories, before it is made more important.",
            data={"importance": importance, "entropy": entropy, "degree": degree},
        )
