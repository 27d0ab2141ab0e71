"""The seven queries that a cursor can be opened on, each with its parameters."""

from typing import Annotated

import msgspec
from msgspec import Meta

from clew.trace.find.kinds import Listed
from clew.trace.find.lists import NodeQuery, ScopedQuery

Limit = Annotated[int, Meta(ge=1)] | None
"""Items at most; None for all."""


class SubtreeParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    root_id: str
    depth: Annotated[int, Meta(ge=0)] = 0
    include_kinds: Listed = ""


class SearchParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: str
    field: str = "all"
    regex: bool = False
    limit: Limit = None


class HierarchyParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    req_id: str


class NodesParams(NodeQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    limit: Limit = None


class CoverageParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    req_id: str


class UncoveredParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    req_id: str | None = None
    implemented_only: bool = False


class ScopedParams(ScopedQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    limit: Limit = None


CursorParams = (
    SubtreeParams | SearchParams | HierarchyParams | NodesParams | CoverageParams | UncoveredParams | ScopedParams
)

QUERIES: dict[str, type[CursorParams]] = {
    "subtree": SubtreeParams,
    "search": SearchParams,
    "hierarchy": HierarchyParams,
    "query_nodes": NodesParams,
    "test_coverage": CoverageParams,
    "uncovered_assertions": UncoveredParams,
    "scoped_search": ScopedParams,
}
