"""Requirements and their assertions, as texts that are compared."""

import re

from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node, NodeKind
from clew.trace.suggest_texts import Artefact

_HEADING = re.compile(r"^#+ *(?:Assertions|Rationale)\W*$", re.MULTILINE)
"""Every requirement has these."""


def requirement_artefact(node: Node) -> Artefact:
    return Artefact(node.id, node.title, _HEADING.sub("", node.get_field("body", "")))


def assertion_artefacts(graph: Graph, requirement: Node) -> list[Artefact]:
    """The assertions of a requirement, in order, each under the requirement's title."""
    parts = [
        node for node in graph.iter_children(requirement.id, (EdgeKind.STRUCTURES,)) if node.kind is NodeKind.ASSERTION
    ]
    parts.sort(key=lambda node: node.source.line if node.source is not None else 0)
    return [Artefact(node.id, requirement.title, node.title) for node in parts]
