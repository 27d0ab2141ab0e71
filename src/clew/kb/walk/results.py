"""Results of the graph tools. Field names are those of the contract; fields that Clew adds are left out when empty.

The older tools and the newer ones have the same shapes, with one envelope.
"""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from clew.kb.limits import LimitReason, Notes
from clew.kb.walk.envelope import Usage

Ids = tuple[str, ...] | UnsetType


class Projection(msgspec.Struct, frozen=True, kw_only=True):
    """A field that was not asked for is left out; one that the node does not have is null."""

    id: str | UnsetType = UNSET
    label: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
    level: int | UnsetType | None = UNSET
    tokens: int | UnsetType | None = UNSET
    doc_tag: str | UnsetType | None = UNSET
    anchor: str | UnsetType | None = UNSET
    snippet: str | UnsetType = UNSET
    flags: tuple[str, ...] | UnsetType = UNSET


class NamedEdge(msgspec.Struct, frozen=True, gc=False):
    """An edge under the name and in the direction that users know."""

    src: str
    dst: str
    type: str


class GraphAnswer(msgspec.Struct, frozen=True, kw_only=True):
    session_id: str
    partial: bool
    limit_reason: LimitReason
    meta: dict[str, Any]
    """`GraphMeta`; its schema would cost every client more than it tells."""
    notes: Notes = UNSET


class GraphMeta(msgspec.Struct, frozen=True, kw_only=True):
    usage: Usage
    missing_ids: Ids = UNSET
    """Ids that nothing has."""
    hubs: Ids = UNSET
    """Nodes of which not all neighbours were followed."""
    flagged_ids: Ids = UNSET
    """Nodes whose titles read like an instruction to a model."""


class NodeDescriptions(GraphAnswer, frozen=True, kw_only=True):
    results: tuple[Projection, ...]
    cursor: str | None = None
    next_cursor: str | None = None


class NeighbourhoodPage(GraphAnswer, frozen=True, kw_only=True):
    nodes: tuple[Projection, ...]
    edges: tuple[NamedEdge, ...]
    cursor: str | None
    next_cursor: str | None
    dedupe_applied: bool | UnsetType = UNSET


class PathShown(msgspec.Struct, frozen=True):
    nodes: tuple[str, ...]
    types: tuple[str, ...]
    length: int


class PathPage(GraphAnswer, frozen=True, kw_only=True):
    paths: tuple[PathShown, ...]
    cursor: str | None
    next_cursor: str | None


class Child(msgspec.Struct, frozen=True):
    id: str
    label: str
    title: str
    level: int | None


class ChildPage(GraphAnswer, frozen=True, kw_only=True):
    children: tuple[Child, ...]
    cursor: str | None
    next_cursor: str | None


class ParentOf(msgspec.Struct, frozen=True):
    section_id: str
    parent_id: str
    parent_title: str


class Parents(GraphAnswer, frozen=True, kw_only=True):
    results: tuple[ParentOf, ...]


class EntityNamed(msgspec.Struct, frozen=True):
    id: str
    label: str
    name: str


class EntitiesOf(msgspec.Struct, frozen=True):
    section_id: str
    entities: tuple[EntityNamed, ...]


class Entities(GraphAnswer, frozen=True, kw_only=True):
    results: tuple[EntitiesOf, ...]


class SectionNamed(msgspec.Struct, frozen=True):
    section_id: str
    title: str


class SectionsOf(msgspec.Struct, frozen=True):
    entity_id: str
    sections: tuple[SectionNamed, ...]


class Sections(GraphAnswer, frozen=True, kw_only=True):
    results: tuple[SectionsOf, ...]
