"""Teleological vectors: how a text stands to what the memory is for, in each of the thirteen spaces.

A text is compared with the memories that stand for the goal; without a goal, with the memories nearest to it. Its
vector is the mean similarity in each space. Two spaces correlate where they order those memories alike (Pearson). Only
these numbers are fused; embeddings are not.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any

import msgspec

from clew.errors import InvalidArgument
from clew.memory.cognition.agreement import as_memory
from clew.memory.cognition.compare import ABSENT, Comparer, Values, means, rounded
from clew.memory.cognition.goals.goals import exemplars, north_star
from clew.memory.cognition.goals.requests import FusionRequest, VectorRequest
from clew.memory.cognition.learning.profiles import GROUPS, WeightProfile, profile, synergy
from clew.memory.cognition.records import INSUFFICIENT, CognitionRecords, SampledAnswer
from clew.memory.model import LONGEST_TEXT, Memory
from clew.memory.navigation.spaces import SPACES
from clew.memory.texts.admit import check_text

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

PAIRS = tuple(combinations(range(len(SPACES)), 2))
_AT = {space.id: at for at, space in enumerate(SPACES)}
_REFERENCES = 5
_FEWEST = 2
_GATE = 0.1


class Vector(msgspec.Struct, frozen=True, kw_only=True):
    purpose: Values
    correlations: Values
    """For each of the 78 pairs of spaces; None where fewer than three memories were compared, or all alike."""
    references: int

    @property
    def groups(self) -> dict[str, float | None]:
        by_group = {name: [self.purpose[_AT[id]] for id in ids] for name, ids in GROUPS.items()}
        present = {name: [value for value in values if value is not None] for name, values in by_group.items()}
        return {name: round(fmean(values), 4) if values else None for name, values in present.items()}


class Teleological(SampledAnswer, frozen=True, kw_only=True):
    purpose_vector: Values
    cross_correlations: Values
    group_alignments: dict[str, float | None]
    confidence: float | None
    """The share of the thirteen spaces that say something."""
    active_embedders: int
    dominant_group: str | None
    reference: str
    tucker: dict[str, Any] | None = None
    per_embedder: tuple[dict[str, Any], ...] | None = None


class FusedAlignment(SampledAnswer, frozen=True, kw_only=True):
    memory_id: str
    fused_alignment: float | None
    purpose_vector: Values
    group_alignments: dict[str, float | None]
    confidence: float | None
    metadata: dict[str, Any]
    reversal_hash: str | None = None


class StoredAlignment(msgspec.Struct, frozen=True):
    """A fused alignment as it is stored."""

    memory_id: str
    fused: float
    method: str
    purpose: Values
    at: str


class ReferenceMemories:
    """The memories that texts are compared with."""

    def __init__(self, view: "MemoryView", text: str, besides: str = "") -> None:
        goal = exemplars(view, north_star(view))
        ranked, _ = view.units.alike(text, view.viewer)
        best = max((each.lexical or 0.0 for each in ranked), default=0.0)
        self.lexical = {each.id: each.lexical / best for each in ranked if each.lexical and best}
        self.kind = "north_star" if len(goal) >= _FEWEST else "nearest memories"
        near = [each.id for each in ranked if each.id != besides][:_REFERENCES]
        self.memories = (
            [memory for memory in goal if memory.id != besides]
            if len(goal) >= _FEWEST
            else list(view.library.get_many(near).values())
        )


def vector_of(one: Memory, memories: Sequence[Memory], comparer: Comparer) -> Vector | None:
    """The vector of a text or a memory; None where there is too little to compare it with."""
    rows = comparer.rows(one, memories)
    if len(rows) < _FEWEST:
        return None
    return Vector(purpose=means(rows), correlations=_correlations(rows), references=len(rows))


def _correlations(rows: Sequence[Values]) -> Values:
    return tuple(_pearson([(row[i], row[j]) for row in rows]) for i, j in PAIRS)


def _pearson(pairs: Sequence[tuple[float | None, float | None]]) -> float | None:
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    if len(known) < 3:
        return None
    mean_a, mean_b = fmean(a for a, _ in known), fmean(b for _, b in known)
    spread = sum((a - mean_a) ** 2 for a, _ in known) * sum((b - mean_b) ** 2 for _, b in known)
    if spread <= 1e-18:
        return None
    return round(sum((a - mean_a) * (b - mean_b) for a, b in known) / math.sqrt(spread), 4)


def compute(view: "MemoryView", asked: VectorRequest) -> Teleological:
    ranks = asked.tucker_ranks if asked.compute_tucker else None
    text = check_text("content", asked.content, LONGEST_TEXT)
    chosen = profile(view, asked.profile_id) if asked.profile_id is not None else None
    reference = ReferenceMemories(view, text)
    source = as_memory(text, view.changes.now())
    comparer = Comparer(view, [source, *reference.memories], source.id, reference.lexical)
    made = vector_of(source, reference.memories, comparer)
    purpose = made.purpose if made else ABSENT
    if chosen is not None:
        purpose = tuple(
            None if value is None else value * weight
            for value, weight in zip(purpose, chosen.embedder_weights, strict=True)
        )
    shown = msgspec.structs.replace(made, purpose=purpose) if made else None
    groups = shown.groups if shown else dict.fromkeys(GROUPS)
    active = sum(value is not None for value in purpose)
    rows = comparer.rows(source, reference.memories) if made and ranks else []
    return Teleological(
        sufficient_data=made is not None,
        samples=made.references if made else len(reference.memories),
        note=_note(made),
        purpose_vector=rounded(purpose),
        cross_correlations=made.correlations if made else (None,) * len(PAIRS),
        group_alignments=groups,
        confidence=round(active / len(SPACES), 4) if made else None,
        active_embedders=active,
        dominant_group=max((g for g in groups if groups[g]), key=lambda g: groups[g] or 0.0, default=None),
        reference=reference.kind,
        tucker=_core(rows, ranks) if ranks and made else None,
        per_embedder=tuple(
            {"space": space.id, "name": space.name, "alignment": value}
            for space, value in zip(SPACES, rounded(purpose), strict=True)
        )
        if asked.include_per_embedder
        else None,
    )


def _note(made: Vector | None) -> str:
    if made is None:
        return f"{INSUFFICIENT}: there are not two memories to compare it with."
    return "The mean similarity to the reference in each space; null where a space says nothing."


def _core(rows: Sequence[Values], ranks: tuple[int, int, int]) -> dict[str, Any]:
    """Two ways of a table (memories and spaces) have a core that is diagonal: its singular values."""
    import numpy as np

    table = np.array([[value or 0.0 for value in row] for row in rows])
    rank = min(ranks[0], ranks[1], *table.shape)
    values = np.linalg.svd(table, compute_uv=False)[:rank]
    return {"ranks": [rank, rank], "core": [round(float(value), 4) for value in values]}


def fuse(view: "MemoryView", asked: FusionRequest) -> FusedAlignment:
    memory = view.library.get(asked.memory_id)
    _check_weights(asked.custom_weights)
    chosen = profile(view, asked.profile_id) if asked.profile_id is not None else None
    own = asked.custom_weights or (chosen.embedder_weights if chosen is not None else (1.0,) * len(SPACES))
    reference = ReferenceMemories(view, memory.text, memory.id)
    comparer = Comparer(view, [memory, *reference.memories], memory.id, reference.lexical)
    made = vector_of(memory, reference.memories, comparer)
    table = synergy(view) if asked.apply_synergy else None
    fused = None if made is None else fused_value(made, asked.fusion_method, own, table, chosen)
    hash = None
    if asked.store_result and fused is not None and made is not None:
        kept = StoredAlignment(memory.id, fused, asked.fusion_method, rounded(made.purpose), view.changes.now())
        hash = CognitionRecords(view).update(
            f"fused {memory.id}",
            StoredAlignment,
            lambda _: kept,
            "fuse_embeddings",
            f"alignment fused by {asked.fusion_method}",
        )
    return FusedAlignment(
        sufficient_data=fused is not None,
        samples=made.references if made else len(reference.memories),
        note=_note(made),
        memory_id=memory.id,
        fused_alignment=fused,
        purpose_vector=rounded(made.purpose) if made else ABSENT,
        group_alignments=made.groups if made else dict.fromkeys(GROUPS),
        confidence=round(sum(v is not None for v in made.purpose) / len(SPACES), 4) if made else None,
        metadata={
            "method": asked.fusion_method,
            "reference": reference.kind,
            "synergy_applied": asked.apply_synergy,
            "stored": bool(hash),
        },
        reversal_hash=hash,
    )


def _check_weights(weights: Sequence[float] | None) -> None:
    if weights is not None and any(not math.isfinite(each) or each < 0 for each in weights):
        raise InvalidArgument(
            "'custom_weights' holds a number that is not a weight.", hint="Pass 13 numbers from 0 up."
        )


def fused_value(
    made: Vector,
    method: str,
    weights: Sequence[float],
    table: Mapping[tuple[int, int], float] | None,
    chosen: WeightProfile | None = None,
) -> float | None:
    """One number of the alignments of the present spaces."""
    present = {at: value for at, value in enumerate(made.purpose) if value is not None}
    own = {at: weights[at] * (_support(at, present, table) if table is not None else 1.0) for at in present}
    if method == "attention":
        highest = max(present.values(), default=0.0)
        own = {at: own[at] * math.exp(3 * (value - highest)) for at, value in present.items()}
    elif method == "gated":
        own = {at: weight if present[at] >= _GATE else 0.0 for at, weight in own.items()}
    elif method == "hierarchical":
        return _hierarchical(present, own, chosen)
    elif method == "tucker":
        # The first component of a single row is the row itself: what is left is its length.
        own = {at: weight * present[at] for at, weight in own.items()}
    total = sum(own.values())
    return round(sum(own[at] * value for at, value in present.items()) / total, 4) if total else None


def _hierarchical(present: Mapping[int, float], own: Mapping[int, float], chosen: WeightProfile | None) -> float | None:
    """The mean inside each group, then the mean of the groups by their priorities."""
    weighted: list[tuple[float, float]] = []
    for name, ids in GROUPS.items():
        members = [at for at in (_AT[id] for id in ids) if at in present]
        weight = sum(own[at] for at in members)
        if weight:
            priority = chosen.group_priorities.get(name, 1.0) if chosen is not None else 1.0
            weighted.append((sum(own[at] * present[at] for at in members) / weight, priority))
    total = sum(priority for _, priority in weighted)
    return round(sum(value * priority for value, priority in weighted) / total, 4) if total else None


def _support(at: int, present: Mapping[int, float], table: Mapping[tuple[int, int], float]) -> float:
    """The mean synergy of a space with the other present ones."""
    others = [table[min(at, other), max(at, other)] for other in present if other != at]
    return fmean(others) if others else 1.0
