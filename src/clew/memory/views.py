"""Views of a memory: the structs in which answers show it, and the one function that fills them.

A view names the fields that it shows. Those that come from the memory itself are filled by their names; the others are
passed, such as the score of a search.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

import msgspec

from clew.memory.model import LONGEST_SNIPPET, EdgeType, Memory
from clew.memory.places import CiteState
from clew.text.display import one_line

Validity = Literal["current", "stale", "superseded"]
V = TypeVar("V", bound=msgspec.Struct)

_VALUES: Mapping[str, Callable[[Memory], Any]] = {
    "node_id": lambda memory: memory.id,
    "citation_tag": lambda memory: memory.tag,
    "kind": lambda memory: memory.kind.value,
    "snippet": lambda memory: one_line(memory.text, LONGEST_SNIPPET),
    "raw_content": lambda memory: memory.text,
    "created_at": lambda memory: memory.recorded_at,
    "trust": lambda memory: memory.origin.trust.value,
    "session": lambda memory: memory.origin.session,
    "agent": lambda memory: memory.scope.agent,
    "branch": lambda memory: memory.scope.branch,
    "visibility": lambda memory: memory.scope.visibility,
}
"""The values of fields that the memory has under another name, or in another form."""
_OF_ITSELF = frozenset(Memory.__struct_fields__) - {"id", "cites"}


def shown_as(view: type[V], memory: Memory, **more: Any) -> V:
    """The view of a memory; `more` are the fields that the memory does not have."""
    values = {name: _VALUES[name](memory) for name in view.__struct_fields__ if name in _VALUES}
    values |= {name: getattr(memory, name) for name in view.__struct_fields__ if name in _OF_ITSELF - _VALUES.keys()}
    if "snippet" in values and "title" in values:
        # A title that is the beginning of the text would be said twice.
        values["title"] = memory.own_title
    return view(**{**values, **more})


class NamedMemory(msgspec.Struct, frozen=True):
    """A memory by its title."""

    node_id: str
    title: str


class LinkedMemory(msgspec.Struct, frozen=True):
    """A memory by its title, with the kind of its link to another."""

    node_id: str
    title: str
    link: str


class NearMemory(msgspec.Struct, frozen=True):
    """A memory near a new one, with the relation of the two."""

    node_id: str
    title: str
    similarity: float | None
    relation: str
    reasons: tuple[str, ...]


class NeighbourMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that was reached from another, with the link by which it was reached."""

    node_id: str
    title: str
    snippet: str
    edge_type: EdgeType
    link: str
    weight: float
    confidence: float
    direction: Literal["outgoing", "incoming"]
    hop: int
    via: str
    """The memory from which it was reached."""


class RecentMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A memory with its last use."""

    node_id: str
    citation_tag: str
    kind: str
    title: str
    snippet: str
    recorded_at: str
    last_accessed: str
    access_count: int
    importance: float
    session: str | None


class ListedMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A memory in a list for people."""

    node_id: str
    kind: str
    title: str
    recorded_at: str
    standing: Validity | None
    """Null for one that was forgotten."""
    cites: tuple[str, ...]
    branch: str | None
    agent: str | None
    visibility: str


class Signals(msgspec.Struct, frozen=True):
    """The score of a result by each signal; null where the signal did not find it."""

    lexical: float | None
    dense: float | None


class MemoryHit(msgspec.Struct, frozen=True, kw_only=True):
    """A memory as a search shows it."""

    node_id: str
    citation_tag: str
    kind: str
    title: str
    snippet: str
    similarity: float
    """The cosine of the vectors, or the share of the words of the query where there are no vectors yet."""
    score: float
    signals: Signals
    standing: Validity
    superseded_by: str | None = None
    cites: tuple[CiteState, ...] = ()
    importance: float
    confidence: float | None
    recorded_at: str
    valid_from: str | None = None
    valid_to: str | None = None
    tags: tuple[str, ...] = ()
    trust: str
    agent: str | None = None
    branch: str | None = None
    branch_state: Literal["current", "other", "merged", "deleted", "unknown"] = "unknown"
    flags: tuple[str, ...] = ()
    content: str | None = None


class WholeMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A memory with everything that is known of it."""

    citation_tag: str
    node_id: str
    kind: str
    title: str
    raw_content: str
    next_offset: int | None = None
    """Offset at which the rest of the text begins; null if this is all of it."""
    rationale: str
    importance: float
    confidence: float | None
    created_at: str
    standing: str
    superseded_by: str | None
    valid_from: str | None
    valid_to: str | None
    cites: tuple[CiteState, ...]
    tags: tuple[str, ...]
    domain: str
    notes: str
    trust: str
    agent: str | None
    session: str | None
    branch: str | None
    visibility: str
    flags: tuple[str, ...]
    metadata: dict[str, Any]
    neighbors: tuple[LinkedMemory, ...]
    truncated: bool = False
