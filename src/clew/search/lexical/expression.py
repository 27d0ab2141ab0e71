"""Conditions on the words of a unit, as values: every engine of the index reads them in its own way."""

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias, Union


class Phrase(NamedTuple):
    """Terms side by side; often one alone."""

    terms: tuple[str, ...]


class Beginning(NamedTuple):
    """Any term that begins with a text."""

    start: str


class Either(NamedTuple):
    parts: "tuple[Expression, ...]"


class AllOf(NamedTuple):
    parts: "tuple[Expression, ...]"


class Without(NamedTuple):
    wanted: "Expression"
    unwanted: "Expression"


Expression: TypeAlias = Union[Phrase, Beginning, Either, AllOf, Without]  # noqa: UP007 (it names itself)


def phrase(*terms: str) -> Phrase:
    return Phrase(terms)


def either(parts: Iterable[Expression]) -> Expression:
    return Either(tuple(parts))


def all_of(parts: Iterable[Expression]) -> Expression:
    return AllOf(tuple(parts))


def is_held(expression: Expression, streams: tuple[str, ...]) -> bool:
    """True if a unit with these streams fulfils the expression. Each stream starts and ends with a space."""
    match expression:
        case Phrase(terms):
            needle = f" {' '.join(terms)} "
            return any(needle in stream for stream in streams)
        case Beginning(start):
            return any(f" {start}" in stream for stream in streams)
        case Either(parts):
            return any(is_held(part, streams) for part in parts)
        case AllOf(parts):
            return all(is_held(part, streams) for part in parts)
        case Without(wanted, unwanted):
            return is_held(wanted, streams) and not is_held(unwanted, streams)
