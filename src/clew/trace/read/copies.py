"""Copies of templates: the assertions that a requirement takes from the templates it satisfies.

`REQ-d00001` that says `Satisfies: REQ-p00002` has a copy of that template, `REQ-d00001::REQ-p00002`, and of every
template that refines it, each with the assertions that are meant. A copy has no text and no tests of its own: it says
what its template says, and is as implemented and tested as that. So it is no node of the graph, where one obligation
would count as many; it is made when somebody asks for it.
"""

from collections.abc import Iterator

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node, NodeKind

SEPARATOR = "::"


class Copy(msgspec.Struct, frozen=True):
    id: str
    declaring: Node
    """The requirement that satisfies the template."""
    template: Node
    labels: tuple[str, ...]
    """The assertions of the template that are meant."""

    @property
    def node(self) -> Node:
        """The copy as a requirement."""
        fields = {
            **self.template.fields,
            "template": False,
            "labels": self.labels,
            "instance_of": self.template.id,
            "declared_by": self.declaring.id,
        }
        return msgspec.structs.replace(self.template, id=self.id, fields=fields)


def is_template(node: Node | None) -> bool:
    return node is not None and bool(node.get_field("template"))


def copies_of(graph: Graph, declaring: Node) -> tuple[Copy, ...]:
    """The copies of templates that a requirement satisfies, in the order of its citations; each template once."""
    wanted: dict[str, set[str] | None] = {}
    """By template: the labels that are meant; None for all."""
    for edge in graph.iter_outgoing_edges(declaring.id):
        if edge.kind is EdgeKind.SATISFIES and is_template(graph.get_node(edge.target)):
            _want(wanted, edge.target, edge.labels)
            for id in _refining(graph, edge.target, edge.labels):
                _want(wanted, id, ())
    found: list[Copy] = []
    for id, labels in wanted.items():
        template = graph.get_node(id)
        if template is not None:
            all_labels: tuple[str, ...] = template.get_field("labels", ())
            meant = tuple(label for label in all_labels if labels is None or label in labels)
            found.append(Copy(f"{declaring.id}{SEPARATOR}{id}", declaring, template, meant))
    return tuple(found)


def _want(wanted: dict[str, set[str] | None], id: str, labels: tuple[str, ...]) -> None:
    known = wanted.get(id, set())
    wanted[id] = None if known is None or not labels else known | set(labels)


def _refining(graph: Graph, template: str, labels: tuple[str, ...]) -> Iterator[str]:
    """The templates that refine a template, or these of its assertions, and the templates that refine those."""
    seen = {template}
    waiting = [(template, frozenset(labels))]
    while waiting:
        id, meant = waiting.pop()
        for edge in graph.iter_incoming_edges(id):
            is_meant = not meant or not edge.labels or not meant.isdisjoint(edge.labels)
            if edge.kind is EdgeKind.REFINES and is_meant and edge.source not in seen:
                seen.add(edge.source)
                if is_template(graph.get_node(edge.source)):
                    yield edge.source
                    waiting.append((edge.source, frozenset()))


def find_copy(graph: Graph, id: str) -> Copy | None:
    """The copy of a template with this id; None if there is none."""
    declaring_id, separator, template_id = id.partition(SEPARATOR)
    declaring = graph.get_node(declaring_id) if separator else None
    if declaring is None or declaring.kind is not NodeKind.REQUIREMENT:
        return None
    return next((each for each in copies_of(graph, declaring) if each.template.id == template_id), None)
