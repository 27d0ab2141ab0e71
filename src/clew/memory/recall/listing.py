"""Lists of memories for people, and the ids that they type."""

from typing import TYPE_CHECKING

import msgspec

from clew.errors import NotFound
from clew.memory.model import Memory
from clew.memory.recall.requests import ListQuery
from clew.memory.scope import BY_ID, MemoryFilters
from clew.memory.texts.block import is_injectable
from clew.memory.views import ListedMemory, Validity, shown_as

if TYPE_CHECKING:
    from clew.memory.service import MemoryView


_MOST_AT_A_PLACE = 200
_LOOKED_AT = 20
"""Decisions that are looked at for those that hold."""


class MemoryList(msgspec.Struct, frozen=True, kw_only=True):
    memories: tuple[ListedMemory, ...]
    total: int
    truncated: bool = False


def listed(view: "MemoryView", asked: ListQuery) -> MemoryList:
    """Memories, the latest first."""
    filters = MemoryFilters(kinds=(asked.kind,) if asked.kind else (), branch=asked.branch, forgotten=asked.forgotten)
    index, library, limit = view.library.index, view.library, asked.limit
    found: list[tuple[Memory, Validity | None]]
    if asked.forgotten:
        rows = index.latest(view.viewer, filters, limit)
        found = [(library.forgotten(row.id), None) for row in rows]
        total = index.count(view.viewer, filters)
    else:
        if asked.about_ is not None:
            ids = list(index.visible(view.recall.ids_at(asked.about_), view.viewer, filters))
            memories = list(library.get_many(ids[:limit], filters).values())
            total = len(ids)
        else:
            memories = [memory for memory, _ in library.latest(limit, filters)]
            total = index.count(view.viewer, filters)
        # A damaged one is named beside the list; no limit would show it.
        total -= min(limit, total) - len(memories)
        found = [(memory, standing) for memory, standing, _, _ in view.recall.standing_of(memories)]
    return MemoryList(
        memories=tuple(_listed(memory, standing) for memory, standing in found),
        total=total,
        truncated=total > len(found),
    )


def _listed(memory: Memory, standing: Validity | None) -> ListedMemory:
    return shown_as(ListedMemory, memory, standing=standing, cites=tuple(cite.node for cite in memory.cites))


_FIRST = ("decision", "pitfall")


def at_place(view: "MemoryView", place: str, limit: int) -> tuple[ListedMemory, ...]:
    """List the memories about a place: decisions and pitfalls first, then the rest, the latest of each first."""
    found = listed(view, ListQuery(about_=place, limit=_MOST_AT_A_PLACE)).memories
    return tuple(sorted(found, key=lambda each: (each.standing != "current", each.kind not in _FIRST)))[:limit]


def decisions(view: "MemoryView", limit: int) -> tuple[ListedMemory, ...]:
    """The latest current decisions and pitfalls that may be shown to somebody who did not ask for them."""
    filters = MemoryFilters(kinds=_FIRST)
    memories = [memory for memory, _ in view.library.latest(_LOOKED_AT, filters)]
    shown = {memory.id for memory in memories if is_injectable(memory)}
    found = [(memory, standing) for memory, standing, _, _ in view.recall.standing_of(memories) if memory.id in shown]
    return tuple(_listed(memory, standing) for memory, standing in found if standing == "current")[:limit]


def reversal_hash(view: "MemoryView", given: str) -> str:
    """The hash that brings a forgotten memory back; a given hash is returned as it is."""
    if given.startswith("sha256:"):
        return given
    id = view.library.any_named(given)
    if id in view.library.index.visible((id,), view.viewer, BY_ID):
        raise NotFound(
            f"The memory {id} is not forgotten.", hint="`clew memory history ID` lists the hashes of its changes."
        )
    return view.library.index.touched(id)[-1][1]
