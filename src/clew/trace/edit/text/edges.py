"""Mutations of edges: what a requirement, a journey or a comment cites."""

import msgspec

from clew.errors import NotFound, Refused, WrongKind
from clew.formats.elspais.records import Reference
from clew.formats.elspais.write.references import names, with_added, with_kind, with_removed, with_replaced
from clew.graph import cycles
from clew.graph.build.link import Citation
from clew.graph.changes import Change
from clew.graph.model import HIERARCHY, BrokenReference, Edge, EdgeKind
from clew.trace.edit.text.draft import Block, Draft, DraftContext
from clew.trace.edit.text.renaming import ReferenceTarget, rewrite_comment


def add(drafting: DraftContext, edge: Edge) -> Change:
    """Add a reference. One that is there already changes nothing."""
    refuse_unknown(drafting, ReferenceTarget(edge.target, edge.labels))
    draft = Draft(drafting)
    block = draft.block(edge.source)
    cycles.refuse(drafting.graph, edge.source, edge.target, edge.kind)
    if not drafting.graph.memory.has_edge(edge):
        aim = ReferenceTarget(edge.target, edge.labels)
        data = with_added(block.data, drafting.grammar, edge.kind.value, aim.written(drafting.grammar))
        _write(draft, block, data, (*block.record.references, _reference(drafting, edge.kind, aim)))
    return draft.change("add_edge", edge.source)


def change_kind(drafting: DraftContext, source: str, target: str, kind: EdgeKind, new_kind: EdgeKind) -> Change:
    """Put the references of one kind to a target under another kind."""
    draft = Draft(drafting)
    block = draft.block(source)
    if kind not in HIERARCHY:
        cycles.refuse(drafting.graph, source, target, new_kind)
    references = tuple(
        msgspec.structs.replace(each, kind=new_kind.value) if _is_to(drafting, each, target, kind) else each
        for each in block.record.references
    )
    data = with_kind(block.data, drafting.grammar, kind.value, target, new_kind.value)
    _write(draft, block, data, references)
    return draft.change("change_edge_kind", source)


def change_targets(drafting: DraftContext, edge: Edge) -> Change:
    """Let the references of one kind to a target name these assertions, or all of it."""
    aim = ReferenceTarget(edge.target, edge.labels)
    refuse_unknown(drafting, aim)
    draft = Draft(drafting)
    block = draft.block(edge.source)
    grammar, kind = drafting.grammar, edge.kind.value
    own = [each for each in block.record.references if _is_to(drafting, each, edge.target, edge.kind)]
    others = tuple(each for each in block.record.references if each not in own)
    if len(own) == 1:
        data = with_replaced(block.data, grammar, kind, own[0].written, aim.written(grammar))
    else:
        data = with_removed(block.data, grammar, kind, edge.target)
        data = with_added(data, grammar, kind, aim.written(grammar))
    _write(draft, block, data, (*others, _reference(drafting, edge.kind, aim)))
    return draft.change("change_edge_targets", edge.source)


def delete(drafting: DraftContext, source: str, target: str, kind: EdgeKind) -> Change:
    """Remove the references of one kind to a target."""
    draft = Draft(drafting)
    block = draft.block(source)
    references = tuple(each for each in block.record.references if not _is_to(drafting, each, target, kind))
    _write(draft, block, with_removed(block.data, drafting.grammar, kind.value, target), references)
    return draft.change("delete_edge", source)


def fix(drafting: DraftContext, reference: BrokenReference, aim: ReferenceTarget) -> Change:
    """Put a reference to something that exists in the place of a broken one, in a spec file or in a comment."""
    refuse_unknown(drafting, aim)
    draft = Draft(drafting)
    cycles.refuse(drafting.graph, reference.source_id, aim.target, reference.edge_kind)
    place = drafting.linker().place_of(reference.source_id)
    if place is not None and place[1] == drafting.reader.name:
        block = draft.block_at(place)
        kind, written = reference.edge_kind.value, reference.target_id
        references = (*(each for each in block.record.references if (each.kind, each.written) != (kind, written)),)
        data = with_replaced(block.data, drafting.grammar, kind, written, aim.written(drafting.grammar))
        _write(draft, block, data, (*references, _reference(drafting, reference.edge_kind, aim)))
    elif not rewrite_comment(draft, _citations(drafting, reference), aim):
        raise Refused(
            f"{reference.path}:{reference.line} says {reference.target_id}, which is no comment that can be rewritten.",
            hint="Edit that line by hand, then refresh the graph.",
        )
    return draft.change("fix_broken_reference", reference.source_id)


def refuse_unknown(drafting: DraftContext, aim: ReferenceTarget) -> None:
    """Refuse what does not exist, and an assertion other than by its label."""
    target = drafting.graph.get_node(aim.target)
    if target is None:
        raise NotFound(f"'{aim.target}' does not exist.", hint="search finds ids by words of the title or text.")
    if drafting.linker().place_of(aim.target) is None:
        raise WrongKind(
            f"'{aim.target}' is a {target.kind.value}; an edge leads to its requirement and carries its label.",
            hint="Pass the id of the requirement, and the label among the labels.",
        )
    known = target.get_field("labels", ())
    unknown = [label for label in aim.labels if label not in known]
    if unknown:
        raise NotFound(f"'{aim.target}' has no assertion '{unknown[0]}'.", hint=f"It has {', '.join(known) or 'none'}.")


def _citations(drafting: DraftContext, reference: BrokenReference) -> list[Citation]:
    """All citations that the text of a broken reference stands for: a comment may hold for many tests."""
    place = drafting.linker().place_of(reference.source_id)
    definition = drafting.linker().definition_at(place) if place is not None else None
    own = definition.citations if definition is not None else ()
    wanted = (reference.path, reference.line, reference.target_id)
    aims = {each.target for each in own if (each.path, each.line, each.written) == wanted}
    found = [each for aim in aims for each in drafting.linker().citations_of(aim)]
    found = [each for each in found if (each.path, each.line, each.written) == wanted]
    if not found:
        raise NotFound(
            f"'{reference.source_id}' has no broken reference to '{reference.target_id}'.",
            hint="get_broken_references lists them.",
        )
    return found


def _write(draft: Draft, block: Block, data: bytes, references: tuple[Reference, ...]) -> None:
    expected = msgspec.structs.replace(block.record, references=references)
    draft.write(block, data, expected, "A reference is one item of a list.", hashed=True)


def _reference(drafting: DraftContext, kind: EdgeKind, aim: ReferenceTarget) -> Reference:
    """A reference as it will be read. An id of a register does not follow the grammar of the file that cites it."""
    written = aim.written(drafting.grammar)
    if drafting.grammar.parse_reference(written) is None:
        return Reference(kind.value, written, written, (), 0, malformed=True)
    return Reference(kind.value, aim.target, aim.target, aim.labels, 0)


def _is_to(drafting: DraftContext, reference: Reference, target: str, kind: EdgeKind) -> bool:
    return reference.kind == kind.value and names(reference.written, target, drafting.grammar)
