"""The requests of walking from memory to memory."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from clew.memory.arguments import NodeId
from clew.memory.model import EdgeType

PathType = Literal["causal", "any"]


class NeighborhoodQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The memories that are linked to one."""

    node_id: NodeId
    depth: Annotated[int, Meta(ge=1, le=3, description="Steps")] = 1
    edge_types: Annotated[tuple[EdgeType, ...] | None, Meta(description="Only such links")] = None
    min_weight: Annotated[float, Meta(ge=0, le=1, description="Weight at least")] = 0.3


class CausalPathQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The chain of causes between two memories."""

    source_id: NodeId
    target_id: NodeId
    max_hops: Annotated[int, Meta(ge=1, le=10, description="Hops at most")] = 5
    direction: Annotated[Literal["forward", "backward", "bidirectional"], Meta(description="Along causes, or back")] = (
        "forward"
    )
    path_type: Annotated[PathType, Meta(description="Which links are followed")] = "causal"


class EntailmentQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """The more general and the more special memories of one."""

    node_id: NodeId
    direction: Annotated[Literal["ancestors", "descendants", "both"], Meta(description="Which")] = "both"
    embedding_space: Annotated[Literal["E1", "E5", "E7"], Meta(description="In which space similar ones are found")] = (
        "E1"
    )


class RecentQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The memories that were stored or shown last."""

    limit: Annotated[int, Meta(ge=1, le=100, description="Memories at most")] = 20
    since: Annotated[str | None, Meta(description="ISO 8601")] = None
    session_only: Annotated[bool, Meta(description="Only of this session")] = False


class CausalQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """The consequences of an action or event."""

    action: Annotated[str, Meta(min_length=1, max_length=4_096, description="A memory, or words")]
    outcome: Annotated[str | None, Meta(description="Only what leads there")] = None
    intervention_type: Annotated[
        Literal["observe", "do", "counterfactual"], Meta(description="How the question is meant")
    ] = "observe"
