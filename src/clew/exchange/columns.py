"""Tables: which column means what.

A mapping is kept as JSON, such as `{"columns": {"Object Text": "text"}, "relations": ["Satisfies"]}`.
A column that it does not name keeps its own name; one that means `-` is not read.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from clew.errors import FormatError
from clew.exchange.flat import KNOWN_RELATIONS, OWN, field_name, flattened, unflattened
from clew.exchange.model import Exchange, Item, relation_kind
from clew.exchange.sources import json_of
from clew.text.display import shortened
from clew.workspace.regular import SETTINGS_BYTES, contents

_USUAL = {
    "id": ("id", "uid", "identifier", "req id", "requirement id", "object identifier", "key"),
    "title": ("title", "name", "summary", "heading", "object heading"),
    "text": ("text", "description", "statement", "requirement", "content", "object text", "shall"),
    "kind": ("kind", "type"),
    "parent": ("parent", "parent id"),
    "criteria": ("criteria", "acceptance", "acceptance criteria", "assertions"),
}
"""Usual names of columns, in small letters."""
_SKIPPED = "-"


class ColumnMapping(msgspec.Struct, frozen=True, kw_only=True):
    """A mapping of columns to fields."""

    columns: Mapping[str, str] = {}
    relations: tuple[str, ...] = ()
    """Columns that cite other items."""


def read_mapping(place: Path) -> ColumnMapping:
    try:
        data = contents(place, SETTINGS_BYTES)
    except OSError as error:
        raise FormatError(f"'{place}' cannot be read: {error.strerror}.", hint="Check the path.") from error
    value = json_of(data, place.name)
    try:
        return msgspec.convert(value, ColumnMapping)
    except msgspec.ValidationError as error:
        raise FormatError(
            f"'{place.name}' is not a mapping of columns: {error}.",
            hint='It looks like {"columns": {"Object Text": "text"}, "relations": ["Satisfies"]}.',
        ) from error


def rendered(mapping: ColumnMapping) -> bytes:
    return msgspec.json.format(msgspec.json.encode(mapping), indent=2) + b"\n"


def meanings(header: Sequence[str], mapping: ColumnMapping | None) -> dict[str, str]:
    """The field of each column: from the mapping, else by the column's own name, else by the usual names."""
    given = dict(mapping.columns) if mapping is not None else {}
    found = {name: given[name] for name in header if name in given}
    taken = set(found.values())
    for name in header:
        if name not in found and name in OWN and name not in taken:
            found[name] = name
            taken.add(name)
    for meaning, names in _USUAL.items():
        free = (name for name in header if name not in found and name.strip().casefold() in names)
        if meaning not in taken and (chosen := next(free, None)) is not None:
            found[chosen] = meaning
            taken.add(meaning)
    # Those that are spelled as relations are first: `Depends on` is one only where no column is called `depends_on`.
    for name in sorted(header, key=lambda each: each != relation_kind(each)):
        if name not in found and (kind := relation_kind(name)) in KNOWN_RELATIONS and kind not in taken:
            found[name] = kind
            taken.add(kind)
    return {name: found.get(name, name) for name in header}


def exchange_of(rows: Sequence[Sequence[str]], name: str, mapping: ColumnMapping | None) -> Exchange:
    """The items of a table whose first row names its columns."""
    if not rows:
        return Exchange()
    header = [cell.strip() for cell in rows[0]]
    means = meanings(header, mapping)
    cited = {means.get(each, each) for each in (mapping.relations if mapping is not None else ())}
    _check_header(header, name, mapping, means, cited)
    columns = frozenset(field_name(means[each], cited) for each in header if each and means[each] != _SKIPPED)
    return Exchange(items=tuple(_items(rows, header, means, cited, name)), columns=columns)


def _check_header(
    header: Sequence[str], name: str, mapping: ColumnMapping | None, means: Mapping[str, str], cited: set[str]
) -> None:
    named = [each for each in header if each]
    twice = next((each for each in named if named.count(each) > 1), None)
    if twice is not None:
        raise FormatError(
            f"'{name}' has more than one column '{shortened(twice)}'.", hint="Rename one. Nothing was changed."
        )
    missing = [each for each in (mapping.columns if mapping is not None else {}) if each not in header]
    if missing:
        raise FormatError(
            f"'{name}' has no column '{shortened(missing[0])}', which the mapping names.",
            hint=f"Its columns are: {shortened(', '.join(named), 400)}.",
        )
    taken: dict[str, str] = {}
    for each in named:
        other = taken.setdefault(field_name(means[each], cited), each)
        if other != each and means[each] != _SKIPPED:
            raise FormatError(
                f"The columns '{shortened(other)}' and '{shortened(each)}' of '{name}' both mean {means[each]}.",
                hint=f'Leave one out with --map "{shortened(each)}=-", or join them. Nothing was changed.',
            )
    if "id" not in means.values():
        raise FormatError(
            f"'{name}' has no column for ids.",
            hint=f'Say which one it is: --map "COLUMN=id". Its columns are: {shortened(", ".join(named), 400)}.',
        )


def _check_spellings(fields: Iterable[str], cited: set[str], number: int, name: str) -> None:
    """Refuse names of columns that differ in capitals only, because they are one attribute of an item. Items of one
    table may spell it differently."""
    taken: dict[str, str] = {}
    for each in (each for each in fields if each not in OWN):
        other = taken.setdefault(field_name(each, cited).casefold(), each)
        if other != each:
            raise FormatError(
                f"Row {number} of '{name}' has a '{shortened(other)}' and a '{shortened(each)}', which are one "
                "attribute.",
                hint="Empty one of the two cells, or name one column differently. Nothing was changed.",
            )


def _items(
    rows: Sequence[Sequence[str]], header: Sequence[str], means: Mapping[str, str], cited: set[str], name: str
) -> Iterator[Item]:
    for number, row in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) > len(header):
            raise FormatError(
                f"Row {number} of '{name}' has {len(row)} cells; there are {len(header)} columns.",
                hint="Quote cells that hold the separator. Nothing was changed.",
            )
        fields = {means[column]: cell for column, cell in zip(header, row, strict=False) if column and cell}
        fields.pop(_SKIPPED, None)
        _check_spellings(fields, cited, number, name)
        yield msgspec.structs.replace(
            unflattened(fields, f"Row {number} of '{name}'", relations=cited), path=name, line=number
        )


def rows_of(items: Iterable[Item], mapping: ColumnMapping | None) -> Iterator[list[str]]:
    """A table of items; a mapping gives columns the names that another tool knows."""
    flat = [flattened(item) for item in items]
    names = list(dict.fromkeys(("id", "title", "text", *(name for fields in flat for name in fields))))
    last = [name for name in names if name in ("version", "kept")]
    names = [*(name for name in names if name not in last), *last]
    given = {means: name for name, means in (mapping.columns if mapping is not None else {}).items()}
    yield [given.get(name, name) for name in names]
    for fields in flat:
        yield [fields.get(name, "") for name in names]
