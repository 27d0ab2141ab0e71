"""The mutations of the graph, each as one recorded change.

Every function reads the graph, refuses what cannot be done, and returns the change; `History.apply` carries it out.
What an id, a level or a status may look like is decided by the calling service, which knows the grammar.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from clew.errors import Conflict, NotFound, WrongKind
from clew.graph.changes import Change, Edit
from clew.graph.graph import Graph
from clew.graph.model import BrokenReference, Edge, EdgeKind, Node, NodeKind


def set_fields(graph: Graph, id: str, fields: Mapping[str, Any], *, operation: str = "set_fields") -> Change:
    """Replace some fields of a node; a value of None removes the field."""
    node = _existing(graph, id)
    merged = {name: value for name, value in {**node.fields, **fields}.items() if value is not None}
    edit = Edit(graph.memory)
    edit.put(msgspec.structs.replace(node, fields=merged))
    return edit.change(operation, id)


def update_title(graph: Graph, id: str, title: str, *, operation: str = "update_title") -> Change:
    node = _existing(graph, id)
    edit = Edit(graph.memory)
    edit.put(msgspec.structs.replace(node, title=title))
    return edit.change(operation, id, affects_hash=node.kind is NodeKind.ASSERTION)


def rename_node(graph: Graph, old_id: str, new_id: str) -> Change:
    """Give a node another id. Its parts, whose ids begin with it, and every edge at any of them follow."""
    node = _existing(graph, old_id)
    _free(graph, new_id)
    renamed = {old_id: new_id}
    for edge in graph.iter_incoming_edges(old_id):
        if edge.kind is EdgeKind.STRUCTURES and edge.source.startswith(old_id):
            renamed[edge.source] = new_id + edge.source.removeprefix(old_id)
    edit = Edit(graph.memory)
    for old, new in renamed.items():
        _move_edges(edit, old, renamed)
        part = _existing(graph, old)
        edit.remove(old)
        edit.put(msgspec.structs.replace(part, id=new))
    return edit.change("rename_node", node.id)


def add_node(graph: Graph, node: Node, *, edges: tuple[Edge, ...] = (), operation: str = "add_node") -> Change:
    """Add a node with its edges. Broken references to its id become edges."""
    _free(graph, node.id)
    edit = Edit(graph.memory)
    edit.put(node)
    for edge in edges:
        edit.link(edge)
    for reference in graph.broken_references():
        if reference.target_id == node.id:
            edit.mend(reference)
            edit.link(Edge(reference.edge_kind, reference.source_id, node.id))
    return edit.change(operation, node.id)


def delete_node(graph: Graph, id: str, *, operation: str = "delete_node") -> Change:
    """Remove a node and its parts. What cited them is left with a broken reference."""
    _existing(graph, id)
    edit = Edit(graph.memory)
    parts = [edge.source for edge in graph.iter_incoming_edges(id) if edge.kind is EdgeKind.STRUCTURES]
    removed = {id, *parts}
    for gone in (*parts, id):
        for edge in edit.outgoing(gone):
            edit.unlink(edge)
        for edge in edit.incoming(gone):
            edit.unlink(edge)
            if edge.source not in removed:
                edit.break_off(_broken(graph, edge))
        edit.remove(gone)
    for reference in graph.broken_references():
        if reference.source_id in removed:
            edit.mend(reference)
    return edit.change(operation, id)


def relabel_assertion(graph: Graph, id: str, new_id: str, new_label: str) -> Change:
    """Give an assertion another label. Edges that name it by its label change; no other edge does."""
    assertion = _assertion(graph, id)
    _free(graph, new_id)
    label = assertion.get_field("label")
    edit = Edit(graph.memory)
    _move_edges(edit, id, {id: new_id})
    edit.remove(id)
    edit.put(msgspec.structs.replace(assertion, id=new_id, fields={**assertion.fields, "label": new_label}))
    for parent in graph.iter_parents(id, (EdgeKind.STRUCTURES,)):
        for edge in graph.iter_incoming_edges(parent.id):
            if label in edge.labels:
                edit.unlink(edge)
                labels = tuple(new_label if item == label else item for item in edge.labels)
                edit.link(msgspec.structs.replace(edge, labels=labels))
    return edit.change("rename_assertion", id, affects_hash=True)


def delete_assertion(graph: Graph, id: str) -> Change:
    """Remove an assertion. Edges lose its label; one that named nothing else is left broken."""
    assertion = _assertion(graph, id)
    label = assertion.get_field("label")
    edit = Edit(graph.memory)
    for parent in graph.iter_parents(id, (EdgeKind.STRUCTURES,)):
        for edge in graph.iter_incoming_edges(parent.id):
            if label in edge.labels:
                edit.unlink(edge)
                remaining = tuple(item for item in edge.labels if item != label)
                if remaining:
                    edit.link(msgspec.structs.replace(edge, labels=remaining))
                else:
                    edit.break_off(_broken(graph, edge, target=id))
    for edge in edit.outgoing(id) + edit.incoming(id):
        edit.unlink(edge)
    edit.remove(id)
    return edit.change("delete_assertion", id, affects_hash=True)


def add_edge(graph: Graph, edge: Edge) -> Change:
    _existing(graph, edge.source)
    _existing(graph, edge.target)
    edit = Edit(graph.memory)
    edit.link(edge)
    return edit.change("add_edge", edge.source)


def replace_edge(graph: Graph, old: Edge, new: Edge | None) -> Change:
    """Change an edge's kind, target or labels, or remove it."""
    if not graph.memory.has_edge(old):
        raise NotFound(
            f"'{old.source}' has no {old.kind.value} edge to '{old.target}'.",
            hint="get_requirement lists the edges of a requirement.",
        )
    edit = Edit(graph.memory)
    edit.unlink(old)
    if new is not None:
        _existing(graph, new.target)
        edit.link(new)
    return edit.change("delete_edge" if new is None else "change_edge", old.source)


def mend_reference(graph: Graph, reference: BrokenReference, edge: Edge) -> Change:
    """Turn a broken reference into an edge."""
    _existing(graph, edge.target)
    edit = Edit(graph.memory)
    edit.mend(reference)
    edit.link(edge)
    return edit.change("fix_broken_reference", reference.source_id)


def _move_edges(edit: Edit, old: str, renamed: Mapping[str, str]) -> None:
    for edge in edit.outgoing(old) + edit.incoming(old):
        edit.unlink(edge)
        edit.link(
            msgspec.structs.replace(
                edge, source=renamed.get(edge.source, edge.source), target=renamed.get(edge.target, edge.target)
            )
        )


def _broken(graph: Graph, edge: Edge, *, target: str | None = None) -> BrokenReference:
    source = _existing(graph, edge.source).source
    return BrokenReference(
        source_id=edge.source,
        target_id=target or edge.target,
        edge_kind=edge.kind,
        fault="unknown_requirement" if target is None else "unknown_assertion",
        path=source.path if source else "",
        line=source.line if source else 0,
    )


def _existing(graph: Graph, id: str) -> Node:
    node = graph.get_node(id)
    if node is None:
        raise NotFound(f"Node '{id}' not found.", hint="search finds ids by words of the title or text.")
    return node


def _assertion(graph: Graph, id: str) -> Node:
    node = _existing(graph, id)
    if node.kind is not NodeKind.ASSERTION:
        raise WrongKind(f"Node '{id}' is a {node.kind.value}, not an assertion.", hint="Pass the id of an assertion.")
    return node


def _free(graph: Graph, id: str) -> None:
    if graph.get_node(id) is not None:
        raise Conflict(f"The id '{id}' is taken.", hint="Choose another id.", data={"node_id": id})
