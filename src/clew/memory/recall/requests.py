"""The requests of searching, injecting and listing memories."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from clew.memory.arguments import About, AnyKindName, Query, TopK
from clew.memory.recall.injection import Mode, Strictness
from clew.operation.declare import Option

CitedPlace = Annotated[
    str | None, Meta(description="Only what cites this file, symbol or id"), Option("--about", metavar="PLACE")
]


class MemoryQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Memories by words, meaning and place."""

    query: Query
    top_k: TopK = 10
    min_similarity: Annotated[float, Meta(ge=0, le=1, description="Cosine at least")] = 0.0
    about_: About = msgspec.field(name="about", default=None)
    filters: Annotated[
        dict[str, Any] | None,
        Meta(description="kinds, tags, min_importance, created_after, session, branch, domain, as_of"),
    ] = None
    perspective_lock: Annotated[dict[str, Any] | None, Meta(description="domain, agent_ids, exclude_agent_ids")] = None
    modality: Annotated[str | None, Meta(description="Only text")] = None
    include_content: Annotated[bool, Meta(description="Whole texts")] = False


class InjectionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A block of memories for the task at hand."""

    query: Query
    max_tokens: Annotated[int, Meta(ge=100, le=8_192, description="Size of the block at most")] = 2_048
    about_: About = msgspec.field(name="about", default=None)
    priority: Annotated[Literal["low", "normal", "high", "critical"], Meta(description="high: less strict")] = "normal"
    distillation_mode: Annotated[Mode, Meta(description="Shortening")] = "auto"
    include_metadata: Annotated[
        tuple[Literal["causal_links", "entailment_cones", "neighborhood", "conflicts"], ...],
        Meta(description="What to add"),
    ] = ()
    verbosity_level: Annotated[Literal[0, 1, 2], Meta(description="0 short, 2 long")] = 1

    again: Annotated[bool, Meta(description="Also what this session was shown")] = False

    @property
    def strictness(self) -> Strictness:
        """How well a memory has to fit the query. Who calls the tool asks, and is answered; `low` is as strict as the
        prompt of a hook, which nobody asked with."""
        return {"low": "covering", "normal": "fitting"}.get(self.priority, "any")  # type: ignore[return-value]


class ListQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Memories in the order in which they were recorded, the latest first."""

    about_: CitedPlace = msgspec.field(name="about", default=None)
    kind: Annotated[AnyKindName | None, Meta(description="Only of this kind")] = None
    branch: Annotated[str | None, Meta(description="Only made on this branch")] = None
    forgotten: Annotated[bool, Meta(description="Those that can be restored")] = False
    limit: Annotated[int, Meta(ge=1, le=1_000, description="Memories at most"), Option("-n")] = 50
