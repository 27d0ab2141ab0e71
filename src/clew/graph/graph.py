"""The graph: what every service reads."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, TypeVar, cast

import msgspec

from clew.graph.evidence.runs import Evidence
from clew.graph.kept import KeptFigures, SumRow
from clew.graph.model import HIERARCHY, Edge, EdgeKind, Node, NodeKind
from clew.graph.region import LateRegion, MemoryRegion, Region
from clew.graph.walk import Direction, Step

_ROOTS = (NodeKind.REQUIREMENT, NodeKind.USER_JOURNEY)
_KINDS = tuple((kind, kind.value) for kind in NodeKind)
_ONE: SumRow = ("", (1,))
_NO_METRICS: Mapping[str, Any] = MappingProxyType({})

T = TypeVar("T")

Annotator = Callable[["Graph", Node], Mapping[str, Any]]


class GraphState(msgspec.Struct, frozen=True):
    """State of the graph as a whole."""

    fingerprint: str = ""
    """Names the content: equal in every process that read the same files, another after any change."""
    last_refresh: str | None = None
    """UTC, ISO 8601; None before the first build."""
    is_stale: bool = False
    """A file was seen to differ from what the graph was built from."""
    is_edited: bool = False
    """The content holds changes that are in no file."""

    @property
    def files(self) -> str:
        """Names the content of the files alone."""
        return self.fingerprint.partition("+")[0]


class Graph:
    """One address space over the memory region and any attached stored regions.

    Iteration follows edges by their meaning: the *parents* of a node are what it cites (outgoing), its *children* are
    what cites it or is part of it (incoming).
    """

    def __init__(self, annotate: Annotator | None = None) -> None:
        self.memory = MemoryRegion()
        self.state = GraphState()
        self.evidence = Evidence(self)
        """Evidence from test runs."""
        self._stored: tuple[LateRegion, ...] = ()
        self._kinds_from_stored: frozenset[EdgeKind] = frozenset()
        """Kinds of edges that lead from a stored region into others."""
        self._annotate = annotate
        self._metrics: dict[str, Mapping[str, Any]] = {}
        self._derived: dict[str, tuple[str | None, Any]] = {}
        self.kept = KeptFigures(self)
        """Figures over many nodes, kept in step by what changes touch."""
        self.watchers: list[Callable[[Collection[str]], None]] = []
        """Get the ids that a change touched, while the graph is locked, so they may only note them."""
        self._writes = 0

    def attach(self, region: LateRegion) -> None:
        """Add a stored region to the address space."""
        self._stored = (*self._stored, region)
        self._kinds_from_stored |= region.leads_out

    @property
    def _regions(self) -> tuple[Region, ...]:
        return (self.memory, *self._stored)

    # Nodes

    def get_node(self, id: str) -> Node | None:
        if (node := self.memory.get_node(id)) is not None:
            return node
        for region in self._stored:
            if (node := region.get_node(id)) is not None:
                return node
        return None

    def nodes_by_kind(self, kind: NodeKind) -> Iterator[Node]:
        for region in self._regions:
            yield from region.nodes_by_kind(kind)

    def count(self, kind: NodeKind) -> int:
        return sum(region.count(kind) for region in self._regions)

    def node_counts(self) -> dict[str, int]:
        """Number of nodes in memory by kind, for kinds that occur; stored nodes are counted by `count`."""
        counts = {name: self.memory.count(kind) for kind, name in _KINDS}
        return {kind: number for kind, number in counts.items() if number}

    def nodes_in_file(self, path: str) -> Iterator[Node]:
        for region in self._regions:
            yield from region.nodes_in_file(path)

    def iter_roots(self) -> Iterator[Node]:
        """Requirements and journeys that are below nothing."""
        for kind in _ROOTS:
            for node in self.nodes_by_kind(kind):
                if self.is_root(node):
                    yield node

    def is_root(self, node: Node) -> bool:
        """True if a requirement or journey has no parent."""
        id = node.id
        return not any(edge.kind in HIERARCHY for region in self._regions for edge in region.iter_outgoing_edges(id))

    def root_count(self) -> int:
        sums = self.kept.sum("roots", lambda graph: {node.id: _ONE for node in graph.iter_roots()}, _root)
        return sum(number for (number,) in sums.values())

    # Edges

    def iter_outgoing_edges(self, id: str) -> Iterator[Edge]:
        """Edges from the node to the nodes that it cites."""
        if self.memory.has_node(id):
            # Stored regions tell the edges of their own nodes only.
            return self.memory.iter_outgoing_edges(id)
        return chain.from_iterable(region.iter_outgoing_edges(id) for region in self._regions)

    def iter_incoming_edges(self, id: str) -> Iterator[Edge]:
        """Edges to the node from the nodes that cite it."""
        if self.memory.has_node(id):
            return self.memory.iter_incoming_edges(id)
        return chain.from_iterable(region.iter_incoming_edges(id) for region in self._regions)

    def iter_parents(self, id: str, kinds: Collection[EdgeKind] | None = None) -> Iterator[Node]:
        """The nodes that this one cites, each once; only over edges of the given kinds where some are given."""
        if self.memory.has_node(id):
            # What it cites, memory alone knows.
            edges = self.memory.iter_outgoing_edges(id)
            return self._nodes_at([edge.target for edge in edges if kinds is None or edge.kind in kinds])
        return self._nodes_at(step.id for step in self.neighbours((id,), kinds, "out"))

    def iter_children(self, id: str, kinds: Collection[EdgeKind] | None = None) -> Iterator[Node]:
        """The nodes that cite this one or are part of it, each once; likewise."""
        if self.memory.has_node(id) and not self._may_come_from_stored(kinds):
            edges = self.memory.iter_incoming_edges(id)
            return self._nodes_at([edge.source for edge in edges if kinds is None or edge.kind in kinds])
        return self._nodes_at(step.id for step in self.neighbours((id,), kinds, "in"))

    def neighbours(
        self,
        ids: Sequence[str],
        kinds: Collection[EdgeKind] | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> Iterator[Step[Edge]]:
        """The steps from these nodes, region by region. A stored region is asked for the steps of other regions only if
        the kinds include edges that it holds."""
        steps = self.memory.neighbours(ids, kinds, direction, limit)
        if (direction == "out" or not self._may_come_from_stored(kinds)) and all(map(self.memory.has_node, ids)):
            return iter(steps)
        return chain(steps, *[region.neighbours(ids, kinds, direction, limit) for region in self._stored])

    def _may_come_from_stored(self, kinds: Collection[EdgeKind] | None) -> bool:
        """True if edges of these kinds may lead into a node in memory from a stored region."""
        return kinds is not None and not self._kinds_from_stored.isdisjoint(kinds)

    def _nodes_at(self, ids: Iterable[str]) -> Iterator[Node]:
        in_memory = self.memory.get_node
        for id in dict.fromkeys(ids):
            node = in_memory(id) or self.get_node(id)
            if node is not None:
                yield node

    # What is derived from a node's surroundings

    def metrics(self, id: str) -> Mapping[str, Any]:
        """The node's derived figures, computed once and kept until a change touches its surroundings."""
        metrics = self._metrics.get(id)
        if metrics is None:
            node = self.get_node(id)
            if node is None or self._annotate is None:
                return _NO_METRICS
            metrics = self._metrics[id] = self._annotate(self, node)
        return metrics

    def derived(self, name: str, compute: Callable[["Graph"], T]) -> T:
        """A figure over the whole graph, computed once for each state of it."""
        state, value = self._derived.get(name, (None, None))
        if state != self.state.fingerprint:
            state, value = self.state.fingerprint, compute(self)
            self._derived[name] = (state, value)
        return cast("T", value)

    def touched(self, ids: Iterable[str]) -> None:
        """Forget the figures of these nodes, because they or an edge at them changed."""
        if not (self._metrics or self.kept or self.watchers):
            return
        changed = tuple(ids)
        for id in changed:
            self._metrics.pop(id, None)
        self.kept.touch(changed)
        for watcher in self.watchers:
            watcher(changed)

    def refreshed(self, at: str, fingerprint: str) -> None:
        """Note that the graph now matches the files of that time."""
        self.state = msgspec.structs.replace(self.state, fingerprint=fingerprint, last_refresh=at, is_stale=False)

    def changed(self, change_id: str, *, edited: bool) -> None:
        """Note that the content changed otherwise than by reading files, and whether any such change is left in it.
        Undoing a change is another state."""
        self._writes += 1
        fingerprint = f"{self.state.files}+{self._writes}.{change_id}"
        self.state = msgspec.structs.replace(self.state, fingerprint=fingerprint, is_edited=edited)

    def clear(self) -> None:
        """Forget everything that was read from files."""
        self.memory = MemoryRegion()
        self.state = msgspec.structs.replace(self.state, is_edited=False)
        self.evidence = Evidence(self)
        self._metrics.clear()
        self._derived.clear()
        self.kept.clear()

    def mark_stale(self) -> None:
        self.state = msgspec.structs.replace(self.state, is_stale=True)


def _root(graph: Graph, id: str) -> SumRow | None:
    node = graph.get_node(id)
    return _ONE if node is not None and node.kind in _ROOTS and graph.is_root(node) else None
