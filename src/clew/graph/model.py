"""The values the graph is made of."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec


class NodeKind(StrEnum):
    """Kind of a node. A requirement of any format is a REQUIREMENT; an assertion, a scenario and an acceptance
    criterion are all an ASSERTION."""

    REQUIREMENT = "requirement"
    ASSERTION = "assertion"
    CODE = "code"
    TEST = "test"
    TEST_RESULT = "result"
    USER_JOURNEY = "journey"
    REMAINDER = "remainder"
    SPEC = "spec"
    """A spec, of which requirements are part."""
    DOCUMENT = "document"
    SECTION = "section"
    """A piece of a document under one heading."""
    ENTITY = "entity"
    """A subject of documents: a command, a file, a term."""
    FILE = "file"
    """A file that a document names."""
    MEMORY = "memory"
    """A record of what a person or an agent learned."""
    SYMBOL = "symbol"
    """A function, class or method, or a source file as a whole."""

    __hash__ = str.__hash__
    """The hash of an enumeration is computed in Python, and every lookup by kind needs it."""


class EdgeKind(StrEnum):
    """Kind of a citation. Edges point from the citing node to the cited one, so up is outgoing."""

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
    STRUCTURES = "structures"
    """An assertion is part of its requirement: the one edge that means containment."""
    NEXT = "next"
    """The next part of the same document."""
    MENTIONS = "mentions"
    REFERENCES = "references"
    """A link that an author wrote."""
    RELATED = "related"
    """Documents about the same things."""
    CITES = "cites"
    """A memory is about something."""
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    SUPERSEDES = "supersedes"
    CAUSES = "causes"
    PART_OF = "part_of"
    IMPORTS = "imports"
    """A source file uses what another one defines."""

    __hash__ = str.__hash__


HIERARCHY = frozenset({EdgeKind.IMPLEMENTS, EdgeKind.REFINES, EdgeKind.SATISFIES})
"""The kinds by which one requirement is below another."""


class Source(msgspec.Struct, frozen=True, gc=False):
    """Place of a node: path relative to the project, lines from 1, bytes half-open."""

    path: str
    line: int
    end_line: int
    start: int = 0
    end: int = 0
    """Both are 0 where only the lines are known."""


class Node(msgspec.Struct, frozen=True):
    id: str
    kind: NodeKind
    title: str
    """A requirement's title, an assertion's text."""
    fields: Mapping[str, Any]
    source: Source | None = None

    def get_field(self, name: str, default: Any = None) -> Any:
        return self.fields.get(name, default)


class Edge(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """One citation. Two edges are the same edge when all four parts are equal."""

    kind: EdgeKind
    source: str
    target: str
    labels: tuple[str, ...] = ()
    """The assertions of the target that are meant; empty means the whole target."""


class BrokenReference(msgspec.Struct, frozen=True):
    """A citation whose target does not exist."""

    source_id: str
    target_id: str
    """As written."""
    edge_kind: EdgeKind
    fault: str
    """malformed, unknown_requirement, unknown_assertion or forbidden."""
    path: str
    line: int
