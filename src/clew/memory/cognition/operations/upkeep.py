"""Toolset cognition: goals, drift, pruning and consolidation."""

from typing import Annotated

from msgspec import Meta

from clew.memory.arguments import Confidence
from clew.memory.cognition.dreams import upkeep
from clew.memory.cognition.dreams.requests import ConsolidationRequest, PruneQuery, PruneRequest
from clew.memory.cognition.goals import drift, goals
from clew.memory.cognition.goals.requests import DriftHistoryQuery, DriftQuery, TopicQuery
from clew.memory.cognition.operations.operation import CognitionOperation
from clew.operation.call import Call


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
    TopicQuery, CognitionOperation, tool="discover_sub_goals", title="Topics of the memory", trim=("discovered_goals",)
):
    """Topics among the latest memories, or those named, each with its words, how coherent it is and the memories that
    stand for it."""

    def run(self, call: Call) -> goals.SubGoals:
        return goals.sub_goals(call.project.memory.view(call), self)


class GetAlignmentDrift(
    DriftQuery,
    CognitionOperation,
    tool="get_alignment_drift",
    title="How far the work moved",
    trim=("history", "recommendations"),
):
    """The similarity of the memories of a time to the goal, or to what was stored before, in each space: 1 is as like
    as the old ones are among themselves. Says which spaces drifted most and how it goes on."""

    def run(self, call: Call) -> drift.Drift:
        return drift.drift(call.project.memory.view(call), self)


class GetDriftHistory(
    DriftHistoryQuery, CognitionOperation, tool="get_drift_history", title="Drift over time", trim=("history",)
):
    """Drift over time in equal spans, the earliest first, with the trend. Spans without memories are left out."""

    def run(self, call: Call) -> drift.DriftHistory:
        return drift.history(call.project.memory.view(call), self)


class TriggerDriftCorrection(
    CognitionOperation, tool="trigger_drift_correction", title="Let the goal follow", writes=True, idempotent=False
):
    """Takes three of the latest memories into those that stand for the goal, if the work moved on. Does nothing without
    drift, unless forced. No memory is changed. Undoable."""

    force: Annotated[bool, Meta(description="Also without drift")] = False
    target_alignment: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None, Meta(description="Correct below this; default 0.85")
    ] = None

    def run(self, call: Call) -> drift.GoalCorrection:
        return drift.correct(call.project.memory.view(call), self.target_alignment, force=self.force)


class GetPruningCandidates(
    PruneQuery, CognitionOperation, tool="get_pruning_candidates", title="What might be forgotten", trim=("candidates",)
):
    """Of the oldest memories, those that are redundant, linked to nothing, off the goal, unused for 90 days or
    doubtful, the most pressing first. Only proposed; execute_prune forgets what you name. Pinned ones are left
    alone."""

    def run(self, call: Call) -> upkeep.PruneCandidates:
        return upkeep.prune_candidates(call.project.memory.view(call), self)


class ExecutePrune(
    PruneRequest,
    CognitionOperation,
    tool="execute_prune",
    title="Forget what was proposed",
    writes=True,
    destructive=True,
    idempotent=False,
):
    """Forgets the memories that you name; each can be restored for 30 days by its reversal_hash. What cannot be
    forgotten is reported, the others are. cascade also takes what is a part of them and of nothing else."""

    def run(self, call: Call) -> upkeep.Pruned:
        return upkeep.execute_prune(call.project.memory.view(call), self)


class TriggerConsolidation(
    ConsolidationRequest,
    CognitionOperation,
    tool="trigger_consolidation",
    title="Merge what says the same",
    writes=True,
    idempotent=False,
    trim=("candidates_sample",),
):
    """Pairs of the latest memories that say the same, judged one by one: other numbers or a negation are no duplicates.
    Proposes only; with dry_run=false each pair is merged into the more important one, undoably."""

    def run(self, call: Call) -> upkeep.Consolidation:
        return upkeep.consolidate(call.project.memory.view(call), self, call.check)
