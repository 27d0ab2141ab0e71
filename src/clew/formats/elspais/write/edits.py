"""Editing a requirement in a file by exchanging spans: whatever is not named keeps every byte, spaces included.

The functions take the bytes of a block, as `writing` does, and return them with one thing changed.
"""

from collections.abc import Iterable, Iterator

import msgspec

from clew.formats.elspais.fields import NO_REFERENCE, REFERENCE_FIELDS, Field
from clew.formats.elspais.ids.grammar import IdGrammar, ParsedReference
from clew.formats.elspais.write.fields import requirement_fields
from clew.formats.elspais.write.lines import BlockLines, encoded


class SpanEdit(msgspec.Struct, frozen=True, order=True):
    """Bytes that take the place of others."""

    start: int
    end: int
    content: bytes


class ListedItem(msgspec.Struct, frozen=True):
    start: int
    end: int
    written: str


class ListedField(msgspec.Struct, frozen=True):
    """A field that lists references, over however many lines. Positions are bytes of the block."""

    kind: str
    name: ListedItem
    """Its name as written."""
    label: str
    """Everything from its decoration to the first item, such as `**Implements**: `."""
    items: tuple[ListedItem, ...]
    end: int
    """Behind its last item."""


def spliced(data: bytes, edits: Iterable[SpanEdit]) -> bytes:
    parts: list[bytes] = []
    position = 0
    for edit in sorted(edits):
        parts += (data[position : edit.start], edit.content)
        position = edit.end
    return b"".join((*parts, data[position:]))


def with_reference_kind(data: bytes, grammar: IdGrammar, target: ParsedReference, kind: str) -> bytes:
    """The requirement with its references to a target under another kind; with labels, those that name exactly them.

    A field that lists nothing else gets another name and keeps everything besides. From a longer list the references
    move to the end of one that is of the kind already, or to a new field directly behind it.
    """
    fields = listed_fields(data, grammar)
    edits: list[SpanEdit] = []
    moved: list[str] = []
    behind: ListedField | None = None
    for field in fields:
        meant = [item for item in field.items if field.kind != kind and _means(grammar, item, target)]
        if meant and len(meant) == len(field.items):
            edits.append(SpanEdit(field.name.start, field.name.end, encoded(_in_case_of(field.name.written, kind))))
        elif meant:
            edits += _without(field.items, meant)
            moved += [item.written for item in meant]
            behind = field
    if behind is not None:
        edits.append(_added(fields, behind, kind, ", ".join(dict.fromkeys(moved))))
    return spliced(data, edits)


def with_canonical_references(data: bytes, grammar: IdGrammar) -> bytes:
    """The requirement with every reference in the spelling that the grammar prefers; short forms stay as they are."""
    joint = grammar.settings.label_multi_separator
    edits: list[SpanEdit] = []
    for field in listed_fields(data, grammar):
        for item in field.items:
            parsed = grammar.parse_reference(item.written)
            if parsed is not None and any(note != "alias" for note in parsed.notes):
                spelled = parsed.target
                if parsed.labels:
                    spelled = grammar.assertion_id(parsed.target, joint.join(parsed.labels))
                edits.append(SpanEdit(item.start, item.end, encoded(spelled)))
    return spliced(data, edits)


def with_end_marker(data: bytes, grammar: IdGrammar, title: str, stored_hash: str | None) -> bytes:
    """The requirement closed by a marker of this title and hash, in the place of the one it has or as a new one."""
    lines = BlockLines(data, grammar)
    text = f"*End* *{title}*" + (f" | **Hash**: {stored_hash}" if stored_hash else "")
    if lines.end_marker is not None:
        lines.text[lines.end_marker] = text
    else:
        lines.insert(len(lines.text), "", text)
    return lines.data()


def listed_fields(data: bytes, grammar: IdGrammar) -> list[ListedField]:
    """The fields of a requirement that list references, with the items that are references."""
    lines = BlockLines(data, grammar)
    found: list[list[tuple[int, Field]]] = []
    for line, field in requirement_fields(lines, grammar):
        if field.name in REFERENCE_FIELDS:
            if field.continues:
                found[-1].append((line, field))
            else:
                found.append([(line, field)])
    return [_listed(lines, places) for places in found]


def _listed(lines: BlockLines, places: list[tuple[int, Field]]) -> ListedField:
    line, first = places[0]
    text = lines.text[line]
    name_end = first.name_start + len(first.name)
    decoration = len(text[: first.name_start].rstrip("*_"))
    last_line, last = places[-1]
    return ListedField(
        kind=first.name,
        name=ListedItem(
            _at(lines, line, first.name_start), _at(lines, line, name_end), text[first.name_start : name_end]
        ),
        label=text[decoration : first.start],
        items=tuple(item for place in places for item in _items(lines, *place)),
        end=_at(lines, last_line, last.start + len(last.value)),
    )


def _items(lines: BlockLines, line: int, field: Field) -> Iterator[ListedItem]:
    column = field.start
    for part in field.value.split(","):
        written = part.strip()
        if written and written.casefold() not in NO_REFERENCE:
            start = column + part.find(written)
            yield ListedItem(_at(lines, line, start), _at(lines, line, start + len(written)), written)
        column += len(part) + 1


def _at(lines: BlockLines, line: int, column: int) -> int:
    """The byte of a column."""
    return lines.read.span(line, line + 1).start + len(encoded(lines.text[line][:column]))


def _means(grammar: IdGrammar, item: ListedItem, target: ParsedReference) -> bool:
    parsed = grammar.parse_reference(item.written)
    if parsed is None:
        return item.written == target.target
    return parsed.target == target.target and (not target.labels or set(parsed.labels) == set(target.labels))


def _without(items: tuple[ListedItem, ...], removed: list[ListedItem]) -> Iterator[SpanEdit]:
    """Each goes with the comma before it; those at the beginning of the list with the commas behind them."""
    kept = [number for number, item in enumerate(items) if item not in removed]
    if kept[0]:
        yield SpanEdit(items[0].start, items[kept[0]].start, b"")
    for number in range(kept[0] + 1, len(items)):
        if number not in kept:
            yield SpanEdit(items[number - 1].end, items[number].end, b"")


def _added(fields: list[ListedField], behind: ListedField, kind: str, items: str) -> SpanEdit:
    own = next((field for field in fields if field.kind == kind and field.items), None)
    if own is not None:
        return SpanEdit(own.items[-1].end, own.items[-1].end, encoded(f", {items}"))
    label = behind.label.replace(behind.name.written, _in_case_of(behind.name.written, kind), 1)
    return SpanEdit(behind.end, behind.end, encoded(f" | {label}{items}"))


def _in_case_of(written: str, kind: str) -> str:
    if written.isupper():
        return kind.upper()
    return kind if written.islower() else kind.capitalize()
