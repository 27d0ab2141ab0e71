"""Results of the tools on documents. Field names are those of the contract; fields that Clew adds are left out when
empty."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from clew.kb.limits import Flags, LimitReason, Notes
from clew.search.quote.certainty import Certainty

NOT_SURE = "Nothing in the documents answers this for sure. The nearest:"
"""The first note of an answer whose quotes are all unsure."""


class SignalContribution(msgspec.Struct, frozen=True):
    """The share of one signal in a result's score; the values add up to the fused score."""

    signal: str
    rank: int
    score: float
    value: float


class ResultDebug(msgspec.Struct, frozen=True, kw_only=True):
    mode: str
    choice: str | UnsetType = UNSET
    """The reason for this mode, if the documents decided it."""
    fused_score: float
    signals: tuple[SignalContribution, ...]
    path: str
    line: int
    end_line: int
    tokens: int
    version: str
    updated_at: str


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
    passage_id: str
    section_id: str
    doc_tag: str
    title: str
    rank: int
    score: float
    """In proportion to the best result of the question, from 0 to 1."""
    source: str
    """reranked, rrf_fusion, graph_expanded, vector, bm25 or hybrid."""
    preview: str
    scratch_uri: str
    size_bytes: int
    anchor: str | None
    flags: Flags = UNSET
    scores: dict[str, float] | UnsetType = UNSET
    """The fused score and that of each signal, where they were asked for."""
    debug: dict[str, Any] | UnsetType = UNSET
    """`ResultDebug`; its schema would cost every client more than it tells."""


class SearchResults(msgspec.Struct, frozen=True, kw_only=True):
    results: tuple[SearchResult, ...]
    next_cursor: str | None
    partial: bool
    limit_reason: LimitReason
    session_id: str
    notes: Notes = UNSET


class ExcerptCitation(msgspec.Struct, frozen=True):
    section_id: str
    doc_tag: str
    title: str
    uri: str
    line: int
    """Of the file that section_id names."""


class ExcerptAnswer(msgspec.Struct, frozen=True, kw_only=True):
    passage_id: str
    excerpt: str
    truncated: bool
    next_start_char: int | None
    citation: ExcerptCitation | UnsetType = UNSET
    start_char: int
    end_char: int
    flags: Flags = UNSET
    notes: Notes = UNSET


class EvidenceQuote(msgspec.Struct, frozen=True, kw_only=True):
    quote: str
    passage_id: str
    section_id: str
    title: str
    uri: str
    confidence: float
    """The share of the question's words that it has."""
    line: int
    """Of the file that section_id names."""
    context_before: str | UnsetType = UNSET
    context_after: str | UnsetType = UNSET
    flags: Flags = UNSET


class ExtractedEvidence(msgspec.Struct, frozen=True, kw_only=True):
    quotes: tuple[EvidenceQuote, ...]
    partial: bool
    limit_reason: LimitReason
    missing_passage_ids: tuple[str, ...] | UnsetType = UNSET
    notes: Notes = UNSET


class EvidenceSource(msgspec.Struct, frozen=True, kw_only=True):
    passage_id: str
    section_id: str
    doc_tag: str
    title: str


class SourcedQuote(msgspec.Struct, frozen=True, kw_only=True):
    quote: str
    source: int
    """The place of its source in the list, from 1."""
    line: int
    """Of the file that the source's section_id names."""
    certainty: Certainty
    confidence: float
    """How often answers of this certainty were right."""
    also: tuple[str, ...] | UnsetType = UNSET
    """Places of its copies."""
    flags: Flags = UNSET


class Diagnostics(msgspec.Struct, frozen=True, kw_only=True):
    mode: str
    """By which the answer was found."""
    choice: str | UnsetType = UNSET
    """The reason for the mode, if the documents decided it."""
    candidates: int
    """The number of passages that the quotes are from."""
    deduped: bool
    reranked: bool
    elapsed_ms: int


class Nearest(msgspec.Struct, frozen=True):
    """A place that is nearest to a question which nothing answers."""

    section_id: str
    title: str
    line: int


class RetrievedEvidence(msgspec.Struct, frozen=True, kw_only=True):
    quotes: tuple[SourcedQuote, ...]
    """All unsure where nothing in the documents answers the question for sure, which a note says; none where names of
    it stand nowhere."""
    sources: tuple[EvidenceSource, ...]
    diagnostics: dict[str, Any]
    """`Diagnostics`; its schema would cost every client more than it tells."""
    next_cursor: str | None
    """To further quotes, which say less."""
    partial: bool
    limit_reason: LimitReason
    session_id: str
    nearest: tuple[Nearest, ...] | UnsetType = UNSET
    """The nearest spans if there are no quotes, for kb.search and reading."""
    notes: Notes = UNSET
