"""Choices and fields of a struct, and the message for a value that breaks its rule."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from clew.text.display import shortened

_STEP = re.compile(r"[^.`\[\]]+")
"""On the way to a value: a name, or a place in a list."""
_JOINERS = str.maketrans("", "", "-_ ")


def choices(type_: type[msgspec.Struct], *names: str) -> tuple[str, ...]:
    """The allowed values of an argument, or of a field of it, in order; empty if any value is allowed."""
    found = (value for each in _at(_about(type_), names) for value in _values(each))
    return tuple(dict.fromkeys(found))


def as_listed(type_: type[msgspec.Struct], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, with a value that differs from one of its choices only in case, hyphens, underscores or blanks in
    the spelling of that choice: `Functional` and `nonfunctional` are as clear as `functional` and `non-functional`."""

    def listed(value: Any, names: tuple[str, ...]) -> Any:
        match value:
            case str():
                allowed = choices(type_, *names)
                return (
                    value if value in allowed else {_folded(each): each for each in allowed}.get(_folded(value), value)
                )
            case Mapping():
                return {key: listed(each, (*names, str(key))) for key, each in value.items()}
            case list():
                return [listed(each, names) for each in value]
        return value

    return {name: listed(value, (name,)) for name, value in arguments.items()}


def _folded(word: str) -> str:
    return word.casefold().translate(_JOINERS)


def fields(type_: type[msgspec.Struct], *names: str) -> tuple[str, ...]:
    """The fields that an argument can have, or a field of it, in order."""
    found = _at(_about(type_), names)
    return tuple(field.encode_name for each in found if isinstance(each, inspect.StructType) for field in each.fields)


@cache
def _about(type_: type[msgspec.Struct]) -> inspect.Type:
    """Description of a request's type, cached because arguments may hold thousands of words."""
    return inspect.type_info(type_)


def _at(type_: inspect.Type, names: tuple[str, ...]) -> Iterator[inspect.Type]:
    match type_:
        case inspect.Metadata():
            yield from _at(type_.type, names)
        case inspect.UnionType():
            for option in type_.types:
                yield from _at(option, names)
        case inspect.CollectionType():
            yield from _at(type_.item_type, names)
        case inspect.StructType() if names:
            for field in type_.fields:
                if field.encode_name == names[0]:
                    yield from _at(field.type, names[1:])
        case _ if not names:
            yield type_


def _values(type_: inspect.Type) -> Iterator[str]:
    match type_:
        case inspect.EnumType():
            yield from (str(member.value) for member in type_.cls)
        case inspect.LiteralType():
            yield from map(str, type_.values)


def explained(error: msgspec.ValidationError, type_: type[msgspec.Struct], given: Mapping[str, Any]) -> str:
    """The error message for an argument. msgspec names the rule and the place; the value at that place and its choices
    are added."""
    rule, _, place = str(error).partition(" - at `$.")
    value: Any = given
    names: list[str] = []
    for step in _STEP.findall(place):
        if isinstance(value, Mapping) and step in value:
            names.append(step)
            value = value[step]
        elif isinstance(value, Sequence) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
    if not names:
        return rule
    rule = rule[0].lower() + rule[1:]
    if "enum value" in rule and (allowed := choices(type_, *names)):
        rule = f"expected one of {', '.join(allowed)}"
    elif "unknown field" in rule and (known := fields(type_, *names)):
        rule = f"{rule}; expected some of {', '.join(known)}"
    return f"'{place.rstrip('`')}' is {shortened(repr(value))}: {rule}"
