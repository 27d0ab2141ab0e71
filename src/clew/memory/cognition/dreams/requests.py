"""The requests of dreams."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from clew.memory.arguments import Confidence, NodeId
from clew.operation.one_line import MANY_LINES

PruneReason = Literal["staleness", "low_alignment", "redundancy", "orphan"]
Phase = Literal["nrem", "rem", "full", "full_cycle"]


class DreamRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A dream: the offline job that keeps the memory in order."""

    phase: Annotated[Phase, Meta(description="Which part; full and full_cycle are the same")] = "full_cycle"
    rationale: Annotated[str, Meta(max_length=1_024, description="Why"), MANY_LINES] = ""
    duration_minutes: Annotated[float, Meta(ge=1, le=10, description="Minutes at most")] = 5
    synthetic_query_count: Annotated[int, Meta(ge=10, le=500, description="Memories each step looks at")] = 100
    abort_on_query: Annotated[bool, Meta(description="End when a question comes; what is done stays")] = True
    force: Annotated[bool, Meta(description="Also within a minute of the last")] = False


class PruneQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Memories that might be forgotten."""

    limit: Annotated[int, Meta(ge=1, le=1_000, description="Candidates at most")] = 20
    min_staleness_days: Annotated[float, Meta(ge=0, le=36_500, description="Older than this")] = 30
    min_alignment: Confidence = 0.4


class PruneRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Memories that are forgotten together."""

    node_ids: Annotated[tuple[NodeId, ...], Meta(max_length=100, description="Memories, 100 at most")]
    reason: Annotated[PruneReason, Meta(description="Why")]
    cascade: Annotated[bool, Meta(description="Also their parts")] = False


class ConsolidationRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs of memories that say the same."""

    max_memories: Annotated[int, Meta(ge=1, le=10_000, description="Latest memories to look at")] = 100
    strategy: Annotated[
        Literal["similarity", "temporal", "semantic"],
        Meta(description="similarity by all there is, temporal within an hour, semantic by vectors only"),
    ] = "similarity"
    min_similarity: Confidence = 0.85
    dry_run: Annotated[bool, Meta(description="Only propose")] = True
