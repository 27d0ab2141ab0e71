"""A subtree in its three formats. Each shows a page of the members, so that no subtree is too large to look at."""

from collections.abc import Mapping, Sequence

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind
from clew.trace.read.serialize import coverage_summary
from clew.trace.read.subtree import (
    Collected,
    Member,
    Subtree,
    SubtreeBranch,
    SubtreeEdge,
    SubtreeFormat,
    SubtreeNode,
    edges_up,
)

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


def _figures(coverage: Mapping[str, float] | None) -> str:
    if coverage is None or not coverage["total"]:
        return ""
    total = coverage["total"]
    return f" [Implemented {coverage['implemented']}/{total}, Tested {coverage['covered']}/{total}]"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _flat_node(graph: Graph, member: Member) -> SubtreeNode:
    node = member.node
    return SubtreeNode(
        id=node.id,
        kind=node.kind.value,
        title=node.title,
        depth=member.depth,
        level=node.get_field("level"),
        status=node.get_field("status"),
        coverage=coverage_summary(graph, node),
    )


def _edges(graph: Graph, collected: Collected, members: Sequence[Member]) -> list[SubtreeEdge]:
    return [
        SubtreeEdge(edge.source, edge.target, edge.kind.value, edge.labels)
        for member in members
        for edge in edges_up(graph, collected, member)
    ]


def _branches(graph: Graph, members: Sequence[Member]) -> list[SubtreeBranch]:
    """The members as trees. One whose parent is on another page, or lies too deep, begins a tree of its own.

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
