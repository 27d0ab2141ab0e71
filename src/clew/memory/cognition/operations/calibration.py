"""Toolset cognition: thresholds, and learning from what happened to shown memories."""

from typing import Annotated

from msgspec import Meta

from clew.memory.arguments import AnyDomain, DomainName, Time, Timeframe
from clew.memory.cognition import steering
from clew.memory.cognition.learning import learner, thresholds
from clew.memory.cognition.learning.requests import (
    LambdaRecalibration,
    OutcomeReport,
    ThresholdPrior,
    ThresholdType,
    WeightLogQuery,
)
from clew.memory.cognition.operations.operation import CognitionOperation
from clew.operation.call import Call


class GetThresholdStatus(CognitionOperation, tool="get_threshold_status", title="Thresholds as they are"):
    """Every threshold with its prior and how sure it is, and the calibration behind it: ECE, MCE, Brier, sample size.
    Says which level of trigger_recalibration would help. Below ten observations: insufficient data."""

    domain: DomainName = "General"
    embedder_id: Annotated[Annotated[int, Meta(ge=1, le=13)] | None, Meta(description="Space 1 to 13")] = None

    def run(self, call: Call) -> thresholds.ThresholdStatus:
        return thresholds.status(call.project.memory.view(call), self.domain, self.embedder_id)


class GetCalibrationMetrics(
    CognitionOperation, tool="get_calibration_metrics", title="How well similarities foretell use"
):
    """ECE, MCE and Brier score of the similarities of shown memories against whether these were used, with targets and
    sample size. Outcomes are counted: used, ignored, corrected, undone, told."""

    timeframe: Timeframe = "24h"

    def run(self, call: Call) -> thresholds.CalibrationMetrics:
        return thresholds.metrics(call.project.memory.view(call), self.timeframe)


class TriggerRecalibration(
    CognitionOperation, tool="trigger_recalibration", title="Fit thresholds", writes=True, idempotent=False
):
    """Fits the threshold of use or the temperature to what happened to shown memories: 1 a moving average, 2 a
    temperature, 3 the best of seven bins, 4 the best of all. Refuses below ten observations. Undoable."""

    level: Annotated[int, Meta(ge=1, le=4, description="1 to 4")]
    domain: DomainName = "General"

    def run(self, call: Call) -> thresholds.Recalibration:
        return thresholds.recalibrate(call.project.memory.view(call), self.level, self.domain)


class SetThresholdPrior(
    ThresholdPrior,
    CognitionOperation,
    tool="set_threshold_prior",
    title="Set a threshold by hand",
    writes=True,
    demands=("rationale",),
):
    """Sets where a threshold begins, within its range and its order (optimal above acceptable above warning, duplicate
    above edge); what was learned for it is dropped. Undoable. explain_threshold gives the range."""

    def run(self, call: Call) -> thresholds.PriorSet:
        return thresholds.set_prior(call.project.memory.view(call), self)


class GetThresholdHistory(
    CognitionOperation,
    tool="get_threshold_history",
    title="How a threshold changed",
    trim=("history", "calibration_changes", "drift_events"),
):
    """Every change of a threshold in every domain with time, actor and reason, the earliest first; large ones and those
    that were learned are also listed apart."""

    threshold_type: ThresholdType
    since: Time = None

    def run(self, call: Call) -> thresholds.ThresholdHistory:
        return thresholds.history(call.project.memory.view(call), self.threshold_type, self.since)


class ExplainThreshold(CognitionOperation, tool="explain_threshold", title="Why a threshold is what it is"):
    """The value of a threshold, its prior, what was learned and from how many observations, its range, and why."""

    threshold_type: ThresholdType
    domain: DomainName = "General"

    def run(self, call: Call) -> thresholds.Explanation:
        return thresholds.explain(call.project.memory.view(call), self.threshold_type, self.domain)


class GetSteeringFeedback(CognitionOperation, tool="get_steering_feedback", title="Whether the memory is well kept"):
    """Three scores from -1 to 1 with their inputs: gardener (memories with links), curator (confidence), assessor
    (foresight and use of what was shown). With content, also the reward that storing it would bring; nothing is
    stored."""

    content: Annotated[
        Annotated[str, Meta(min_length=1, max_length=65_536)] | None, Meta(description="A text that might be stored")
    ] = None
    context: Annotated[
        Annotated[str, Meta(max_length=4_096)] | None, Meta(description="Accepted, and not looked at")
    ] = None
    domain: AnyDomain = None

    def run(self, call: Call) -> steering.Steering:
        return steering.feedback(call.project.memory.view(call), self.content, self.domain)


class GetLearnerState(
    CognitionOperation, tool="get_learner_state", title="How well use is foreseen", trim=("open_predictions",)
):
    """The accuracy with which the use of shown memories was foreseen, by domain, with the weights behind it, and the
    open predictions. Their outcomes go to observe_outcome."""

    domain: AnyDomain = None

    def run(self, call: Call) -> learner.LearnerState:
        return learner.state(call.project.memory.view(call), self.domain)


class ObserveOutcome(
    OutcomeReport, CognitionOperation, tool="observe_outcome", title="Tell an outcome", writes=True, idempotent=False
):
    """Tells whether a shown memory was of use: 1 for yes, 0 for no. A large error moves the weights by a small step.
    prediction_id is from get_learner_state and holds for 24 hours. Undoable."""

    def run(self, call: Call) -> learner.Observed:
        return learner.observe(call.project.memory.view(call), self)


class GetMetaLearningStatus(CognitionOperation, tool="get_meta_learning_status", title="State of the learning"):
    """Accuracy and bias of what was foreseen, the two weights (they sum to 1) beside those of the memory's stage, and
    whether a search for better ones is due."""

    include_accuracy_history: Annotated[bool, Meta(description="The last 20")] = False
    include_embedder_breakdown: Annotated[bool, Meta(description="Of either signal alone")] = False

    def run(self, call: Call) -> learner.MetaStatus:
        view = call.project.memory.view(call)
        return learner.status(
            view, with_history=self.include_accuracy_history, with_spaces=self.include_embedder_breakdown
        )


class TriggerLambdaRecalibration(
    LambdaRecalibration,
    CognitionOperation,
    tool="trigger_lambda_recalibration",
    title="Fit the weights",
    writes=True,
    idempotent=False,
):
    """Moves the weights of novelty and similarity towards what happened: one step along the mean error, or with
    force_bayesian the best of 81 that are tried. Refuses below ten outcomes; dry_run changes nothing. Undoable."""

    def run(self, call: Call) -> learner.Recalibrated:
        return learner.recalibrate(call.project.memory.view(call), self)


class GetMetaLearningLog(
    WeightLogQuery, CognitionOperation, tool="get_meta_learning_log", title="How the weights changed", trim=("events",)
):
    """Every change of the two weights behind the predictions, the latest first, with time, values before and after,
    actor and reason."""

    def run(self, call: Call) -> learner.MetaLog:
        return learner.log(call.project.memory.view(call), self)
