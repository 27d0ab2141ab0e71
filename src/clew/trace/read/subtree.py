"""Subtrees: everything below a node, level by level, as far down and of such kinds as are wanted."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from typing import Any

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import Edge, Node, NodeKind
from clew.graph.walk import Direction, Step, Walk
from clew.trace.read.assertions import citations_of, owner_of


class SubtreeFormat(StrEnum):
    MARKDOWN = "markdown"
    FLAT = "flat"
    NESTED = "nested"


class SubtreeNode(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    kind: str
    title: str
    depth: int
    level: str | None = None
    status: str | None = None
    coverage: Mapping[str, float] | None = None
    """Of a requirement: assertions in total, covered by tests (with pct), implemented."""


class SubtreeEdge(msgspec.Struct, frozen=True, omit_defaults=True):
    source: str
    """The one below, which cites."""
    target: str
    kind: str
    assertion_targets: tuple[str, ...] = ()


class SubtreeBranch(SubtreeNode, frozen=True, omit_defaults=True):
    parent_id: str | None = None
    """Where the branch hangs, if not where it stands."""
    children: tuple["SubtreeBranch", ...] = ()


class Subtree(msgspec.Struct, frozen=True):
    root_id: str
    format: str
    stats: Mapping[str, int]
    """total_nodes, requirements and assertions of the whole subtree, on all pages."""
    count: int
    """Nodes on this page."""
    content: str | None = None
    """The Markdown."""
    nodes: tuple[SubtreeNode, ...] | None = None
    edges: tuple[SubtreeEdge, ...] | None = None
    """Those that lead up from the nodes of this page to nodes of the subtree."""
    tree: Mapping[str, Any] | None = None
    """In the shape of SubtreeBranch."""
    branches: tuple[Mapping[str, Any], ...] | None = None
    """What did not fit into the tree: each says under which node it belongs."""
    truncated: bool = False
    next_cursor: str | None = None


DEFAULT_KINDS = {
    NodeKind.REQUIREMENT: (NodeKind.REQUIREMENT, NodeKind.ASSERTION),
    NodeKind.SPEC: (NodeKind.REQUIREMENT, NodeKind.ASSERTION),
}
"""By the kind of the root; for any other root, its own kind."""


class Member(msgspec.Struct, frozen=True):
    node: Node
    depth: int
    """Steps from the root, by the shortest way."""
    parent: str | None
    """The member under which it was found first; None for the root."""


class Collected(msgspec.Struct, frozen=True):
    members: dict[str, Member]
    """Level by level, each node once."""

    def in_reading_order(self) -> Iterator[Member]:
        """Each member after its parent and before the parent's next child, so that a branch stays together."""
        children: dict[str | None, list[Member]] = {}
        for member in self.members.values():
            children.setdefault(member.parent, []).append(member)
        waiting = children[None]
        while waiting:
            member = waiting.pop()
            yield member
            waiting.extend(reversed(children.get(member.node.id, ())))


def collect(graph: Graph, root: Node, *, depth: int = 0, kinds: Collection[NodeKind] = ()) -> Collected:
    """The root and what is below it down to `depth` levels (0: all), of these kinds or the usual ones for such a root.

    Kinds that are not wanted are neither listed nor walked through; the root is always listed.
    """
    wanted = frozenset(kinds or DEFAULT_KINDS.get(root.kind, (root.kind,)))
    members = {root.id: Member(root, 0, None)}
    walk = Walk(_Below(graph, root), (root.id,), wanted, "in")
    for layer in walk.layers(depth or None):
        members.update((step.id, Member(step.edge, walk.depth, step.own)) for step in layer)
    return Collected(members)


class _Below(msgspec.Struct, frozen=True):
    """What is below nodes, for a walk over kinds of nodes: a step leads by the child itself."""

    graph: Graph
    root: Node

    def neighbours(
        self, ids: Sequence[str], kinds: Collection[NodeKind] | None, direction: Direction, limit: int | None
    ) -> Iterator[Step[Node]]:
        """Of each node, first the assertions in the order of the file, then the others by id."""
        if self.root.kind is NodeKind.ASSERTION and self.root.id in ids:
            yield from _as_steps(self.root.id, _naming(self.graph, self.root), kinds)
            return
        get_node = self.graph.get_node
        for own, steps in groupby(self.graph.neighbours(ids, None, direction, limit), key=attrgetter("own")):
            children = {step.id: get_node(step.id) for step in steps}
            yield from _as_steps(own, children.values(), kinds)


def _as_steps(own: str, children: Iterable[Node | None], kinds: Collection[NodeKind] | None) -> Iterator[Step[Node]]:
    found = [child for child in children if child is not None and (kinds is None or child.kind in kinds)]
    found.sort(key=_order)
    for child in found:
        yield Step(own, child.id, child)


def _order(node: Node) -> tuple[bool, int, str]:
    is_part = node.kind is NodeKind.ASSERTION
    return not is_part, node.source.line if is_part and node.source is not None else 0, node.id


def _naming(graph: Graph, assertion: Node) -> Iterable[Node]:
    """Who names an assertion. Such an edge leads to its requirement and carries the label, so that below a requirement
    they are its own children."""
    owner = owner_of(graph, assertion)
    label = assertion.get_field("label")
    citations = citations_of(graph, owner.id) if owner is not None else ()
    return {each.by.id: each.by for each in citations if each.names(label)}.values()


def edges_up(graph: Graph, collected: Collected, member: Member) -> Iterator[Edge]:
    """The edges by which a member stands below other members."""
    for edge in graph.iter_outgoing_edges(member.node.id):
        if edge.target in collected.members:
            yield edge
