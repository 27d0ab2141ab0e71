"""Lists of memories for people, and the ids that they type."""

from typing import TYPE_CHECKING

import msgspec

from clew.errors import NotFound
from clew.memory.model import Memory
from clew.memory.recall import Standing
from clew.memory.scope import BY_ID, Filters

if TYPE_CHECKING:
    from clew.memory.service import MemoryView


class ListedMemory(msgspec.Struct, frozen=True, kw_only=True):
    node_id: str
    kind: str
    title: str
    recorded_at: str
    standing: Standing | None
    """Null for one that was forgotten."""
    cites: tuple[str, ...]
    branch: str | None
    agent: str | None
    visibility: str


class MemoryList(msgspec.Struct, frozen=True, kw_only=True):
    memories: tuple[ListedMemory, ...]
    total: int
    truncated: bool = False


def listed(
    view: "MemoryView", *, about: str | None, kind: str | None, branch: str | None, forgotten: bool, limit: int
) -> MemoryList:
    """Memories, the latest first."""
    filters = Filters(kinds=(kind,) if kind else (), branch=branch, forgotten=forgotten)
    index, library = view.library.index, view.library
    found: list[tuple[Memory, Standing | None]]
    if forgotten:
        rows = index.latest(view.asker, filters, limit)
        found = [(library.forgotten(row.id), None) for row in rows]
        total = index.count(view.asker, filters)
    else:
        if about is not None:
            memories = list(library.get_many(view.recall.ids_at(about), filters).values())
            total = len(memories)
        else:
            memories = [memory for memory, _ in library.latest(limit, filters)]
            total = index.count(view.asker, filters)
        found = [(memory, standing) for memory, standing, _, _ in view.recall.standing_of(memories[:limit])]
    return MemoryList(
        memories=tuple(
            ListedMemory(
                node_id=memory.id,
                kind=memory.kind.value,
                title=memory.title,
                recorded_at=memory.recorded_at,
                standing=standing,
                cites=tuple(cite.node for cite in memory.cites),
                branch=memory.scope.branch,
                agent=memory.scope.agent,
                visibility=memory.scope.visibility,
            )
            for memory, standing in found
        ),
        total=total,
        truncated=total > len(found),
    )


def any_id(view: "MemoryView", given: str) -> str:
    """The id that its first digits mean, of a memory that is there or was forgotten."""
    digits = given.strip().lower().replace("-", "").removeprefix("[node_").removesuffix("]")
    return view.library.with_prefix(digits, given)


def reversal_hash(view: "MemoryView", given: str) -> str:
    """The hash that brings a forgotten memory back; a hash stands for itself."""
    if given.startswith("sha256:"):
        return given
    id = any_id(view, given)
    if id in view.library.index.visible((id,), view.asker, BY_ID):
        raise NotFound(
            f"The memory {id} is not forgotten.", hint="`clew memory history ID` lists the hashes of its changes."
        )
    return view.library.index.touched(id)[-1][1]
