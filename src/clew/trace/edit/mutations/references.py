"""Mutations of references: the citations by a requirement, a journey or a comment."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument, NotFound, Refused
from clew.formats.elspais.records import Reference
from clew.formats.elspais.write.references import names, with_added, with_kind, with_removed, with_replaced
from clew.graph import cycles
from clew.graph.build.link import Citation
from clew.graph.model import HIERARCHY, BrokenReference, Edge, EdgeKind, Node
from clew.trace.edit.mutations.mutation import Confirm, Label, Mutation, MutationEffect, Short, Version
from clew.trace.edit.text.draft import ChangeDraft, DraftBlock
from clew.trace.edit.text.renaming import ReferenceTarget, rewrite_comment

Citing = Annotated[str, Meta(min_length=1, max_length=300, description="What cites: the child")]
Cited = Annotated[str, Meta(min_length=1, max_length=300, description="What is cited: the parent")]
Kind = Annotated[str, Meta(min_length=1, max_length=40, description="implements, refines, satisfies, addresses")]
WhichKind = Annotated[Short | None, Meta(description="Needed only if one cites the other in several ways")]


class AddEdge(Mutation, frozen=True, kw_only=True):
    """A new reference. One that is there already changes nothing."""

    operation = "add_edge"
    guarded = "source_id"

    source_id: Citing
    target_id: Cited
    edge_kind: Kind
    assertion_targets: Annotated[
        tuple[Label, ...],
        Meta(max_length=100, description="Labels of the parent's assertions; none means the whole requirement"),
    ] = ()
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        rules, grammar = draft.rules, draft.grammar
        source = rules.authored(self.source_id)
        kind = rules.edge_kind(self.edge_kind, source)
        aim = rules.reference_target(self.target_id, tuple(self.assertion_targets))
        edge = Edge(kind, source.id, aim.target, aim.labels)
        is_there = draft.graph.memory.has_edge(edge)
        rules.refuse_unknown(aim)
        block = draft.block(source.id)
        cycles.refuse(draft.graph, source.id, aim.target, kind)
        if not is_there:
            data = with_added(block.data, grammar, kind.value, aim.written(grammar))
            _write(draft, block, data, (*block.record.references, _reference(draft, kind, aim)))
        state = _state(edge)
        return MutationEffect(
            self.settled(**state),
            source.id,
            source.id,
            {},
            {**state, "duplicate": True} if is_there else state,
            f"{source.id} {kind.value} {aim.written(grammar)}{' already' if is_there else ''}.",
        )


class ChangeEdgeKind(Mutation, frozen=True, kw_only=True):
    """Another kind for the references of one kind to a target."""

    operation = "change_edge_kind"
    guarded = "source_id"

    source_id: Citing
    target_id: Cited
    new_kind: Kind
    edge_kind: WhichKind = None
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        source = draft.rules.authored(self.source_id)
        wanted = draft.rules.edge_kind(self.new_kind, source)
        edges = _edges(draft, source, self.target_id, self.edge_kind)
        kind, target = edges[0].kind, edges[0].target
        if kind is wanted:
            raise InvalidArgument(f"'{source.id}' {kind.value} '{target}' already.", hint="Pass another new_kind.")
        block = draft.block(source.id)
        if kind not in HIERARCHY:
            cycles.refuse(draft.graph, source.id, target, wanted)
        references = tuple(
            msgspec.structs.replace(each, kind=wanted.value) if _is_to(draft, each, target, kind) else each
            for each in block.record.references
        )
        data = with_kind(block.data, draft.grammar, kind.value, target, wanted.value)
        _write(draft, block, data, references)
        return MutationEffect(
            self.settled(source_id=source.id, target_id=target, new_kind=wanted.value, edge_kind=kind.value),
            source.id,
            source.id,
            {"edges": [_state(edge) for edge in edges]},
            {"edges": [{**_state(edge), "edge_kind": wanted.value} for edge in edges]},
            f"{source.id} {wanted.value} {target}.",
        )


class ChangeEdgeTargets(Mutation, frozen=True, kw_only=True):
    """Other assertions, or the whole requirement, as the target of the references of one kind."""

    operation = "change_edge_targets"
    guarded = "source_id"

    source_id: Citing
    target_id: Cited
    assertion_targets: Annotated[
        tuple[Label, ...],
        Meta(max_length=100, description="Labels of its assertions; none means the whole requirement"),
    ]
    edge_kind: WhichKind = None
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        rules, grammar = draft.rules, draft.grammar
        source = rules.authored(self.source_id)
        edges = _edges(draft, source, self.target_id, self.edge_kind)
        kind, aim = edges[0].kind, rules.reference_target(edges[0].target, tuple(self.assertion_targets))
        rules.refuse_unknown(aim)
        block = draft.block(source.id)
        own = [each for each in block.record.references if _is_to(draft, each, aim.target, kind)]
        others = tuple(each for each in block.record.references if each not in own)
        if len(own) == 1:
            data = with_replaced(block.data, grammar, kind.value, own[0].written, aim.written(grammar))
        else:
            data = with_removed(block.data, grammar, kind.value, aim.target)
            data = with_added(data, grammar, kind.value, aim.written(grammar))
        _write(draft, block, data, (*others, _reference(draft, kind, aim)))
        state = _state(Edge(kind, source.id, aim.target, aim.labels))
        return MutationEffect(
            self.settled(**state),
            source.id,
            source.id,
            {"edges": [_state(each) for each in edges]},
            {"edges": [state]},
            f"{source.id} {kind.value} {aim.written(grammar)}.",
        )


class DeleteEdge(Mutation, frozen=True, kw_only=True):
    """The end of the references of one kind to a target."""

    operation = "delete_edge"
    guarded = "source_id"
    removes = "a reference"

    source_id: Citing
    target_id: Cited
    confirm: Confirm = False
    edge_kind: WhichKind = None
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        source = draft.rules.authored(self.source_id)
        edges = _edges(draft, source, self.target_id, self.edge_kind)
        kind, target = edges[0].kind, edges[0].target
        block = draft.block(source.id)
        references = tuple(each for each in block.record.references if not _is_to(draft, each, target, kind))
        _write(draft, block, with_removed(block.data, draft.grammar, kind.value, target), references)
        settled = self.settled(source_id=source.id, target_id=target, edge_kind=kind.value)
        before, message = {"edges": [_state(edge) for edge in edges]}, f"{source.id} no longer {kind.value} {target}."
        return MutationEffect(settled, source.id, source.id, before, {}, message)


class FixBrokenReference(Mutation, frozen=True, kw_only=True):
    """Something that exists in the place of a broken reference, in a spec file or in a comment."""

    operation = "fix_broken_reference"
    guarded = "source_id"

    source_id: Annotated[str, Meta(min_length=1, max_length=1_000, description="A requirement, journey, test or code")]
    old_target_id: Annotated[str, Meta(min_length=1, max_length=300, description="The broken reference as written")]
    new_target_id: Cited
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        rules, grammar = draft.rules, draft.grammar
        source, aim = rules.resolver.node(self.source_id), rules.reference_target(self.new_target_id)
        reference, written = _broken(draft, source, self.old_target_id), aim.written(grammar)
        rules.refuse_unknown(aim)
        cycles.refuse(draft.graph, reference.source_id, aim.target, reference.edge_kind)
        kind, former = reference.edge_kind.value, reference.target_id
        place = draft.linker.place_of(reference.source_id)
        if place is not None and place[1] == draft.context.reader.name:
            block = draft.block_at(place)
            others = (each for each in block.record.references if (each.kind, each.written) != (kind, former))
            data = with_replaced(block.data, grammar, kind, former, written)
            _write(draft, block, data, (*others, _reference(draft, reference.edge_kind, aim)))
        elif not rewrite_comment(draft, _citations(draft, reference), aim):
            raise Refused(
                f"{reference.path}:{reference.line} says {former}, which is not a comment that can be rewritten.",
                hint="Edit that line by hand, then refresh the graph.",
            )
        return MutationEffect(
            self.settled(source_id=source.id, old_target_id=former, new_target_id=written),
            source.id,
            source.id,
            {"target_id": former, "edge_kind": kind},
            {"target_id": written, "edge_kind": kind, "fixed": True},
            f"{source.id} {kind} {written}.",
        )


def _state(edge: Edge) -> dict[str, Any]:
    return {
        "source_id": edge.source,
        "target_id": edge.target,
        "edge_kind": edge.kind.value,
        "assertion_targets": list(edge.labels),
    }


def _edges(draft: ChangeDraft, source: Node, target_id: str, edge_kind: str | None) -> list[Edge]:
    """The edges of one kind between two nodes."""
    target = draft.rules.reference_target(target_id).target
    kind = draft.rules.edge_kind(edge_kind, source) if edge_kind is not None else None
    found = sorted(
        (edge for edge in draft.graph.iter_outgoing_edges(source.id) if edge.target == target),
        key=lambda edge: (edge.kind, edge.labels),
    )
    kinds = sorted({edge.kind.value for edge in found})
    chosen = [edge for edge in found if kind is None or edge.kind is kind]
    if not chosen:
        cited = sorted({edge.target for edge in draft.graph.iter_outgoing_edges(source.id)})
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


def _broken(draft: ChangeDraft, source: Node, written: str) -> BrokenReference:
    own = [each for each in draft.graph.memory.broken if each.source_id == source.id]
    meant = draft.grammar.parse_reference(written.strip())
    for reference in own:
        if reference.target_id == written.strip():
            return reference
    for reference in own:
        parsed = draft.grammar.parse_reference(reference.target_id)
        if parsed is not None and meant is not None and (parsed.target, parsed.labels) == (meant.target, meant.labels):
            return reference
    known = ", ".join(each.target_id for each in own)
    raise NotFound(
        f"'{source.id}' has no broken reference to '{written}'.",
        hint=f"Its broken references are: {known or 'none'}.",
    )


def _citations(draft: ChangeDraft, reference: BrokenReference) -> list[Citation]:
    """All citations that share the text of a broken reference: one comment may apply to many tests."""
    place = draft.linker.place_of(reference.source_id)
    definition = draft.linker.definition_at(place) if place is not None else None
    own = definition.citations if definition is not None else ()
    wanted = (reference.path, reference.line, reference.target_id)
    aims = {each.target for each in own if (each.path, each.line, each.written) == wanted}
    found = [each for aim in aims for each in draft.linker.citations_of(aim)]
    found = [each for each in found if (each.path, each.line, each.written) == wanted]
    if not found:
        raise NotFound(
            f"'{reference.source_id}' has no broken reference to '{reference.target_id}'.",
            hint="get_broken_references lists them.",
        )
    return found


def _write(draft: ChangeDraft, block: DraftBlock, data: bytes, references: tuple[Reference, ...]) -> None:
    draft.rewrite(block, data, "A reference is one item of a list.", references=references)


def _reference(draft: ChangeDraft, kind: EdgeKind, aim: ReferenceTarget) -> Reference:
    """A reference as it will be read. An id of a register does not follow the grammar of the file that cites it."""
    written = aim.written(draft.grammar)
    if draft.grammar.parse_reference(written) is None:
        return Reference(kind.value, written, written, (), 0, malformed=True)
    return Reference(kind.value, aim.target, aim.target, aim.labels, 0)


def _is_to(draft: ChangeDraft, reference: Reference, target: str, kind: EdgeKind) -> bool:
    return reference.kind == kind.value and names(reference.written, target, draft.grammar)
