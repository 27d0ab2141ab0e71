"""The requests of the history of memories."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

LogLevel = Literal["error", "warn", "info", "debug"]
Component = Literal["all", "storage", "retrieval", "curation", "dream", "gwt"]


class TombstoneQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Forgotten memories that can still be restored."""

    query: Annotated[str | None, Meta(description="Words that it has to hold")] = None
    deleted_after: Annotated[str | None, Meta(description="ISO 8601")] = None
    limit: Annotated[int, Meta(ge=1, le=500, description="Memories at most")] = 20


class LogQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Entries of the log of the memory."""

    level: Annotated[LogLevel, Meta(description="This and what is more serious")] = "info"
    limit: Annotated[int, Meta(ge=1, le=1_000, description="Entries at most")] = 100
    component: Annotated[Component, Meta(description="Only of this part")] = "all"
