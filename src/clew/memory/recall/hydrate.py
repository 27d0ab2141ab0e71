"""The whole memory behind a citation tag."""

import re
from typing import TYPE_CHECKING, Any

import msgspec

from clew.errors import InvalidArgument
from clew.memory.model import Memory
from clew.memory.navigation.navigate import neighborhood
from clew.memory.navigation.requests import NeighborhoodQuery
from clew.memory.places import CiteState
from clew.text.display import shortened

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

_TAG = re.compile(r"\[node_([a-f0-9]+)\]")
_NEIGHBOURS = 10
PART_CHARACTERS = 5_000


class Neighbour(msgspec.Struct, frozen=True):
    node_id: str
    title: str
    link: str


class Hydrated(msgspec.Struct, frozen=True, kw_only=True):
    citation_tag: str
    node_id: str
    kind: str
    title: str
    raw_content: str
    next_offset: int | None = None
    """Where the rest of the text begins; null where this is all of it."""
    rationale: str
    importance: float
    confidence: float | None
    created_at: str
    standing: str
    superseded_by: str | None
    valid_from: str | None
    valid_to: str | None
    cites: tuple[CiteState, ...]
    tags: tuple[str, ...]
    domain: str
    notes: str
    trust: str
    agent: str | None
    session: str | None
    branch: str | None
    visibility: str
    flags: tuple[str, ...]
    metadata: dict[str, Any]
    neighbors: tuple[Neighbour, ...]
    truncated: bool = False


def hydrate(view: "MemoryView", tag: str, offset: int = 0) -> Hydrated:
    """A memory with the part of its text that begins at a character."""
    match = _TAG.fullmatch(tag.strip())
    if match is None:
        raise InvalidArgument(
            f"'{shortened(tag)}' is no citation tag.",
            hint="A tag is [node_ and hexadecimal digits and ], as answers have it.",
        )
    memory = view.library.get(view.library.with_prefix(match[1][:32], tag))
    view.note_exchange("hydrate_citation", tag, [memory.id])
    found, end = whole(view, memory), offset + PART_CHARACTERS
    more = end if end < len(memory.text) else None
    return msgspec.structs.replace(found, raw_content=memory.text[offset:end], next_offset=more)


def whole(view: "MemoryView", memory: Memory) -> Hydrated:
    """All that is known of a memory."""
    ((_, standing, successor, cites),) = view.recall.standing_of([memory])
    around = neighborhood(view.library, NeighborhoodQuery(node_id=memory.id, min_weight=0.0)).neighbors[:_NEIGHBOURS]
    return Hydrated(
        citation_tag=memory.tag,
        node_id=memory.id,
        kind=memory.kind.value,
        title=memory.title,
        raw_content=memory.text,
        rationale=memory.rationale,
        importance=memory.importance,
        confidence=memory.confidence,
        created_at=memory.recorded_at,
        standing=standing,
        superseded_by=successor,
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        cites=cites,
        tags=memory.tags,
        domain=memory.domain,
        notes=memory.notes,
        trust=memory.origin.trust.value,
        agent=memory.scope.agent,
        session=memory.origin.session,
        branch=memory.scope.branch,
        visibility=memory.scope.visibility,
        flags=memory.flags,
        metadata=memory.metadata,
        neighbors=tuple(Neighbour(each.node_id, each.title, each.link) for each in around),
    )
