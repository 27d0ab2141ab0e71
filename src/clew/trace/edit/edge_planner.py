"""Plans for mutations of edges."""

from typing import Any

from clew.errors import InvalidArgument, NotFound
from clew.graph.model import BrokenReference, Edge, Node
from clew.trace.edit.plan import Plan
from clew.trace.edit.rules import Rules
from clew.trace.edit.text.draft import DraftContext
from clew.trace.edit.text.requirements import Mutations


class EdgePlanner:
    def __init__(self, drafting: DraftContext, mutations: Mutations, rules: Rules) -> None:
        self._drafting = drafting
        self._graph = drafting.graph
        self._mutations = mutations
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
            self._mutations.add_edge(edge),
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
            self._mutations.change_edge_kind(source.id, target, kind, wanted),
            {"source_id": source.id, "target_id": target, "new_kind": wanted.value, "edge_kind": kind.value},
            source.id,
            source.id,
            {"edges": [_edge_state(edge) for edge in edges]},
            {"edges": [{**_edge_state(edge), "edge_kind": wanted.value} for edge in edges]},
            f"{source.id} {wanted.value} {target}.",
        )

    def delete_edge(self, source_id: str, target_id: str, edge_kind: str | None = None) -> Plan:
        source = self._rules.authored(source_id)
        edges = self._edges(source, target_id, edge_kind)
        kind, target = edges[0].kind, edges[0].target
        return Plan(
            self._mutations.delete_edge(source.id, target, kind),
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
            self._mutations.fix_broken_reference(reference, aim),
            {"source_id": source.id, "old_target_id": reference.target_id, "new_target_id": written},
            source.id,
            source.id,
            {"target_id": reference.target_id, "edge_kind": reference.edge_kind.value},
            {"target_id": written, "edge_kind": reference.edge_kind.value, "fixed": True},
            f"{source.id} {reference.edge_kind.value} {written}.",
        )

    def _broken(self, source: Node, written: str) -> BrokenReference:
        own = [each for each in self._graph.broken_references() if each.source_id == source.id]
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


def _edge_state(edge: Edge) -> dict[str, Any]:
    return {
        "source_id": edge.source,
        "target_id": edge.target,
        "edge_kind": edge.kind.value,
        "assertion_targets": list(edge.labels),
    }
