"""Checking what was remembered lately: contradictions, duplicates, what is outdated, what is doubtful."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import msgspec

from clew.memory.curation.requests import CritiqueQuery
from clew.memory.judging.memories import judge_memories, settled
from clew.memory.model import Memory, MemoryLinkKind

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

DOUBTFUL = 0.4


class CritiquePair(msgspec.Struct, frozen=True, kw_only=True):
    node_a: str
    node_b: str
    type: str
    confidence: float | None
    """Confidence in it, if it was measured."""
    evidence: tuple[str, ...]


class Outdated(msgspec.Struct, frozen=True, kw_only=True):
    node_id: str
    title: str
    because: str


class Critique(msgspec.Struct, frozen=True, kw_only=True):
    checked: int
    conflicts: tuple[CritiquePair, ...]
    duplicates: tuple[CritiquePair, ...]
    outdated: tuple[Outdated, ...]
    low_confidence: tuple[Outdated, ...]
    contradictions_found: bool
    suggested_action: str
    truncated: bool = False


def critique(view: "MemoryView", asked: CritiqueQuery) -> Critique:
    latest = () if asked.focal_nodes else view.library.latest(asked.context_window)
    memories = [view.library.get(id) for id in asked.focal_nodes] or [memory for memory, _ in latest]
    checks = asked.check_types
    pairs = _pairs(view, memories) if {"conflicts", "duplicates"} & set(checks) else ([], [])
    conflicts = tuple(pairs[0]) if "conflicts" in checks else ()
    duplicates = tuple(pairs[1]) if "duplicates" in checks else ()
    outdated = tuple(_outdated(view, memories)) if "outdated" in checks else ()
    doubtful = [each for each in memories if each.confidence is not None and each.confidence < DOUBTFUL]
    low = tuple(
        Outdated(node_id=each.id, title=each.title, because=f"confidence {each.confidence:.2f}") for each in doubtful
    )
    return Critique(
        checked=len(memories),
        conflicts=conflicts,
        duplicates=duplicates,
        outdated=outdated,
        low_confidence=low if "low_confidence" in checks else (),
        contradictions_found=bool(conflicts),
        suggested_action=_action(len(memories), conflicts, duplicates, outdated),
    )


def _pairs(view: "MemoryView", memories: list[Memory]) -> tuple[list[CritiquePair], list[CritiquePair]]:
    """Pairs that contradict each other, and pairs that say the same: those linked already, and those judged now."""
    ids = {memory.id for memory in memories}
    conflicts = {
        frozenset((link.source, link.target)): CritiquePair(
            node_a=link.source,
            node_b=link.target,
            type="contradicts",
            confidence=link.confidence,
            evidence=(link.origin,),
        )
        for link in view.library.index.links(list(ids), (MemoryLinkKind.CONTRADICTS,))
        if link.source in ids and link.target in ids
    }
    duplicates: list[CritiquePair] = []
    kept = settled(view.library.index.links(list(ids), (MemoryLinkKind.RELATED,)))
    vectors = view.units.vectors([memory.text for memory in memories])
    ordered = sorted(range(len(memories)), key=lambda at: memories[at].recorded_at)
    for old, new in combinations(ordered, 2):
        one, other = memories[old], memories[new]
        pair = frozenset((one.id, other.id))
        if one.retired_at or other.retired_at or pair in conflicts or pair in kept:
            continue
        cosine = None if vectors is None else float(vectors[old] @ vectors[new])
        verdict = judge_memories(one, other, cosine)
        if verdict.kind in ("unrelated", "other_thing"):
            continue
        found = CritiquePair(
            node_a=one.id, node_b=other.id, type=verdict.kind, confidence=verdict.confidence, evidence=verdict.reasons
        )
        if verdict.is_joinable:
            duplicates.append(found)
        else:
            conflicts[frozenset((one.id, other.id))] = found
    return list(conflicts.values()), duplicates


def _outdated(view: "MemoryView", memories: list[Memory]) -> list[Outdated]:
    found: list[Outdated] = []
    for memory, standing, successor, cites in view.recall.standing_of(memories):
        changed = [f"{cite.node} {cite.state}" for cite in cites if cite.state in ("changed", "gone")]
        if standing == "superseded":
            because = f"superseded by {successor or 'a later memory'}"
        elif changed:
            because = "; ".join(changed)
        else:
            continue
        found.append(Outdated(node_id=memory.id, title=memory.title, because=because))
    return found


def _action(count: int, conflicts: Sequence[object], duplicates: Sequence[object], outdated: Sequence[object]) -> str:
    if not count:
        return "Insufficient data: nothing has been remembered yet."
    if conflicts:
        return "Ask the user which holds; then store it with supersedes, or forget_concept the wrong one."
    if duplicates:
        return "merge_concepts joins those that say the same."
    if outdated:
        return "Check what changed; then store what holds now with supersedes."
    return "Nothing to do."
