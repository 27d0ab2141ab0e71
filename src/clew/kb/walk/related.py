"""Documents about the same things: those that share entities which few others mention.

Computed when it is asked for, so it is always right, whichever document was read last.
"""

import math

from clew.kb.queries import Reading

MOST_RELATED = 5
MOST_DOCUMENTS = 20
"""An entity in more documents than this says nothing about what they have in common."""
MOST_SECTIONS = 60
"""Nor does one in more sections than this; such an entity is not even looked at."""
LEAST_SHARED = 2


def related_documents(reading: Reading, path: str) -> list[str]:
    """The nearest documents, best first."""
    return _by_nearness(reading, path)[:MOST_RELATED]


def relating_documents(reading: Reading, path: str, most: int | None = None) -> list[str]:
    """The documents that count this one among their nearest; of many, only so many of the nearest are asked."""
    return [other for other in _by_nearness(reading, path)[:most] if path in related_documents(reading, other)]


def _by_nearness(reading: Reading, path: str) -> list[str]:
    weights: dict[str, float] = {}
    shared: dict[str, int] = {}
    for other, _, documents in reading.shared_entities(path, MOST_DOCUMENTS, MOST_SECTIONS):
        weights[other] = weights.get(other, 0.0) + 1 / math.log2(1 + documents)
        shared[other] = shared.get(other, 0) + 1
    return sorted(
        (other for other in weights if shared[other] >= LEAST_SHARED), key=lambda other: (-weights[other], other)
    )
