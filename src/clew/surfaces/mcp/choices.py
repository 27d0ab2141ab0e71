"""What an argument may be, where it may only be one of a few values."""

from collections.abc import Iterator

import msgspec
from msgspec import inspect


def choices(type_: type[msgspec.Struct], name: str) -> tuple[str, ...]:
    """The values that an argument can have, in order; empty where it is free."""
    about = inspect.type_info(type_)
    fields = about.fields if isinstance(about, inspect.StructType) else ()
    found = (value for field in fields if field.encode_name == name for value in _values(field.type))
    return tuple(dict.fromkeys(found))


def _values(type_: inspect.Type) -> Iterator[str]:
    match type_:
        case inspect.Metadata():
            yield from _values(type_.type)
        case inspect.UnionType():
            for option in type_.types:
                yield from _values(option)
        case inspect.CollectionType():
            yield from _values(type_.item_type)
        case inspect.EnumType():
            yield from (str(member.value) for member in type_.cls)
        case inspect.LiteralType():
            yield from map(str, type_.values)
