"""The names by which the graph tools call the edges of the graph.

One edge may be called by two names, from either end: a section is CHILD_OF the one above, which is PARENT_OF it. Names
without a relation are those that users of wekadocs may pass, though no edge has them; they lead nowhere. Below them
stand the names of Clew's own edges.

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
from clew.text.display import shortened


class RelationKind(StrEnum):
    """The relation of two nodes: an edge kind of the graph, divided where users know several."""

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
    relation: RelationKind | None
    along: bool = True
    """True if it points where the relation points."""


class RelationStep(NamedTuple):
    """One step: over a relation, from its source to its target or back."""

    relation: RelationKind
    outgoing: bool


class StepName(NamedTuple):
    """The name of a step, and its direction."""

    name: str
    forward: bool


_NOWHERE = (
    *("ANSWERED_AS", "DEFINES", "EXECUTES", "FOCUSED_ON", "HAS_CITATION", "HAS_PARAMETER", "HAS_QUERY", "IN_CHUNK"),
    *("IN_SECTION", "RESOLVES", "RETRIEVED", "SUPPORTED_BY"),
)
_OWN = tuple(RelationKind)[tuple(RelationKind).index(RelationKind.IMPLEMENTS) :]

RELATIONSHIPS = (
    Relationship("PARENT_OF", RelationKind.ABOVE, along=False),
    Relationship("CHILD_OF", RelationKind.ABOVE),
    Relationship("PARENT_HEADING", RelationKind.ABOVE),
    Relationship("HAS_CHUNK", RelationKind.DOCUMENT, along=False),
    Relationship("CONTAINS_STEP", RelationKind.STEP, along=False),
    Relationship("REFERENCES", RelationKind.REFERENCES),
    Relationship("MENTIONS", RelationKind.MENTIONS),
    Relationship("MENTIONED_IN", RelationKind.MENTIONS, along=False),
    Relationship("NEXT_CHUNK", RelationKind.NEXT),
    Relationship("NEXT", RelationKind.SIBLING),
    Relationship("RELATED_TO", RelationKind.RELATED),
    *(Relationship(name, None) for name in _NOWHERE),
    *(Relationship(relation.name, relation) for relation in _OWN),
)
"""If a step has several names, the first that was asked for is given."""

NAMES = tuple(relationship.name for relationship in RELATIONSHIPS)
_USUAL = frozenset(NAMES) - {"MENTIONED_IN"}
"""The default: a walk outwards does not use the edge that exists only when it is read backwards."""
TREE = ("PARENT_OF", "HAS_CHUNK", "CONTAINS_STEP")
"""Relationships from a node to its parts."""

RELATION_OF_KIND = {
    EdgeKind.STRUCTURES: RelationKind.ABOVE,
    **{
        EdgeKind(relation.value): relation
        for relation in (*_OWN, RelationKind.MENTIONS, RelationKind.REFERENCES, RelationKind.RELATED, RelationKind.NEXT)
    },
}


def check_names(names: Iterable[str] | None) -> None:
    unknown = sorted(set(names or ()).difference(NAMES))
    if unknown:
        raise InvalidArgument(
            f"There is no relationship type '{shortened(unknown[0])}'.",
            hint=f"Types are: {', '.join(sorted(NAMES))}.",
            data={"unknown": [name[:80] for name in unknown[:20]], "allowed": sorted(NAMES)},
        )


def ways(names: Iterable[str] | None, direction: Direction = "both") -> Mapping[RelationStep, StepName]:
    """The steps along the named relationships, all of them if none is named, and the name of each."""
    check_names(names)
    return _ways(frozenset(names or _USUAL), direction)


@lru_cache(maxsize=64)
def _ways(wanted: frozenset[str], direction: Direction) -> Mapping[RelationStep, StepName]:
    found: dict[RelationStep, StepName] = {}
    for relationship in RELATIONSHIPS:
        if relationship.name not in wanted or relationship.relation is None:
            continue
        if direction != "in":
            found.setdefault(RelationStep(relationship.relation, relationship.along), StepName(relationship.name, True))
        if direction != "out":
            found.setdefault(
                RelationStep(relationship.relation, not relationship.along), StepName(relationship.name, False)
            )
    return found
