"""Documents about the same things: those that share entities which few others mention.

Computed when it is asked for, so it is always right, whichever document was read last.
"""

import math

from clew.kb.queries import Reading

MOST_RELATED = 5
MOST_DOCUMENTS = 20
"""An entity in more documents than this says nothing about what they have in common."""
LEAST_SHARED = 2


def related_documents(reading: Reading, path: str) -> list[str]:
    """The nearest documents, best first."""
    weights: dict[str, float] = {}
    shared: dict[str, int] = {}
    for other, _, documents in reading.shared_entities(path, MOST_DOCUMENTS):
        weights[other] = weights.get(other, 0.0) + 1 / math.log2(1 + documents)
        shared[other] = shared.get(other, 0) + 1
    near = sorted(
        (other for other in weights if shared[other] >= LEAST_SHARED), key=lambda other: (-weights[other], other)
    )
    return near[:MOST_RELATED]
