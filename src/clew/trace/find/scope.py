"""Parts of the hierarchy: the nodes below or above a node, and requirements that lie on a circle."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

import msgspec

from clew.graph import walk
from clew.graph.graph import Graph
from clew.graph.model import Edge, EdgeKind, Node, NodeKind

_ABOVE_CODE = (NodeKind.REQUIREMENT, NodeKind.USER_JOURNEY, NodeKind.SPEC)


class Direction(StrEnum):
    DESCENDANTS = "descendants"
    ANCESTORS = "ancestors"


class HierarchyEdges(msgspec.Struct, frozen=True):
    """The edges among requirements, journeys and specs: a small part of all edges, most of which lead from code, tests
    and assertions."""

    above: dict[str, tuple[Edge, ...]]
    below: dict[str, tuple[Edge, ...]]
    circular: frozenset[str]
    """All that lie on a circle, or between two circles."""

    def neighbours(
        self, ids: Sequence[str], kinds: Collection[EdgeKind] | None, direction: walk.Direction, limit: int | None
    ) -> Iterator[walk.Step[Edge]]:
        """The nodes one step above (out) or below (in) these nodes; all of them, whatever the limit."""
        for id in ids:
            for edge in self.above.get(id, ()) if direction != "in" else ():
                if kinds is None or edge.kind in kinds:
                    yield walk.Step(id, edge.target, edge)
            for edge in self.below.get(id, ()) if direction != "out" else ():
                if kinds is None or edge.kind in kinds:
                    yield walk.Step(id, edge.source, edge)


def hierarchy(graph: Graph) -> HierarchyEdges:
    return graph.kept.list("hierarchy", _links, _link, _hierarchy)


def _links(graph: Graph) -> dict[str, tuple[Edge, ...]]:
    """The edges of each node to others among these, by id; nodes without edges are left out."""
    members = {node.id for kind in _ABOVE_CODE for node in graph.nodes_by_kind(kind)}
    found = ((id, tuple([edge for edge in graph.iter_outgoing_edges(id) if edge.target in members])) for id in members)
    return {id: edges for id, edges in found if edges}


def _link(graph: Graph, id: str) -> tuple[Edge, ...] | None:
    if not _is_above_code(graph, id):
        return None
    return tuple([edge for edge in graph.iter_outgoing_edges(id) if _is_above_code(graph, edge.target)]) or None


def _is_above_code(graph: Graph, id: str) -> bool:
    node = graph.get_node(id)
    return node is not None and node.kind in _ABOVE_CODE


def _hierarchy(links: Mapping[str, tuple[Edge, ...]]) -> HierarchyEdges:
    above = dict(links)
    below: dict[str, list[Edge]] = {}
    for edges in above.values():
        for edge in edges:
            below.setdefault(edge.target, []).append(edge)
    ordered = {id: tuple(sorted(edges, key=lambda edge: edge.source)) for id, edges in below.items()}
    return HierarchyEdges(above, ordered, _circular(above, ordered))


def _circular(above: dict[str, tuple[Edge, ...]], below: dict[str, tuple[Edge, ...]]) -> frozenset[str]:
    """The nodes that remain after removing, again and again, each node with nothing above it or nothing below it."""
    left = set(above) & set(below)
    ups = {id: sum(edge.target in left for edge in above[id]) for id in left}
    downs = {id: sum(edge.source in left for edge in below[id]) for id in left}
    ends = [id for id in left if not ups[id] or not downs[id]]
    while ends:
        id = ends.pop()
        if id not in left:
            continue
        left.discard(id)
        for edge in below[id]:
            if edge.source in left:
                ups[edge.source] -= 1
                if not ups[edge.source]:
                    ends.append(edge.source)
        for edge in above[id]:
            if edge.target in left:
                downs[edge.target] -= 1
                if not downs[edge.target]:
                    ends.append(edge.target)
    return frozenset(left)


def above(graph: Graph, starts: Iterable[str], kinds: Collection[EdgeKind] | None = None) -> Iterator[str]:
    """The nodes that the starts cite or are part of, over any number of steps, nearest first, each once. A start is
    among them only if a circle leads back to it."""
    return walk.reached(hierarchy(graph), starts, kinds, "out", returns=True)


def below(graph: Graph, starts: Iterable[str], kinds: Collection[EdgeKind] | None = None) -> Iterator[str]:
    """The nodes that cite the starts, or are part of them, likewise."""
    return walk.reached(hierarchy(graph), starts, kinds, "in", returns=True)


def scope(graph: Graph, node: Node, direction: Direction) -> frozenset[str]:
    """The node itself and everything above code that is reachable from it."""
    if direction is Direction.ANCESTORS:
        first = [parent.id for parent in graph.iter_parents(node.id)]
        return frozenset((node.id, *first, *above(graph, (node.id, *first))))
    if node.kind is NodeKind.ASSERTION:
        # An edge leads to the requirement and names the assertion by its label.
        label = node.get_field("label")
        owners = (parent.id for parent in graph.iter_parents(node.id, (EdgeKind.STRUCTURES,)))
        links = hierarchy(graph).below
        first = [edge.source for owner in owners for edge in links.get(owner, ()) if label in edge.labels]
        return frozenset((node.id, *first, *below(graph, first)))
    return frozenset((node.id, *below(graph, (node.id,))))
