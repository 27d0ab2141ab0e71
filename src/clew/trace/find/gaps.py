"""What is missing or loose: assertions without a test, citations without a target, nodes that cite nothing."""

from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import BrokenReference, Node, NodeKind
from clew.trace.read.assertions import assertions_of, citations_of

ORPHAN_KINDS = (NodeKind.TEST, NodeKind.CODE, NodeKind.TEST_RESULT)


class Gap(msgspec.Struct, frozen=True, gc=False):
    """An assertion that no test names."""

    assertion: Node
    requirement: Node


def uncovered_assertions(graph: Graph, *, implemented_only: bool = False) -> tuple[Gap, ...]:
    """All gaps, by requirement and in the order of its assertions; or only those that something implements."""

    def of(node: Node | None) -> tuple[Gap, ...] | None:
        if node is None or node.kind is not NodeKind.REQUIREMENT:
            return None
        return tuple(gaps_of(graph, node, implemented_only=implemented_only)) or None

    return graph.kept.list(
        f"uncovered_assertions:{implemented_only}",
        lambda graph: {node.id: gaps for node in graph.nodes_by_kind(NodeKind.REQUIREMENT) if (gaps := of(node))},
        lambda graph, id: of(graph.get_node(id)),
        _in_order,
    )


def _in_order(gaps: Mapping[str, tuple[Gap, ...]]) -> tuple[Gap, ...]:
    return tuple([gap for id in sorted(gaps) for gap in gaps[id]])


def gaps_of(graph: Graph, node: Node, *, implemented_only: bool = False) -> Iterator[Gap]:
    """The gaps of one requirement."""
    untested: frozenset[str] = frozenset(graph.metrics(node.id)["untested_labels"])
    if not untested:
        return
    if implemented_only:
        citations = list(citations_of(graph, node.id))
        untested = frozenset(label for label in untested if any(each.implements(label) for each in citations))
    for assertion in assertions_of(graph, node.id):
        if assertion.get_field("label") in untested:
            yield Gap(assertion, node)


def broken_references(graph: Graph) -> tuple[BrokenReference, ...]:
    """All citations that name something which does not exist, by place."""
    return graph.derived(
        "sorted_broken_references",
        lambda graph: tuple(
            sorted(graph.broken_references(), key=lambda each: (each.path, each.line, each.source_id, each.target_id))
        ),
    )


def orphaned_nodes(graph: Graph) -> tuple[Node, ...]:
    """Tests, places in code and results that cite nothing, by kind and id."""
    return graph.kept.list("orphaned_nodes", _orphans, _orphan, _by_kind)


def _orphans(graph: Graph) -> dict[str, Node]:
    nodes = (graph.get_node(id) for kind in ORPHAN_KINDS for id in graph.memory.citing_nothing(kind))
    return {node.id: node for node in nodes if node is not None}


def _orphan(graph: Graph, id: str) -> Node | None:
    node = graph.get_node(id)
    return node if node is not None and node.kind in ORPHAN_KINDS and not any(graph.iter_outgoing_edges(id)) else None


def _by_kind(orphans: Mapping[str, Node]) -> tuple[Node, ...]:
    return tuple(sorted(orphans.values(), key=lambda node: (ORPHAN_KINDS.index(node.kind), node.id)))


def orphans_by_kind(graph: Graph) -> dict[str, int]:
    return graph.derived(
        "orphans_by_kind", lambda graph: dict(Counter(node.kind.value for node in orphaned_nodes(graph)))
    )
