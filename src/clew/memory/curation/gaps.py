"""Defects of the memory that need a decision: contradictions, duplicates, stale citations, orphans."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

import msgspec

from clew.memory.judging.memories import judge_memories
from clew.memory.model import SIMILARITY, Link, Memory, MemoryLinkKind
from clew.memory.storage.changes import spelled
from clew.text.display import counted

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

TaskType = Literal["conflict", "duplicate", "orphan", "flagged"]
Priority = Literal["high", "medium", "low"]
ORPHAN_DAYS = 30
FEW_MEMORIES = 10
_MOST = 10

_TASKS: dict[TaskType, tuple[str, Priority]] = {
    "conflict": ("critique_context", "high"),
    "flagged": ("check_adversarial", "high"),
    "duplicate": ("merge_concepts", "medium"),
    "orphan": ("annotate_node", "low"),
}
_GENERIC = (
    "I remember little about this project yet. What are you working on, what matters most about it, and which decisions"
    " should I know?"
)


class CurationTask(msgspec.Struct, frozen=True, kw_only=True):
    task_type: TaskType
    target_nodes: tuple[str, ...]
    reason: str
    suggested_tool: str
    priority: Priority


class EpistemicAction(msgspec.Struct, frozen=True, kw_only=True):
    action_type: Literal["ask_user", "none"]
    question: str
    expected_entropy_reduction: float | None
    """The share of the gaps that were found which the answer would close; null where no gap was looked at."""
    focal_nodes: tuple[str, ...]
    coherence_before: float | None
    """Null before the first exchange."""
    suggested_follow_up: str | None
    reason: str


def curation_tasks(view: "MemoryView", most: int = _MOST) -> list[CurationTask]:
    """List the memories that need attention, the most pressing first; of each kind at most so many."""
    index, viewer = view.library.index, view.viewer
    alike = index.links_of_kind(MemoryLinkKind.RELATED, viewer, most, SIMILARITY)
    before = spelled(view.service.context.clock() - timedelta(days=ORPHAN_DAYS))
    tasks = [
        *(
            _task("conflict", (each.node_id,), f"{each.path} of the mirror: {each.said}")
            for each in (view.service.mirror.conflicts() if view.service.has_mirror else ())
        ),
        *(
            _task("conflict", (link.source, link.target), f"They contradict each other: {link.origin}")
            for link in index.links_of_kind(MemoryLinkKind.CONTRADICTS, viewer, most)
        ),
        *(
            _task("duplicate", (link.source, link.target), "; ".join(reasons))
            for link, reasons in _duplicates(view, alike)
        ),
        *(
            _task("flagged", (row.id,), "Its text reads like an instruction to a model.")
            for row in index.flagged(viewer, most)
        ),
        *(
            _task("orphan", (row.id,), f"Nothing has been linked to it for {ORPHAN_DAYS} days.")
            for row in index.unlinked(viewer, before, most)
        ),
    ]
    order = ("high", "medium", "low")
    return sorted(tasks, key=lambda task: order.index(task.priority))


def _duplicates(view: "MemoryView", alike: Sequence[Link]) -> Iterator[tuple[Link, tuple[str, ...]]]:
    """The similar pairs that say the same, or of which one says all of the other, with the judge's reasons."""
    memories = view.library.get_many({end for link in alike for end in (link.source, link.target)})
    for link in alike:
        if link.source in memories and link.target in memories:
            verdict = judge_memories(memories[link.source], memories[link.target], link.weight)
            if verdict.is_joinable:
                yield link, verdict.reasons


def _task(task_type: TaskType, nodes: tuple[str, ...], reason: str) -> CurationTask:
    tool, priority = _TASKS[task_type]
    return CurationTask(task_type=task_type, target_nodes=nodes, reason=reason, suggested_tool=tool, priority=priority)


def epistemic_action(view: "MemoryView", *, force: bool) -> EpistemicAction:
    """A question to the user that would settle the most pressing gap."""
    pulses, session = view.service.pulses, view.viewer.session
    pulse = pulses.get(session)
    coherence = pulse.coherence if pulse.samples else None
    count = view.library.index.count(view.viewer)
    if count < FEW_MEMORIES:
        return EpistemicAction(
            action_type="ask_user",
            question=_GENERIC,
            expected_entropy_reduction=None,
            focal_nodes=(),
            coherence_before=coherence,
            suggested_follow_up="store_memory",
            reason=f"There are only {count} memories.",
        )
    if not force and not pulses.is_confused(session):
        return EpistemicAction(
            action_type="none",
            question="",
            expected_entropy_reduction=None,
            focal_nodes=(),
            coherence_before=coherence,
            suggested_follow_up=None,
            reason="The last exchanges were coherent; force=true asks anyway.",
        )
    gaps = _gaps(view)
    question, focal, follow_up = view.service.next_gap(session, gaps) if gaps else _about_the_last(view)
    return EpistemicAction(
        action_type="ask_user",
        question=question,
        expected_entropy_reduction=round(1 / len(gaps), 3) if gaps else 0.0,
        focal_nodes=tuple(focal),
        coherence_before=coherence,
        suggested_follow_up=follow_up,
        reason=_reason(len(gaps)),
    )


def _reason(gaps: int) -> str:
    if not gaps:
        return "No gap was found, so the question is about what was used last."
    return f"{counted(gaps, 'gap')} found. The next call asks about another one; both_hold settles a pair."


Gap = tuple[str, tuple[str, ...], str]
"""A question, the memories that it is about, and the tool for the answer."""


def _gaps(view: "MemoryView") -> list[Gap]:
    """The questions that are open, the most pressing first."""
    found: list[Gap] = []
    for task in curation_tasks(view):
        if task.task_type in ("conflict", "duplicate") and len(task.target_nodes) == 2:
            one, other = view.library.get_all(task.target_nodes).values()
            ask = "Which of them holds?" if task.task_type == "conflict" else "Do both say the same?"
            said = f"I remember “{one.title}” and “{other.title}”. {ask}"
            found.append((said, (one.id, other.id), task.suggested_tool))
    for memory, node in _stale(view):
        said = f"{node} has changed since I noted “{memory.title}”. Does that still hold?"
        found.append((said, (memory.id,), "store_memory"))
    open_questions = [row.id for row in view.library.index.of_kind("question", view.viewer, _MOST)]
    asked = view.library.get_many(open_questions).values()
    return [*found, *((memory.title, (memory.id,), "store_memory") for memory in asked)]


def _about_the_last(view: "MemoryView") -> Gap:
    memory = view.library.get(view.library.index.latest(view.viewer, limit=1)[0].id)
    said = f"I last worked with “{memory.title}”. Is there more that I should know about it?"
    return said, (memory.id,), "store_memory"


def _stale(view: "MemoryView") -> list[tuple[Memory, str]]:
    """Memories used lately that cite something that changed."""
    cited = [memory for memory, _ in view.library.latest(50) if memory.cites]
    return [
        (memory, next(cite.node for cite in cites if cite.state in ("changed", "gone")))
        for memory, standing, _, cites in view.recall.standing_of(cited)
        if standing == "stale"
    ]
