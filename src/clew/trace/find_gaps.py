"""What is missing or loose: assertions without a test, citations without a target, nodes that cite nothing."""

from collections import Counter
from collections.abc import Iterator

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import BrokenReference, Node, NodeKind
from clew.trace.assertions import assertions_of, citations_of
from clew.trace.find_kinds import sorted_nodes

ORPHAN_KINDS = (NodeKind.TEST, NodeKind.CODE, NodeKind.TEST_RESULT)


class Gap(msgspec.Struct, frozen=True, gc=False):
    """An assertion that no test names."""

    assertion: Node
    requirement: Node


def uncovered_assertions(graph: Graph, *, implemented_only: bool = False) -> tuple[Gap, ...]:
    """All gaps, by requirement and in the order of its assertions; or only those that something implements."""
    name = f"uncovered_assertions:{implemented_only}"
    return graph.derived(name, lambda graph: tuple(_all_gaps(graph, implemented_only=implemented_only)))


def _all_gaps(graph: Graph, *, implemented_only: bool) -> Iterator[Gap]:
    for node in sorted_nodes(graph, NodeKind.REQUIREMENT):
        yield from gaps_of(graph, node, implemented_only=implemented_only)


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
    return graph.derived("orphaned_nodes", lambda graph: tuple(_orphans(graph)))


def _orphans(graph: Graph) -> Iterator[Node]:
    for kind in ORPHAN_KINDS:
        for node in sorted_nodes(graph, kind):
            if not any(graph.iter_outgoing_edges(node.id)):
                yield node


def orphans_by_kind(graph: Graph) -> dict[str, int]:
    return graph.derived(
        "orphans_by_kind", lambda graph: dict(Counter(node.kind.value for node in orphaned_nodes(graph)))
    )
