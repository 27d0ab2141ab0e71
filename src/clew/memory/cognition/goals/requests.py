"""The requests of goals."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from clew.memory.arguments import Confidence, NodeId, Timeframe, Weights
from clew.memory.cognition.learning.requests import Fusion, ProfileId

GroupName = Literal["factual", "temporal", "causal", "relational", "qualitative", "implementation"]
Rank = Annotated[int, Meta(ge=1, le=512)]
VectorStrategy = Literal[
    "cosine", "euclidean", "synergy_weighted", "group_hierarchical", "cross_correlation_dominant", "tucker_compressed",
    "adaptive",
]  # fmt: skip
VectorScope = Literal["full", "purpose_vector_only", "cross_correlations_only", "group_alignments_only"]
GoalId = Annotated[Annotated[str, Meta(min_length=1, max_length=80)] | None, Meta(description="Id of a goal")]
SomeIds = Annotated[tuple[NodeId, ...], Meta(max_length=500, description="Only these memories")]
Fingerprint = Annotated[
    Annotated[str, Meta(max_length=80)] | dict[str, Any], Meta(description='Id of a memory, or {"content": text}')
]


class TeleologicalQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Memories by the vector of their alignments."""

    query_content: Annotated[
        Annotated[str, Meta(min_length=1, max_length=4_096)] | None, Meta(description="A text, or")
    ] = None
    query_vector_id: Annotated[NodeId | None, Meta(description="a memory")] = None
    strategy: Annotated[VectorStrategy, Meta(description="How vectors are compared")] = "adaptive"
    scope: Annotated[VectorScope, Meta(description="Which parts of them")] = "full"
    specific_groups: Annotated[tuple[GroupName, ...], Meta(description="Only these groups")] = ()
    specific_embedder: Annotated[
        Annotated[int, Meta(ge=0, le=12)] | None, Meta(description="Also this space, 0 to 12")
    ] = None
    weight_purpose: Confidence = 0.4
    weight_correlations: Confidence = 0.35
    weight_groups: Confidence = 0.15
    min_similarity: Confidence = 0.3
    max_results: Annotated[int, Meta(ge=1, le=1_000, description="Results at most")] = 20
    include_breakdown: Annotated[bool, Meta(description="Parts of each similarity")] = True


class VectorRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A text whose alignment with the goal is computed."""

    content: Annotated[str, Meta(min_length=1, max_length=65_536, description="The text")]
    profile_id: ProfileId = None
    compute_tucker: Annotated[bool, Meta(description="Also the singular values")] = False
    tucker_ranks: Annotated[tuple[Rank, Rank, Rank], Meta(description="At most so many")] = (4, 4, 128)
    include_per_embedder: Annotated[bool, Meta(description="Also by name")] = False


class FusionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A memory whose alignments become one number."""

    memory_id: NodeId
    fusion_method: Annotated[Fusion, Meta(description="How")] = "hierarchical"
    profile_id: ProfileId = None
    custom_weights: Annotated[Weights | None, Meta(description="13 numbers from 0 up")] = None
    apply_synergy: Annotated[bool, Meta(description="Weigh by synergy")] = True
    store_result: Annotated[bool, Meta(description="Keep it")] = True


class TopicQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Topics among memories."""

    min_confidence: Confidence = 0.6
    max_goals: Annotated[int, Meta(ge=1, le=20, description="Topics at most")] = 5
    parent_goal_id: GoalId = None
    memory_ids: SomeIds = ()


class DriftQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The drift of the memories of a time."""

    timeframe: Timeframe = "24h"
    include_history: Annotated[bool, Meta(description="Also the five spans before")] = False
    memory_ids: SomeIds = ()


class DriftHistoryQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The drift of each part of a time."""

    goal_id: GoalId = None
    time_range: Annotated[Literal["1h", "6h", "24h", "7d", "30d", "all"], Meta(description="How far back")] = "24h"
    limit: Annotated[int, Meta(ge=1, le=100, description="Spans at most")] = 50
    include_per_embedder: Annotated[bool, Meta(description="Each space")] = False
    compute_deltas: Annotated[bool, Meta(description="Change from span to span")] = True


class DeltaQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Two fingerprints that are compared."""

    old_fingerprint: Fingerprint
    new_fingerprint: Fingerprint
    vertex_id: Annotated[NodeId | None, Meta(description="Memory that both are about")] = None
    johari_threshold: Confidence = 0.5
    include_diagnostics: Annotated[bool, Meta(description="What each space compared and found")] = False
