"""A stored region that is opened by the first who asks for something of its own.

Everybody who walks the graph passes by every region, most of them in search of something else. So a region of this kind
answers for the ids and the kinds that are its own, and for edges into nodes of others only those who ask for a kind of
edge that leads there. It is not asked what stands in a file: the files of other regions are asked for too often.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain

from clew.graph.model import Edge, EdgeKind, Node, NodeKind
from clew.graph.region import Region
from clew.graph.walk import Direction, Step


class LateRegion:
    def __init__(
        self,
        open_region: Callable[[], Region],
        *,
        prefixes: tuple[str, ...],
        kinds: frozenset[NodeKind],
        leads_out: frozenset[EdgeKind],
    ) -> None:
        self._open = open_region
        self._prefixes = prefixes
        """How the ids of its nodes begin, and those of no others."""
        self._kinds = kinds
        self._leads_out = leads_out
        """Kinds of edges that lead into nodes of other regions."""

    def get_node(self, id: str) -> Node | None:
        return self._open().get_node(id) if id.startswith(self._prefixes) else None

    def nodes_by_kind(self, kind: NodeKind) -> Iterator[Node]:
        return self._open().nodes_by_kind(kind) if kind in self._kinds else iter(())

    def count(self, kind: NodeKind) -> int:
        return self._open().count(kind) if kind in self._kinds else 0

    def nodes_in_file(self, path: str) -> Iterator[Node]:
        return iter(())

    def iter_outgoing_edges(self, id: str) -> Iterator[Edge]:
        return self._open().iter_outgoing_edges(id) if id.startswith(self._prefixes) else iter(())

    def iter_incoming_edges(self, id: str) -> Iterator[Edge]:
        return self._open().iter_incoming_edges(id) if id.startswith(self._prefixes) else iter(())

    def neighbours(
        self,
        ids: Sequence[str],
        kinds: Collection[EdgeKind] | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> Iterable[Step[Edge]]:
        """Steps from its own nodes; from those of other regions only where such a kind of edge leads into others."""
        own = [id for id in ids if id.startswith(self._prefixes)]
        steps = self._open().neighbours(own, kinds, direction, limit) if own else ()
        if kinds is None or direction == "out" or len(own) == len(ids) or self._leads_out.isdisjoint(kinds):
            return steps
        others = [id for id in ids if not id.startswith(self._prefixes)]
        return chain(steps, self._open().neighbours(others, kinds, "in", limit))
