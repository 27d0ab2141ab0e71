"""Mutations of what stands around assertions: sections, the mark of a template, journeys, and the file of a block.

A section is named as elspais names it: `REQ-d00001:section:0`, counted from 0, the text below the fields first where
there is one.
"""

import re

import msgspec

from clew.errors import InvalidArgument, NotFound, Refused
from clew.formats.elspais.records import Journey, Requirement, SectionRecord
from clew.formats.elspais.write import sections as written
from clew.graph.changes import Change
from clew.text.lines import Span
from clew.trace.edit.text.blocks import Record
from clew.trace.edit.text.draft import Block, Draft, DraftContext
from clew.trace.edit.text.requirements import insertion_point

PREAMBLE = "preamble"
_PLACE = re.compile(r"(?P<owner>.+):section:m?(?P<number>\d{1,6})")
_NOWHERE = Span(0, 0, 0, 0)
_RULE = (
    "A section is a heading of one line and a text without headings, End markers, fields of the requirement and halves "
    "of code blocks."
)


class Section(msgspec.Struct, frozen=True):
    """A section, or the text below the fields, of a requirement or journey."""

    id: str
    heading: str
    text: str
    line: int
    """In the block."""
    record: SectionRecord | None = None
    """None for the text below the fields."""


def parsed_section(id: str) -> tuple[str, int] | None:
    """The requirement and the number that the id of a section names."""
    found = _PLACE.fullmatch(id.strip())
    return (found["owner"], int(found["number"])) if found is not None else None


def sections_of(record: Record) -> tuple[Section, ...]:
    """The sections in the order of the text, each with its id."""
    found: list[tuple[str, str, int, SectionRecord | None]] = []
    if isinstance(record, Requirement) and record.preamble:
        found.append((PREAMBLE, record.preamble, record.span.line + 1, None))
    found += [(each.heading, each.text, each.span.line, each) for each in record.sections]
    return tuple(Section(f"{record.id}:section:{number}", *each) for number, each in enumerate(found))


def add_section(drafting: DraftContext, id: str, heading: str, text: str) -> tuple[Change, Section]:
    draft = Draft(drafting)
    block = draft.block(id)
    data = written.with_section(block.data, drafting.grammar, heading, text)
    new = SectionRecord(heading, text, 0, _NOWHERE)
    expected = msgspec.structs.replace(block.record, sections=(*block.record.sections, new))
    block = _write(draft, block, data, expected)
    return draft.change("add_remainder", id), sections_of(block.record)[-1]


def update_section(
    drafting: DraftContext, owner: str, section: Section, *, heading: str | None, text: str | None
) -> Change:
    draft = Draft(drafting)
    block = draft.block(owner)
    if section.record is None:
        if heading is not None:
            raise InvalidArgument(
                "The text below the fields has no heading.", hint="Leave heading out, or add a section."
            )
        data = written.with_preamble(block.data, drafting.grammar, text or "")
        _write(draft, block, data, msgspec.structs.replace(block.requirement, preamble=text or ""))
        return draft.change("update_remainder", owner)
    data = written.with_section_content(block.data, drafting.grammar, section.record, heading=heading, text=text)
    changed = SectionRecord(heading or section.heading, section.text if text is None else text, 0, _NOWHERE)
    sections = tuple(changed if each is section.record else each for each in block.record.sections)
    _write(draft, block, data, msgspec.structs.replace(block.record, sections=sections))
    return draft.change("update_remainder", owner)


def delete_section(drafting: DraftContext, owner: str, section: Section) -> Change:
    draft = Draft(drafting)
    block = draft.block(owner)
    if section.record is None:
        data = written.with_preamble(block.data, drafting.grammar, "")
        expected: Record = msgspec.structs.replace(block.requirement, preamble="")
    else:
        data = written.without_section(block.data, drafting.grammar, section.record)
        kept = tuple(each for each in block.record.sections if each is not section.record)
        expected = msgspec.structs.replace(block.record, sections=kept)
    _write(draft, block, data, expected)
    return draft.change("delete_remainder", owner)


def set_template(drafting: DraftContext, id: str, is_template: bool) -> Change:
    draft = Draft(drafting)
    block = draft.block(id)
    data = written.with_template_mark(block.data, drafting.grammar, is_template)
    _write(draft, block, data, msgspec.structs.replace(block.requirement, template=is_template))
    return draft.change("set_stereotype", id)


def update_journey_field(drafting: DraftContext, id: str, name: str, value: str) -> Change:
    draft = Draft(drafting)
    block = draft.block(id)
    data = written.with_journey_field(block.data, drafting.grammar, name, value)
    draft.write(
        block,
        data,
        msgspec.structs.replace(journey_of(block), **{name: value}),
        "A field is one line of text.",
        hashed=False,
    )
    return draft.change("update_journey_field", id)


def add_journey(drafting: DraftContext, id: str, title: str, path: str) -> Change:
    if drafting.graph.get_node(id) is not None:
        raise Refused(f"The id '{id}' is taken.", hint="Choose another id; query_nodes lists journeys.")
    draft = Draft(drafting)
    spot = insertion_point(draft, path)
    draft.add(path, spot.position, spot.lead, written.journey_text(id, title, spot.style))
    return draft.change("add_journey", id)


def move(drafting: DraftContext, id: str, path: str) -> Change:
    """Take a block out of its file and put it, byte for byte, at the end of another."""
    draft = Draft(drafting)
    block = draft.block(id)
    spot = insertion_point(draft, path)
    data = block.data if block.data.endswith((b"\n", b"\r")) else block.data + spot.style.line_end.encode()
    draft.remove(block)
    draft.add(path, spot.position, spot.lead, data)
    return draft.change("move_node_to_file", id)


def journey_of(block: Block) -> Journey:
    if isinstance(block.record, Journey):
        return block.record
    raise InvalidArgument(f"'{block.id}' is a requirement, not a journey.", hint="Pass the id of a journey.")


def section_named(record: Record, name: str) -> Section:
    """The section with a heading, in any case."""
    found = sections_of(record)
    for each in found:
        if each.heading.casefold() == name.strip().casefold():
            return each
    known = ", ".join(each.heading for each in found) or "none"
    raise NotFound(f"'{record.id}' has no section '{name}'.", hint=f"It has: {known}.")


def _write(draft: Draft, block: Block, data: bytes, expected: Record) -> Block:
    if isinstance(expected, Journey) and isinstance(read := draft.drafting.read(data), Journey):
        # The steps are what the section of that name says, whichever section is meant.
        expected = msgspec.structs.replace(expected, steps=read.steps)
    return draft.write(block, data, expected, _RULE, hashed=True)
