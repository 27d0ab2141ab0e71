"""Entities and where they are mentioned."""

from enum import StrEnum

import msgspec

LONGEST_NAME = 160


class EntityKind(StrEnum):
    COMMAND = "command"
    FLAG = "flag"
    VARIABLE = "environment_variable"
    KEY = "configuration_key"
    FILE = "file"
    SYMBOL = "symbol"
    VERSION = "version"
    ERROR = "error"
    PROCEDURE = "procedure"
    STEP = "step"
    TERM = "term"
    """A capitalised name that recurs in its document."""
    DEFINED = "defined_term"


_SPELLED_ONE_WAY = frozenset({EntityKind.COMMAND, EntityKind.FILE, EntityKind.SYMBOL, EntityKind.VARIABLE})
"""Kinds in which upper and lower case make a difference."""


class EntityMention(msgspec.Struct, frozen=True, gc=False):
    kind: EntityKind
    name: str
    """As the document writes it first."""
    normal: str
    """Equal for every spelling of the same entity."""
    count: int


class Procedure(msgspec.Struct, frozen=True):
    """Numbered steps below one heading."""

    section: int
    """The number of its section in the document."""
    name: str
    steps: tuple[str, ...]
    places: tuple[int, ...]
    """The place of each step in the text."""


class DocumentEntities(msgspec.Struct, frozen=True):
    mentions: tuple[tuple[EntityMention, ...], ...]
    """The mentions of each chunk, in the order of the chunks."""
    procedures: tuple[Procedure, ...]


class MentionCounter:
    """Counts mentions; each entity has one counter."""

    def __init__(self) -> None:
        self._counts: dict[tuple[EntityKind, str], int] = {}
        self._names: dict[tuple[EntityKind, str], str] = {}

    def add(self, kind: EntityKind, name: str, count: int = 1) -> None:
        name = " ".join(name.split())[:LONGEST_NAME]
        normal = normal_form(kind, name)
        if normal:
            self._counts[kind, normal] = self._counts.get((kind, normal), 0) + count
            self._names.setdefault((kind, normal), name)

    def mentions(self) -> tuple[EntityMention, ...]:
        return tuple(
            EntityMention(kind, self._names[kind, normal], normal, n) for (kind, normal), n in self._counts.items()
        )


def normal_form(kind: EntityKind, name: str) -> str:
    """One spelling for all: versions without their `v`, calls without parentheses, case only where it matters."""
    name = " ".join(name.split())
    if kind is EntityKind.VERSION:
        return name.lower().removeprefix("v")
    if kind is EntityKind.SYMBOL:
        return name.removesuffix("()")
    if kind is EntityKind.FILE:
        return name.removeprefix("./")
    return name if kind in _SPELLED_ONE_WAY else name.casefold()
