"""Mutations of assertions."""

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from clew.errors import AlreadyExists, NotFound, Refused
from clew.formats.elspais.records import AssertionRecord
from clew.formats.elspais.write.blocks import (
    section_depth,
    with_assertion,
    with_assertion_text,
    with_labels,
    without_assertion,
)
from clew.graph.model import Node
from clew.operation.one_line import MANY_LINES
from clew.trace.edit.mutations.mutation import Confirm, Id, Label, Mutation, MutationEffect, Short, Version
from clew.trace.edit.text.blocks import NOWHERE
from clew.trace.edit.text.draft import ChangeDraft, DraftBlock
from clew.trace.edit.text.renaming import ReferenceTarget, fixed_references, follow

AssertionId = Annotated[str, Meta(min_length=1, max_length=300, description="Such as REQ-d00062-A")]
Text = Annotated[str, Meta(min_length=1, max_length=25_000, description="The statement, without its label"), MANY_LINES]

_TEXT_RULE = (
    "The text of an assertion must not hold a heading, the beginning of another assertion, a line in emphasis alone, "
    "an End marker or half of a code block."
)


class AddAssertion(Mutation, frozen=True, kw_only=True):
    """Another assertion, the last of its requirement. References that name it are no longer broken."""

    operation = "add_assertion"
    guarded = "req_id"

    req_id: Id
    label: Annotated[Short | None, Meta(description="The next free one if left out")] = None
    text_: Text = msgspec.field(name="text")
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        node = draft.rules.resolver.requirement(self.req_id)
        label, text = draft.rules.new_label(self.label, node), draft.rules.text(self.text_)
        id = draft.grammar.assertion_id(node.id, label)
        block = draft.block(node.id)
        record = block.requirement
        _refuse_taken(block, label)
        depth = section_depth(_content(draft, block.path)) if not record.assertions else None
        data = with_assertion(block.data, draft.grammar, record, label, text, depth=depth)
        _write(draft, block, data, (*record.assertions, AssertionRecord(label, text, NOWHERE)))
        settled, after = self.settled(req_id=node.id, label=label, text_=text), {"id": id, "label": label, "text": text}
        message = f"{node.id} has the assertion {label}."
        return MutationEffect(settled, id, node.id, {}, after, message, True, assertion_id=id, label=label)


class UpdateAssertion(Mutation, frozen=True, kw_only=True):
    """Another text for an assertion."""

    operation = "update_assertion"
    guarded = "assertion_id"

    assertion_id: AssertionId
    new_text: Text
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        node, text = draft.rules.assertion(self.assertion_id), draft.rules.text(self.new_text)
        owner, label = draft.rules.owner(node), node.get_field("label")
        block, assertion = _find(draft, owner, label)
        data = with_assertion_text(block.data, draft.grammar, assertion, text)
        changed = msgspec.structs.replace(assertion, text=text)
        _write(
            draft, block, data, tuple(changed if each is assertion else each for each in block.requirement.assertions)
        )
        settled, message = self.settled(assertion_id=node.id, new_text=text), f"{node.id} has another text."
        before, after = {"text": node.title}, {"text": text}
        return MutationEffect(
            settled, node.id, owner.id, before, after, message, True, assertion_id=node.id, label=label
        )


