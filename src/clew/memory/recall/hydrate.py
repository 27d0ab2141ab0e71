"""The whole memory behind a citation tag."""

import re
from typing import TYPE_CHECKING

import msgspec

from clew.errors import InvalidArgument
from clew.memory.model import Memory
from clew.memory.navigation.navigate import neighborhood
from clew.memory.navigation.requests import NeighborhoodQuery
from clew.memory.views import LinkedMemory, WholeMemory, shown_as
from clew.text.display import shortened

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

_TAG = re.compile(r"\[node_([a-f0-9]+)\]")
_NEIGHBOURS = 10
PART_CHARACTERS = 5_000


def hydrate(view: "MemoryView", tag: str, offset: int = 0) -> WholeMemory:
    """A memory with the part of its text that begins at a character."""
    match = _TAG.fullmatch(tag.strip())
    if match is None:
        raise InvalidArgument(
            f"'{shortened(tag)}' is not a citation tag.",
            hint="A tag is [node_ and hexadecimal digits and ], as answers have it.",
        )
    memory = view.library.get(view.library.with_prefix(match[1][:32], tag))
    view.note_exchange("hydrate_citation", tag, [memory.id])
    found, end = whole(view, memory), offset + PART_CHARACTERS
    more = end if end < len(memory.text) else None
    return msgspec.structs.replace(found, raw_content=memory.text[offset:end], next_offset=more)


def whole(view: "MemoryView", memory: Memory) -> WholeMemory:
    """All that is known of a memory."""
    ((_, standing, successor, cites),) = view.recall.standing_of([memory])
    around = neighborhood(view.library, NeighborhoodQuery(node_id=memory.id, min_weight=0.0)).neighbors[:_NEIGHBOURS]
    return shown_as(
        WholeMemory,
        memory,
        standing=standing,
        superseded_by=successor,
        cites=cites,
        neighbors=tuple(LinkedMemory(each.node_id, each.title or each.snippet, each.link) for each in around),
    )
