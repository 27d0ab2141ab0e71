"""The assertions of a requirement, and their citations."""

from collections.abc import Iterator

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import Edge, EdgeKind, Node, NodeKind


class RequirementCitation(msgspec.Struct, frozen=True):
    """One citation of a requirement, with the citing node."""

    edge: Edge
    by: Node

    @property
    def is_test(self) -> bool:
        return self.by.kind is NodeKind.TEST

    def names(self, label: str) -> bool:
        """True if the citation names this assertion; one of the whole requirement names none."""
        return label in self.edge.labels

    def implements(self, label: str) -> bool:
        """True if it counts as an implementation of this assertion: by name, or of the whole requirement."""
        return self.edge.kind is EdgeKind.IMPLEMENTS and not self.is_test and label in (self.edge.labels or (label,))


def assertions_of(graph: Graph, id: str) -> tuple[Node, ...]:
    """The assertions of a requirement, in the order of the file."""
    owned = (graph.get_node(edge.source) for edge in graph.iter_incoming_edges(id) if edge.kind is EdgeKind.STRUCTURES)
    parts = [part for part in owned if part is not None and part.kind is NodeKind.ASSERTION]
    parts.sort(key=lambda part: part.source.line if part.source else 0)
    return tuple(parts)


def live_assertions_of(graph: Graph, id: str) -> tuple[Node, ...]:
    """The assertions of a requirement that are not retired."""
    return tuple(part for part in assertions_of(graph, id) if not part.get_field("retired"))


def owner_of(graph: Graph, assertion: Node) -> Node | None:
    """The requirement that an assertion is part of."""
    edges = graph.iter_outgoing_edges(assertion.id)
    owners = (graph.get_node(edge.target) for edge in edges if edge.kind is EdgeKind.STRUCTURES)
    return next((owner for owner in owners if owner is not None), None)


def citations_of(graph: Graph, id: str) -> Iterator[RequirementCitation]:
    """The citations of a requirement and its assertions: by requirements, code, tests."""
    for edge in graph.iter_incoming_edges(id):
        if edge.kind is not EdgeKind.STRUCTURES:
            by = graph.get_node(edge.source)
            if by is not None:
                yield RequirementCitation(edge, by)


def written(graph: Graph, edge: Edge) -> str:
    """The target of a citation, spelled as the ids of the cited assertions are: REQ-d00001-A+B, or
    clock/hands#minute."""
    if not edge.labels:
        return edge.target
    separators: dict[str, str] = graph.derived("label_separators", lambda graph: {})
    separator = separators.get(edge.target)
    if separator is None:
        separator = separators[edge.target] = _separator(graph, edge.target)
    return f"{edge.target}{separator}{'+'.join(edge.labels)}"


def _separator(graph: Graph, id: str) -> str:
    """The separator between the id of a requirement or journey and the labels of its parts."""
    part = next(graph.iter_children(id, (EdgeKind.STRUCTURES,)), None)
    if part is None:
        return "/"  # the steps of a journey are no nodes
    return part.id.removeprefix(id).removesuffix(part.get_field("label", ""))
