"""The most specific members of a set of requirements.

A member goes when another member is below it. On a circle nobody is more specific than the others: there all stay,
unless something outside the circle is below.
"""

from collections.abc import Collection, Iterable
from itertools import islice

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node
from clew.trace.find.scope import above, below, hierarchy

DEFAULT_EDGE_KINDS = "implements,refines"
MOST_NAMED = 10
"""Members that are named as the reason why another goes."""


class Minimized(msgspec.Struct, frozen=True):
    """A set divided, each part in the order of the set."""

    minimal: tuple[Node, ...]
    pruned: tuple[Node, ...]


def minimize(graph: Graph, members: Iterable[Node], kinds: Collection[EdgeKind]) -> Minimized:
    """The most specific members. Linear in the part of the hierarchy above them, except for members on cycles."""
    by_id = {node.id: node for node in members}
    cited = set(above(graph, by_id, kinds))
    circular = hierarchy(graph).circular
    pruned = {
        id: None
        for id in by_id
        if id in cited and (id not in circular or any(_below_in_set(graph, id, by_id.keys(), kinds)))
    }
    return Minimized(
        minimal=tuple(node for id, node in by_id.items() if id not in pruned),
        pruned=tuple(by_id[id] for id in pruned),
    )


def superseded_by(graph: Graph, node: Node, members: Collection[str], kinds: Collection[EdgeKind]) -> tuple[str, ...]:
    """The members below a pruned one, nearest first, at most MOST_NAMED."""
    return tuple(islice(_below_in_set(graph, node.id, members, kinds), MOST_NAMED))


def _below_in_set(graph: Graph, id: str, members: Collection[str], kinds: Collection[EdgeKind]) -> Iterable[str]:
    on_circle = id in hierarchy(graph).circular
    around = frozenset(above(graph, (id,), kinds)) if on_circle else frozenset()
    return (other for other in below(graph, (id,), kinds) if other in members and other != id and other not in around)
