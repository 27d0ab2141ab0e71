"""Topics: groups of memories that are about the same, named by the words that set them apart.

Spherical k-means over the vectors of the latest memories, or over their weighted words where some have no vector yet.
It begins with the memories farthest from each other, so the same memories always give the same topics. The number of
topics is the one that separates them best (mean silhouette).
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from clew.memory.model import Memory
from clew.text.keywords import keywords
from clew.text.stem import stem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.memory.service import MemoryView

    Matrix = NDArray[np.float32]

SAMPLE = 500
SMALLEST = 3
_MOST = 8
_ROUNDS = 12
_NAMED_BY = 4
_EXEMPLARS = 5


class Topic(msgspec.Struct, frozen=True, kw_only=True):
    terms: tuple[str, ...]
    members: tuple[str, ...]
    exemplars: tuple[str, ...]
    """The members nearest to the middle."""
    coherence: float
    """The mean cosine of the members to their middle."""
    confidence: float
    """Separation of the members from the next topic: (silhouette + 1) / 2. Of a single topic, its coherence."""

    @property
    def label(self) -> str:
        return ", ".join(self.terms) or "(no words in common)"


class Topics(msgspec.Struct, frozen=True, kw_only=True):
    topics: tuple[Topic, ...]
    analyzed: int
    space: str
    """E1 where vectors were compared, E6 where words were."""


def find_topics(view: "MemoryView", memories: Sequence[Memory]) -> Topics:
    """The topics of some memories, the largest first."""
    import numpy as np

    if len(memories) < SMALLEST:
        return Topics(topics=(), analyzed=len(memories), space="E6")
    words, names = weighted_words(memories)
    matrix, space = matrix_of(view, memories, words)
    groups, middles, separation = _best_groups(matrix)
    found: list[Topic] = []
    for group in range(len(middles)):
        members = np.flatnonzero(groups == group)
        if len(members) < SMALLEST:
            continue
        near = matrix[members] @ middles[group]
        coherence = float(near.mean())
        confidence = coherence if len(middles) == 1 else (float(separation[members].mean()) + 1) / 2
        ordered = members[np.argsort(-near, kind="stable")]
        found.append(
            Topic(
                terms=_terms(words, members, names),
                members=tuple(memories[at].id for at in ordered),
                exemplars=tuple(memories[at].id for at in ordered[:_EXEMPLARS]),
                coherence=round(coherence, 4),
                confidence=round(min(max(confidence, 0.0), 1.0), 4),
            )
        )
    found.sort(key=lambda topic: (-len(topic.members), topic.label))
    return Topics(topics=tuple(found), analyzed=len(memories), space=space)


def matrix_of(view: "MemoryView", memories: Sequence[Memory], words: "Matrix | None" = None) -> "tuple[Matrix, str]":
    """One row of length 1 for each memory: its vector where all have one, else its weighted words."""
    import numpy as np

    known = view.units.vectors_of([memory.id for memory in memories])
    if len(known) == len(memories):
        return np.stack([known[memory.id] for memory in memories]), "E1"
    return (weighted_words(memories)[0] if words is None else words), "E6"


def weighted_words(memories: Sequence[Memory]) -> "tuple[Matrix, list[str]]":
    """Rows of words, the rarer the heavier, and what each column is called."""
    import numpy as np

    counted = [Counter(stem(word) for word in keywords(memory.text)) for memory in memories]
    held: Counter[str] = Counter(term for terms in counted for term in terms)
    columns = {term: at for at, term in enumerate(sorted(held))}
    surface: dict[str, str] = {}
    for memory in memories:
        for word in keywords(memory.text):
            surface.setdefault(stem(word), word)
    matrix = np.zeros((len(memories), max(len(columns), 1)), dtype=np.float32)
    for row, terms in enumerate(counted):
        for term, count in terms.items():
            matrix[row, columns[term]] = count * math.log(1 + len(memories) / held[term])
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return (matrix / np.where(lengths > 0, lengths, 1)).astype(np.float32), [surface[term] for term in columns]


def _best_groups(matrix: "Matrix") -> "tuple[Any, Matrix, Any]":
    """The grouping that separates best: the group of each row, the middles, and how well each row is separated."""
    import numpy as np

    best = (*_grouped(matrix, 1), np.zeros(len(matrix)))
    score = -1.0
    for count in range(2, min(_MOST, len(matrix) // SMALLEST) + 1):
        groups, middles = _grouped(matrix, count)
        near = matrix @ middles.T
        own = 1 - near[np.arange(len(matrix)), groups]
        near[np.arange(len(matrix)), groups] = -1
        other = 1 - near.max(axis=1)
        separation = (other - own) / np.maximum(np.maximum(other, own), 1e-9)
        if float(separation.mean()) > score:
            score, best = float(separation.mean()), (groups, middles, separation)
    return best


def _grouped(matrix: "Matrix", count: int) -> "tuple[Any, Matrix]":
    import numpy as np

    chosen = [int((matrix @ matrix.mean(axis=0)).argmax())]
    while len(chosen) < count:
        chosen.append(int((matrix @ matrix[chosen].T).max(axis=1).argmin()))
    middles = matrix[chosen]
    groups = (matrix @ middles.T).argmax(axis=1)
    for _ in range(_ROUNDS):
        sums = np.stack([matrix[groups == group].sum(axis=0) for group in range(count)])
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        middles = np.where(lengths > 0, sums / np.where(lengths > 0, lengths, 1), middles)
        again = (matrix @ middles.T).argmax(axis=1)
        if (again == groups).all():
            break
        groups = again
    return groups, middles


def _terms(words: "Matrix", members: Any, names: Sequence[str]) -> tuple[str, ...]:
    """The words that are heavier among the members than among all."""
    own, overall = words[members].mean(axis=0), words.mean(axis=0)
    heavier = own - overall if len(members) < len(words) else own
    chosen = (-heavier).argsort(kind="stable")[:_NAMED_BY]
    return tuple(names[at] for at in chosen if heavier[at] > 0)
