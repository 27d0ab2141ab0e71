"""The request of storing a memory."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from clew.memory.arguments import KindName, Rationale
from clew.operation.one_line import MANY_LINES

LinkType = Literal["related", "supports", "contradicts", "causes", "caused_by", "part_of", "has_part", "supersedes"]


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A text to remember, with its reason and the places that it is about."""

    content: Annotated[str, Meta(min_length=1, max_length=65_536, description="The text"), MANY_LINES]
    rationale: Rationale = ""
    importance: Annotated[float, Meta(ge=0, le=1, description="0 to 1")] = 0.5
    kind: Annotated[KindName | None, Meta(description="Default: by its wording")] = None
    about_: Annotated[tuple[str, ...], Meta(description="Files, path:12-20, path::name, ids")] = msgspec.field(
        name="about", default=()
    )
    tags: Annotated[tuple[str, ...], Meta(description="Words")] = ()
    link_to: Annotated[tuple[str, ...], Meta(description="Memories it is linked to")] = ()
    link_type: Annotated[LinkType, Meta(description="How")] = "related"
    metadata: Annotated[
        dict[str, Any], Meta(description="Also domain, confidence, visibility (private or team), title")
    ] = msgspec.field(default_factory=dict)
    """Some of it means something; see `Details`."""
