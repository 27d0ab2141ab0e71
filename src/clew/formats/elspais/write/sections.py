"""Editing what is around the assertions: titled sections, the text below the fields, the mark of a template,
the fields of a journey and the changelog. Each function takes the bytes of a block and returns them with one
thing changed."""

import re

from clew.formats.elspais.fields import FLAG_FIELD, FieldPattern
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.journey import LIST_FIELDS
from clew.formats.elspais.lines import plain_heading
from clew.formats.elspais.records import SectionRecord
from clew.formats.elspais.write.blocks import Style
from clew.formats.elspais.write.fields import add_field, field_stop, journey_fields, requirement_fields
from clew.formats.elspais.write.lines import BlockLines, encoded
from clew.text.markdown import HEADING

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


def with_section_named(data: bytes, grammar: IdGrammar, heading: str, text: str) -> bytes:
    """The block with one more section; a heading of this name that has nothing below it gets the text."""
    index = empty_headings(data, grammar).get(heading.casefold())
    if index is None:
        return with_section(data, grammar, heading, text)
    lines = BlockLines(data, grammar)
    behind = [""] if index + 1 < len(lines.text) and not lines.is_blank(index + 1) else []
    lines.insert(index + 1, "", *text.split("\n"), *behind)
    written = lines.read.heading(index)[1]
    lines.text[index] = lines.text[index].replace(written, heading)
    return lines.data()


def empty_headings(data: bytes, grammar: IdGrammar) -> dict[str, int]:
    """The lines of headings that have nothing below them, by their words in small letters."""
    lines = BlockLines(data, grammar)
    found: dict[str, int] = {}
    index = lines.first_heading
    while index < lines.content_stop:
        following = lines.read.next_heading(index + 1, lines.content_stop)
        first, stop = lines.read.trimmed(index + 1, following)
        if first == stop:
            found.setdefault(lines.read.heading(index)[1].casefold(), index)
        index = following
    return found


def without_empty_assertions(data: bytes, grammar: IdGrammar) -> bytes:
    """The block without headings of assertions that have nothing below them."""
    lines = BlockLines(data, grammar)
    empty = (index for words, index in empty_headings(data, grammar).items() if plain_heading(words) == "assertions")
    for index in sorted(empty, reverse=True):
        stop = index + 1
        while stop < lines.content_stop and lines.is_blank(stop):
            stop += 1
        lines.remove(index, stop)
    return lines.data()


def with_first_section(data: bytes, grammar: IdGrammar, heading: str, text: str) -> bytes:
    """The block with one more section, before those that it has."""
    lines = BlockLines(data, grammar)
    first = lines.first_heading
    if first == lines.content_stop:
        return with_section(data, grammar, heading, text)
    before = [] if lines.is_blank(first - 1) else [""]
    lines.insert(first, *before, f"{'#' * lines.heading_depth(first)} {heading}", "", *text.split("\n"), "")
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
        while not text and stop < lines.content_stop and lines.is_blank(stop):
            stop += 1
        lines.exchange(begin, stop, text.split("\n") if text else [])
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
    """The requirement with another text between its header and its first heading, around its fields; empty takes it
    out."""
    lines = BlockLines(data, grammar)
    fields = {index for index, _ in requirement_fields(lines, grammar)}
    said = [index for index in range(1, lines.first_heading) if index not in fields and not lines.is_blank(index)]
    if said and text:
        lines.exchange(said[0], said[-1] + 1, text.split("\n"), besides=fields)
        if _field_texts(lines.data(), grammar) != _field_texts(data, grammar):
            # A code block would enclose fields: the text goes behind them.
            return with_preamble(with_preamble(data, grammar, ""), grammar, text)
    elif said:
        stop = said[-1] + 1
        while stop < len(lines.text) and lines.is_blank(stop):
            stop += 1
        lines.exchange(said[0], stop, [], besides=fields)
    elif text:
        first = max(fields, default=0) + 1
        while first < lines.first_heading and lines.is_blank(first):
            first += 1
        apart = [""] if first < len(lines.text) else []
        before = [] if lines.is_blank(first - 1) else [""]
        lines.insert(first, *before, *text.split("\n"), *apart)
    return lines.data()


