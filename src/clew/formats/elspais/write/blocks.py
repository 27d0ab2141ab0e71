"""Editing requirements: each function takes the bytes of a block and returns them with one thing changed.

| module | what it changes |
|---|---|
| `writing` | the header, the status, the hash; the text of a new requirement |
| `writing_assertions` | the entries of the Assertions section |
| `writing_references` | the items of Implements, Refines and their like |
| `writing_fields` | fields of the metadata, in the style of the block |
| `writing_lines` | lines that keep their ends and their bytes |

Nothing here decides whether a change is right: whoever edits reads the result again and compares.
"""

import re

import msgspec

from clew.formats.elspais.hashes import NOT_APPLICABLE
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.write.fields import add_field, requirement_fields
from clew.formats.elspais.write.lines import BlockLines, encoded

_HEADER = re.compile(r"(#*\s*)([^:]*?)(\s*:\s*)(.*?)(\s*)")
_END_TITLE = re.compile(r"(\*End\*\s*\*)(.*)(\*\s*(?:\|[^|]*)?)")
_END_HASH = re.compile(r"(.*\|\s*\*\*Hash\*\*:\s*)(\S+)(\s*)", re.IGNORECASE)


def with_id(data: bytes, grammar: IdGrammar, id: str) -> bytes:
    """The block under another id."""
    lines = BlockLines(data, grammar)
    header, end = _HEADER.fullmatch(lines.text[0]), _end_title(lines)
    if header is not None:
        if end is not None and end[2].strip() == header[2]:
            _retitle_end(lines, end, id)
        lines.replace(0, header.start(2), header.end(2), id)
    return lines.data()


def with_title(data: bytes, grammar: IdGrammar, title: str) -> bytes:
    """The block under another title, in its header and in its End marker."""
    lines = BlockLines(data, grammar)
    header, end = _HEADER.fullmatch(lines.text[0]), _end_title(lines)
    # A journey may be closed by its id instead.
    if end is not None and (header is None or end[2].strip() != header[2]):
        _retitle_end(lines, end, title)
    if header is not None:
        space = "" if header[3][-1:].isspace() else " "
        lines.replace(0, header.start(4), header.end(4), space + title)
    return lines.data()


def _end_title(lines: BlockLines) -> re.Match[str] | None:
    marker = lines.end_marker
    return _END_TITLE.fullmatch(lines.text[marker]) if marker is not None else None


def _retitle_end(lines: BlockLines, end: re.Match[str], title: str) -> None:
    if lines.end_marker is not None:
        lines.replace(lines.end_marker, end.start(2), end.end(2), title)


def with_status(data: bytes, grammar: IdGrammar, status: str) -> bytes:
    """The requirement with another status; where it states none, beside the fields it has."""
    lines = BlockLines(data, grammar)
    fields = list(requirement_fields(lines, grammar))
    for index, field in fields:
        if field.name == "status":
            lines.replace(index, field.start, field.start + len(field.value), status)
            return lines.data()
    add_field(lines, fields, "status", status)
    return lines.data()


def with_hash(data: bytes, grammar: IdGrammar, value: str) -> bytes:
    """The requirement with this hash in its End marker. One without marker stays as it is, and so does one that never
    had a hash and has nothing to hash."""
    lines = BlockLines(data, grammar)
    marker = lines.end_marker
    if marker is None:
        return data
    stored = _END_HASH.fullmatch(lines.text[marker])
    if stored is not None:
        lines.replace(marker, stored.start(2), stored.end(2), value)
    elif value != NOT_APPLICABLE and _END_TITLE.fullmatch(lines.text[marker]):
        lines.text[marker] = f"{lines.text[marker].rstrip()} | **Hash**: {value}"
    return lines.data()


class Style(msgspec.Struct, frozen=True):
    """How requirements are written in a file."""

    depth: int = 2
    """Of their headers; 0 for headers without `#`."""
    upper_case_levels: bool = True
    line_end: str = "\n"


def style_of(block: bytes, grammar: IdGrammar) -> Style:
    """The style of a requirement, for another one like it."""
    lines = BlockLines(block, grammar)
    written = [field.value for _, field in requirement_fields(lines, grammar) if field.name == "level"]
    return Style(
        depth=lines.heading_depth(0),
        upper_case_levels=not written or written[0].isupper(),
        line_end=lines.line_end,
    )


class NewRequirement(msgspec.Struct, frozen=True):
    id: str
    title: str
    level: str
    status: str
    reference: tuple[str, str] | None = None
    """The kind and the text of what it cites."""


def requirement_text(new: NewRequirement, style: Style) -> bytes:
    """A requirement without assertions."""
    level = new.level.upper() if style.upper_case_levels else new.level
    fields = [("Level", level), ("Status", new.status)]
    if new.reference is not None:
        fields.append((new.reference[0].capitalize(), new.reference[1]))
    marks = "#" * style.depth + " " if style.depth else ""
    texts = (
        f"{marks}{new.id}: {new.title}",
        "",
        " | ".join(f"**{name}**: {value}" for name, value in fields),
        "",
        f"*End* *{new.title}* | **Hash**: {NOT_APPLICABLE}",
    )
    return encoded("".join(text + style.line_end for text in texts))
