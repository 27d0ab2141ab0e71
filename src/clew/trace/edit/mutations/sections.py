"""Mutations of the text around assertions: sections, and the mark of a template."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument, NotFound, Refused
from clew.formats.elspais.records import Journey, SectionRecord
from clew.formats.elspais.write.sections import (
    with_preamble,
    with_section,
    with_section_content,
    with_template_mark,
    without_section,
)
from clew.graph.graph import Graph
from clew.graph.model import EdgeKind
from clew.trace.edit.mutations.mutation import (
    Confirm,
    Content,
    Id,
    Long,
    MaybeContent,
    Mutation,
    MutationEffect,
    Title,
    Version,
)
from clew.trace.edit.text.blocks import NOWHERE
from clew.trace.edit.text.draft import ChangeDraft, DraftBlock
from clew.trace.edit.text.sections import BodySection, parsed_section, sections_of

SectionId = Annotated[str, Meta(min_length=1, max_length=300, description="Such as REQ-d00062:section:1; see get_node")]

_RULE = (
    "A section is a heading of one line and a text without headings, End markers, fields of the requirement and halves "
    "of code blocks."
)


class AddRemainder(Mutation, frozen=True, kw_only=True):
    """A section at the end of a requirement or journey."""

    operation = "add_remainder"
    guarded = "req_id"

    req_id: Id
    heading: Title
    text_: Content = msgspec.field(name="text")
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        node = draft.rules.authored(self.req_id)
        title, text = draft.rules.title(self.heading), draft.rules.text(self.text_)
        block = draft.block(node.id)
        data = with_section(block.data, draft.grammar, title, text)
        sections = (*block.record.sections, SectionRecord(title, text, 0, NOWHERE))
        block = _write(draft, block, data, sections=sections)
        section = sections_of(block.record)[-1]
        settled = self.settled(req_id=node.id, heading=title, text_=text)
        after = {"id": section.id, "heading": title, "text": text}
        return MutationEffect(settled, section.id, node.id, {}, after, f"{node.id} has the section '{title}'.")


class UpdateRemainder(Mutation, frozen=True, kw_only=True):
    """A new text or heading for a section."""

    operation = "update_remainder"

    node_id: SectionId
    text_: MaybeContent = msgspec.field(name="text", default=None)
    heading: Annotated[Long | None, Meta(description="Another heading")] = None
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        if self.text_ is None and self.heading is None:
            raise InvalidArgument("Neither text nor heading is given.", hint="Pass the one that shall change.")
        block, section = _find(draft, self.node_id)
        text = draft.rules.text(self.text_) if self.text_ is not None else None
        title = draft.rules.title(self.heading) if self.heading is not None else None
        changed = SectionRecord(title or section.heading, section.text if text is None else text, 0, NOWHERE)
        if section.record is None:
            if title is not None:
                raise InvalidArgument(
                    "The text below the fields has no heading.", hint="Leave heading out, or add a section."
                )
            data = with_preamble(block.data, draft.grammar, changed.text)
            _write(draft, block, data, preamble=changed.text)
        else:
            data = with_section_content(block.data, draft.grammar, section.record, heading=title, text=text)
            sections = tuple(changed if each is section.record else each for each in block.record.sections)
            _write(draft, block, data, sections=sections)
        return MutationEffect(
            self.settled(node_id=section.id, text_=text, heading=title),
            section.id,
            block.id,
            {"heading": section.heading, "text": section.text},
            {"heading": changed.heading, "text": changed.text},
            f"The section '{section.heading}' of {block.id} is changed.",
        )


class DeleteRemainder(Mutation, frozen=True, kw_only=True):
    """The end of a section."""

    operation = "delete_remainder"
    removes = "a section"

    node_id: SectionId
    confirm: Confirm = False
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        block, section = _find(draft, self.node_id)
        if section.record is None:
            _write(draft, block, with_preamble(block.data, draft.grammar, ""), preamble="")
        else:
            data = without_section(block.data, draft.grammar, section.record)
            others = tuple(each for each in block.record.sections if each is not section.record)
            _write(draft, block, data, sections=others)
        before = {"heading": section.heading, "text": section.text}
        message = f"The section '{section.heading}' of {block.id} will be removed."
        return MutationEffect(self.settled(node_id=section.id), section.id, block.id, before, {}, message)


class SetStereotype(Mutation, frozen=True, kw_only=True):
    """Mark a requirement as a template, or remove the mark."""

    operation = "set_stereotype"

    node_id: Id
    is_template: Annotated[bool, Meta(description="Whether it is one")]
    force: Annotated[bool, Meta(description="Take the mark away though others satisfy it")] = False
    if_version: Version = None

    def plan(self, draft: ChangeDraft) -> MutationEffect:
        node = draft.rules.resolver.requirement(self.node_id)
        was = bool(node.get_field("template"))
        copies = _satisfying(draft.graph, node.id)
        if was and not self.is_template and copies and not self.force:
            raise Refused(
                f"{', '.join(copies)} satisfy '{node.id}': without its mark as a template they would cite nothing that "
                "may be satisfied.",
                hint="Pass force=true to do it anyway.",
            )
        block = draft.block(node.id)
        data = with_template_mark(block.data, draft.grammar, self.is_template)
        _write(draft, block, data, template=self.is_template)
        before, after = {"stereotype": _stereotype(was)}, {"stereotype": _stereotype(self.is_template)}
        message = f"{node.id} is {'now' if self.is_template else 'no longer'} a template."
        return MutationEffect(self.settled(node_id=node.id), node.id, node.id, before, after, message)


def _satisfying(graph: Graph, id: str) -> list[str]:
    """The requirements that satisfy a template."""
    return sorted({edge.source for edge in graph.iter_incoming_edges(id) if edge.kind is EdgeKind.SATISFIES})


def _stereotype(is_template: bool) -> str:
    return "template" if is_template else "concrete"


def _find(draft: ChangeDraft, id: str) -> tuple[DraftBlock, BodySection]:
    """A section in the block of its requirement or journey."""
    named = parsed_section(id)
    if named is None:
        raise InvalidArgument(
            f"'{id}' does not name a section.",
            hint="Sections are named as in REQ-d00001:section:1; get_node lists those of a requirement.",
        )
    block = draft.block(draft.rules.authored(named[0]).id)
    found = sections_of(block.record)
    if named[1] >= len(found):
        raise NotFound(
            f"'{block.id}' has {len(found)} sections; there is no number {named[1]}.",
            hint="Numbers begin with 0; get_node lists them.",
        )
    return block, found[named[1]]


def _write(draft: ChangeDraft, block: DraftBlock, data: bytes, **changed: Any) -> DraftBlock:
    if isinstance(block.record, Journey) and isinstance(read := draft.context.read(data), Journey):
        # The steps are what the section of that name says, whichever section is meant.
        changed["steps"] = read.steps
    return draft.rewrite(block, data, _RULE, **changed)
