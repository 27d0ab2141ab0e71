"""Editing what stands around the assertions: titled sections, the text below the fields, the mark of a template, and
the fields of a journey. Each function takes the bytes of a block and returns them with one thing changed."""

import re

from clew.formats.elspais.fields import FLAG_FIELD, FieldPattern
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.journey import JOURNEY_FIELD, LIST_FIELDS
from clew.formats.elspais.lines import HEADING, TEXT, plain_heading
from clew.formats.elspais.records import SectionRecord
from clew.formats.elspais.write.blocks import Style
from clew.formats.elspais.write.fields import add_field, journey_fields, requirement_fields
from clew.formats.elspais.write.lines import BlockLines, encoded

_DEEPEST = 6
_FLAG = FieldPattern((FLAG_FIELD,))
_HEADING_MARKS = re.compile(r"(#{1,6}[ \t]+)?(.*)")


def with_section(data: bytes, grammar: IdGrammar, heading: str, text: str) -> bytes:
    """The block with one more section as its last; a changelog stays behind it."""
    lines = BlockLines(data, grammar)
    headings = [index for index in range(1, lines.content_stop) if lines.read.kinds[index] == HEADING]
    depth = lines.heading_depth(headings[0]) if headings else min(lines.heading_depth(0) + 1, _DEEPEST)
    is_log = bool(headings) and plain_heading(lines.read.heading(headings[-1])[1]) == "changelog"
    stop = headings[-1] if is_log else lines.content_stop
    while stop > 1 and lines.is_blank(stop - 1):
        stop -= 1
    lines.insert(stop, "", f"{'#' * depth} {heading}", "", *text.split("\n"))
    return lines.data()


def with_section_content(
    data: bytes, grammar: IdGrammar, section: SectionRecord, *, heading: str | None, text: str | None
) -> bytes:
    """The block with another heading or text of one of its sections."""
    lines = BlockLines(data, grammar)
    first, stop = section.span.line - 1, section.span.end_line
    if text is not None:
        begin = first + 1
        while begin < stop and lines.is_blank(begin):
            begin += 1
        lines.remove(begin, stop)
        lines.insert(begin, *text.split("\n"))
    if heading is not None:
        found = _HEADING_MARKS.fullmatch(lines.text[first])
        marks = found[1] if found is not None else None
        # A line in emphasis alone is a heading too, and stays one.
        lines.text[first] = f"{marks}{heading}" if marks else lines.text[first].replace(section.heading, heading, 1)
    return lines.data()


def without_section(data: bytes, grammar: IdGrammar, section: SectionRecord) -> bytes:
    """The block without a section, and without the blank lines that parted it from the next."""
    lines = BlockLines(data, grammar)
    first, stop = section.span.line - 1, section.span.end_line
    while stop < lines.content_stop and lines.is_blank(stop):
        stop += 1
    lines.remove(first, stop)
    return lines.data()


def with_preamble(data: bytes, grammar: IdGrammar, text: str) -> bytes:
    """The requirement with another text between its fields and its first heading; empty takes it out."""
    lines = BlockLines(data, grammar)
    fields = {index for index, _ in requirement_fields(lines, grammar)}
    first = max(fields, default=0) + 1
    stop = lines.first_heading
    while first < stop and lines.is_blank(first):
        first += 1
    while stop > first and lines.is_blank(stop - 1):
        stop -= 1
    if first < stop:
        lines.remove(first, stop)
        if not text:
            while first < len(lines.text) and lines.is_blank(first):
                lines.remove(first, first + 1)
    if text:
        apart = [""] if first == stop and first < len(lines.text) and not lines.is_blank(first) else []
        before = [] if lines.is_blank(first - 1) else [""]
        lines.insert(first, *before, *text.split("\n"), *apart)
    return lines.data()


def with_template_mark(data: bytes, grammar: IdGrammar, is_template: bool) -> bytes:
    """The requirement marked as a template, or not."""
    lines = BlockLines(data, grammar)
    fields = list(requirement_fields(lines, grammar))
    marked = [index for index, field in fields if field.name == FLAG_FIELD]
    if is_template and not marked:
        beside = next((index for index, field in fields if field.name in ("level", "status")), None)
        if beside is None:
            lines.insert(1, "", "**Template**", *([""] if len(lines.text) > 1 and not lines.is_blank(1) else []))
        else:
            own = [field for index, field in fields if index == beside and field.name in ("level", "status")]
            end = own[-1].start + len(own[-1].value)
            lines.replace(beside, end, end, " | **Template**")
    for index in () if is_template else reversed(marked):
        parts = [part for part in lines.text[index].split("|") if _FLAG.match(part) is None]
        if parts:
            lines.text[index] = "|".join(parts).rstrip()
        else:
            lines.remove(index, index + 1)
    return lines.data()


def with_journey_field(data: bytes, grammar: IdGrammar, name: str, value: str) -> bytes:
    """The journey with another actor, goal or context, in one line."""
    lines = BlockLines(data, grammar)
    for index in range(1, lines.first_heading):
        field = JOURNEY_FIELD.match(lines.text[index]) if lines.read.kinds[index] == TEXT else None
        if field is None or field.name != name or not (field.signed or field.decorated):
            continue
        lines.text[index] = lines.text[index][: field.start].rstrip() + f" {value}"
        lines.remove(index + 1, _field_stop(lines, index))
        return lines.data()
    beside = [index for index, field in journey_fields(lines) if field.name not in LIST_FIELDS]
    if beside:
        lines.insert(_field_stop(lines, beside[-1]), f"**{name.capitalize()}**: {value}")
    else:
        add_field(lines, [], name, value)
    return lines.data()


def _field_stop(lines: BlockLines, index: int) -> int:
    """The line behind a field, which goes on in the lines directly below it."""
    stop = index + 1
    while stop < lines.first_heading and lines.read.kinds[stop] == TEXT and not _begins_field(lines.text[stop]):
        stop += 1
    return stop


def _begins_field(text: str) -> bool:
    field = JOURNEY_FIELD.match(text)
    return field is not None and (field.signed or field.decorated)


def journey_text(id: str, title: str, style: Style) -> bytes:
    """A journey without anything in it."""
    marks = "#" * (style.depth or 2)
    texts = (f"{marks} {id}: {title}", "", f"*End* *{id}*")
    return encoded("".join(text + style.line_end for text in texts))
