"""Coverage: which assertions of a requirement are implemented and which are proved.

An assertion is *tested* when a test names it, and *implemented* when code or a requirement names it, or when a
requirement implements the whole of its parent. A test that cites only the requirement counts as a test of it, but
proves no assertion in particular: what is not named is a gap.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node, NodeKind


class RequirementMetrics(msgspec.Struct, frozen=True):
    total_assertions: int
    tested: int
    """Assertions that a test names."""
    tested_pct: float
    implemented: int
    implemented_pct: float
    untested_labels: tuple[str, ...]
    tests: int
    """Tests that cite the requirement or one of its assertions."""
    code: int
    """Places in code that do."""


def annotate(graph: Graph, node: Node) -> Mapping[str, Any]:
    """The figures of a node: for a requirement its coverage, for any other kind none."""
    if node.kind is not NodeKind.REQUIREMENT:
        return {}
    return msgspec.structs.asdict(requirement_metrics(graph, node))


def requirement_metrics(graph: Graph, node: Node) -> RequirementMetrics:
    labels: tuple[str, ...] = node.get_field("labels", ())
    tested: set[str] = set()
    implemented: set[str] = set()
    tests: set[str] = set()
    code: set[str] = set()
    for edge in graph.iter_incoming_edges(node.id):
        if edge.kind is EdgeKind.STRUCTURES:
            continue
        citing = graph.get_node(edge.source)
        if citing is None:
            continue
        if citing.kind is NodeKind.TEST:
            tests.add(edge.source)
            tested.update(edge.labels)
        elif edge.kind is EdgeKind.IMPLEMENTS:
            if citing.kind is NodeKind.CODE:
                code.add(edge.source)
            implemented.update(edge.labels or labels)
    return RequirementMetrics(
        total_assertions=len(labels),
        tested=len(tested),
        tested_pct=percent(len(tested), len(labels)),
        implemented=len(implemented),
        implemented_pct=percent(len(implemented), len(labels)),
        untested_labels=tuple(label for label in labels if label not in tested),
        tests=len(tests),
        code=len(code),
    )


def percent(part: int, whole: int) -> float:
    """One decimal; 0 where there is nothing to cover."""
    return round(100.0 * part / whole, 1) if whole else 0.0
