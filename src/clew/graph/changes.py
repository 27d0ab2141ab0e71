"""Changes: recorded, undoable edits of the graph.

A change lists what it replaces: pairs of the value before and after, where None stands for absence. Applying writes the
after images, undoing writes the before images in reverse. Since every kind of mutation is made of the same pairs, undo
needs no code of its own for any of them.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TypeVar
from uuid import uuid4

import msgspec

from clew.errors import Conflict, NotFound
from clew.graph.graph import Graph
from clew.graph.model import BrokenReference, Edge, Node
from clew.graph.region import MemoryRegion

T = TypeVar("T", Node, Edge, BrokenReference)


class Change(msgspec.Struct, frozen=True):
    id: str
    operation: str
    target_id: str
    at: str
    affects_hash: bool
    nodes: tuple[tuple[Node | None, Node | None], ...]
    edges: tuple[tuple[Edge | None, Edge | None], ...]
    broken: tuple[tuple[BrokenReference | None, BrokenReference | None], ...]

    def inverse(self) -> "Change":
        return msgspec.structs.replace(
            self, nodes=_reversed(self.nodes), edges=_reversed(self.edges), broken=_reversed(self.broken)
        )


def _reversed(pairs: Sequence[tuple[T | None, T | None]]) -> tuple[tuple[T | None, T | None], ...]:
    return tuple((after, before) for before, after in reversed(pairs))


class Edit:
    """Collects one change. Nothing touches the graph until the change is applied; reads see the edit's own writes."""

    def __init__(self, region: MemoryRegion) -> None:
        self._region = region
        self._nodes: dict[str, tuple[Node | None, Node | None]] = {}
        self._edges: dict[Edge, bool] = {}
        self._broken: dict[BrokenReference, bool] = {}

    def get_node(self, id: str) -> Node | None:
        return self._nodes[id][1] if id in self._nodes else self._region.get_node(id)

    def outgoing(self, id: str) -> list[Edge]:
        return self._present(self._region.iter_outgoing_edges(id), lambda edge: edge.source == id)

    def incoming(self, id: str) -> list[Edge]:
        return self._present(self._region.iter_incoming_edges(id), lambda edge: edge.target == id)

    def _present(self, stored: Iterator[Edge], wanted: Callable[[Edge], bool]) -> list[Edge]:
        kept = [edge for edge in stored if self._edges.get(edge, True)]
        return kept + [edge for edge, there in self._edges.items() if there and wanted(edge)]

    def put(self, node: Node) -> None:
        before = self._nodes[node.id][0] if node.id in self._nodes else self._region.get_node(node.id)
        self._nodes[node.id] = (before, node)

    def remove(self, id: str) -> None:
        before = self._nodes[id][0] if id in self._nodes else self._region.get_node(id)
        self._nodes[id] = (before, None)

    def link(self, edge: Edge) -> None:
        if self._region.has_edge(edge):
            self._edges.pop(edge, None)
        else:
            self._edges[edge] = True

    def unlink(self, edge: Edge) -> None:
        if self._region.has_edge(edge):
            self._edges[edge] = False
        else:
            self._edges.pop(edge, None)

    def break_off(self, reference: BrokenReference) -> None:
        """Record a citation whose target is missing."""
        self._broken[reference] = True

    def mend(self, reference: BrokenReference) -> None:
        """Forget a broken reference."""
        self._broken[reference] = False

    def change(self, operation: str, target_id: str, *, affects_hash: bool = False) -> Change:
        return Change(
            id=uuid4().hex,
            operation=operation,
            target_id=target_id,
            at=datetime.now(UTC).isoformat(),
            affects_hash=affects_hash,
            nodes=tuple(pair for pair in self._nodes.values() if pair[0] != pair[1]),
            edges=tuple((None, edge) if there else (edge, None) for edge, there in self._edges.items()),
            broken=tuple(
                (None, reference) if there else (reference, None)
                for reference, there in self._broken.items()
                if there != self._region.has_broken(reference)
            ),
        )


class History:
    """Applies changes to a graph and takes them back, newest first."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._done: list[Change] = []
        self._undone: list[Change] = []

    def __iter__(self) -> Iterator[Change]:
        """The changes in force, oldest first."""
        return iter(self._done)

    def __len__(self) -> int:
        return len(self._done)

    def apply(self, change: Change) -> Change:
        _write(self._graph, change)
        self._done.append(change)
        self._undone.clear()
        return change

    def undo_last(self) -> Change:
        if not self._done:
            raise NotFound("There is no mutation to undo.", hint="get_mutation_log shows what is pending.")
        change = self._done[-1]
        _write(self._graph, change.inverse())
        self._undone.append(self._done.pop())
        return change

    def undo_to(self, change_id: str) -> list[Change]:
        """Take back everything down to and including this change."""
        if not any(change.id == change_id for change in self._done):
            raise NotFound(
                f"No pending mutation has the id '{change_id}'.",
                hint="get_mutation_log lists the ids that can be undone.",
            )
        undone: list[Change] = []
        while not undone or undone[-1].id != change_id:
            undone.append(self.undo_last())
        return undone

    def redo(self) -> Change:
        if not self._undone:
            raise NotFound(
                "There is no undone mutation to apply again.", hint="A new mutation discards what was undone."
            )
        change = self._undone[-1]
        _write(self._graph, change)
        self._done.append(self._undone.pop())
        return change


def _write(graph: Graph, change: Change) -> None:
    """Bring the graph from the before images to the after images, or leave it alone."""
    region = graph.memory
    _expect(region, change)
    touched: set[str] = set()
    for before_edge, after_edge in change.edges:
        if before_edge is not None:
            region.remove_edge(before_edge)
            touched.update((before_edge.source, before_edge.target))
        if after_edge is not None:
            region.put_edge(after_edge)
            touched.update((after_edge.source, after_edge.target))
    for before, after in change.nodes:
        if after is not None:
            region.put_node(after)
            touched.add(after.id)
        elif before is not None:
            region.remove_node(before.id)
            touched.add(before.id)
    for before_broken, after_broken in change.broken:
        if before_broken is not None:
            region.remove_broken(before_broken)
        if after_broken is not None:
            region.put_broken(after_broken)
    graph.touched(touched)
    graph.changed(change.id)


def _expect(region: MemoryRegion, change: Change) -> None:
    """Refuse a change that was made against another state, before any of it is written."""
    for before, after in change.nodes:
        image = before or after
        if image is not None and region.get_node(image.id) != before:
            raise _made_against_another_state(image.id)
    for before_edge, after_edge in change.edges:
        if before_edge is not None and not region.has_edge(before_edge):
            raise _made_against_another_state(before_edge.source)
        if after_edge is not None and region.has_edge(after_edge):
            raise _made_against_another_state(after_edge.source)
    for before_broken, after_broken in change.broken:
        if before_broken is not None and not region.has_broken(before_broken):
            raise _made_against_another_state(before_broken.source_id)
        if after_broken is not None and region.has_broken(after_broken):
            raise _made_against_another_state(after_broken.source_id)


def _made_against_another_state(node_id: str) -> Conflict:
    return Conflict(
        f"Node '{node_id}' is not what this change was made against.",
        hint="Read it again and repeat the change.",
        data={"node_id": node_id},
    )
