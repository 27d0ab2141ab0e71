"""The shapes of the older tools' answers, key for key."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from clew.kb.walk.envelope import Enveloped
from clew.kb.walk.results import Projection


class SectionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One result of search_sections. A signal that Clew does not have is null."""

    section_id: str
    title: str
    tokens: int
    doc_tag: str
    score: float
    rank: int
    source: str
    fusion_method: str | None
    fused_score: float | None
    title_vec_score: float | None = None
    entity_vec_score: float | None = None
    doc_title_sparse_score: float | None = None
    lexical_vec_score: float | None = None
    rerank_score: float | None = None
    graph_score: float = 0.0
    graph_distance: int = 0
    connection_count: int = 0
    mention_count: int = 0
    entity_boost_applied: bool = False
    entity_metadata: dict[str, Any] | None = None
    rrf_field_contributions: dict[str, float] | None = None


class SectionRows(Enveloped, frozen=True, kw_only=True):
    results: tuple[SectionRow, ...]
    cursor: str | None
    next_cursor: str | None


class SectionText(msgspec.Struct, frozen=True, kw_only=True):
    section_id: str
    title: str
    doc_tag: str
    text_truncated: str
    bytes: int
    truncated: bool
    source_blob_id: str | None


class Hints(msgspec.Struct, frozen=True):
    next_tools: tuple[str, ...] = ("expand_neighbors", "describe_nodes")


class SectionTexts(Enveloped, frozen=True, kw_only=True):
    results: tuple[SectionText, ...]
    hints: Hints


class EvidenceItem(msgspec.Struct, frozen=True, kw_only=True):
    section_id: str
    node_id: str
    node_label: str = "Chunk"
    snippet: str
    path: tuple[str, ...]
    """The ids on the way from the document to the section."""
    confidence: float
    title: str
    full_text: str
    metadata: dict[str, Any]
    related_entities: tuple[str, ...]
    related_sections: tuple[str, ...]


class DocumentationAnswer(msgspec.Struct, frozen=True, kw_only=True):
    answer: str
    evidence: tuple[EvidenceItem, ...]
    confidence: float
    diagnostics: dict[str, Any]


class Documentation(msgspec.Struct, frozen=True, kw_only=True):
    answer_markdown: str
    answer_json: DocumentationAnswer


class TraversedNode(msgspec.Struct, frozen=True):
    id: str
    label: str
    properties: dict[str, Any]
    distance: int


class TraversedRelationship(msgspec.Struct, frozen=True):
    from_id: str
    to_id: str
    type: str
    properties: dict[str, Any]


class TraversedPath(msgspec.Struct, frozen=True):
    nodes: tuple[str, ...]
    length: int


class Traversal(msgspec.Struct, frozen=True, kw_only=True):
    """The one answer without an envelope: failures are in `error`."""

    nodes: tuple[TraversedNode, ...] = ()
    relationships: tuple[TraversedRelationship, ...] = ()
    paths: tuple[TraversedPath, ...] = ()
    error: str | UnsetType = UNSET
    neo4j_disabled: bool | UnsetType = UNSET
    truncated: bool | UnsetType = UNSET


class NeighborhoodSummary(Enveloped, frozen=True, kw_only=True):
    bullets: tuple[str, ...]
    citations: tuple[str, ...]


class Bundle(msgspec.Struct, frozen=True):
    nodes: tuple[Projection, ...]
    snippets: tuple[SectionText, ...]
    strategy: str


class BundleUsage(msgspec.Struct, frozen=True):
    tokens: int
    bytes: int


class ContextBundle(Enveloped, frozen=True, kw_only=True):
    bundle: Bundle
    usage: BundleUsage


class SwitchedOff(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of the older tools without a graph: an empty list under the name that the tool uses."""

    error: str
    neo4j_disabled: bool = True
    nodes: tuple[()] | UnsetType = UNSET
    neighbors: tuple[()] | UnsetType = UNSET
    paths: tuple[()] | UnsetType = UNSET
    children: tuple[()] | UnsetType = UNSET
    parents: tuple[()] | UnsetType = UNSET
    entities: tuple[()] | UnsetType = UNSET
    sections: tuple[()] | UnsetType = UNSET
