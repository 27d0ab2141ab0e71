"""The neutral form of an exchange, between every format of another tool and every format of a project.

A reader turns a file into items, a writer turns items into a file, and a backend turns items into requirements of the
project and back. No reader depends on a backend, and no writer on another format.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

import msgspec

from clew.errors import InvalidArgument, WouldCycle
from clew.text.display import shortened
from clew.text.hashing import content_hash

REQUIREMENT = "requirement"
HEADING = "heading"
INFORMATION = "information"
JOURNEY = "journey"
"""The steps of a user towards a goal; a journey validates requirements."""

VERSION_DIGITS = 8
"""Bytes of the hash that names what an item says."""


class Criterion(msgspec.Struct, frozen=True, omit_defaults=True):
    """An assertion, an acceptance criterion or a scenario of a requirement."""

    label: str
    text: str
    title: str = ""
    """Of a scenario."""


class Relation(msgspec.Struct, frozen=True, omit_defaults=True):
    """A citation from one item to another."""

    kind: str
    """Such as `implements`: in small letters, words joined by `_`."""
    target: str
    labels: tuple[str, ...] = ()
    """The criteria of the target that are meant; empty for the whole target."""


class Item(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A requirement, or anything else that another tool keeps beside requirements."""

    id: str
    kind: str = REQUIREMENT
    """requirement, journey, heading, information, or another tool's own word."""
    title: str = ""
    text: str = ""
    """In Markdown or plain, whatever the source says it in."""
    criteria: tuple[Criterion, ...] = ()
    attributes: Mapping[str, str] = {}
    """Everything else that has a name and a text, such as level, status or Rationale."""
    relations: tuple[Relation, ...] = ()
    parent: str | None = None
    """The id of the item above it in its document."""
    path: str = ""
    line: int = 0
    """The line in its source."""
    rich: str = ""
    """The text as XHTML, where the source has it so."""
    kept: Mapping[str, Any] = {}
    """Fields of the source that have no place in this model, as they are."""
    version: str = ""
    """A hash of the item when it was exported; an import may change an item that still has it."""


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a file."""

    items: tuple[Item, ...] = ()
    memories: tuple[str, ...] = ()
    """Lines of JSON, as `clew memory export` writes them."""
    notes: tuple[str, ...] = ()
    """Notes about the file for a person."""
    columns: frozenset[str] | None = None
    """The fields that a table has columns for, by the names of `flat`; None if the file can hold all fields."""


def version_of(item: Item) -> str:
    """A hash of an item's content, without its place and the order of its attributes."""
    content = (
        (item.id, item.kind, item.title, item.text, item.parent or "", item.rich),
        [(each.label, each.text, each.title) for each in item.criteria],
        sorted(item.attributes.items()),
        sorted((each.kind, each.target, each.labels) for each in item.relations),
        item.kept,
    )
    return content_hash(msgspec.json.encode(content, order="deterministic"), VERSION_DIGITS)


def is_same(item: Item, here: Item) -> bool:
    """True if the item is the requirement with its id, and not another one that has the same id by chance: it was
    exported from here, or its title or its text is the same, or it has neither."""
    said = [(given, own) for given, own in ((item.title, here.title), (item.text, here.text)) if given.strip()]
    return bool(item.version) or not said or any(given.strip() == own.strip() for given, own in said)


def attribute(item: Item, name: str) -> str:
    """The attribute of a name, or else of that name in another case; empty without one."""
    if name in item.attributes:
        return item.attributes[name]
    return next((value for key, value in item.attributes.items() if key.casefold() == name.casefold()), "")


def without_attributes(item: Item, *names: str) -> dict[str, str]:
    """The attributes but for some."""
    left_out = {name.casefold() for name in names}
    return {key: value for key, value in item.attributes.items() if key.casefold() not in left_out}


def relation_kind(word: str) -> str:
    """The spelling of a kind of relation in Clew, from that of another tool."""
    return "_".join(word.replace("-", " ").replace("_", " ").casefold().split()) or "relates"


# What holds for every file, whatever its format


def checked(exchange: Exchange) -> Exchange:
    """The same, or an error: two items may not have one id, and nothing may be below itself."""
    seen: set[str] = set()
    for item in exchange.items:
        if not item.id.strip():
            raise InvalidArgument(
                f"The item '{shortened(item.title or item.text)}' has no id.",
                hint="Give every item an id. Nothing was changed.",
            )
        if item.id in seen:
            raise InvalidArgument(
                f"The id '{shortened(item.id)}' is used by more than one item; an id names one.",
                hint="Give each item an id of its own in the source. Nothing was changed.",
            )
        seen.add(item.id)
    circle = _circle({item.id: (item.parent,) if item.parent else () for item in exchange.items})
    if circle:
        raise _would_cycle(circle, "is below")
    return exchange


HIERARCHICAL = frozenset({"implements", "refines", "satisfies", "parent", "depends_on"})
"""Kinds of relations that may not lead in a circle."""


def refuse_circles(items: Collection[Item], known: Mapping[str, Collection[Relation]]) -> None:
    """WouldCycle where relations of a kind that orders requirements lead from an item back to itself, and not all of
    these are `known` to the project, by the item that has them."""
    for kind in sorted(HIERARCHICAL):
        _refuse_new_circle(
            [
                (item.id, each.target, each in known.get(item.id, ()))
                for item in items
                for each in item.relations
                if each.kind == kind
            ],
            kind,
        )


def _refuse_new_circle(steps: Sequence[tuple[str, str, bool]], word: str) -> None:
    """Each step is from, to, and whether it is known. Those in a circle of known steps count as one, so that a new step
    between them is found as well."""
    joined: dict[str, str] = {}
    while True:
        edges: dict[str, dict[str, bool]] = {}
        for start, end, is_known in steps:
            ends = edges.setdefault(joined.get(start, start), {})
            target = joined.get(end, end)
            if not is_known or target != joined.get(start, start):
                ends[target] = is_known or ends.get(target, False)
        circle = _circle(edges)
        if not circle:
            return
        if not all(edges[start][end] for start, end in pairwise(circle)):
            raise _would_cycle(circle, word)
        joined = {id: circle[0] if now in circle else now for id, now in joined.items()}
        joined |= dict.fromkeys(circle, circle[0])


def _circle(edges: Mapping[str, Iterable[str]]) -> list[str]:
    """A path that ends at its beginning; empty without one."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def _would_cycle(circle: Sequence[str], word: str) -> WouldCycle:
    return WouldCycle(
        f"'{shortened(circle[0])}' {word.replace('_', ' ')} itself: {shortened(' -> '.join(circle), 300)}.",
        hint="Remove one of these relations in the source. Nothing was changed.",
    )
