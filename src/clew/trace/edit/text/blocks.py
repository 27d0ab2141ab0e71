"""Blocks: the text of a requirement or journey, and its content."""

import re

import msgspec

from clew.formats.elspais.records import Journey, Requirement
from clew.graph.build.link import Citation, Definition
from clew.graph.model import Node, Source
from clew.text.lines import Span

Record = Requirement | Journey

GAP = re.compile(rb"(?:[ \t]*(?:\r\n|\n|\r))*(?:---[ \t]*(?:\r\n|\n|\r|\Z)(?:[ \t]*(?:\r\n|\n|\r))*)?")
"""Blank lines, with or without a rule among them."""

NOWHERE = Span(0, 0, 0, 0)
"""The place of a record that is in no text yet."""

_FENCE = re.compile(rb"^[ \t]*```", re.MULTILINE)


def is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def non_ascii_characters(data: bytes) -> set[str]:
    """The characters beyond ASCII that are valid UTF-8."""
    return {letter for letter in data.decode("utf-8", "ignore") if letter > "\x7f"}


def is_in_fence(data: bytes, position: int) -> bool:
    """True if a position of a file is in a code block."""
    return len(_FENCE.findall(data, 0, position)) % 2 == 1


def split_block(text: bytes) -> tuple[bytes, bytes, bytes]:
    """Split a text into the blank lines and rules before a block, the block itself, and those after it."""
    lines = text.splitlines(keepends=True)
    first, stop = 0, len(lines)
    while first < stop and not lines[first].strip(b" \t\r\n-"):
        first += 1
    while stop > first and not lines[stop - 1].strip(b" \t\r\n-"):
        stop -= 1
    return b"".join(lines[:first]), b"".join(lines[first:stop]), b"".join(lines[stop:])


def content_of(record: Record) -> tuple[object, ...]:
    """The content of a record, without its position."""
    cited = frozenset((each.kind, each.target, each.labels, each.malformed) for each in record.references)
    sections = tuple((each.heading, each.text) for each in record.sections)
    if isinstance(record, Journey):
        steps = tuple((number, text) for number, text, _ in record.steps)
        return record.id, record.title, record.actor, record.goal, record.context, cited, steps, sections
    return (
        record.id,
        record.title,
        record.level,
        record.status,
        record.template,
        cited,
        record.preamble,
        tuple((each.label, each.text) for each in record.assertions),
        sections,
        tuple((each.date, each.hash, each.reason) for each in record.changelog),
        bool(record.hash_line),
    )


def placed(definition: Definition, path: str, before: Source | None) -> Definition:
    """The definition with positions in its file instead of in its block."""
    source = before or Source(path, 0, 0)
    parts = tuple(msgspec.structs.replace(part, source=Source(path, 0, 0)) for part in definition.parts)
    shift = source.line - 1 if before is not None and before.line else 0
    citations = tuple(_moved(citation, shift) for citation in definition.citations)
    return Definition(msgspec.structs.replace(definition.node, source=source), parts, citations)


def _moved(citation: Citation, lines: int) -> Citation:
    return msgspec.structs.replace(citation, line=citation.line + lines) if lines else citation


def with_known_parts(definition: Definition, before: Definition) -> Definition:
    """Place the parts of a block: known ones keep their places in the file, and a new one follows the part before
    it."""
    known = {_label(part): part.source for part in before.parts}
    place = definition.node.source
    parts: list[Node] = []
    for part in definition.parts:
        source = known.get(_label(part))
        if source is None and place is not None:
            line = place.end_line if parts else place.line
            source = Source(place.path, line, line)
        place = source
        parts.append(msgspec.structs.replace(part, source=source))
    return msgspec.structs.replace(definition, parts=tuple(parts))


def _label(part: Node) -> object:
    return part.get_field("label")
