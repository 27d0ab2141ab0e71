"""Pruning and consolidation: they propose, and act only on request, so that everything can be undone."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from clew.errors import ClewError
from clew.memory.cognition.dreams.requests import ConsolidationRequest, PruneQuery, PruneRequest
from clew.memory.cognition.goals.goals import alignments
from clew.memory.cognition.goals.topics import matrix_of
from clew.memory.cognition.records import INSUFFICIENT, SampledAnswer
from clew.memory.curation.requests import ForgetRequest, MergeRequest
from clew.memory.judging.memories import judge_memories, settled
from clew.memory.model import Memory, MemoryLinkKind
from clew.memory.storage.changes import moment_of
from clew.text.display import shortened
from clew.text.keywords import overlap

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

_FORGETTING: dict[str, Any] = {
    "staleness": "obsolete",
    "low_alignment": "obsolete",
    "redundancy": "duplicate",
    "orphan": "obsolete",
}
_LOOKED_AT = 500
_STALE_DAYS = 90
_LOW_QUALITY = 0.3
_FEW_LINKS = 3
_AT_ONCE = 2_000
_SAMPLE = 20
_APART = 0.05
_NEAR = timedelta(hours=1)


class PruneCandidate(msgspec.Struct, frozen=True, kw_only=True):
    memory_id: str
    title: str
    age_days: int
    alignment: float | None
    connections: int
    reason: str
    byte_size: int
    priority_score: float
    """.5 (1 - alignment) + .3 age in years, at most 1 + .2 / (connections + 1); without a goal, the last two."""


class PruneCandidates(SampledAnswer, frozen=True, kw_only=True):
    candidates: tuple[PruneCandidate, ...]
    summary: dict[str, Any]
    truncated: bool = False


class Pruned(msgspec.Struct, frozen=True, kw_only=True):
    pruned_count: int
    cascade_pruned: int
    pruned: tuple[dict[str, str | None], ...]
    """Each with the reversal_hash that brings it back."""
    errors: tuple[dict[str, str], ...]
    soft_deleted: bool
    recoverable_until: str | None


class Consolidation(SampledAnswer, frozen=True, kw_only=True):
    pairs_evaluated: int
    pairs_consolidated: int
    candidates_sample: tuple[dict[str, Any], ...]
    status: str
    dry_run: bool
    merges: tuple[dict[str, Any], ...]
    errors: tuple[dict[str, str], ...]
    truncated: bool = False


def prune_candidates(view: "MemoryView", asked: PruneQuery) -> PruneCandidates:
    """Of the oldest memories, those that are redundant, orphaned, off the goal, unused or doubtful."""
    index, now = view.library.index, view.service.context.clock()
    rows = index.oldest(view.viewer, _LOOKED_AT)
    before = (now - timedelta(days=asked.min_staleness_days)).isoformat()
    old = {row.id: row for row in rows if moment_of(row.recorded_at) <= moment_of(before)}
    memories = {id: memory for id, memory in view.library.get_many(old).items() if not memory.pinned}
    links = Counter(end for link in index.links(list(memories), cites=True) for end in {link.source, link.target})
    aligned = alignments(view, list(memories.values()))
    texts = Counter(" ".join(memory.text.split()).casefold() for memory in memories.values())
    found: list[PruneCandidate] = []
    for id, memory in memories.items():
        unused = (now - moment_of(old[id].shown_at or memory.recorded_at)).days
        twice = texts[" ".join(memory.text.split()).casefold()] > 1
        reason = _reason(memory, links[id], aligned.get(id), unused, asked.min_alignment, twice=twice)
        if reason is not None and links[id] < _FEW_LINKS:
            found.append(
                _candidate(memory, links[id], aligned.get(id), (now - moment_of(memory.recorded_at)).days, reason)
            )
    found.sort(key=lambda each: (-each.priority_score, each.memory_id))
    return PruneCandidates(
        sufficient_data=bool(rows),
        samples=len(memories),
        note="Proposed only; execute_prune forgets what you name."
        if rows
        else f"{INSUFFICIENT}: nothing is remembered.",
        candidates=tuple(found[: asked.limit]),
        summary={
            "total": len(found),
            "by_reason": dict(Counter(each.reason for each in found)),
            "thresholds": {"min_staleness_days": asked.min_staleness_days, "min_alignment": asked.min_alignment},
            "analyzed": len(memories),
            "goal_known": bool(aligned),
        },
        truncated=len(found) > asked.limit,
    )


def _reason(
    memory: Memory, links: int, alignment: float | None, unused: int, least: float, *, twice: bool
) -> str | None:
    if twice:
        return "redundant"
    if not links:
        return "orphaned"
    if alignment is not None and alignment < least:
        return "low_alignment"
    if unused >= _STALE_DAYS:
        return "stale"
    if memory.confidence is not None and memory.confidence < _LOW_QUALITY:
        return "low_quality"
    return None


def _candidate(memory: Memory, links: int, alignment: float | None, age: int, reason: str) -> PruneCandidate:
    off = 0.5 * (1 - alignment) if alignment is not None else 0.0
    return PruneCandidate(
        memory_id=memory.id,
        title=memory.title,
        age_days=age,
        alignment=alignment,
        connections=links,
        reason=reason,
        byte_size=len(memory.text.encode()),
        priority_score=round(off + 0.3 * min(age / 365, 1.0) + 0.2 / (links + 1), 4),
    )


def execute_prune(view: "MemoryView", asked: PruneRequest) -> Pruned:
    """Forget the memories that are named; each for itself, and one that cannot be is reported."""
    done: list[dict[str, str | None]] = []
    errors: list[dict[str, str]] = []
    until: str | None = None
    below = _parts(view, asked.node_ids) if asked.cascade else []
    for id in dict.fromkeys((*asked.node_ids, *below)):
        try:
            gone = view.curator.forget(
                ForgetRequest(
                    node_id=id, reason=_FORGETTING[asked.reason], rationale=f"pruned because of {asked.reason}"
                )
            )
        except ClewError as error:
            errors.append({"node_id": id, "error": error.message})
            continue
        done.append({"node_id": gone.node_id, "reversal_hash": gone.reversal_hash})
        until = gone.recoverable_until
    named = {id.strip().lower() for id in asked.node_ids}
    cascaded = sum(each["node_id"] not in named for each in done)
    return Pruned(
        pruned_count=len(done) - cascaded,
        cascade_pruned=cascaded,
        pruned=tuple(done),
        errors=tuple(errors),
        soft_deleted=True,
        recoverable_until=until,
    )


def _parts(view: "MemoryView", ids: Sequence[str]) -> list[str]:
    """The parts of these memories that are a part of nothing else."""
    links = view.library.index.links(list(ids), (MemoryLinkKind.PART_OF,), outward=False)
    parts = [link.source for link in links]
    wholes = view.library.index.links(parts, (MemoryLinkKind.PART_OF,), inward=False)
    elsewhere = {link.source for link in wholes if link.target not in ids}
    return [part for part in parts if part not in elsewhere]


def consolidate(
    view: "MemoryView", asked: ConsolidationRequest, check: Callable[[], None] = lambda: None
) -> Consolidation:
    """Pairs of the latest memories that say the same; merged only where `dry_run` is false."""
    latest = [memory for memory, _ in view.library.latest(min(asked.max_memories, _AT_ONCE))]
    memories = [memory for memory in latest if memory.retired_at is None]
    pairs, evaluated = _same(view, memories, asked.strategy, asked.min_similarity, check)
    aligned = alignments(view, list({m.id: m for pair in pairs for m in pair[:2]}.values()))
    sample = tuple(
        {
            "source_ids": [one.id, other.id],
            "target_id": max((one, other), key=lambda each: (each.importance, each.recorded_at)).id,
            "similarity": round(similarity, 4),
            "combined_alignment": _together(aligned, one, other),
            "why": list(reasons),
        }
        for one, other, similarity, reasons in pairs[:_SAMPLE]
    )
    merges, errors = ([], []) if asked.dry_run else _merged(view, pairs, check)
    return Consolidation(
        sufficient_data=len(memories) > 1,
        samples=len(memories),
        note=_note(len(memories), dry_run=asked.dry_run),
        pairs_evaluated=evaluated,
        pairs_consolidated=len(merges),
        candidates_sample=sample,
        status="proposed" if asked.dry_run else "merged",
        dry_run=asked.dry_run,
        merges=tuple(merges),
        errors=tuple(errors),
        truncated=len(pairs) > _SAMPLE or asked.max_memories > _AT_ONCE,
    )


def _note(count: int, *, dry_run: bool) -> str:
    if count < 2:
        return f"{INSUFFICIENT}: there are {count} memories."
    return (
        "Nothing was merged; pass dry_run=false, or merge_concepts." if dry_run else "restore_from_hash undoes a merge."
    )


def _together(aligned: dict[str, float], one: Memory, other: Memory) -> float | None:
    if one.id not in aligned or other.id not in aligned:
        return None
    return round((aligned[one.id] + aligned[other.id]) / 2, 4)


Pair = tuple[Memory, Memory, float, tuple[str, ...]]


def _same(
    view: "MemoryView", memories: Sequence[Memory], strategy: str, least: float, check: Callable[[], None]
) -> tuple[list[Pair], int]:
    """The pairs that may be joined, the most alike first, and how many were judged."""
    import numpy as np

    if len(memories) < 2:
        return [], 0
    matrix, space = matrix_of(view, memories)
    if strategy == "semantic" and space != "E1":
        return [], 0
    found: list[Pair] = []
    evaluated = 0
    kept = settled(view.library.index.links([memory.id for memory in memories], (MemoryLinkKind.RELATED,)))
    for row in range(len(memories) - 1):
        check()
        near = matrix[row + 1 :] @ matrix[row]
        # Weighted words are less alike than vectors: the judge decides by the words that are shared.
        for at in np.flatnonzero(near >= (least if space == "E1" else 0.5)):
            one, other = memories[row], memories[row + 1 + int(at)]
            if strategy == "temporal" and abs(moment_of(one.recorded_at) - moment_of(other.recorded_at)) > _NEAR:
                continue
            evaluated += 1
            cosine = float(near[at]) if space == "E1" else None
            similarity = overlap(one.text, other.text) if cosine is None else cosine
            if frozenset((one.id, other.id)) in kept:
                continue
            verdict = judge_memories(one, other, cosine)
            if verdict.is_joinable and similarity >= least:
                found.append((one, other, similarity, verdict.reasons))
    return sorted(found, key=lambda pair: (-pair[2], pair[0].id)), evaluated


def _merged(
    view: "MemoryView", pairs: Sequence[Pair], check: Callable[[], None]
) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
    """Merge each pair of which neither was merged before in this call."""
    done: list[dict[str, Any]] = []
    errors: list[dict[str, str]] = []
    used: set[str] = set()
    for one, other, similarity, reasons in pairs:
        if {one.id, other.id} & used:
            continue
        used |= {one.id, other.id}
        why = shortened(f"consolidated: {'; '.join(reasons)} ({similarity:.2f} alike)")
        try:
            merged = view.merger.merge(
                MergeRequest(
                    source_node_ids=(one.id, other.id),
                    target_name=one.title,
                    merge_strategy="keep_highest",
                    rationale=why,
                ),
                check=check,
                keep=max((one, other), key=lambda each: len(each.text)).id,
            )
        except ClewError as error:
            errors.append({"node_id": one.id, "error": error.message})
            continue
        done.append(
            {
                "merged_id": merged.merged_id,
                "reversal_hash": merged.reversal_hash,
                "text": merged.text,
                "left_out": [msgspec.to_builtins(each) for each in merged.left_out],
            }
        )
    return done, errors
