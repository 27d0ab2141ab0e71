"""The names by which the graph tools call the edges of the graph.

One edge may be called by two names, from either end: a section is CHILD_OF the one above, which is PARENT_OF it. Names
without a bond are those that users of wekadocs may pass though nothing here is called so; they lead nowhere. Below them
stand those of Clew's own edges.

| name | from | to |
|---|---|---|
| PARENT_OF | section, requirement, spec | the section below, its assertion, its requirement |
| CHILD_OF, PARENT_HEADING | the same, from below | |
| HAS_CHUNK | document | each of its sections |
| CONTAINS_STEP | procedure | step |
| REFERENCES | section | section or document that a link leads to |
| MENTIONS | section | entity, requirement, part of a spec, spec, file, code |
| MENTIONED_IN | the same, from the other end | |
| NEXT_CHUNK | section | the one after it in the document |
| NEXT | section | the next one below the same heading |
| RELATED_TO | document | a document about the same things |
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from clew.errors import InvalidArgument
from clew.graph.model import EdgeKind
from clew.graph.walk import Direction


class Bond(StrEnum):
    """What holds two nodes together: an edge kind of the graph, told apart where users do."""

    ABOVE = "above"
    """From a part to what it is part of, except for documents and procedures."""
    DOCUMENT = "document"
    STEP = "step"
    NEXT = "next"
    SIBLING = "sibling"
    MENTIONS = "mentions"
    REFERENCES = "references"
    RELATED = "related"
    IMPLEMENTS = "implements"
    REFINES = "refines"
    VERIFIES = "verifies"
    VALIDATES = "validates"
    ADDRESSES = "addresses"
    SATISFIES = "satisfies"
    INTEGRATES = "integrates"
    INSTANCE = "instance"
    YIELDS = "yields"
    DEPENDS_ON = "depends_on"
    CONFLICTS = "conflicts"

    __hash__ = str.__hash__


class Relationship(NamedTuple):
    name: str
    bond: Bond | None
    along: bool = True
    """Whether it points where the bond points."""


class Way(NamedTuple):
    """One step: over a bond, from its source to its target or back."""

    bond: Bond
    outgoing: bool


class Called(NamedTuple):
    """How a step is called, and whether its name points where the step goes."""

    name: str
    forward: bool


_NOWHERE = (
    *("ANSWERED_AS", "DEFINES", "EXECUTES", "FOCUSED_ON", "HAS_CITATION", "HAS_PARAMETER", "HAS_QUERY", "IN_CHUNK"),
    *("IN_SECTION", "RESOLVES", "RETRIEVED", "SUPPORTED_BY"),
)
_OWN = tuple(Bond)[tuple(Bond).index(Bond.IMPLEMENTS) :]

RELATIONSHIPS = (
    Relationship("PARENT_OF", Bond.ABOVE, along=False),
    Relationship("CHILD_OF", Bond.ABOVE),
    Relationship("PARENT_HEADING", Bond.ABOVE),
    Relationship("HAS_CHUNK", Bond.DOCUMENT, along=False),
    Relationship("CONTAINS_STEP", Bond.STEP, along=False),
    Relationship("REFERENCES", Bond.REFERENCES),
    Relationship("MENTIONS", Bond.MENTIONS),
    Relationship("MENTIONED_IN", Bond.MENTIONS, along=False),
    Relationship("NEXT_CHUNK", Bond.NEXT),
    Relationship("NEXT", Bond.SIBLING),
    Relationship("RELATED_TO", Bond.RELATED),
    *(Relationship(name, None) for name in _NOWHERE),
    *(Relationship(bond.name, bond) for bond in _OWN),
)
"""Where one step has several names, the first that was asked for is given."""

NAMES = tuple(relationship.name for relationship in RELATIONSHIPS)
_USUAL = frozenset(NAMES) - {"MENTIONED_IN"}
"""Whoever follows edges outwards does not mean the one that is an edge only when it is read backwards."""
TREE = ("PARENT_OF", "HAS_CHUNK", "CONTAINS_STEP")
"""What leads from something to its parts."""

BOND_OF_KIND = {
    EdgeKind.STRUCTURES: Bond.ABOVE,
    **{EdgeKind(bond.value): bond for bond in (*_OWN, Bond.MENTIONS, Bond.REFERENCES, Bond.RELATED, Bond.NEXT)},
}


def check_names(names: Iterable[str] | None) -> None:
    unknown = sorted(set(names or ()).difference(NAMES))
    if unknown:
        raise InvalidArgument(
            f"There is no relationship type '{unknown[0][:80]}'.",
            hint=f"Types are: {', '.join(sorted(NAMES))}.",
            data={"unknown": [name[:80] for name in unknown[:20]], "allowed": sorted(NAMES)},
        )


def ways(names: Iterable[str] | None, direction: Direction = "both") -> Mapping[Way, Called]:
    """The steps that lead along the named relationships, all of them where none is named, and how each is called."""
    check_names(names)
    return _ways(frozenset(names or _USUAL), direction)


@lru_cache(maxsize=64)
def _ways(wanted: frozenset[str], direction: Direction) -> Mapping[Way, Called]:
    found: dict[Way, Called] = {}
    for relationship in RELATIONSHIPS:
        if relationship.name not in wanted or relationship.bond is None:
            continue
        if direction != "in":
            found.setdefault(Way(relationship.bond, relationship.along), Called(relationship.name, True))
        if direction != "out":
            found.setdefault(Way(relationship.bond, not relationship.along), Called(relationship.name, False))
    return found
