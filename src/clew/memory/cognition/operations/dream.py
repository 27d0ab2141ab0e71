"""Toolset cognition: dreaming, health and mending."""

from typing import Annotated, Literal

from msgspec import Meta

from clew.memory.cognition import health
from clew.memory.cognition.dreams import dream, dream_model
from clew.memory.cognition.dreams.requests import DreamRequest
from clew.memory.cognition.operations.operation import CognitionOperation
from clew.operation.call import Call


class TriggerDream(
    DreamRequest,
    CognitionOperation,
    tool="trigger_dream",
    title="Keep the memory in order",
    writes=True,
    idempotent=False,
    budget=8_000,
    trim=(
        "report.merge_proposals",
        "report.link_proposals",
        "report.blind_spots",
        "report.repeated_episodes",
        "report.stale",
        "reversal_hashes",
    ),
):
    """Runs an offline job: judges new pairs, strengthens links by use, lists stale memories (nrem); proposes links and
    one memory for repeated episodes, makes shortcuts, fits thresholds (rem). Merges and deletes nothing; every step is
    undoable, and a drop in recall on saved questions takes all back. Gives way to calls; get_dream_status tells the
    phase. blocking waits and streams phases, also of a dream that runs already."""

    blocking: Annotated[bool, Meta(description="Wait for the end")] = False

    def run(self, call: Call) -> dream_model.Dreamed:
        view = call.project.memory.view(call)
        return dream.trigger(view, self, blocking=self.blocking, report=call.progress, check=call.check)


class GetDreamStatus(
    CognitionOperation,
    tool="get_dream_status",
    title="How far the dream is",
    budget=8_000,
    trim=(
        "last_report.merge_proposals",
        "last_report.link_proposals",
        "last_report.blind_spots",
        "last_report.repeated_episodes",
        "last_report.stale",
    ),
):
    """Tells if a dream runs and its phase, the work and proposals of the last one, and recall on saved questions before
    and after it. Looking does not end it."""

    def run(self, call: Call) -> dream_model.DreamStatus:
        view = call.project.memory.view(call)
        return view.service.dreams.status(view)


class AbortDream(CognitionOperation, tool="abort_dream", title="End the dream", writes=True):
    """Ends the dream that runs, within 100 ms as a rule; steps that are done stay, and the next dream goes on with the
    others. "not dreaming" is an ordinary answer."""

    def run(self, call: Call) -> dream_model.Aborted:
        view = call.project.memory.view(call)
        return view.service.dreams.abort(view)


class GetHealthStatus(CognitionOperation, tool="get_health_status", title="What works and what does not"):
    """Tells if the parts of the memory work: learning (utl), agreement of the spaces (gwt), dream and storage, each
    with the figures it is judged by, and which tool would help. Parts that were never used are not judged."""

    subsystem: Annotated[Literal["utl", "gwt", "dream", "storage", "all"], Meta(description="Which part")] = "all"

    def run(self, call: Call) -> health.Health:
        return health.health(call.project.memory.view(call), self.subsystem)


class TriggerHealing(CognitionOperation, tool="trigger_healing", title="Mend a part", writes=True, idempotent=False):
    """Mends a part of the memory, more thoroughly with more severity: drops caches, sets weights or gauges back, gives
    up an unfinished dream, makes indexes again. Lists only what it did. No memory is touched."""

    subsystem: Annotated[health.Subsystem, Meta(description="Which part")]
    severity: Annotated[Literal["low", "medium", "high", "critical"], Meta(description="How thoroughly")] = "medium"

    def run(self, call: Call) -> health.Healed:
        return health.heal(call.project.memory.view(call), self.subsystem, self.severity)


class GetAutonomousStatus(
    CognitionOperation, tool="get_autonomous_status", title="Goal, upkeep and health", trim=("history",)
):
    """The goal, the state of every part, one score of those that can be judged, and what to do next. With metrics the
    figures behind it, with history what cognition changed last."""

    include_metrics: Annotated[bool, Meta(description="Also the figures")] = False
    include_history: Annotated[bool, Meta(description="Also the last changes")] = False
    history_count: Annotated[int, Meta(ge=1, le=100, description="Changes at most")] = 10

    def run(self, call: Call) -> health.Autonomous:
        view = call.project.memory.view(call)
        return health.autonomous(
            view, metrics=self.include_metrics, history=self.history_count if self.include_history else None
        )
