"""Toolset cognition: goals, drift, pruning and consolidation."""

from typing import Annotated, Literal

from msgspec import Meta

from clew.memory.arguments import Confidence, NodeId, Timeframe
from clew.memory.cognition.dreams import upkeep
from clew.memory.cognition.goals import drift, goals
from clew.memory.cognition.operations.operation import CognitionOperation
from clew.operation.call import Call

GoalId = Annotated[Annotated[str, Meta(min_length=1, max_length=80)] | None, Meta(description="Id of a goal")]
SomeIds = Annotated[tuple[NodeId, ...], Meta(max_length=500, description="Only these memories")]


class AutoBootstrapNorthStar(
    CognitionOperation, tool="auto_bootstrap_north_star", title="Find the goal", writes=True, idempotent=False
):
    """Finds what most of the latest memories are about and takes that topic as the goal, named by its words. Nothing is
    taken where no topic is clear enough. Undoable. Next, get_alignment_drift and discover_sub_goals."""

    confidence_threshold: Confidence = 0.7
    max_candidates: Annotated[int, Meta(ge=1, le=100, description="Topics to look at")] = 10

    def run(self, call: Call) -> goals.Bootstrap:
        return goals.bootstrap(call.project.memory.view(call), self.confidence_threshold, self.max_candidates)


class DiscoverSubGoals(
    CognitionOperation, tool="discover_sub_goals", title="Topics of the memory", trim=("discovered_goals",)
):
    """Topics among the latest memories, or those named, each with its words, how coherent it is and the memories that
    stand for it."""

    min_confidence: Confidence = 0.6
    max_goals: Annotated[int, Meta(ge=1, le=20, description="Topics at most")] = 5
    parent_goal_id: GoalId = None
    memory_ids: SomeIds = ()

    def run(self, call: Call) -> goals.SubGoals:
        return goals.sub_goals(
            call.project.memory.view(call), self.min_confidence, self.max_goals, self.parent_goal_id, self.memory_ids
        )


class GetAlignmentDrift(
    CognitionOperation,
    tool="get_alignment_drift",
    title="How far the work moved",
    trim=("history", "recommendations"),
):
    """How like the goal, or what was stored before, the memories of a time are in each space: 1 is as like as the old
    ones are among themselves. Says which spaces drifted most and how it goes on."""

    timeframe: Timeframe = "24h"
    include_history: Annotated[bool, Meta(description="Also the five spans before")] = False
    memory_ids: SomeIds = ()

    def run(self, call: Call) -> drift.Drift:
        view = call.project.memory.view(call)
        return drift.drift(view, self.timeframe, self.memory_ids, with_history=self.include_history)


class GetDriftHistory(CognitionOperation, tool="get_drift_history", title="Drift over time", trim=("history",)):
    """The drift of each part of a time, the earliest first, with the trend. Spans without memories are left out."""

    goal_id: GoalId = None
    time_range: Annotated[Literal["1h", "6h", "24h", "7d", "30d", "all"], Meta(description="How far back")] = "24h"
    limit: Annotated[int, Meta(ge=1, le=100, description="Spans at most")] = 50
    include_per_embedder: Annotated[bool, Meta(description="Each space")] = False
    compute_deltas: Annotated[bool, Meta(description="Change from span to span")] = True

    def run(self, call: Call) -> drift.DriftHistory:
        return drift.history(
            call.project.memory.view(call),
            self.goal_id,
            self.time_range,
            self.limit,
            per_embedder=self.include_per_embedder,
            deltas=self.compute_deltas,
        )


class TriggerDriftCorrection(
    CognitionOperation, tool="trigger_drift_correction", title="Let the goal follow", writes=True, idempotent=False
):
    """Where the work moved on, takes three of the latest memories into those that stand for the goal. Does nothing
    without drift, unless forced. No memory is changed. Undoable."""

    force: Annotated[bool, Meta(description="Also without drift")] = False
    target_alignment: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None, Meta(description="Correct below this; default 0.85")
    ] = None

    def run(self, call: Call) -> drift.Correction:
        return drift.correct(call.project.memory.view(call), self.target_alignment, force=self.force)


class GetPruningCandidates(
    CognitionOperation, tool="get_pruning_candidates", title="What might be forgotten", trim=("candidates",)
):
    """Of the oldest memories, those that are redundant, linked to nothing, off the goal, unused for 90 days or
    doubtful, the most pressing first. Only proposed; execute_prune forgets what you name. Pinned ones are left
    alone."""

    limit: Annotated[int, Meta(ge=1, le=1_000, description="Candidates at most")] = 20
    min_staleness_days: Annotated[float, Meta(ge=0, le=36_500, description="Older than this")] = 30
    min_alignment: Confidence = 0.4

    def run(self, call: Call) -> upkeep.PruneCandidates:
        view = call.project.memory.view(call)
        return upkeep.prune_candidates(view, self.limit, self.min_staleness_days, self.min_alignment)


class ExecutePrune(
    CognitionOperation,
    tool="execute_prune",
    title="Forget what was proposed",
    writes=True,
    destructive=True,
    idempotent=False,
):
    """Forgets the memories that you name; each can be restored for 30 days by its reversal_hash. What cannot be
    forgotten is reported, the others are. cascade also takes what is a part of them and of nothing else."""

    node_ids: Annotated[tuple[NodeId, ...], Meta(max_length=100, description="Memories, 100 at most")]
    reason: Annotated[upkeep.PruneReason, Meta(description="Why")]
    cascade: Annotated[bool, Meta(description="Also their parts")] = False

    def run(self, call: Call) -> upkeep.Pruned:
        return upkeep.execute_prune(call.project.memory.view(call), self.node_ids, self.reason, cascade=self.cascade)


class TriggerConsolidation(
    CognitionOperation,
    tool="trigger_consolidation",
    title="Merge what says the same",
    writes=True,
    idempotent=False,
    trim=("candidates_sample",),
):
    """Pairs of the latest memories that say the same, judged one by one: other numbers or a negation are no duplicates.
    Proposes only; with dry_run=false each pair is merged into the more important one, undoably."""

    max_memories: Annotated[int, Meta(ge=1, le=10_000, description="Latest memories to look at")] = 100
    strategy: Annotated[
        Literal["similarity", "temporal", "semantic"],
        Meta(description="similarity by all there is, temporal within an hour, semantic by vectors only"),
    ] = "similarity"
    min_similarity: Confidence = 0.85
    dry_run: Annotated[bool, Meta(description="Only propose")] = True

    def run(self, call: Call) -> upkeep.Consolidation:
        return upkeep.consolidate(
            call.project.memory.view(call),
            self.max_memories,
            self.strategy,
            self.min_similarity,
            dry_run=self.dry_run,
            check=call.check,
        )
