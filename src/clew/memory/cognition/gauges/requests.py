"""The requests of gauges."""

from typing import Annotated

import msgspec
from msgspec import Meta

from clew.memory.arguments import Confidence, NodeId


class BroadcastRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that is put into the workspace."""

    memory_id: NodeId
    importance: Confidence = 0.8
    alignment: Confidence = 0.8
    force: Annotated[bool, Meta(description="Whatever r is")] = False
