"""The workspace: of the memories that the last questions showed, the one that stands out.

Salience is r times importance times alignment, where r is how far the spaces agree, and alignment is how well the
memory answered the question that showed it. Nothing is decided by it.
"""

from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec

from clew.memory.cognition.gauges.oscillators import COHERENT, missing_questions, synchronization
from clew.memory.cognition.gauges.requests import BroadcastRequest
from clew.memory.cognition.modulators import raise_in
from clew.memory.cognition.records import CognitionRecords, SampledAnswer
from clew.memory.model import MemoryLinkKind
from clew.memory.storage.changes import moment_of

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

BROADCAST = timedelta(milliseconds=100)
_RECORD = "workspace"
_KEPT = 100
_COMPETING = 10
_ENTRY_REWARD = 0.2


class SalientMemory(msgspec.Struct, frozen=True, kw_only=True):
    memory_id: str
    salience: float
    importance: float
    alignment: float


class WorkspaceEntry(msgspec.Struct, frozen=True):
    """A memory that was put into the workspace."""

    memory_id: str
    salience: float | None
    """Null where r was not known: it was put there by force."""
    at: str


class GlobalWorkspace(SampledAnswer, frozen=True, kw_only=True):
    active_memory: str | None
    competing: tuple[SalientMemory, ...]
    is_broadcasting: bool
    has_conflict: bool
    conflict_memories: tuple[str, ...]
    """Competing memories that contradict each other."""
    coherence_threshold: float
    broadcast_duration_ms: int
    last_broadcast: WorkspaceEntry | None
    broadcasting_for_ms: int | None
    """Time that the active memory is there by a broadcast; null if it is there by its salience."""
    truncated: bool = False


class Broadcast(SampledAnswer, frozen=True, kw_only=True):
    success: bool
    memory_id: str
    new_r: float | None
    salience: float | None
    was_selected: bool
    is_broadcasting: bool
    dopamine_triggered: bool
    reason: str
    reversal_hash: str | None = None


def candidates(view: "MemoryView", r: float) -> list[SalientMemory]:
    """The memories of the last questions that may be seen, the most salient first."""
    best: dict[str, SalientMemory] = {}
    for question in view.service.questions.last(view.viewer.session):
        for each in question.ranked:
            salience = round(r * each.memory.importance * each.similarity, 4)
            known = best.get(each.memory.id)
            if known is None or known.salience < salience:
                best[each.memory.id] = SalientMemory(
                    memory_id=each.memory.id,
                    salience=salience,
                    importance=each.memory.importance,
                    alignment=round(each.similarity, 4),
                )
    seen = view.library.index.visible(best, view.viewer)
    return sorted((best[id] for id in seen), key=lambda each: (-each.salience, each.memory_id))[:_COMPETING]


def workspace(view: "MemoryView") -> GlobalWorkspace:
    r, _, samples = synchronization(view)
    competing = candidates(view, r) if r is not None else []
    ids = [each.memory_id for each in competing]
    against = [
        end
        for link in view.library.index.links(ids, (MemoryLinkKind.CONTRADICTS,))
        if link.source in ids and link.target in ids
        for end in (link.source, link.target)
    ]
    last = _last(view)
    broadcasting = last is not None and _is_on(view, last)
    return GlobalWorkspace(
        sufficient_data=r is not None,
        samples=samples,
        note=missing_questions(r),
        active_memory=last.memory_id if broadcasting and last is not None else ids[0] if ids else None,
        competing=tuple(competing),
        is_broadcasting=broadcasting,
        has_conflict=bool(against),
        conflict_memories=tuple(dict.fromkeys(against)),
        coherence_threshold=COHERENT,
        broadcast_duration_ms=int(BROADCAST.total_seconds() * 1000),
        last_broadcast=last,
        broadcasting_for_ms=round(_age(view, last) / timedelta(milliseconds=1)) if broadcasting and last else None,
    )


def _last(view: "MemoryView") -> WorkspaceEntry | None:
    kept = CognitionRecords(view).get(_RECORD, tuple[WorkspaceEntry, ...]) or ()
    seen = view.library.index.visible([entry.memory_id for entry in kept], view.viewer)
    return next((entry for entry in reversed(kept) if entry.memory_id in seen), None)


def _is_on(view: "MemoryView", entry: WorkspaceEntry) -> bool:
    return timedelta(0) <= _age(view, entry) < BROADCAST


def _age(view: "MemoryView", entry: WorkspaceEntry) -> timedelta:
    return view.service.context.clock() - moment_of(entry.at)


def broadcast(view: "MemoryView", asked: BroadcastRequest) -> Broadcast:
    memory = view.library.get(asked.memory_id)
    r, _, samples = synchronization(view)
    salience = None if r is None else round(r * asked.importance * asked.alignment, 4)
    others = [each.salience for each in candidates(view, r) if each.memory_id != memory.id] if r is not None else []
    refused = None
    if not asked.force and r is None:
        refused = missing_questions(r)
    elif not asked.force and r is not None and r < COHERENT:
        refused = f"r is {r:.3f}, and {COHERENT} is needed; force=true puts it there anyway."
    elif not asked.force and salience is not None and others and max(others) > salience:
        refused = f"Another memory is more salient: {max(others)} against {salience}."
    hash = None
    if refused is None:
        with view.changes.make("trigger_workspace_broadcast", view.actor, "put into the workspace") as change:
            entry = WorkspaceEntry(memory.id, salience, change.at)
            CognitionRecords(view).update_in(
                change, _RECORD, tuple[WorkspaceEntry, ...], lambda kept: (*(kept or ()), entry)[-_KEPT:]
            )
            raise_in(view, change, "dopamine", _ENTRY_REWARD, "a memory entered the workspace")
        hash = change.hash
    return Broadcast(
        sufficient_data=r is not None,
        samples=samples,
        note=missing_questions(r),
        success=refused is None,
        memory_id=memory.id,
        new_r=None if r is None else round(r, 4),
        salience=salience,
        was_selected=refused is None,
        is_broadcasting=refused is None,
        dopamine_triggered=refused is None,
        reason=refused or ("forced" if r is None or r < COHERENT else "the most salient"),
        reversal_hash=hash,
    )
