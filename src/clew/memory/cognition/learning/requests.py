"""The requests of learning."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from clew.memory.arguments import AnyDomain, Confidence, DomainName, NodeId, Rationale, Time, Weights

ThresholdName = Literal[
    "optimal", "acceptable", "warning", "duplicate", "edge", "johari", "kuramoto", "entropy_high", "entropy_low",
    "tool_gate",
]  # fmt: skip
ThresholdType = Annotated[ThresholdName, Meta(description="Which threshold")]
LogEvent = Literal["lambda_adjustment", "bayesian_escalation", "accuracy_alert", "accuracy_recovery", "weight_clamped"]
Relevance = Literal["relevant", "not_relevant", "partially_relevant"]
UpdateScope = Literal["all_pairs", "high_synergy_only", "contributing_pairs"]
TaskType = Literal["code_implementation", "research", "creative", "analysis", "debugging", "documentation", "custom"]
ProfileId = Annotated[Annotated[str, Meta(min_length=1, max_length=80)] | None, Meta(description="Id of a profile")]
Fusion = Literal["linear", "attention", "gated", "hierarchical", "tucker"]


class ThresholdPrior(msgspec.Struct, frozen=True, kw_only=True):
    """A threshold that somebody sets by hand."""

    threshold_type: ThresholdType
    value: Confidence
    domain: DomainName = "General"
    rationale: Rationale = ""


class OutcomeReport(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a prediction: the use of a shown memory."""

    prediction_id: Annotated[str, Meta(min_length=1, max_length=80, description="From get_learner_state")]
    actual_outcome: Confidence
    context: Annotated[dict[str, Any], Meta(description="domain, query_type")] = msgspec.field(default_factory=dict)


class LambdaRecalibration(msgspec.Struct, frozen=True, kw_only=True):
    """A fit of the weights of novelty and similarity."""

    force_bayesian: Annotated[bool, Meta(description="Try all instead of one step")] = False
    domain: AnyDomain = None
    dry_run: Annotated[bool, Meta(description="Only say what would change")] = False


class WeightLogQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The changes of the two weights behind the predictions."""

    start_time: Time = None
    end_time: Time = None
    event_type: Annotated[LogEvent | None, Meta(description="Only such events")] = None
    domain: AnyDomain = None
    limit: Annotated[int, Meta(ge=1, le=1_000, description="Events at most")] = 100
    offset: Annotated[int, Meta(ge=0, le=1_000_000, description="Events to pass over")] = 0


class SynergyFeedback(msgspec.Struct, frozen=True, kw_only=True):
    """The relevance of one memory as a result for another."""

    query_vector_id: NodeId
    result_vector_id: NodeId
    feedback: Annotated[Relevance, Meta(description="Whether it was relevant")]
    relevance_score: Annotated[Annotated[float, Meta(ge=0, le=1)] | None, Meta(description="How much, 0 to 1")] = None
    learning_rate: Annotated[float, Meta(ge=0.001, le=0.5, description="0.001 to 0.5")] = 0.01
    update_scope: Annotated[UpdateScope, Meta(description="Which pairs")] = "contributing_pairs"


class ProfileRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A profile of weights that is created, read, changed, deleted or listed."""

    action: Annotated[Literal["create", "read", "update", "delete", "list"], Meta(description="What to do")]
    profile_id: ProfileId = None
    name: Annotated[Annotated[str, Meta(min_length=1, max_length=256)] | None, Meta(description="For people")] = None
    task_type: Annotated[TaskType | None, Meta(description="Kind of task")] = None
    embedder_weights: Annotated[Weights | None, Meta(description="13 numbers from 0 to 1")] = None
    group_priorities: Annotated[dict[str, float] | None, Meta(description="By group, 0 to 1")] = None
    fusion_strategy: Annotated[Fusion | None, Meta(description="How to fuse")] = None

    @property
    def given(self) -> dict[str, Any]:
        """The fields of the profile that were passed."""
        fields = ("name", "task_type", "embedder_weights", "group_priorities", "fusion_strategy")
        return {field: value for field in fields if (value := getattr(self, field)) is not None}
