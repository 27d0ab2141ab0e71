"""The mutations of the graph, each as one recorded change.

Every function reads the graph, refuses what cannot be done, and returns the change; `History.apply` carries it out.
What an id, a level or a status may look like is decided by the calling service, which knows the grammar.

A mutation leaves references as linking the same content would: what a reference names and the graph has is an edge,
and a reference of which anything is missing is broken, under its text as written.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from clew.errors import Conflict, NotFound, WrongKind
from clew.graph.changes import Change, Edit
from clew.graph.graph import Graph
from clew.graph.model import BrokenReference, Edge, EdgeKind, Node, NodeKind

SEPARATOR = "-"
"""Between an id and the labels that a reference names, and, as an older spelling, between two labels."""

JOINT = "+"
"""Between two labels."""

_FOLLOWED = frozenset({"unknown_requirement", "unknown_assertion"})
"""The faults that go away when the target appears."""

_Find = Callable[[str], Node | None]


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
    """Give a node another id. Its parts, whose ids begin with it, and every reference from or to any of them follow."""
    _whole(graph, old_id, "relabel_assertion gives it another label.")
    renamed = {old_id: new_id}
    for part in _parts(graph, old_id):
        if part.startswith(old_id):
            renamed[part] = new_id + part.removeprefix(old_id)
    for new in renamed.values():
        _free(graph, new)

    def follow(reference: BrokenReference) -> BrokenReference:
        aim = _aim(reference, graph.memory.get_node)
        text = reference.target_id
        return msgspec.structs.replace(
            reference,
            source_id=renamed.get(reference.source_id, reference.source_id),
            target_id=new_id + text.removeprefix(old_id) if aim is not None and aim[0].id == old_id else text,
        )

    edit = Edit(graph.memory)
    for old, new in renamed.items():
        _move_edges(edit, old, renamed)
        node = _existing(graph, old)
        edit.remove(old)
        edit.put(msgspec.structs.replace(node, id=new))
    _settle(graph, edit, follow)
    return edit.change("rename_node", old_id)


def add_node(
    graph: Graph,
    node: Node,
    *,
    parts: tuple[Node, ...] = (),
    edges: tuple[Edge, ...] = (),
    operation: str = "add_node",
) -> Change:
    """Add a node with its parts and edges. Broken references to it become edges as far as it has what they name."""
    if node.kind is NodeKind.ASSERTION:
        raise WrongKind(f"Node '{node.id}' is an assertion.", hint="add_assertion adds one to its requirement.")
    edit = Edit(graph.memory)
    for each in (node, *parts):
        _free(graph, each.id)
        edit.put(each)
    for part in parts:
        edit.link(Edge(EdgeKind.STRUCTURES, part.id, node.id))
    for edge in edges:
        _citable(edge, lambda id: edit.get_node(id) or graph.get_node(id))
        edit.link(edge)
    _settle(graph, edit)
    return edit.change(operation, node.id)


def delete_node(graph: Graph, id: str, *, operation: str = "delete_node") -> Change:
    """Remove a node and its parts. What cited them is left with a broken reference, what they cited is not."""
    _whole(graph, id, "delete_assertion removes it.")
    removed = dict.fromkeys((*_parts(graph, id), id))
    edit = Edit(graph.memory)
    for gone in removed:
        edit.remove(gone)
    _settle(graph, edit, lambda reference: None if reference.source_id in removed else reference)
    for gone in removed:
        for edge in edit.outgoing(gone):
            edit.unlink(edge)
        for edge in edit.incoming(gone):
            edit.unlink(edge)
            if edge.source not in removed:
                edit.break_off(_broken(graph, edge, "unknown_requirement"))
    return edit.change(operation, id)


def add_assertion(graph: Graph, requirement_id: str, assertion: Node) -> Change:
    """Add an assertion as the last of its requirement. Broken references that name it become edges."""
    if assertion.kind is not NodeKind.ASSERTION:
        raise _not_an_assertion(assertion)
    requirement = _whole(graph, requirement_id, "Pass the id of its requirement.")
    label = assertion.get_field("label")
    _free(graph, assertion.id)
    _free_label(requirement, label)
    edit = Edit(graph.memory)
    edit.put(assertion)
    edit.link(Edge(EdgeKind.STRUCTURES, assertion.id, requirement_id))
    edit.put(_with_labels(requirement, (*_labels(requirement), label)))
    _settle(graph, edit)
    return edit.change("add_assertion", assertion.id, affects_hash=True)


def relabel_assertion(graph: Graph, id: str, new_id: str, new_label: str) -> Change:
    """Give an assertion another label. References that name it by its label change; no other does."""
    assertion = _assertion(graph, id)
    label = assertion.get_field("label")
    parents = {parent.id: parent for parent in graph.iter_parents(id, (EdgeKind.STRUCTURES,))}
    _free(graph, new_id)
    for parent in parents.values():
        _free_label(parent, new_label)

    def relabelled(labels: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(new_label if item == label else item for item in labels))

    def follow(reference: BrokenReference) -> BrokenReference:
        aim = _aim(reference, graph.memory.get_node)
        if aim is None or aim[0].id not in parents or label not in aim[1]:
            return reference
        return msgspec.structs.replace(reference, target_id=written_reference(aim[0].id, relabelled(aim[1])))

    edit = Edit(graph.memory)
    _move_edges(edit, id, {id: new_id})
    edit.remove(id)
    edit.put(msgspec.structs.replace(assertion, id=new_id, fields={**assertion.fields, "label": new_label}))
    for parent in parents.values():
        edit.put(_with_labels(parent, relabelled(_labels(parent))))
        for edge in edit.incoming(parent.id):
            if label in edge.labels:
                edit.unlink(edge)
                edit.link(msgspec.structs.replace(edge, labels=relabelled(edge.labels)))
    _settle(graph, edit, follow)
    return edit.change("rename_assertion", id, affects_hash=True)


def delete_assertion(graph: Graph, id: str) -> Change:
    """Remove an assertion. Edges lose its label, and what named it is left with a broken reference."""
    assertion = _assertion(graph, id)
    label = assertion.get_field("label")
    edit = Edit(graph.memory)
    for edge in edit.outgoing(id) + edit.incoming(id):
        edit.unlink(edge)
    edit.remove(id)
    parents = list(graph.iter_parents(id, (EdgeKind.STRUCTURES,)))
    for parent in parents:
        edit.put(_with_labels(parent, _without(_labels(parent), label)))
    _settle(graph, edit)
    for parent in parents:
        for edge in edit.incoming(parent.id):
            if label in edge.labels:
                edit.unlink(edge)
                edit.break_off(_broken(graph, edge, "unknown_assertion"))
                remaining = _without(edge.labels, label)
                if remaining:
                    edit.link(msgspec.structs.replace(edge, labels=remaining))
    return edit.change("delete_assertion", id, affects_hash=True)


def add_edge(graph: Graph, edge: Edge) -> Change:
    _citable(edge, graph.get_node)
    edit = Edit(graph.memory)
    edit.link(edge)
    return edit.change("add_edge", edge.source)


def replace_edge(graph: Graph, old: Edge, new: Edge | None) -> Change:
    """Change an edge's kind, target or labels, or remove it. A reference that is broken in part loses the rest."""
    if not graph.memory.has_edge(old):
        raise NotFound(
            f"'{old.source}' has no {old.kind.value} edge to '{old.target}'.",
            hint="get_requirement lists the edges of a requirement.",
        )
    if new is not None:
        _citable(new, graph.get_node)

    def follow(reference: BrokenReference) -> BrokenReference:
        aim = _aim(reference, graph.memory.get_node)
        if aim is None or _decide(reference, graph.memory.get_node)[0] != old:
            return reference
        unknown = tuple(label for label in aim[1] if label not in old.labels)
        return msgspec.structs.replace(reference, target_id=written_reference(old.target, unknown))

    edit = Edit(graph.memory)
    edit.unlink(old)
    _settle(graph, edit, follow)
    if new is not None:
        edit.link(new)
    return edit.change("delete_edge" if new is None else "change_edge", old.source)


