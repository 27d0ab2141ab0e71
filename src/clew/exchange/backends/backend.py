"""The interface of a requirement format of the project to imports and exports."""

import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec

from clew.edit.edits import FileEdit
from clew.exchange.model import Item, Relation
from clew.text.display import counted

_UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
LONGEST_TITLE = 500
Id = TypeVar("Id", bound=str | None)


class PlacedItem(msgspec.Struct, frozen=True):
    """An item in the form in which a backend takes it: under an id of the project, citing ids of the project."""

    item: Item
    source: str
    """The name of the import, for its records."""


class RequirementBackend(Protocol):
    name: str
    kinds: frozenset[str]
    """The kinds of items that it can hold."""

    def items(self) -> Mapping[str, Item]:
        """The items of the project by id, as an export writes them."""
        ...

    def beside(self) -> list[str]:
        """Other contents of the project's files, counted."""
        ...

    def fits(self, item: Item) -> bool:
        """True if the id of an item can be an id of the project."""
        ...

    def fresh(self, item: Item, taken: set[str]) -> str:
        """An id for an item whose own does not fit, or is taken."""
        ...

    def labels(self, item: Item, before: Mapping[str, str], taken: Collection[str]) -> tuple[str, ...]:
        """The labels that its criteria get, in their order. Where the format lets them choose, those of `before`, by
        the item's own; and for others none that is `taken`."""
        ...

    def placed(self, placing: PlacedItem) -> Item:
        """The item as it reads once it is written; BadInput where the format cannot take it."""
        ...

    def edits(self, added: Sequence[PlacedItem], changed: Sequence[PlacedItem]) -> list[FileEdit]:
        """The edits that write items into the files of the project."""
        ...

    def commit(
        self, added: Sequence[PlacedItem], changed: Sequence[PlacedItem], files: Callable[[], None]
    ) -> tuple[str, ...]:
        """Write items that are not in files of their own, and just before them `files`, the transaction over all files.
        Returns the other things that were written."""
        ...


def some(number: int, one: str, more: str | None = None) -> list[str]:
    """A count in words; nothing for 0."""
    return [counted(number, one, more) if more is not None else counted(number, one)] if number else []


def writable(text: str) -> str:
    """A text without characters that no file of requirements may hold."""
    return _UNWRITABLE.sub("", text)


def one_line(text: str) -> str:
    return " ".join(writable(text).split())


def title_of(item: Item, longest: int = LONGEST_TITLE, *, without: str = "*") -> str:
    """A title of one line: its own, or else the first line of its text, or its id; `without` signs that mean something
    to the format."""
    blanks = dict.fromkeys(map(ord, without), " ")
    for words in (item.title, item.text.strip().partition("\n")[0], item.id):
        line = one_line(words.translate(blanks))
        if line:
            return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"
    return "Untitled"


def free_name(wanted: str, taken: Container[str]) -> str:
    """The name, or the name with a number, that nobody has. Case does not count: those taken are in small letters."""
    name, number = wanted, 1
    while name.casefold() in taken:
        number += 1
        name = f"{wanted}-{number}"
    return name


class FreeIds:
    """Unused ids, made of a word, and of a number if the word is taken. It remembers the last number: many items may
    have one title."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}

    def take(self, word: str, made: Callable[[str], Id], taken: Container[str], joint: str = "") -> Id:
        """An id that is `made` of a word; None where that makes none of it."""
        number = self._last.get(word, 0)
        while True:
            number += 1
            id = made(word if number == 1 else f"{word}{joint}{number}")
            if id is None or id not in taken:
                self._last[word] = number
                return id


def grouped(relations: Iterable[Relation]) -> dict[str, list[Relation]]:
    """Relations by their kind, each kind in the order of its first."""
    found: dict[str, list[Relation]] = {}
    for each in relations:
        found.setdefault(each.kind, []).append(each)
    return found
