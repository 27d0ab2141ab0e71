"""Plans: each mutation validated and drafted, but not yet carried out.

A plan is made from the operation's name and its arguments alone, so that a draft can be planned again on other files.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from clew.errors import InvalidArgument, NotFound, Refused
from clew.formats.elspais.write.blocks import NewRequirement
from clew.graph.graph import Graph
from clew.graph.model import BrokenReference, Edge, EdgeKind, Node, NodeKind
from clew.trace.edit.file_choice import FileChoice
from clew.trace.edit.plan import Plan
from clew.trace.edit.rules import Rules
from clew.trace.edit.text import assertions as assertion_text
from clew.trace.edit.text import edges as edge_text
from clew.trace.edit.text.draft import Draft, DraftContext
from clew.trace.edit.text.renaming import ReferenceTarget, fixed_references
from clew.trace.edit.text.requirements import Mutations
from clew.trace.edit.text.sections import parsed_section
from clew.trace.edit.text_planner import TextPlanner
from clew.trace.read.assertions import owner_of


class Planner:
    def __init__(self, drafting: DraftContext, rules: Rules, places: FileChoice) -> None:
        self._drafting = drafting
        self._graph = drafting.graph
        self._mutations = Mutations(drafting)
        self._rules = rules
        self._places = places
        edges, texts = EdgePlanner(drafting, rules), TextPlanner(drafting, rules, places)
        self.record = texts.record
        """What the text of a requirement or journey says now, drafts included."""
        self._operations: dict[str, Callable[..., Plan]] = {
            "rename_node": self.rename_node,
            "update_title": self.update_title,
            "change_status": self.change_status,
            "add_requirement": self.add_requirement,
            "delete_requirement": self.delete_requirement,
            "add_assertion": self.add_assertion,
            "update_assertion": self.update_assertion,
            "delete_assertion": self.delete_assertion,
            "rename_assertion": self.rename_assertion,
            "add_edge": edges.add_edge,
            "change_edge_kind": edges.change_edge_kind,
            "change_edge_targets": edges.change_edge_targets,
            "delete_edge": edges.delete_edge,
            "fix_broken_reference": edges.fix_broken_reference,
            **texts.operations,
        }

    def plan(self, operation: str, arguments: Mapping[str, Any]) -> Plan:
        made = self._operations[operation](**arguments)
        # With full-text hashes every word of a requirement counts.
        is_hashed = self._drafting.grammar.settings.hash_mode == "full-text"
        return msgspec.structs.replace(made, affects_hash=True) if is_hashed else made

    def subject(self, id: str) -> Node:
        """The requirement or journey whose version guards a mutation of a node."""
        section = parsed_section(id)
        node = self._rules.resolver.node(section[0] if section is not None else id)
        return self._owner(node) if node.kind is NodeKind.ASSERTION else node

    # Nodes

    def rename_node(self, old_id: str, new_id: str) -> Plan:
        node = self._rules.authored(old_id)
        id = self._rules.new_id(new_id, kind=node.kind)
        if id == node.id:
            raise InvalidArgument(f"'{node.id}' has that id already.", hint="Pass another new_id.")
        if node.kind is NodeKind.REQUIREMENT:
            self._rules.level_of_id(id, node.get_field("level", ""))
        return Plan(
            self._mutations.rename_node(node.id, id),
            {"old_id": node.id, "new_id": id},
            node.id,
            id,
            {"id": node.id},
            {"id": id},
            f"{node.id} is now {id}.",
        )

    def update_title(self, node_id: str, new_title: str) -> Plan:
        node, title = self._rules.authored(node_id), self._rules.title(new_title)
        return Plan(
            self._mutations.update_title(node.id, title),
            {"node_id": node.id, "new_title": title},
            node.id,
            node.id,
            {"title": node.title},
            {"title": title},
            f"The title of {node.id} is now '{title}'.",
        )

    def change_status(self, node_id: str, new_status: str) -> Plan:
        node, status = self._rules.resolver.requirement(node_id), self._rules.status(new_status)
        return Plan(
            self._mutations.change_status(node.id, status),
            {"node_id": node.id, "new_status": status},
            node.id,
            node.id,
            {"status": node.get_field("status")},
            {"status": status},
            f"The status of {node.id} is now {status}.",
        )

    def add_requirement(
        self,
        req_id: str,
        title: str,
        level: str,
        status: str = "Draft",
        parent_id: str | None = None,
        edge_kind: str | None = None,
        file_path: str | None = None,
    ) -> Plan:
        rules = self._rules
        id = rules.new_id(req_id)
        new = NewRequirement(id, rules.title(title), rules.level(level, id), rules.status(status))
        aim, kind = self._parent(id, parent_id, edge_kind)
        path = self._places.choose(file_path, self._graph.get_node(aim.target) if aim is not None else None, new.level)
        state = {"id": id, "title": new.title, "level": new.level, "status": new.status}
        if aim is not None:
            written = aim.written(self._drafting.grammar)
            new = msgspec.structs.replace(new, reference=(kind.value, written))
            state |= {"parent_id": written, "edge_kind": kind.value}
        arguments = {"req_id": id, "file_path": path} | {key: value for key, value in state.items() if key != "id"}
        return Plan(
            self._mutations.add_requirement(new, path, aim),
            arguments,
            id,
            id,
            {},
            {**state, "path": path},
            f"{id} will be written to {path}.",
        )

    def _parent(self, id: str, parent_id: str | None, edge_kind: str | None) -> tuple[ReferenceTarget | None, EdgeKind]:
        source = Node(id, NodeKind.REQUIREMENT, "", {})
        kind = self._rules.edge_kind(edge_kind or EdgeKind.IMPLEMENTS.value, source)
        if parent_id is None:
            if edge_kind is not None:
                raise InvalidArgument("edge_kind is given without parent_id.", hint="Pass both, or neither.")
            return None, kind
        return self._rules.reference_target(parent_id), kind

    def delete_requirement(self, node_id: str) -> Plan:
        node = self._rules.authored(node_id)
        citing = who_cites(self._graph, node.id)
        left = f" It is cited by {citing}, which are left with a broken reference." if citing else ""
        return Plan(
            self._mutations.delete_requirement(node.id),
            {"node_id": node.id},
            node.id,
            None,
            self._content(node),
            {},
            f"{node.id} will be removed.{left}",
        )

    def _content(self, node: Node) -> dict[str, Any]:
        edges = self._graph.iter_outgoing_edges(node.id)
        cites = sorted(
            f"{edge.kind.value} {ReferenceTarget(edge.target, edge.labels).written(self._drafting.grammar)}"
            for edge in edges
        )
        fields = {name: node.get_field(name) for name in ("level", "status", "body") if name in node.fields}
        return {"id": node.id, "title": node.title, **fields, "cites": cites}

    # Assertions

    def add_assertion(self, req_id: str, text: str, label: str | None = None) -> Plan:
        node = self._rules.resolver.requirement(req_id)
        name, words = self._rules.new_label(label, node), self._rules.text(text)
        id = self._drafting.grammar.assertion_id(node.id, name)
        return Plan(
            assertion_text.add(self._drafting, node.id, name, words),
            {"req_id": node.id, "label": name, "text": words},
            id,
            node.id,
            {},
            {"id": id, "label": name, "text": words},
            f"{node.id} has the assertion {name}.",
            affects_hash=True,
            assertion_id=id,
            label=name,
        )

    def update_assertion(self, assertion_id: str, new_text: str) -> Plan:
        node, text = self._rules.assertion(assertion_id), self._rules.text(new_text)
        return Plan(
            assertion_text.update(self._drafting, node.id, text),
            {"assertion_id": node.id, "new_text": text},
            node.id,
            self._owner(node).id,
            {"text": node.title},
            {"text": text},
            f"{node.id} has another text.",
            affects_hash=True,
            assertion_id=node.id,
            label=node.get_field("label"),
        )

    def delete_assertion(self, assertion_id: str, compact: bool | None = None) -> Plan:
        node = self._rules.assertion(assertion_id)
        owner, label = self._owner(node), node.get_field("label")
        moved = self._rules.closed_up(owner.get_field("labels", ()), label) if compact is not False else {}
        reason = self._fixed(owner, label, moved) if moved else ""
        if reason and compact:
            raise Refused(
                f"The labels behind {node.id} cannot be closed up: {reason}, and would mean another assertion.",
                hint="Pass compact=False, or correct that reference first.",
            )
        moved = {} if reason else moved
        later = (
            f" The later labels stay, because {reason}." if reason else " The later labels moved down." * bool(moved)
        )
        return Plan(
            assertion_text.delete(self._drafting, node.id, moved),
            {"assertion_id": node.id, "compact": bool(moved)},
            node.id,
            owner.id,
            {"label": label, "text": node.title},
            {"relabelled": moved},
            f"{node.id} will be removed.{later}",
            affects_hash=True,
        )

    def _fixed(self, owner: Node, label: str, moved: Mapping[str, str]) -> str:
        """Why labels cannot move: a reference that would come to mean another assertion."""
        for citation in self._drafting.linker().citations_of(owner.id):
            if label in citation.labels:
                return f"{citation.path}:{citation.line} still says {citation.written}"
        for citation in fixed_references(Draft(self._drafting), owner.id):
            if any(named in moved for named in citation.labels):
                return f"{citation.path}:{citation.line} says {citation.written}, which cannot be rewritten"
        return ""

    def rename_assertion(self, old_id: str, new_label: str) -> Plan:
        node, label = self._rules.assertion(old_id), self._rules.label(new_label)
        owner = self._owner(node)
        id = self._drafting.grammar.assertion_id(owner.id, label)
        return Plan(
            assertion_text.relabel(self._drafting, node.id, label),
            {"old_id": node.id, "new_label": label},
            node.id,
            owner.id,
            {"id": node.id, "label": node.get_field("label")},
            {"id": id, "label": label},
            f"{node.id} is now {id}.",
            affects_hash=True,
            assertion_id=id,
            label=label,
        )

    def _owner(self, assertion: Node) -> Node:
        owner = owner_of(self._graph, assertion)
        if owner is None:
            raise NotFound(f"'{assertion.id}' belongs to no requirement.", hint="Refresh the graph.")
        return owner


class EdgePlanner:
    def __init__(self, drafting: DraftContext, rules: Rules) -> None:
        self._drafting = drafting
        self._graph = drafting.graph
        self._rules = rules

    def add_edge(self, source_id: str, target_id: str, edge_kind: str, assertion_targets: tuple[str, ...] = ()) -> Plan:
        source = self._rules.authored(source_id)
        kind, aim = (
            self._rules.edge_kind(edge_kind, source),
            self._rules.reference_target(target_id, tuple(assertion_targets)),
        )
        edge = Edge(kind, source.id, aim.target, aim.labels)
        duplicate = self._graph.memory.has_edge(edge)
        state = _edge_state(edge)
        return Plan(
            edge_text.add(self._drafting, edge),
            dict(state),
            source.id,
            source.id,
            {},
            {**state, "duplicate": True} if duplicate else state,
            f"{source.id} {kind.value} {aim.written(self._drafting.grammar)}{' already' if duplicate else ''}.",
        )

    def change_edge_kind(self, source_id: str, target_id: str, new_kind: str, edge_kind: str | None = None) -> Plan:
        source = self._rules.authored(source_id)
        wanted = self._rules.edge_kind(new_kind, source)
        edges = self._edges(source, target_id, edge_kind)
        kind, target = edges[0].kind, edges[0].target
        if kind is wanted:
            raise InvalidArgument(f"'{source.id}' {kind.value} '{target}' already.", hint="Pass another new_kind.")
        return Plan(
            edge_text.change_kind(self._drafting, source.id, target, kind, wanted),
            {"source_id": source.id, "target_id": target, "new_kind": wanted.value, "edge_kind": kind.value},
            source.id,
            source.id,
            {"edges": [_edge_state(edge) for edge in edges]},
            {"edges": [{**_edge_state(edge), "edge_kind": wanted.value} for edge in edges]},
            f"{source.id} {wanted.value} {target}.",
        )

    def change_edge_targets(
        self, source_id: str, target_id: str, assertion_targets: tuple[str, ...] = (), edge_kind: str | None = None
    ) -> Plan:
        source = self._rules.authored(source_id)
        edges = self._edges(source, target_id, edge_kind)
        kind, aim = edges[0].kind, self._rules.reference_target(edges[0].target, tuple(assertion_targets))
        edge = Edge(kind, source.id, aim.target, aim.labels)
        return Plan(
            edge_text.change_targets(self._drafting, edge),
            {**_edge_state(edge), "assertion_targets": list(aim.labels)},
            source.id,
            source.id,
            {"edges": [_edge_state(each) for each in edges]},
            {"edges": [_edge_state(edge)]},
            f"{source.id} {kind.value} {aim.written(self._drafting.grammar)}.",
        )

    def delete_edge(self, source_id: str, target_id: str, edge_kind: str | None = None) -> Plan:
        source = self._rules.authored(source_id)
        edges = self._edges(source, target_id, edge_kind)
        kind, target = edges[0].kind, edges[0].target
        return Plan(
            edge_text.delete(self._drafting, source.id, target, kind),
            {"source_id": source.id, "target_id": target, "edge_kind": kind.value},
            source.id,
            source.id,
            {"edges": [_edge_state(edge) for edge in edges]},
            {},
            f"{source.id} no longer {kind.value} {target}.",
        )

    def _edges(self, source: Node, target_id: str, edge_kind: str | None) -> list[Edge]:
        """The edges of one kind between two nodes."""
        target = self._rules.reference_target(target_id).target
        kind = self._rules.edge_kind(edge_kind, source) if edge_kind is not None else None
        found = sorted(
            (edge for edge in self._graph.iter_outgoing_edges(source.id) if edge.target == target),
            key=lambda edge: (edge.kind, edge.labels),
        )
        kinds = sorted({edge.kind.value for edge in found})
        chosen = [edge for edge in found if kind is None or edge.kind is kind]
        if not chosen:
            cited = sorted({edge.target for edge in self._graph.iter_outgoing_edges(source.id)})
            raise NotFound(
                f"'{source.id}' has no {f'{kind.value} ' if kind else ''}edge to '{target}'.",
                hint=f"It cites {', '.join(cited) or 'nothing'}.",
            )
        if kind is None and len(kinds) > 1:
            raise InvalidArgument(
                f"'{source.id}' cites '{target}' in several ways: {', '.join(kinds)}.",
                hint="Pass edge_kind to say which is meant.",
            )
        return chosen

    def fix_broken_reference(self, source_id: str, old_target_id: str, new_target_id: str) -> Plan:
        source, aim = self._rules.resolver.node(source_id), self._rules.reference_target(new_target_id)
        reference = self._broken(source, old_target_id)
        written = aim.written(self._drafting.grammar)
        return Plan(
            edge_text.fix(self._drafting, reference, aim),
            {"source_id": source.id, "old_target_id": reference.target_id, "new_target_id": written},
            source.id,
            source.id,
            {"target_id": reference.target_id, "edge_kind": reference.edge_kind.value},
            {"target_id": written, "edge_kind": reference.edge_kind.value, "fixed": True},
            f"{source.id} {reference.edge_kind.value} {written}.",
        )

    def _broken(self, source: Node, written: str) -> BrokenReference:
        own = [each for each in self._graph.memory.broken if each.source_id == source.id]
        meant = self._drafting.grammar.parse_reference(written.strip())
        for reference in own:
            if reference.target_id == written.strip():
                return reference
        for reference in own:
            parsed = self._drafting.grammar.parse_reference(reference.target_id)
            if (
                parsed is not None
                and meant is not None
                and (parsed.target, parsed.labels) == (meant.target, meant.labels)
            ):
                return reference
        known = ", ".join(each.target_id for each in own)
        raise NotFound(
            f"'{source.id}' has no broken reference to '{written}'.",
            hint=f"Its broken references are: {known or 'none'}.",
        )


MOST_CITING = 20
"""Of those who cite a requirement, so many are named."""


def who_cites(graph: Graph, id: str) -> str:
    """The ids of those that cite a requirement or its assertions, for a message; empty where nobody does."""
    edges = (edge for edge in graph.iter_incoming_edges(id) if edge.kind is not EdgeKind.STRUCTURES)
    ids = sorted({edge.source for edge in edges})
    more = f" and {len(ids) - MOST_CITING} more" if len(ids) > MOST_CITING else ""
    return ", ".join(ids[:MOST_CITING]) + more


def _edge_state(edge: Edge) -> dict[str, Any]:
    return {
        "source_id": edge.source,
        "target_id": edge.target,
        "edge_kind": edge.kind.value,
        "assertion_targets": list(edge.labels),
    }
