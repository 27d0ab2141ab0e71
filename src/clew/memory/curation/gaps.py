"""Defects of the memory that need a decision: contradictions, duplicates, stale citations, orphans."""

from datetime import timedelta
from typing import TYPE_CHECKING, Literal

import msgspec

from clew.memory.model import SIMILARITY, Memory, MemoryLinkKind
from clew.memory.storage.changes import spelled

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

TaskType = Literal["conflict", "duplicate", "orphan", "flagged"]
Priority = Literal["high", "medium", "low"]
DUPLICATE_FROM = 0.9
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
            _task("duplicate", (link.source, link.target), f"They are {link.weight:.2f} alike.")
            for link in alike
            if link.weight >= DUPLICATE_FROM
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
    question, focal, follow_up, gaps = _question(view)
    return EpistemicAction(
        action_type="ask_user",
        question=question,
        expected_entropy_reduction=round(1 / gaps, 3) if gaps else 0.0,
        focal_nodes=tuple(focal),
        coherence_before=coherence,
        suggested_follow_up=follow_up,
        reason=f"{gaps} gaps were found." if gaps else "No gap was found, so the question is about what was used last.",
    )


def _question(view: "MemoryView") -> tuple[str, list[str], str, int]:
    """The question about the most pressing gap, with how many gaps there are."""
    pairs = [task for task in curation_tasks(view) if len(task.target_nodes) == 2]
    tasks = [task for task in pairs if task.task_type in ("conflict", "duplicate")]
    stale = _stale(view)
    open_questions = view.library.index.of_kind("question", view.viewer, _MOST)
    gaps = len(tasks) + len(stale) + len(open_questions)
    if tasks:
        one, other = view.library.get_all(tasks[0].target_nodes).values()
        said = f"I remember “{one.title}” and “{other.title}”."
        ask = "Which of them holds?" if tasks[0].task_type == "conflict" else "Do both say the same?"
        return f"{said} {ask}", [one.id, other.id], tasks[0].suggested_tool, gaps
    if stale:
        memory, node = stale[0]
        return (
            f"{node} has changed since I noted “{memory.title}”. Does that still hold?",
            [memory.id],
            "store_memory",
            gaps,
        )
    if open_questions:
        memory = view.library.get(open_questions[0].id)
        return memory.title, [memory.id], "store_memory", gaps
    memory = view.library.get(view.library.index.latest(view.viewer, limit=1)[0].id)
    return (
        f"I last worked with “{memory.title}”. Is there more that I should know about it?",
        [memory.id],
        "store_memory",
        0,
    )


def _stale(view: "MemoryView") -> list[tuple[Memory, str]]:
    """Memories used lately that cite something that changed."""
    cited = [memory for memory, _ in view.library.latest(50) if memory.cites]
    return [
        (memory, next(cite.node for cite in cites if cite.state in ("changed", "gone")))
        for memory, standing, _, cites in view.recall.standing_of(cited)
        if standing == "stale"
    ]
