"""Searching by teleological vectors: memories that stand to the goal as a text does."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from clew.errors import InvalidArgument
from clew.memory.cognition.agreement import as_memory
from clew.memory.cognition.compare import Comparer, Values, cosine, rounded
from clew.memory.cognition.goals.requests import TeleologicalQuery, VectorScope, VectorStrategy
from clew.memory.cognition.goals.vectors import ReferenceMemories, Vector, vector_of
from clew.memory.cognition.learning.profiles import GROUPS, has_feedback, synergy
from clew.memory.cognition.records import INSUFFICIENT, SampledAnswer
from clew.memory.model import LONGEST_QUERY, LONGEST_SNIPPET, Memory
from clew.memory.navigation.spaces import SPACES
from clew.memory.texts.admit import check_text
from clew.text.display import one_line

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

_CANDIDATES = 30
_RANK = 4
_DOMINANT = 0.7


class Weights(msgspec.Struct, frozen=True):
    purpose: float
    correlations: float
    groups: float


class TeleologicalHit(msgspec.Struct, frozen=True, kw_only=True):
    rank: int
    id: str
    snippet: str
    similarity: float
    purpose_alignment: float | None
    """The mean of its purpose vector."""
    dominant_embedder: str | None
    breakdown: dict[str, Any] | None


class TeleologicalResults(SampledAnswer, frozen=True, kw_only=True):
    results: tuple[TeleologicalHit, ...]
    count: int
    strategy: str
    scope: str
    query_type: str
    reference: str
    truncated: bool = False


def search(view: "MemoryView", asked: TeleologicalQuery) -> TeleologicalResults:
    if (asked.query_content is None) == (asked.query_vector_id is None):
        raise InvalidArgument("Exactly one of 'query_content' and 'query_vector_id' is needed.", hint="Pass one.")
    origin = (
        view.library.get(asked.query_vector_id)
        if asked.query_vector_id is not None
        else _asked(view, asked.query_content or "")
    )
    reference = ReferenceMemories(view, origin.text, origin.id)
    ranked, _ = view.units.alike(origin.text, view.viewer)
    found = list(view.library.get_many([each.id for each in ranked if each.id != origin.id][:_CANDIDATES]).values())
    comparer = Comparer(view, _each([origin, *found, *reference.memories]), origin.id, reference.lexical)
    own = vector_of(origin, reference.memories, comparer)
    others = {memory.id: vector_of(memory, reference.memories, comparer) for memory in found}
    weights = Weights(asked.weight_purpose, asked.weight_correlations, asked.weight_groups)
    chosen = _chosen(view, asked.strategy)
    measure = _Measure(
        view, chosen, asked.scope, weights, asked.specific_groups, asked.specific_embedder, [own, *others.values()]
    )
    hits: list[tuple[float, Memory, Vector, dict[str, Any]]] = []
    for memory in found:
        other = others[memory.id]
        measured = measure(own, other) if own is not None and other is not None else None
        if measured is not None and other is not None and measured[0] >= asked.min_similarity:
            hits.append((measured[0], memory, other, measured[1]))
    hits.sort(key=lambda hit: -hit[0])
    compared = sum(other is not None for other in others.values()) if own is not None else 0
    return TeleologicalResults(
        sufficient_data=bool(compared),
        samples=compared,
        note="How alike the vectors of the query and of each memory are."
        if compared
        else f"{INSUFFICIENT}: there are not two memories to compare with.",
        results=tuple(
            _hit(rank, *hit, explain=asked.include_breakdown)
            for rank, hit in enumerate(hits[: asked.max_results], start=1)
        ),
        count=min(len(hits), asked.max_results),
        strategy=chosen,
        scope=asked.scope,
        query_type="memory" if asked.query_vector_id is not None else "content",
        reference=reference.kind,
        truncated=len(hits) > asked.max_results,
    )


def _asked(view: "MemoryView", text: str) -> Memory:
    return as_memory(check_text("query_content", text, LONGEST_QUERY), view.changes.now())


def _each(memories: Sequence[Memory]) -> list[Memory]:
    return list({memory.id: memory for memory in memories}.values())


def _chosen(view: "MemoryView", strategy: VectorStrategy) -> str:
    """The weights of a strategy. The adaptive one weighs by synergy once there is feedback, and evenly before that."""
    if strategy != "adaptive":
        return strategy
    return "synergy_weighted" if has_feedback(view) else "cosine"


def _hit(
    rank: int, similarity: float, memory: Memory, vector: Vector, shares: dict[str, Any], *, explain: bool
) -> TeleologicalHit:
    present = [(value, space.id) for space, value in zip(SPACES, vector.purpose, strict=True) if value is not None]
    return TeleologicalHit(
        rank=rank,
        id=memory.id,
        snippet=one_line(memory.text, LONGEST_SNIPPET),
        similarity=round(similarity, 4),
        purpose_alignment=round(sum(value for value, _ in present) / len(present), 4) if present else None,
        dominant_embedder=max(present)[1] if present else None,
        breakdown={**shares, "embedder_scores": rounded(vector.purpose)} if explain else None,
    )


class _Measure:
    """The similarity of two vectors by a strategy."""

    def __init__(
        self,
        view: "MemoryView",
        strategy: str,
        scope: VectorScope,
        weights: Weights,
        groups: Sequence[str],
        space: int | None,
        vectors: Sequence[Vector | None],
    ) -> None:
        self._strategy = strategy
        self._scope = scope
        self._weights = weights
        self._groups = tuple(groups) or tuple(GROUPS)
        self._space = space
        self._synergy = synergy(view) if strategy == "synergy_weighted" else {}
        self._base = _base(vectors) if strategy == "tucker_compressed" else None

    def __call__(self, one: Vector, other: Vector) -> tuple[float, dict[str, Any]] | None:
        """The similarity with its parts; None where the two have nothing to compare."""
        parts: dict[str, tuple[float | None, float]] = {}
        if self._scope in ("full", "purpose_vector_only"):
            parts["purpose"] = (self._purpose(one.purpose, other.purpose), self._weights.purpose)
        if self._scope in ("full", "cross_correlations_only"):
            own = self._weights.correlations
            weight = max(own, _DOMINANT) if self._strategy == "cross_correlation_dominant" else own
            parts["correlations"] = (cosine(one.correlations, other.correlations), weight)
        if self._scope in ("full", "group_alignments_only"):
            mine, others = (tuple(each.groups[name] for name in self._groups) for each in (one, other))
            weight = 1.0 if self._strategy == "group_hierarchical" else self._weights.groups
            parts["groups"] = (cosine(mine, others), weight)
        if self._space is not None:
            a, b = one.purpose[self._space], other.purpose[self._space]
            parts["embedder"] = (None if a is None or b is None else 1 - abs(a - b), 0.1)
        weighted = {name: (value, weight) for name, (value, weight) in parts.items() if value is not None and weight}
        total = sum(weight for _, weight in weighted.values())
        if not total:
            return None
        similarity = sum(value * weight for value, weight in weighted.values()) / total
        return min(max(similarity, 0.0), 1.0), {name: round(value, 4) for name, (value, _) in weighted.items()}

    def _purpose(self, one: Values, other: Values) -> float | None:
        pairs = [
            (at, a, b) for at, (a, b) in enumerate(zip(one, other, strict=True)) if a is not None and b is not None
        ]
        if not pairs:
            return None
        if self._strategy == "euclidean":
            return 1 / (1 + math.dist([a for _, a, _ in pairs], [b for _, _, b in pairs]))
        if self._strategy == "synergy_weighted":
            across = self._form(pairs, 1, 2)
            length = self._form(pairs, 1, 1) * self._form(pairs, 2, 2)
            return across / math.sqrt(length) if length > 0 else None
        if self._base is not None:
            one, other = (_projected(self._base, each) for each in (one, other))
        return cosine(one, other)

    def _form(self, pairs: Sequence[tuple[int, float, float]], left: int, right: int) -> float:
        """The product of each space with each other one, weighted by their synergy."""
        return sum(
            float(p[left])
            * float(q[right])
            * (1.0 if p[0] == q[0] else self._synergy[min(p[0], q[0]), max(p[0], q[0])])
            for p in pairs
            for q in pairs
        )


def _base(vectors: Sequence[Vector | None]) -> Any:
    """The few directions in which the vectors differ most."""
    import numpy as np

    table = np.array([[value or 0.0 for value in vector.purpose] for vector in vectors if vector is not None])
    return np.linalg.svd(table, full_matrices=False)[2][:_RANK] if len(table) else np.zeros((1, len(SPACES)))


def _projected(base: Any, values: Values) -> Values:
    return tuple((base @ [value or 0.0 for value in values]).tolist())
