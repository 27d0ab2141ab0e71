"""Subtrees: everything below a node, level by level, as far down and of such kinds as are wanted.

A subtree in its three formats. Each shows a page of the members, so that no subtree is too large to look at.
"""

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
from clew.trace.read.serialize import CoverageSummary, coverage_summary, version_of


class SubtreeFormat(StrEnum):
    MARKDOWN = "markdown"
    FLAT = "flat"
    NESTED = "nested"


class SubtreeNode(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    kind: str
    depth: int
    title: str | None = None
    label: str | None = None
    text: str | None = None
    """Of an assertion, which has no title."""
    version: str | None = None
    """Of a requirement, as `if_version` takes it."""
    level: str | None = None
    status: str | None = None
    coverage: CoverageSummary | None = None
    """Of a requirement: assertions in total, covered by tests (with pct), implemented."""


class SubtreeEdge(msgspec.Struct, frozen=True, omit_defaults=True):
    source: str
    """The one above, which is cited."""
    target: str
    """The one below, which cites."""
    kind: str
    assertion_targets: tuple[str, ...] = ()


class SubtreeBranch(SubtreeNode, frozen=True, omit_defaults=True):
    parent_id: str | None = None
    """The node that the branch belongs to, if it is not the one above it here."""
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
    """The edges that lead up from the nodes of this page to nodes of the subtree."""
    tree: Mapping[str, Any] | None = None
    """In the shape of SubtreeBranch."""
    branches: tuple[Mapping[str, Any], ...] | None = None
    """The branches that did not fit into the tree, each with the id of its parent."""
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
    """The root and the nodes below it down to `depth` levels (0: all), of these kinds or the usual ones for such a
    root.

    Kinds that are not wanted are neither listed nor walked through; the root is always listed.
    """
    wanted = frozenset(kinds or DEFAULT_KINDS.get(root.kind, (root.kind,)))
    members = {root.id: Member(root, 0, None)}
    walk = Walk(_Below(graph, root), (root.id,), wanted, "in")
    for layer in walk.layers(depth or None):
        members.update((step.id, Member(step.edge, walk.depth, step.own)) for step in layer)
    return Collected(members)


class _Below(msgspec.Struct, frozen=True):
    """The children of nodes, for a walk over kinds of nodes: the edge of a step is the child itself."""

    graph: Graph
    root: Node

    def neighbours(
        self, ids: Sequence[str], kinds: Collection[NodeKind] | None, direction: Direction, limit: int | None
    ) -> Iterator[Step[Node]]:
        """Steps from the nodes: from each, first to its assertions in file order, then to the others by id."""
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
    """The nodes that name an assertion. Their edges lead to the requirement with the assertion's label, so below the
    requirement they are its own children."""
    owner = owner_of(graph, assertion)
    label = assertion.get_field("label")
    citations = citations_of(graph, owner.id) if owner is not None else ()
    return {each.by.id: each.by for each in citations if each.names(label)}.values()


def edges_up(graph: Graph, collected: Collected, member: Member) -> Iterator[Edge]:
    """The edges from a member up to other members."""
    for edge in graph.iter_outgoing_edges(member.node.id):
        if edge.target in collected.members:
            yield edge


_HEADINGS = frozenset({NodeKind.REQUIREMENT, NodeKind.USER_JOURNEY, NodeKind.SPEC})

DEEPEST_INDENT = 12
DEEPEST_NESTING = 40
"""Deeper JSON is refused by some clients; what lies deeper becomes a branch of its own."""


class SubtreeView(msgspec.Struct, frozen=True):
    """A collected subtree, ready to be shown page by page."""

    root_id: str
    format: SubtreeFormat
    collected: Collected
    members: tuple[Member, ...]
    """In the order in which the format shows them."""
    stats: Mapping[str, int]

    def page(self, graph: Graph, offset: int, count: int) -> Subtree:
        members = self.members[offset : offset + count]
        whole = Subtree(self.root_id, self.format.value, self.stats, count=len(members))
        match self.format:
            case SubtreeFormat.MARKDOWN:
                return msgspec.structs.replace(whole, content=_markdown(graph, members))
            case SubtreeFormat.FLAT:
                return msgspec.structs.replace(
                    whole,
                    nodes=tuple(_flat_node(graph, member) for member in members),
                    edges=tuple(_edges(graph, self.collected, members)),
                )
            case SubtreeFormat.NESTED:
                trees = tuple(msgspec.to_builtins(branch) for branch in _branches(graph, members))
                if offset:
                    return msgspec.structs.replace(whole, branches=trees)
                return msgspec.structs.replace(whole, tree=trees[0], branches=trees[1:])


def view(collected: Collected, root: Node, shape: SubtreeFormat) -> SubtreeView:
    flat = shape is SubtreeFormat.FLAT
    kinds = [member.node.kind for member in collected.members.values()]
    return SubtreeView(
        root_id=root.id,
        format=shape,
        collected=collected,
        members=tuple(collected.members.values() if flat else collected.in_reading_order()),
        stats={
            "total_nodes": len(kinds),
            "requirements": kinds.count(NodeKind.REQUIREMENT),
            "assertions": kinds.count(NodeKind.ASSERTION),
        },
    )


def _markdown(graph: Graph, members: Sequence[Member]) -> str:
    return "".join(f"{_indent(member)}{_line(graph, member)}\n" for member in members)


def _indent(member: Member) -> str:
    # An assertion is a bullet under the heading of its requirement, not one step further in.
    depth = member.depth - (member.node.kind is NodeKind.ASSERTION and member.depth > 0)
    return "  " * min(depth, DEEPEST_INDENT)


def _line(graph: Graph, member: Member) -> str:
    node = member.node
    if node.kind is NodeKind.ASSERTION:
        return f"- **{node.get_field('label', '')}**: {_one_line(node.title)}"
    if node.kind not in _HEADINGS:
        return f"- {node.kind.value} {node.id}: {_one_line(node.title)}"
    about = ", ".join(value for name in ("level", "status") if (value := node.get_field(name)))
    figures = _figures(coverage_summary(graph, node))
    heading = "#" * min(member.depth + 1, 6)
    return f"{heading} {node.id}: {_one_line(node.title)}{f' ({about})' if about else ''}{figures}"


def _figures(coverage: CoverageSummary | None) -> str:
    if coverage is None or not coverage.total:
        return ""
    return f" [Implemented {coverage.implemented}/{coverage.total}, Tested {coverage.covered}/{coverage.total}]"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _flat_node(graph: Graph, member: Member) -> SubtreeNode:
    node, is_assertion = member.node, member.node.kind is NodeKind.ASSERTION
    return SubtreeNode(
        id=node.id,
        kind=node.kind.value,
        depth=member.depth,
        title=None if is_assertion else node.title,
        label=node.get_field("label", "") if is_assertion else None,
        text=node.title if is_assertion else None,
        version=version_of(graph, node) if node.kind is NodeKind.REQUIREMENT else None,
        level=node.get_field("level"),
        status=node.get_field("status"),
        coverage=coverage_summary(graph, node),
    )


def _edges(graph: Graph, collected: Collected, members: Sequence[Member]) -> list[SubtreeEdge]:
    return [
        SubtreeEdge(edge.target, edge.source, edge.kind.value, edge.labels)
        for member in members
        for edge in edges_up(graph, collected, member)
    ]


def _branches(graph: Graph, members: Sequence[Member]) -> list[SubtreeBranch]:
    """The members as trees. A member whose parent is on another page, or too deep, is the root of a tree.

    Members come in reading order, so that every parent comes before its children; trees are built from the end, where
    all children of a member are known.
    """
    shown = {member.node.id for member in members}
    nesting: dict[str, int] = {}
    for member in members:
        above = nesting.get(member.parent or "", DEEPEST_NESTING)
        nesting[member.node.id] = above + 1 if above < DEEPEST_NESTING else 0
    children: dict[str, list[SubtreeBranch]] = {}
    trees: list[SubtreeBranch] = []
    for member in reversed(members):
        id, parent = member.node.id, member.parent
        hangs = parent in shown and nesting[id] > 0
        branch = SubtreeBranch(
            **msgspec.structs.asdict(_flat_node(graph, member)),
            parent_id=None if hangs else parent,
            children=tuple(reversed(children.get(id, ()))),
        )
        (children.setdefault(parent or "", []) if hangs else trees).append(branch)
    trees.reverse()
    return trees
