"""Fields of a block that is being edited: where they stand, and adding one in the style of the others."""

from collections.abc import Iterator

from clew.formats.diagnostics import DiagnosticLog
from clew.formats.elspais.fields import Field, ReferenceList, continued_field, metadata_lines
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.journey import JOURNEY_FIELD, TEXT_FIELDS
from clew.formats.elspais.write.lines import BlockLines
from clew.text.markdown import TEXT

_WRAP = "**"


def requirement_fields(lines: BlockLines, grammar: IdGrammar) -> Iterator[tuple[int, Field]]:
    """The fields of a requirement with their lines. The items of a list that goes on in a further line are a field of
    that line, under the same name."""
    silent = ReferenceList(grammar, DiagnosticLog())
    for index, fields in metadata_lines(lines.read, 1, lines.first_heading, silent):
        for field in fields or ():
            if isinstance(field, Field):
                yield index, field


def journey_fields(lines: BlockLines) -> Iterator[tuple[int, Field]]:
    """The fields of a journey that list references, likewise."""
    listing = ""
    for index in range(1, lines.first_heading):
        text = lines.read.text[index]
        field = JOURNEY_FIELD.match(text) if lines.read.kinds[index] == TEXT else None
        if field is not None and not (field.signed or field.decorated):
            field = None
        if field is None and listing and lines.read.kinds[index] == TEXT:
            field = continued_field(listing, text)
        listing = field.name if field is not None and field.value.endswith(",") else ""
        if field is not None:
            yield index, field


def add_field(lines: BlockLines, fields: list[tuple[int, Field]], name: str, value: str) -> None:
    """Write a field that the block does not have yet: beside its first one, or on a line of its own."""
    if not fields:
        separated = len(lines.text) > 1 and not lines.is_blank(1)
        lines.insert(1, "", f"{_WRAP}{name.capitalize()}{_WRAP}: {value}", *([""] if separated else []))
        return
    index, first = fields[0]
    wrap = _wrap_of(lines.text[index], first)
    text = f"{wrap}{name.capitalize()}{wrap}: {value}"
    beside = [field for line, field in fields if line == index]
    # elspais puts Refines and its like on lines of their own, below that of Implements.
    is_below = name != "status" and any(field.name == "implements" for field in beside)
    if is_below or beside[-1].value.endswith(",") or first.name not in ("level", "status"):
        last, beside_it = fields[-1]
        lines.insert(field_stop(lines, last) if beside_it.name in TEXT_FIELDS else last + 1, text)
    else:
        bare = lines.text[index].rstrip()
        lines.text[index] = f"{bare} | {text}{lines.text[index][len(bare) :]}"


def field_stop(lines: BlockLines, index: int) -> int:
    """The line behind a text of a journey, which goes on in the lines directly below it."""
    stop = index + 1
    while stop < lines.first_heading and lines.read.kinds[stop] == TEXT and not _begins_field(lines.read.text[stop]):
        stop += 1
    return stop


def _begins_field(text: str) -> bool:
    field = JOURNEY_FIELD.match(text)
    return field is not None and (field.signed or field.decorated)


def _wrap_of(line: str, field: Field) -> str:
    before = line[: field.name_start]
    return before[len(before.rstrip("*_")) :]
