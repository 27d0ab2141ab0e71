"""Texts of one line. What an operation that writes takes is one line, unless the field says that it may be more.

A title, an id or a tag with a line break or an escape sequence would become something else where it is written: another
heading, or an order to a terminal. So the rule holds where arguments are decoded, for every operation that writes.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import Meta, inspect

from clew.text.controls import control_in
from clew.text.display import shortened

_EXTRA: Final = "many_lines"
MANY_LINES: Final = Meta(extra={_EXTRA: True})
"""Put beside the other `Meta` of a field whose text may have several lines."""

_Names = tuple[str, ...]


def problem_with_lines(type_: type[msgspec.Struct], arguments: Mapping[str, Any]) -> str | None:
    """The problem with the first argument that must be one line and is not; None where there is none."""
    for names in one_line_fields(type_):
        for value in _values_at(arguments, names):
            if (found := control_in(value)) is not None:
                rule = "it has to be one line without control characters"
                return f"'{'.'.join(names)}' is {shortened(repr(value))}: {rule}, and holds {found}"
    return None


@cache
def one_line_fields(type_: type[msgspec.Struct]) -> tuple[_Names, ...]:
    """The names that lead to each text of one line, in the order of the fields."""
    return tuple(dict.fromkeys(_texts_in(inspect.type_info(type_), ())))


def _texts_in(type_: inspect.Type, names: _Names) -> Iterator[_Names]:
    match type_:
        case inspect.Metadata() if not (type_.extra or {}).get(_EXTRA):
            yield from _texts_in(type_.type, names)
        case inspect.UnionType():
            for option in type_.types:
                yield from _texts_in(option, names)
        case inspect.CollectionType():
            yield from _texts_in(type_.item_type, names)
        case inspect.StructType():
            for field in type_.fields:
                yield from _texts_in(field.type, (*names, field.encode_name))
        case inspect.StrType():
            yield names


def _values_at(value: Any, names: _Names) -> Iterator[str]:
    if isinstance(value, list | tuple):
        for each in value:
            yield from _values_at(each, names)
    elif names and isinstance(value, Mapping):
        yield from _values_at(value.get(names[0]), names[1:])
    elif not names and isinstance(value, str):
        yield value