class DeleteAssertion(Mutation, frozen=True, kw_only=True):
    """The end of an assertion. Later labels move down where no reference would come to mean another assertion."""

    operation = "delete_assertion"
    guarded = "assertion_id"
    removes = "an assertion"

    assertion_id: AssertionId
    compact: Annotated[
        bool | None,
        Meta(description="Move later labels down by one: true, false, or where no reference changes its meaning"),
    ] = None
    confirm: Confirm = False
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        node = draft.rules.assertion(self.assertion_id)
        owner, label = draft.rules.owner(node), node.get_field("label")
        moved = draft.rules.closed_up(owner.get_field("labels", ()), label) if self.compact is not False else {}
        reason = _reason_to_stay(draft, owner, label, moved) if moved else ""
        if reason and self.compact:
            raise Refused(
                f"The labels after {node.id} cannot move down: {reason}, and would mean another assertion.",
                hint="Pass compact=False, or correct that reference first.",
            )
        moved = {} if reason else moved
        later = (
            f" The later labels stay, because {reason}." if reason else " The later labels moved down." * bool(moved)
        )
        block, assertion = _find(draft, owner, label)
        others = tuple(each for each in block.requirement.assertions if each is not assertion)
        block = _write(draft, block, without_assertion(block.data, draft.grammar, assertion), others)
        if moved:
            _relabel(draft, block, moved)
        settled = self.settled(assertion_id=node.id, compact=bool(moved))
        before, after = {"label": label, "text": node.title}, {"relabelled": moved}
        return MutationEffect(settled, node.id, owner.id, before, after, f"{node.id} will be removed.{later}", True)


class RenameAssertion(Mutation, frozen=True, kw_only=True):
    """A new label for an assertion. References with the label follow; others stay."""

    operation = "rename_assertion"
    guarded = "old_id"

    old_id: AssertionId
    new_label: Label
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        node, label = draft.rules.assertion(self.old_id), draft.rules.label(self.new_label)
        owner, former = draft.rules.owner(node), node.get_field("label")
        id = draft.grammar.assertion_id(owner.id, label)
        block, _ = _find(draft, owner, former)
        _refuse_taken(block, label)
        _relabel(draft, block, {former: label})
        settled, message = self.settled(old_id=node.id, new_label=label), f"{node.id} is now {id}."
        before, after = {"id": node.id, "label": former}, {"id": id, "label": label}
        return MutationEffect(settled, node.id, owner.id, before, after, message, True, assertion_id=id, label=label)


def _reason_to_stay(draft: ChangeDraft, owner: Node, label: str, moved: Mapping[str, str]) -> str:
    """The reference that would name another assertion if labels moved; empty without one."""
    for citation in draft.linker.citations_of(owner.id):
        if label in citation.labels:
            return f"{citation.path}:{citation.line} still says {citation.written}"
    for citation in fixed_references(ChangeDraft(draft.context), owner.id):
        if any(named in moved for named in citation.labels):
            return f"{citation.path}:{citation.line} says {citation.written}, which cannot be rewritten"
    return ""


def _relabel(draft: ChangeDraft, block: DraftBlock, labels: Mapping[str, str]) -> None:
    record = block.requirement
    data = with_labels(block.data, draft.grammar, record, dict(labels))
    assertions = tuple(
        msgspec.structs.replace(each, label=labels.get(each.label, each.label)) for each in record.assertions
    )
    _write(draft, block, data, assertions)

    def turn(aim: ReferenceTarget) -> ReferenceTarget:
        return ReferenceTarget(aim.target, tuple(dict.fromkeys(labels.get(label, label) for label in aim.labels)))

    if draft.linker.place_of(block.id) == block.place:
        follow(draft, block.id, turn)


def _write(draft: ChangeDraft, block: DraftBlock, data: bytes, assertions: tuple[AssertionRecord, ...]) -> DraftBlock:
    return draft.rewrite(block, data, _TEXT_RULE, assertions=assertions)


def _find(draft: ChangeDraft, owner: Node, label: str) -> tuple[DraftBlock, AssertionRecord]:
    """An assertion in the block of its requirement."""
    block = draft.block(owner.id)
    return block, next(each for each in block.requirement.assertions if each.label == label)


def _refuse_taken(block: DraftBlock, label: str) -> None:
    labels = [each.label for each in block.requirement.assertions]
    if label in labels:
        raise AlreadyExists(
            f"'{block.id}' has an assertion '{label}' already.",
            hint=f"Its labels are {', '.join(labels)}. Choose another one, or leave the label out when adding.",
            data={"node_id": block.id},
        )


def _content(draft: ChangeDraft, path: str) -> bytes:
    try:
        return draft.file(path)
    except NotFound:
        return b""
