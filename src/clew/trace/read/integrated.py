"""What a requirement inherits from the requirements of other repositories that it integrates: their coverage, as it is
there. Nothing of it counts among the figures of the requirement itself."""

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node


class Integrated(msgspec.Struct, frozen=True):
    """Assertions of what is integrated, under the names that elspais gives these figures."""

    implemented_covered: int
    implemented_total: int
    verified_covered: int
    """Those of which a test passed and none failed."""
    verified_total: int
    has_failures: bool


def is_integrating(graph: Graph, node: Node) -> bool:
    return any(edge.kind is EdgeKind.INTEGRATES for edge in graph.memory.iter_outgoing_edges(node.id))


def integrated(graph: Graph, node: Node) -> Integrated | None:
    """Nothing where a requirement integrates none."""
    cited = {edge.target for edge in graph.memory.iter_outgoing_edges(node.id) if edge.kind is EdgeKind.INTEGRATES}
    figures = [found for id in sorted(cited) if "implemented" in (found := graph.metrics(id))]
    if not figures:
        return None
    total = sum(each["total_assertions"] for each in figures)
    return Integrated(
        implemented_covered=sum(each["implemented"] for each in figures),
        implemented_total=total,
        verified_covered=sum(each["validated"] or 0 for each in figures),
        verified_total=total,
        has_failures=any(each["has_failures"] for each in figures),
    )
