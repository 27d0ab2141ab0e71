"""Kinds of nodes and edges as a caller may write them: one or several, by value or by name, in any case."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TypeVar

from clew.errors import InvalidArgument
from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node, NodeKind

Listed = str | Sequence[str]
"""Several values: a list, or one text with commas between them."""

K = TypeVar("K", NodeKind, EdgeKind)


def sorted_nodes(graph: Graph, kind: NodeKind) -> tuple[Node, ...]:
    """The nodes of a kind in the order of their ids."""
    return graph.derived(
        f"sorted_nodes:{kind.value}", lambda graph: tuple(sorted(graph.nodes_by_kind(kind), key=lambda node: node.id))
    )


def listed(values: Listed) -> tuple[str, ...]:
    """The values without blanks, empty ones and repeats, in their order."""
    parts = values.split(",") if isinstance(values, str) else values
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))


def node_kinds(values: Listed) -> tuple[NodeKind, ...]:
    return _kinds(NodeKind, values, "kind of node")


def edge_kinds(values: Listed) -> tuple[EdgeKind, ...]:
    return _kinds(EdgeKind, values, "kind of edge")


def _kinds(enum: type[K], values: Listed, what: str) -> tuple[K, ...]:
    spellings = {spelling: kind for kind in enum for spelling in _spellings(kind)}
    found: dict[K, None] = {}
    for value in listed(values):
        kind = spellings.get(value.casefold())
        if kind is None:
            raise InvalidArgument(
                f"There is no {what} '{value[:40]}'.", hint=f"There are: {', '.join(kind.value for kind in enum)}."
            )
        found[kind] = None
    return tuple(found)


def _spellings(kind: StrEnum) -> tuple[str, str]:
    return kind.value.casefold(), kind.name.casefold()
