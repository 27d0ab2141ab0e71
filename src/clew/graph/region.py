"""A region: one part's share of the graph.

Every part contributes a region to the one address space. Small ones live in memory (`MemoryRegion`); large ones stay in
the store and answer the same questions by query. An edge belongs to the region of its source, so a region can be asked
for the edges that lead into a node of another.

What is at a node, or in a file, is in the order of the files, whatever was edited since. A graph that is built from
nothing has that order, because files are linked in their order. What is linked later comes last in
its place, so such a place is sorted again at the next read.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol

from clew.graph.model import BrokenReference, Edge, EdgeKind, Node, NodeKind
from clew.graph.walk import Direction, Step

if TYPE_CHECKING:
    from clew.graph.build.link import Linker, Place
    from clew.graph.evidence.runs import Evidence


class Region(Protocol):
    """Interface of a region to the graph."""

    def get_node(self, id: str) -> Node | None: ...

    def nodes_by_kind(self, kind: NodeKind) -> Iterator[Node]: ...

    def count(self, kind: NodeKind) -> int: ...

    def nodes_in_file(self, path: str) -> Iterator[Node]: ...

    def iter_outgoing_edges(self, id: str) -> Iterator[Edge]: ...

    def iter_incoming_edges(self, id: str) -> Iterator[Edge]: ...

    def neighbours(
        self,
        ids: Sequence[str],
        kinds: Collection[EdgeKind] | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> Iterable[Step[Edge]]:
        """The steps from some nodes. A region that can answer for all nodes at once overrides this."""
        for id in ids:
            if direction != "in":
                yield from steps_out(id, self.iter_outgoing_edges(id), kinds, limit)
            if direction != "out":
                yield from steps_in(id, self.iter_incoming_edges(id), kinds, limit)


def steps_out(
    id: str, edges: Iterable[Edge], kinds: Collection[EdgeKind] | None, limit: int | None
) -> list[Step[Edge]]:
    """The steps from a node over edges that lead out of it."""
    return [Step(id, edge.target, edge) for edge in _selected(edges, kinds, limit)]


def steps_in(id: str, edges: Iterable[Edge], kinds: Collection[EdgeKind] | None, limit: int | None) -> list[Step[Edge]]:
    """The steps from a node over edges that lead into it."""
    return [Step(id, edge.source, edge) for edge in _selected(edges, kinds, limit)]


def _selected(edges: Iterable[Edge], kinds: Collection[EdgeKind] | None, limit: int | None) -> Iterable[Edge]:
    if kinds is not None:
        edges = [edge for edge in edges if edge.kind in kinds]
    return edges if limit is None else _first_of_each_kind(edges, limit)


def _first_of_each_kind(edges: Iterable[Edge], limit: int) -> Iterator[Edge]:
    given: Counter[EdgeKind] = Counter()
    for edge in edges:
        given[edge.kind] += 1
        if given[edge.kind] <= limit:
            yield edge


class MemoryRegion:
    """Nodes and edges in dictionaries, indexed by id, kind, file, source and target. Every write is O(1)."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        # Asked many times by every walk: the dictionary's own methods answer without a detour.
        self.get_node: Callable[[str], Node | None] = self._nodes.get
        self.has_node: Callable[[str], bool] = self._nodes.__contains__
        self._by_kind: dict[NodeKind, dict[str, Node]] = {kind: {} for kind in NodeKind}
        self._by_file: dict[str, dict[str, None]] = {}
        # Dictionaries serve as ordered sets: an edge is its own key, and removing one from a node that ten thousand
        # others cite must not search a list.
        self.outgoing: dict[str, dict[Edge, None]] = {}
        """In any order: for code that changes the graph, where no order holds halfway through."""
        self.incoming: dict[str, dict[Edge, None]] = {}
        """Likewise."""
        self.broken: dict[BrokenReference, None] = {}
        self.order: FileOrder | None = None
        """None as long as what is put comes in the order of the files. Given one, whatever is put stands elsewhere in
        the files than behind all that is here."""
        self._mixed_outgoing: set[str] = set()
        """Nodes whose outgoing edges are not in order."""
        self._mixed_incoming: set[str] = set()
        self._mixed_files: set[str] = set()

    # Reading. Several may look at the same time, so that what is in order takes the place of what is not, as a whole.

    def nodes_by_kind(self, kind: NodeKind) -> Iterator[Node]:
        return iter(self._by_kind[kind].values())

    def count(self, kind: NodeKind) -> int:
        return len(self._by_kind[kind])

    def nodes_in_file(self, path: str) -> Iterator[Node]:
        if path in self._mixed_files:
            if self.order is not None and (ids := self._by_file.get(path)) is not None:
                self._by_file[path] = dict.fromkeys(self.order.in_file(ids))
            self._mixed_files.discard(path)
        return (self._nodes[id] for id in self._by_file.get(path, ()))

    def files(self) -> Iterator[str]:
        return iter(self._by_file)

    def iter_outgoing_edges(self, id: str) -> Iterator[Edge]:
        if id in self._mixed_outgoing:
            if self.order is not None and (edges := self.outgoing.get(id)) is not None:
                self.outgoing[id] = dict.fromkeys(self.order.outgoing(id, edges))
            self._mixed_outgoing.discard(id)
        return iter(self.outgoing.get(id, ()))

    def iter_incoming_edges(self, id: str) -> Iterator[Edge]:
        if id in self._mixed_incoming:
            if self.order is not None and (edges := self.incoming.get(id)) is not None:
                self.incoming[id] = dict.fromkeys(self.order.incoming(id, edges, self.iter_outgoing_edges))
            self._mixed_incoming.discard(id)
        return iter(self.incoming.get(id, ()))

    def neighbours(
        self,
        ids: Sequence[str],
        kinds: Collection[EdgeKind] | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> list[Step[Edge]]:
        found: list[Step[Edge]] = []
        for id in ids:
            # Most nodes of a walk have no edges in one of the directions.
            if direction != "in" and id in self.outgoing:
                found += steps_out(id, self.iter_outgoing_edges(id), kinds, limit)
            if direction != "out" and id in self.incoming:
                found += steps_in(id, self.iter_incoming_edges(id), kinds, limit)
        return found

    def citing_nothing(self, kind: NodeKind) -> set[str]:
        outgoing = self.outgoing
        return {id for id in self._by_kind[kind] if id not in outgoing}

    def has_edge(self, edge: Edge) -> bool:
        return edge in self.outgoing.get(edge.source, ())

    def snapshot(self) -> tuple[dict[str, Node], frozenset[Edge], frozenset[BrokenReference]]:
        """All of the region as plain values: two regions are the same when their snapshots are equal."""
        edges = frozenset(edge for out in self.outgoing.values() for edge in out)
        return dict(self._nodes), edges, frozenset(self.broken)

    def mix(self, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        """Note that these were put out of order."""
        self._mixed_files.update(node.source.path for node in nodes if node.source is not None)
        for edge in edges:
            # One by itself is in order.
            if len(self.outgoing[edge.source]) > 1:
                self._mixed_outgoing.add(edge.source)
            if len(self.incoming[edge.target]) > 1:
                self._mixed_incoming.add(edge.target)

    # Writing: the primitives that changes and the linker are made of

    def put_nodes(self, added: Collection[Node]) -> None:
        nodes, by_kind, by_file = self._nodes, self._by_kind, self._by_file
        for node in added:
            id, source = node.id, node.source
            before = nodes.get(id)
            if before is not None:
                self._forget_indexes(before)
            nodes[id] = node
            by_kind[node.kind][id] = node
            if source is not None:
                in_file = by_file.get(source.path)
                if in_file is None:
                    by_file[source.path] = {id: None}
                else:
                    in_file[id] = None
        if self.order is not None:
            self.mix(added, ())

    def remove_node(self, id: str) -> None:
        """Remove a node and keep its edges: the caller decides about them."""
        self._forget_indexes(self._nodes.pop(id))

    def _forget_indexes(self, node: Node) -> None:
        del self._by_kind[node.kind][node.id]
        if node.source is not None:
            in_file = self._by_file[node.source.path]
            del in_file[node.id]
            if not in_file:
                del self._by_file[node.source.path]

    def put_edges(self, added: Collection[Edge]) -> None:
        outgoing, incoming = self.outgoing, self.incoming
        for edge in added:
            cited = outgoing.get(edge.source)
            if cited is None:
                outgoing[edge.source] = {edge: None}
            else:
                cited[edge] = None
            citing = incoming.get(edge.target)
            if citing is None:
                incoming[edge.target] = {edge: None}
            else:
                citing[edge] = None
        if self.order is not None:
            self.mix((), added)

    def remove_edge(self, edge: Edge) -> None:
        for index, id in ((self.outgoing, edge.source), (self.incoming, edge.target)):
            edges = index[id]
            del edges[edge]
            if not edges:
                del index[id]


class LateRegion:
    """A stored region that is opened when something of its own is first asked for.

    Everybody who walks the graph passes by every region, most of them in search of something else. So this one answers
    for the ids and the kinds that are its own, and for edges into nodes of others only those who ask for a kind of edge
    that leads there. It is not asked what is in a file: the files of other regions are asked for too often.
    """

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
        """Prefixes of the ids of its nodes; no other node's id begins with one."""
        self._kinds = kinds
        self.leads_out = leads_out
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
        """The steps from its own nodes; from nodes of other regions only along kinds of edges that lead into others."""
        own = [id for id in ids if id.startswith(self._prefixes)]
        steps = self._open().neighbours(own, kinds, direction, limit) if own else ()
        if len(own) == len(ids) or kinds is None or direction == "out" or self.leads_out.isdisjoint(kinds):
            return steps
        others = [id for id in ids if not id.startswith(self._prefixes)]
        return chain(steps, self._open().neighbours(others, kinds, "in", limit))


Rank = tuple[int, str, int]
"""The number of the reader, the path and the position."""

_NOWHERE: Rank = (1 << 30, "", 0)
_first = itemgetter(0)


class FileOrder:
    """Of one graph, as its linker and its evidence know it."""

    def __init__(self, linker: "Linker", evidence: "Evidence", readers: Callable[[], Iterable[str]]) -> None:
        self._linker = linker
        self._evidence = evidence
        self._readers = readers
        """Their names, in the order in which they read."""

    def outgoing(self, id: str, edges: Collection[Edge]) -> list[Edge]:
        """Outgoing edges of a node, in the order of its definition."""
        found = self._linker.placed(id)
        cited = self._linker.edges_of(found[1]) if found is not None else ()
        first = dict.fromkeys(edge for edge in cited if edge in edges)
        return [*first, *(edge for edge in edges if edge not in first)]

    def incoming(self, id: str, edges: Collection[Edge], outgoing: Callable[[str], Iterable[Edge]]) -> list[Edge]:
        """Incoming edges of a node: first from its own parts, then from others in the order of the files, then from
        results."""
        found = self._linker.placed(id)
        own = {part.id: number for number, part in enumerate(found[1].parts)} if found is not None else {}
        numbers = {name: number for number, name in enumerate(self._readers())}
        place_of = self._linker.place_of
        parts: list[tuple[int, Edge]] = []
        citing: list[tuple[Rank, Edge]] = []
        results: list[tuple[Rank, Edge]] = []
        for edge in edges:
            source = edge.source
            if source in own:
                parts.append((own[source], edge))
            elif (place := place_of(source)) is not None:
                citing.append((_rank(place, numbers), edge))
            else:
                result = self._evidence.place_of(source)
                results.append((_rank(result, numbers) if result is not None else _NOWHERE, edge))
        if len({edge.source for _, edge in citing}) < len(citing):
            # What one node cites several times comes in the order in which it does.
            sources = dict.fromkeys(edge.source for _, edge in citing)
            nth = {edge: number for source in sources for number, edge in enumerate(outgoing(source))}
            citing.sort(key=lambda each: nth[each[1]])
        for ranked in (parts, citing, results):
            ranked.sort(key=_first)
        return [edge for ranked in (parts, citing, results) for _, edge in ranked]

    def in_file(self, ids: Collection[str]) -> list[str]:
        """The nodes of a file, each followed by its parts."""
        numbers = {name: number for number, name in enumerate(self._readers())}
        place_of = self._linker.place_of
        places = (place for id in ids if (place := place_of(id)) is not None)
        first: dict[str, None] = {}
        for place in sorted(places, key=lambda place: _rank(place, numbers)):
            definition = self._linker.placed_at(place)
            first.update((node.id, None) for node in (definition.node, *definition.parts) if node.id in ids)
        return [*first, *(id for id in ids if id not in first)]


def _rank(place: "Place", numbers: dict[str, int]) -> Rank:
    path, reader, position = place
    return numbers.get(reader, len(numbers)), path, position