def mend_reference(graph: Graph, reference: BrokenReference, edge: Edge) -> Change:
    """Put an edge in the place of a broken reference, and of the edge to the part of it that could be followed."""
    if not graph.memory.has_broken(reference):
        raise NotFound(
            f"'{reference.source_id}' has no broken reference to '{reference.target_id}'.",
            hint="get_requirement lists the broken references of a requirement.",
        )
    _citable(edge, graph.get_node)
    edit = Edit(graph.memory)
    _settle(graph, edit, lambda each: None if each == reference else each)
    edit.link(edge)
    return edit.change("fix_broken_reference", reference.source_id)


# References as text


def written_reference(id: str, labels: tuple[str, ...], *, separator: str = SEPARATOR) -> str:
    """How a reference to these assertions of a node, or without labels to all of it, is written: `REQ-x-A+B`."""
    return f"{id}{separator}{JOINT.join(labels)}" if labels else id


def named_labels(written: str, id: str, *, separator: str = SEPARATOR) -> tuple[str, ...] | None:
    """The labels that follow this id in a reference (`REQ-x-A+B`, `REQ-x-A-B`); None where it is to another id."""
    if written == id:
        return ()
    if not written.startswith(id + separator):
        return None
    labels = written.removeprefix(id + separator).replace(JOINT, separator).split(separator)
    return tuple(dict.fromkeys(labels)) if all(labels) else None


def _aim(reference: BrokenReference, find: _Find) -> tuple[Node, tuple[str, ...]] | None:
    """The node that a reference is to, which is the one with the longest id its text begins with, and the labels."""
    text = reference.target_id
    if reference.fault not in _FOLLOWED:
        return None
    for end in (len(text), *(at for at in range(len(text) - 1, 0, -1) if text.startswith(SEPARATOR, at))):
        node = find(text[:end])
        if node is not None and node.kind is not NodeKind.ASSERTION:
            labels = named_labels(text, node.id)
            return None if labels is None else (node, labels)
    return None


