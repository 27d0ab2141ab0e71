"""Requests of searches in documents and of quotes from them."""

from enum import StrEnum

import msgspec

from clew.search.quote.evidence import QuoteLimits


class Mode(StrEnum):
    AUTO = "auto"
    VECTOR_ONLY = "vector_only"
    """Words and meaning, without a step along the graph."""
    HYBRID_LOCAL = "hybrid_local"
    """Also what lies one step from the best sections."""


class Narrowing(msgspec.Struct, frozen=True, kw_only=True):
    """Filters of a search. An empty one lets everything through."""

    tags: tuple[str, ...] = ()
    path: str | None = None
    updated_after: str | None = None
    """ISO 8601, UTC."""


class SearchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A search for sections."""

    query: str
    top_k: int = 5
    mode: Mode = Mode.AUTO
    narrowing: Narrowing = Narrowing()
    max_per_document: int | None = 1
    """None for all that are found."""


class EvidenceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A question, and how much may be read and quoted for it."""

    question: str
    limits: QuoteLimits = QuoteLimits()
    top_k: int = 5
    """The number of sections that a search would show."""
    max_per_document: int = 1
    mode: Mode = Mode.AUTO
    narrowing: Narrowing = Narrowing()
