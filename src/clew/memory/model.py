"""The data of a memory: a short text with its reason, its origin, its scope, and the places that it is about."""

import uuid
from enum import StrEnum
from typing import Any, Literal

import msgspec

from clew.text.display import MORE
from clew.text.passage_hash import PassageHash

MEMORIES = "memory"
LINKS = "link"
CHANGES = "change"
EXCHANGES = "exchange"
PURGES = "purge"
MIRRORS = "mirror"
"""The collections of the store."""

PENDING = "pending"
"""The record that is in the store while a purge is under way. When it goes, other servers clean their indexes."""
BYTES_LEFT = "bytes left"
"""The record that asks an owner of a team's store to take out the bytes which a writer's purge could not."""

LONGEST_TEXT = 65_536
LONGEST_RATIONALE = 1_000
SHORTEST_RATIONALE = 10
LONGEST_QUERY = 4_096
LONGEST_NAME = 256
LONGEST_NOTES = 2_000
LONGEST_SNIPPET = 200

Domain = Literal["Code", "Medical", "Legal", "Creative", "Research", "General"]
EdgeType = Literal["Semantic", "Temporal", "Causal", "Hierarchical", "Relational"]


class MemoryKind(StrEnum):
    """The sort of statement that a memory is."""

    FACT = "fact"
    DECISION = "decision"
    PREFERENCE = "preference"
    PROCEDURE = "procedure"
    PITFALL = "pitfall"
    QUESTION = "question"
    EPISODE = "episode"
    """An event of a session, as a hook reported it: found only by a search for episodes."""


class TrustLevel(StrEnum):
    """The source that vouches for a memory, the most trusted first."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    DOCUMENT = "document"


class MemoryLinkKind(StrEnum):
    """The relation of one memory to another, or to a node of the graph. A link points from the one that states it."""

    CITES = "cites"
    ABOUT = "about"
    RELATED = "related"
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    SUPERSEDES = "supersedes"
    CAUSES = "causes"
    PART_OF = "part_of"
    NEXT = "next"
    """The next memory of the same session."""


EDGE_TYPES: dict[MemoryLinkKind, EdgeType] = {
    MemoryLinkKind.SUPPORTS: "Semantic",
    MemoryLinkKind.NEXT: "Temporal",
    MemoryLinkKind.CAUSES: "Causal",
    MemoryLinkKind.PART_OF: "Hierarchical",
    MemoryLinkKind.RELATED: "Relational",
    MemoryLinkKind.CONTRADICTS: "Relational",
    MemoryLinkKind.SUPERSEDES: "Relational",
    MemoryLinkKind.CITES: "Relational",
    MemoryLinkKind.ABOUT: "Relational",
}
"""The five types by which clients of Context Graph know links."""
LINK_WEIGHTS: dict[MemoryLinkKind, float] = {
    MemoryLinkKind.CAUSES: 0.8,
    MemoryLinkKind.PART_OF: 0.9,
    MemoryLinkKind.NEXT: 0.7,
    MemoryLinkKind.CONTRADICTS: 0.3,
    MemoryLinkKind.SUPERSEDES: 0.9,
}
USUAL_WEIGHT = 0.5


class MemoryScope(msgspec.Struct, frozen=True, kw_only=True):
    """The place where a memory was made, and its visibility."""

    repository: str
    """The random id of the repository's memory."""
    folder: str = ""
    """The project's folder inside the repository; empty for the repository itself."""
    branch: str | None = None
    agent: str | None = None
    """Owner of the memory; None for a person's, or an agent that gave no name."""
    visibility: Literal["private", "team"] = "team"


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """The source of a memory."""

    trust: TrustLevel = TrustLevel.AGENT
    actor: str = ""
    session: str | None = None
    host: str | None = None
    accepted_at: str | None = None
    """When a person accepted what came from a document."""


class Cite(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A node that a memory cites, and what the node said when it was cited."""

    node: str
    """An id of the graph, `file:PATH`, `symbol:PATH::NAME` or `lines:PATH#L1-L2`."""
    kind: MemoryLinkKind = MemoryLinkKind.CITES
    passage: PassageHash
    """Hash of the cited text; the same for texts that differ only in formatting."""


class Memory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: str
    kind: MemoryKind
    text: str
    title: str
    rationale: str
    recorded_at: str
    """When it was written down; UTC, ISO 8601, as are all times here."""
    scope: MemoryScope
    origin: Origin
    tags: tuple[str, ...] = ()
    domain: str = "General"
    confidence: float | None = None
    importance: float = 0.5
    pinned: bool = False
    notes: str = ""
    metadata: dict[str, Any] = {}
    valid_from: str | None = None
    """From when it holds; None from when it was recorded."""
    valid_to: str | None = None
    retired_at: str | None = None
    """When it was superseded, and so no longer believed."""
    cites: tuple[Cite, ...] = ()
    flags: tuple[str, ...] = ()
    """Suspicious traits of the text; a flagged memory is shown as data and never injected by itself."""

    @property
    def tag(self) -> str:
        return tag_of(self.id)

    @property
    def own_title(self) -> str:
        """The title, where the text does not begin with it."""
        return "" if self.text.startswith(self.title.removesuffix(MORE)) else self.title

    @property
    def is_accepted(self) -> bool:
        """True if it may be put before an agent that did not ask: a document may be written by anybody."""
        return self.origin.trust is not TrustLevel.DOCUMENT or self.origin.accepted_at is not None


class Link(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A link between two memories."""

    source: str
    target: str
    kind: MemoryLinkKind
    weight: float = USUAL_WEIGHT
    confidence: float = 1.0
    origin: str = ""
    """Origin of the link: a tool, or the judge with its reasons."""

    @property
    def id(self) -> str:
        return f"{self.source}.{self.kind.value}.{self.target}"

    @property
    def is_similarity(self) -> bool:
        return self.kind is MemoryLinkKind.RELATED and self.origin == SIMILARITY

    @property
    def edge_type(self) -> EdgeType:
        # A similarity was linked because the two are alike; other links were made by a user as a relation.
        if self.is_similarity:
            return "Semantic"
        return EDGE_TYPES[self.kind]


SIMILARITY = "similarity"


def linked(source: str, target: str, kind: MemoryLinkKind, origin: str = "") -> Link:
    return Link(source=source, target=target, kind=kind, weight=LINK_WEIGHTS.get(kind, USUAL_WEIGHT), origin=origin)


def new_id() -> str:
    """Random throughout: citation tags are the beginnings of ids, and a clock at the front would make them alike."""
    return str(uuid.uuid4())


def tag_of(id: str, length: int = 8) -> str:
    """The tag by which text cites a memory."""
    return f"[node_{id.replace('-', '')[:length]}]"
