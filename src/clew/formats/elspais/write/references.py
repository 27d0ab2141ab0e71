"""Editing what a requirement or a journey cites: the items of its reference lists."""

from collections.abc import Callable

import msgspec

from clew.formats.elspais.fields import NO_REFERENCE, REFERENCE_FIELDS, Field
from clew.formats.elspais.ids.grammar import IdGrammar, ParsedReference
from clew.formats.elspais.ids.register import RegisterIds
from clew.formats.elspais.journey import LIST_FIELDS
from clew.formats.elspais.write.fields import add_field, journey_fields, requirement_fields
from clew.formats.elspais.write.lines import BlockLines

Rewrite = Callable[[ParsedReference], str | None]
"""Replacement of a reference; None leaves it as it is."""


class ReferenceItem(msgspec.Struct, frozen=True, gc=False):
    """One item of a list, where it stands."""

    line: int
    start: int
    end: int
    written: str

    @property
    def cites(self) -> bool:
        """True if it cites anything; `-` and its like mean that nothing is cited."""
        return self.written.casefold() not in NO_REFERENCE


class ItemList(msgspec.Struct, frozen=True):
    """The items of one field, over however many lines."""

    kind: str
    places: tuple[tuple[int, Field], ...]
    """The field in its first line, and what continues it in each further line."""
    items: tuple[ReferenceItem, ...]


def reference_kinds(id: str, grammar: IdGrammar) -> tuple[str, ...]:
    """The kinds of references that a requirement or a journey can state."""
    return LIST_FIELDS if grammar.is_journey(id) else REFERENCE_FIELDS


def with_rewritten(data: bytes, grammar: IdGrammar, rewrite: Rewrite) -> bytes:
    """The block with other references in the place of some."""

    def text_for(kind: str, item: ReferenceItem) -> str | None:
        parsed = grammar.parse_reference(item.written)
        return rewrite(parsed) if parsed is not None else None

    return _with_texts(data, grammar, text_for)


def with_replaced(data: bytes, grammar: IdGrammar, kind: str, written: str, text: str) -> bytes:
    """The block with one item, named by its text, replaced by another."""
    wanted = (kind, written)
    return _with_texts(data, grammar, lambda kind, item: text if (kind, item.written) == wanted else None)


def _with_texts(data: bytes, grammar: IdGrammar, text_for: Callable[[str, ReferenceItem], str | None]) -> bytes:
    lines = BlockLines(data, grammar)
    found = [(item, text_for(each.kind, item)) for each in _lists(lines, grammar) for item in each.items]
    # From the end, so that the columns before stay right.
    for item, text in sorted(found, key=lambda pair: (pair[0].line, pair[0].start), reverse=True):
        if text is not None:
            lines.replace(item.line, item.start, item.end, text)
    return lines.data()


def with_added(data: bytes, grammar: IdGrammar, kind: str, text: str) -> bytes:
    """The block with one more item: at the end of the last list of its kind, or in a new one."""
    lines = BlockLines(data, grammar)
    lists = [each for each in _lists(lines, grammar) if each.kind == kind]
    if not lists:
        add_field(lines, _fields(lines, grammar), kind, text)
        return lines.data()
    items = lists[-1].items
    if any(item.cites for item in items):
        lines.replace(items[-1].line, items[-1].end, items[-1].end, f", {text}")
    elif items:
        lines.replace(items[0].line, items[0].start, items[-1].end, text)
    else:
        line, field = lists[-1].places[0]
        gap = "" if lines.text[line][: field.start][-1:].isspace() else " "
        lines.replace(line, field.start, field.start + len(field.value), gap + text)
    return lines.data()


def with_removed(data: bytes, grammar: IdGrammar, kind: str, target: str) -> bytes:
    """The block without its references of a kind to a target. A list that is left empty says `-`."""
    lines = BlockLines(data, grammar)
    for each in reversed(_lists(lines, grammar)):
        kept = [item.written for item in each.items if not names(item.written, target, grammar)]
        if each.kind == kind and len(kept) < len(each.items):
            _rewrite_list(lines, each, ", ".join(kept) or "-")
    return lines.data()


def with_kind(data: bytes, grammar: IdGrammar, kind: str, target: str, new_kind: str) -> bytes:
    """The block with its references of a kind to a target under another kind. Where the only list of that kind holds
    nothing else, no more than the name of its field changes."""
    lines = BlockLines(data, grammar)
    lists = _lists(lines, grammar)
    own = [each for each in lists if each.kind == kind]
    moved = [item.written for each in own for item in each.items if names(item.written, target, grammar)]
    if len(own) == 1 and len(moved) == len(own[0].items) and not any(each.kind == new_kind for each in lists):
        line, field = own[0].places[0]
        lines.replace(line, field.name_start, field.name_start + len(kind), new_kind.capitalize())
        return lines.data()
    data = with_removed(data, grammar, kind, target)
    for written in moved:
        data = with_added(data, grammar, new_kind, written)
    return data


def names(written: str, target: str, grammar: IdGrammar) -> bool:
    """True if an item cites a requirement, by an id of its own format or of a register. An item that is no id is
    compared as text."""
    parsed = grammar.parse_reference(written) or RegisterIds(grammar).parse(written)
    return parsed.target == target if parsed is not None else written == target


def _rewrite_list(lines: BlockLines, each: ItemList, text: str) -> None:
    """Put other items on the first line of a list. What is behind the items of its further lines moves there."""
    (line, field), *further = each.places
    rest = lines.text[line][field.start + len(field.value) :]
    for other, continued in further:
        rest += lines.text[other][continued.start + len(continued.value) :].rstrip()
    lines.text[line] = lines.text[line][: field.start] + text + rest
    for other, _ in reversed(further):
        lines.remove(other, other + 1)


def _fields(lines: BlockLines, grammar: IdGrammar) -> list[tuple[int, Field]]:
    is_journey = grammar.is_journey(lines.text[0].lstrip("# \t").partition(":")[0].strip())
    return list(journey_fields(lines) if is_journey else requirement_fields(lines, grammar))


def _lists(lines: BlockLines, grammar: IdGrammar) -> list[ItemList]:
    kinds = {*LIST_FIELDS, *REFERENCE_FIELDS}
    found: list[list[tuple[int, Field]]] = []
    for line, field in _fields(lines, grammar):
        if field.name not in kinds:
            continue
        if field.continues:
            found[-1].append((line, field))
        else:
            found.append([(line, field)])
    return [
        ItemList(places[0][1].name, tuple(places), tuple(item for place in places for item in _items(*place)))
        for places in found
    ]


def _items(line: int, field: Field) -> list[ReferenceItem]:
    items: list[ReferenceItem] = []
    column = field.start
    for part in field.value.split(","):
        written = part.strip()
        if written:
            start = column + part.find(written)
            items.append(ReferenceItem(line, start, start + len(written), written))
        column += len(part) + 1
    return items