def _decide(reference: BrokenReference, find: _Find) -> tuple[Edge | None, str]:
    """The edge to what a reference names and the graph has, and the fault of the rest: empty where there is none."""
    aim = _aim(reference, find)
    if aim is None:
        return None, "unknown_requirement" if reference.fault in _FOLLOWED else reference.fault
    target, labels = aim
    known = tuple(label for label in labels if label in _labels(target))
    edge = Edge(reference.edge_kind, reference.source_id, target.id, known) if known or not labels else None
    return edge, "" if len(known) == len(labels) else "unknown_assertion"


def _settle(
    graph: Graph,
    edit: Edit,
    follow: Callable[[BrokenReference], BrokenReference | None] = lambda reference: reference,
) -> None:
    """Decide broken references anew by the nodes as the edit leaves them.

    `follow` says what becomes of a reference itself: the same, one with another source or text, or None to forget it.
    One on whose decision the edit has no bearing stays as it is.
    """
    obsolete: list[Edge] = []
    standing: list[Edge] = []
    for reference in graph.broken_references():
        before, fault = _decide(reference, graph.memory.get_node)
        followed = follow(reference)
        after, fault_after = (None, "") if followed is None else _decide(followed, edit.get_node)
        if (followed, after, fault_after) == (reference, before, fault):
            standing += [before] if before is not None and graph.memory.has_edge(before) else []
            continue
        obsolete += [before] if before is not None else []
        standing += [after] if after is not None else []
        edit.mend(reference)
        if followed is not None and fault_after:
            edit.break_off(msgspec.structs.replace(followed, fault=fault_after))
    # All are unlinked before any is linked: two references of one node may stand behind the same edge.
    for edge in obsolete:
        edit.unlink(edge)
    for edge in standing:
        edit.link(edge)


def _move_edges(edit: Edit, old: str, renamed: Mapping[str, str]) -> None:
    for edge in edit.outgoing(old) + edit.incoming(old):
        edit.unlink(edge)
        edit.link(
            msgspec.structs.replace(
                edge, source=renamed.get(edge.source, edge.source), target=renamed.get(edge.target, edge.target)
            )
        )


def _broken(graph: Graph, edge: Edge, fault: str) -> BrokenReference:
    source = _existing(graph, edge.source).source
    return BrokenReference(
        source_id=edge.source,
        target_id=written_reference(edge.target, edge.labels),
        edge_kind=edge.kind,
        fault=fault,
        path=source.path if source else "",
        line=source.line if source else 0,
    )


# Nodes and their labels


def _parts(graph: Graph, id: str) -> list[str]:
    return [edge.source for edge in graph.iter_incoming_edges(id) if edge.kind is EdgeKind.STRUCTURES]


def _labels(node: Node) -> tuple[str, ...]:
    labels: tuple[str, ...] = node.get_field("labels", ())
    return labels


def _with_labels(node: Node, labels: tuple[str, ...]) -> Node:
    return msgspec.structs.replace(node, fields={**node.fields, "labels": labels})


def _without(labels: tuple[str, ...], label: str) -> tuple[str, ...]:
    return tuple(item for item in labels if item != label)


# What is refused


def _existing(graph: Graph, id: str) -> Node:
    return _found(id, graph.get_node)


def _found(id: str, find: _Find) -> Node:
    node = find(id)
    if node is None:
        raise NotFound(f"Node '{id}' not found.", hint="search finds ids by words of the title or text.")
    return node


def _whole(graph: Graph, id: str, hint: str) -> Node:
    """A node that is not an assertion, which lives and dies with a label of its requirement."""
    node = _existing(graph, id)
    if node.kind is NodeKind.ASSERTION:
        raise WrongKind(f"Node '{id}' is an assertion.", hint=hint)
    return node


def _assertion(graph: Graph, id: str) -> Node:
    node = _existing(graph, id)
    if node.kind is not NodeKind.ASSERTION:
        raise _not_an_assertion(node)
    return node


def _not_an_assertion(node: Node) -> WrongKind:
    return WrongKind(f"Node '{node.id}' is a {node.kind.value}, not an assertion.", hint="Pass the id of an assertion.")


def _citable(edge: Edge, find: _Find) -> None:
    """Refuse an edge from or to nothing, or to an assertion other than by its label."""
    _found(edge.source, find)
    target = _found(edge.target, find)
    if target.kind is NodeKind.ASSERTION:
        raise WrongKind(
            f"Node '{edge.target}' is an assertion; an edge leads to its requirement and carries its label.",
            hint="Pass the id of the requirement, and the label among the labels.",
        )
    unknown = [label for label in edge.labels if label not in _labels(target)]
    if unknown:
        raise NotFound(
            f"'{edge.target}' has no assertion '{unknown[0]}'.",
            hint=f"It has {', '.join(_labels(target)) or 'none'}.",
        )


def _free(graph: Graph, id: str) -> None:
    if graph.get_node(id) is not None:
        raise Conflict(f"The id '{id}' is taken.", hint="Choose another id.", data={"node_id": id})


def _free_label(requirement: Node, label: str) -> None:
    if label in _labels(requirement):
        raise Conflict(
            f"'{requirement.id}' has an assertion '{label}' already.",
            hint="Choose another label.",
            data={"node_id": requirement.id},
        )
