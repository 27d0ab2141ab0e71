"""Mutations of assertions."""

from collections.abc import Mapping

import msgspec

from clew.errors import AlreadyExists, NotFound, WrongKind
from clew.formats.elspais.records import AssertionRecord, Requirement
from clew.formats.elspais.write.blocks import (
    section_depth,
    with_assertion,
    with_assertion_text,
    with_labels,
    without_assertion,
)
from clew.graph.changes import Change
from clew.graph.model import EdgeKind, NodeKind
from clew.text.lines import Span
from clew.trace.edit.text.draft import Block, Draft, DraftContext
from clew.trace.edit.text.renaming import ReferenceTarget, follow

_TEXT_RULE = (
    "The text of an assertion must not hold a heading, the beginning of another assertion, a line in emphasis alone, "
    "an End marker or half of a code block."
)
_NOWHERE = Span(0, 0, 0, 0)


def add(drafting: DraftContext, requirement_id: str, label: str, text: str) -> Change:
    """Add an assertion as the last of its requirement. References that name it are no longer broken."""
    draft = Draft(drafting)
    block = draft.block(requirement_id)
    record = block.requirement
    _free(block, label)
    depth = section_depth(_content(draft, block.path)) if not record.assertions else None
    data = with_assertion(block.data, drafting.grammar, record, label, text, depth=depth)
    assertions = (*record.assertions, AssertionRecord(label, text, _NOWHERE))
    _write(draft, block, data, assertions)
    return draft.change("add_assertion", drafting.grammar.assertion_id(requirement_id, label))


def update(drafting: DraftContext, id: str, text: str) -> Change:
    """Give an assertion another text."""
    draft = Draft(drafting)
    block, assertion = _find(draft, id)
    data = with_assertion_text(block.data, drafting.grammar, assertion, text)
    assertions = tuple(
        msgspec.structs.replace(each, text=text) if each is assertion else each for each in block.requirement.assertions
    )
    _write(draft, block, data, assertions)
    return draft.change("update_assertion", id)


def delete(drafting: DraftContext, id: str, relabelled: Mapping[str, str]) -> Change:
    """Remove an assertion, and give others their new labels. What named it is left with a broken reference."""
    draft = Draft(drafting)
    block, assertion = _find(draft, id)
    kept = tuple(each for each in block.requirement.assertions if each is not assertion)
    block = _write(draft, block, without_assertion(block.data, drafting.grammar, assertion), kept)
    if relabelled:
        _relabel(draft, block, relabelled)
    return draft.change("delete_assertion", id)


def relabel(drafting: DraftContext, id: str, label: str) -> Change:
    """Give an assertion another label. References that name it follow; no other does."""
    draft = Draft(drafting)
    block, assertion = _find(draft, id)
    _free(block, label)
    _relabel(draft, block, {assertion.label: label})
    return draft.change("rename_assertion", id)


def _relabel(draft: Draft, block: Block, labels: Mapping[str, str]) -> None:
    record = block.requirement
    data = with_labels(block.data, draft.drafting.grammar, record, dict(labels))
    assertions = tuple(
        msgspec.structs.replace(each, label=labels.get(each.label, each.label)) for each in record.assertions
    )
    _write(draft, block, data, assertions)

    def turn(aim: ReferenceTarget) -> ReferenceTarget:
        return ReferenceTarget(aim.target, tuple(dict.fromkeys(labels.get(label, label) for label in aim.labels)))

    if draft.drafting.linker().place_of(block.id) == block.place:
        follow(draft, block.id, turn)


def _write(draft: Draft, block: Block, data: bytes, assertions: tuple[AssertionRecord, ...]) -> Block:
    expected: Requirement = msgspec.structs.replace(block.requirement, assertions=assertions)
    return draft.write(block, data, expected, _TEXT_RULE, hashed=True)


def _find(draft: Draft, id: str) -> tuple[Block, AssertionRecord]:
    """An assertion in the block of its requirement."""
    graph = draft.drafting.graph
    node = graph.get_node(id)
    if node is None:
        raise NotFound(f"Assertion '{id}' not found.", hint="get_requirement lists the assertions of a requirement.")
    owner = next(graph.iter_parents(id, (EdgeKind.STRUCTURES,)), None)
    if node.kind is not NodeKind.ASSERTION or owner is None:
        raise WrongKind(
            f"Node '{id}' is a {node.kind.value}, not an assertion.",
            hint="Pass the id of an assertion, such as REQ-d00001-A.",
        )
    block = draft.block(owner.id)
    label = node.get_field("label")
    return block, next(each for each in block.requirement.assertions if each.label == label)


def _free(block: Block, label: str) -> None:
    labels = [each.label for each in block.requirement.assertions]
    if label in labels:
        raise AlreadyExists(
            f"'{block.id}' has an assertion '{label}' already.",
            hint=f"Its labels are {', '.join(labels)}. Choose another one, or leave the label out when adding.",
            data={"node_id": block.id},
        )


def _content(draft: Draft, path: str) -> bytes:
    try:
        return draft.file(path)
    except NotFound:
        return b""
