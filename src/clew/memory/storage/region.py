"""Memories as a region of the graph: they stay in their store and answer by query.

| edge | from | to |
|---|---|---|
| cites | memory | requirement, assertion, test, section, file, code |
| related, supports, contradicts, supersedes, causes, part_of, next | memory | memory |

Private memories are no part of it, because a walk of the graph has no owner.
"""

from collections.abc import Callable, Iterator

from clew.graph.model import Edge, EdgeKind, Node, NodeKind
from clew.graph.region import Region
from clew.memory.model import Link, Memory, MemoryLinkKind
from clew.memory.places import FILE, LINES, SYMBOL
from clew.memory.storage.library import GRAPH_PREFIX as PREFIX
from clew.memory.storage.library import MemoryReader

_PAGE = 500
_CITING = (MemoryLinkKind.CITES, MemoryLinkKind.ABOUT)


class RememberedRegion(Region):
    def __init__(self, library: Callable[[], MemoryReader]) -> None:
        self._library = library
        """Opens the memory when it is first asked."""

    def get_node(self, id: str) -> Node | None:
        own = id.removeprefix(PREFIX)
        memory = self._library().get_many((own,)).get(own) if id.startswith(PREFIX) else None
        return None if memory is None else _node(memory)

    def nodes_by_kind(self, kind: NodeKind) -> Iterator[Node]:
        if kind is not NodeKind.MEMORY:
            return
        library, offset = self._library(), 0
        while page := library.latest(_PAGE, offset=offset):
            yield from (_node(memory) for memory, _ in page)
            offset += len(page)

    def count(self, kind: NodeKind) -> int:
        library = self._library()
        return library.index.count(library.viewer) if kind is NodeKind.MEMORY else 0

    def nodes_in_file(self, path: str) -> Iterator[Node]:
        return iter(())

    def iter_outgoing_edges(self, id: str) -> Iterator[Edge]:
        if not id.startswith(PREFIX):
            return iter(())
        return self._edges(id.removeprefix(PREFIX), outward=True)

    def iter_incoming_edges(self, id: str) -> Iterator[Edge]:
        return self._edges(id.removeprefix(PREFIX), outward=False)

    def _edges(self, id: str, *, outward: bool) -> Iterator[Edge]:
        library = self._library()
        links = library.index.links([id], outward=outward, inward=not outward, cites=True)
        ends = [end for link in links for end in (link.source, link.target)]
        seen = library.index.visible(ends, library.viewer)
        for link in links:
            is_cite = link.kind in _CITING
            if link.source in seen and (is_cite or link.target in seen):
                yield _edge(link, is_cite=is_cite)


def _edge(link: Link, *, is_cite: bool) -> Edge:
    if not is_cite:
        return Edge(EdgeKind(link.kind.value), PREFIX + link.source, PREFIX + link.target)
    target = link.target
    if target.startswith((SYMBOL, LINES)):
        # What is in a file is cited as a part of it.
        path = target.removeprefix(SYMBOL).removeprefix(LINES).partition("::")[0].partition("#")[0]
        target = FILE + path
    return Edge(EdgeKind.CITES, PREFIX + link.source, target)


def _node(memory: Memory) -> Node:
    fields = {
        "kind": memory.kind.value,
        "body": memory.text,
        "rationale": memory.rationale,
        "recorded_at": memory.recorded_at,
        "importance": memory.importance,
        "tags": memory.tags,
    }
    return Node(PREFIX + memory.id, NodeKind.MEMORY, memory.title, fields)
