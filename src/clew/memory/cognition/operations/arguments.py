"""Arguments that several tools of cognition have."""

from typing import Annotated, Literal

from msgspec import Meta

from clew.memory.model import Domain
from clew.operation.declare import Freshness, Operation, Toolset

DomainName = Annotated[Domain, Meta(description="Domain of memories")]
AnyDomain = Annotated[Domain | None, Meta(description="Only memories of this domain")]
Confidence = Annotated[float, Meta(ge=0, le=1, description="0 to 1")]
Time = Annotated[Annotated[str, Meta(max_length=64)] | None, Meta(description="ISO 8601")]
Span = Literal["1h", "24h", "7d", "30d"]
Timeframe = Annotated[Span, Meta(description="How far back")]
Weights = Annotated[tuple[Annotated[float, Meta(ge=0)], ...], Meta(min_length=13, max_length=13)]


class CognitionOperation(Operation, toolset=Toolset.COGNITION, needs=Freshness.NONE):
    """What measures the memory or keeps it in order."""
