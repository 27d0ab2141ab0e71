"""Arguments that several requests of the memory, and of its cognition, have."""

from typing import Annotated, Literal

from msgspec import Meta

from clew.memory.model import SHORTEST_RATIONALE, Domain
from clew.memory.scope import BY_A_PERSON
from clew.operation.declare import Option
from clew.operation.one_line import MANY_LINES

NodeId = Annotated[str, Meta(min_length=1, max_length=80, description="Id of a memory")]
Rationale = Annotated[str, Meta(max_length=1_000, description="Why, in 10 to 1,000 characters"), MANY_LINES]
SessionId = Annotated[Annotated[str, Meta(max_length=128)] | None, Meta(description="Default: this connection")]
AgentId = Annotated[Annotated[str, Meta(max_length=128)] | None, Meta(description="Who asks")]
Query = Annotated[str, Meta(min_length=1, max_length=4_096, description="Words or a question")]
Share = Annotated[float, Meta(ge=0, le=1)]
TopK = Annotated[int, Meta(ge=1, le=100, description="Results at most")]
About = Annotated[str | None, Meta(description="Only what cites this file, path::name or id"), Option(metavar="PLACE")]
KindName = Literal["fact", "decision", "preference", "procedure", "pitfall", "question"]
AnyKindName = Literal[KindName, "episode"]
"""Episodes are made by hooks alone."""
Why = Annotated[str | None, Meta(description="Why"), MANY_LINES, Option(metavar="TEXT")]

DomainName = Annotated[Domain, Meta(description="Domain of memories")]
AnyDomain = Annotated[Domain | None, Meta(description="Only memories of this domain")]
Confidence = Annotated[float, Meta(ge=0, le=1, description="0 to 1")]
Time = Annotated[Annotated[str, Meta(max_length=64)] | None, Meta(description="ISO 8601")]
Span = Literal["1h", "24h", "7d", "30d"]
Timeframe = Annotated[Span, Meta(description="How far back")]
Weights = Annotated[tuple[Annotated[float, Meta(ge=0)], ...], Meta(min_length=13, max_length=13)]


def reason_of(why: str | None) -> str:
    """The reason of a change at the command line, where a word is enough."""
    given = (why or "").strip()
    return given if len(given) >= SHORTEST_RATIONALE else ": ".join(filter(None, (BY_A_PERSON, given)))