def _field_texts(data: bytes, grammar: IdGrammar) -> list[tuple[str, str]]:
    return [(field.name, field.value) for _, field in requirement_fields(BlockLines(data, grammar), grammar)]


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
    """The journey with another actor, goal or context, in one line; empty takes it out."""
    lines = BlockLines(data, grammar)
    own = [(index, field) for index, field in journey_fields(lines) if field.name == name and not field.continues]
    # What is said a second time is one with the first.
    for index, _ in reversed(own[1:] if value else own):
        lines.remove(index, field_stop(lines, index))
    if own and value:
        index, field = own[0]
        lines.remove(index + 1, field_stop(lines, index))
        lines.text[index] = lines.text[index][: field.start].rstrip() + f" {value}"
    if own or not value:
        return lines.data()
    beside = [index for index, field in journey_fields(lines) if field.name not in LIST_FIELDS]
    if beside:
        lines.insert(field_stop(lines, beside[-1]), f"**{name.capitalize()}**: {value}")
    else:
        add_field(lines, [], name, value)
    return lines.data()


def with_journey_preamble(data: bytes, grammar: IdGrammar, text: str) -> bytes:
    """The journey with another text before its first heading, where its text began; empty takes it out. Text that
    is between fields is one with it."""
    lines = BlockLines(data, grammar)
    said = _preamble_ranges(lines)
    for first, stop in said[:0:-1]:
        lines.remove(first, stop)
    first, stop = said[0] if said else (lines.first_heading, lines.first_heading)
    while not said and first > 1 and lines.is_blank(first - 1):
        first, stop = first - 1, stop - 1
    lines.remove(first, stop)
    if text:
        before = [] if lines.is_blank(first - 1) else [""]
        behind = [] if first == len(lines.text) or lines.is_blank(first) else [""]
        lines.insert(first, *before, *text.split("\n"), *behind)
    return lines.data()


def _preamble_ranges(lines: BlockLines) -> list[tuple[int, int]]:
    """The stretches of lines before the first heading of a journey that belong to no field, without the blank lines
    around them."""
    owned: set[int] = set()
    for index, field in journey_fields(lines):
        owned |= {index} if field.name in LIST_FIELDS else set(range(index, field_stop(lines, index)))
    found: list[tuple[int, int]] = []
    for index in range(1, lines.first_heading):
        if index in owned or lines.is_blank(index):
            continue
        if found and not owned & set(range(found[-1][1], index)):
            found[-1] = (found[-1][0], index + 1)
        else:
            found.append((index, index + 1))
    return found


def journey_text(id: str, title: str, style: Style) -> bytes:
    """A journey without anything in it."""
    marks = "#" * (style.depth or 2)
    texts = (f"{marks} {id}: {title}", "", f"*End* *{id}*")
    return encoded("".join(text + style.line_end for text in texts))


def with_changelog_entry(data: bytes, grammar: IdGrammar, line: str) -> bytes:
    """The requirement with one more entry, as the first of its changelog; where it has none, with a changelog as its
    last section."""
    lines = BlockLines(data, grammar)
    heading = _changelog_heading(lines)
    if heading is not None:
        stop = lines.read.next_heading(heading + 1, lines.content_stop)
        first = heading + 1
        while first < stop and lines.is_blank(first):
            first += 1
        if first == stop:
            # A heading without entries: one blank line below it, one above what follows.
            lines.remove(heading + 1, stop)
            lines.insert(heading + 1, "", line, "")
        else:
            lines.insert(first, line)
        return lines.data()
    stop = lines.content_stop
    before = [] if lines.is_blank(stop - 1) else [""]
    marks = "#" * min(lines.heading_depth(0) + 1, _DEEPEST)
    closing = [""] if lines.end_marker is not None else []
    lines.insert(stop, *before, f"{marks} Changelog", "", line, *closing)
    return lines.data()


def _changelog_heading(lines: BlockLines) -> int | None:
    for index in range(1, lines.content_stop):
        if lines.read.kinds[index] == HEADING and plain_heading(lines.read.heading(index)[1]) == "changelog":
            return index
    return None
