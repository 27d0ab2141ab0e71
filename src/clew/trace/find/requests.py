"""The requests of questions that list."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from clew.operation.declare import Option
from clew.trace.find.minimize import DEFAULT_EDGE_KINDS
from clew.trace.find.query import SearchField

MOST_IDS = 500

Limit = Annotated[int, Meta(ge=1, le=500, description="Items at most")]
RequirementId = Annotated[str, Meta(min_length=1, description="Such as REQ-d00062, or d62 for short")]
Keywords = Annotated[str | list[str], Meta(description="Words or phrases: a list, or separated by commas")]
MatchAll = Annotated[bool, Meta(description="All keywords must occur, not just one")]
EdgeKinds = Annotated[str, Meta(description="Kinds of edges, separated by commas")]
Lacking = Literal["test", "uat", "both"]
"""The proof that an uncovered assertion lacks: a test, a user journey that validates it, or either."""


class SearchQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Requirements by words."""

    query: Annotated[
        str,
        Meta(min_length=1, description='Words (all must occur), OR, "a phrase", -excluded, =keyword; or a pattern'),
        Option(positional=True, joined=True, about='words, OR, "a phrase", -excluded, =keyword'),
    ]
    field: SearchField = "all"
    regex: Annotated[
        bool,
        Meta(description="The query is a regular expression; ^ and $ match at lines"),
        Option(about="the query is a regular expression"),
    ] = False
    limit: Annotated[int, Meta(ge=1, le=500, description="Results at most"), Option(metavar="N", default=20)] = 50


class NodeQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes of some kinds that have keywords and field values."""

    kind: Annotated[
        str, Meta(description="requirement, assertion, code, test, result, journey, spec or remainder; or several")
    ] = ""
    keywords: Keywords = ""
    match_all: MatchAll = True
    level: Annotated[str, Meta(description="Only this level, such as prd")] = ""
    status: Annotated[str, Meta(description="Only this status, such as Active")] = ""
    actor: Annotated[str, Meta(description="Only journeys of this actor")] = ""
    limit: Limit = 50


class CoverageQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The tests of one requirement."""

    req_id: RequirementId
    limit: Limit = 50


class GapQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Assertions without a test or a user journey."""

    req_id: Annotated[str | None, Meta(description="Only this requirement; all without it")] = None
    implemented_only: Annotated[bool, Meta(description="Only assertions that code or a requirement implements")] = False
    source: Annotated[Lacking, Meta(description="What is lacking: a test, a user journey, or either")] = "test"
    limit: Limit = 50


class AssertionQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Assertions by the words of their text."""

    keywords: Keywords
    match_all: MatchAll = True
    limit: Limit = 50


class TitleQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes by the words of their title."""

    keywords: Keywords
    match_all: MatchAll = True
    kind: Annotated[str, Meta(description="Kind of node whose titles are searched")] = "requirement"
    limit: Limit = 50


class BrokenReferenceQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Citations without a target."""

    limit: Limit = 50


class OrphanQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes that cite nothing."""

    limit: Limit = 50


class SubtreeQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A node and everything below it."""

    root_id: Annotated[str, Meta(min_length=1, description="Any node, such as REQ-p00001")]
    depth: Annotated[int, Meta(ge=0, le=10_000, description="Levels below the root; 0 for all")] = 0
    include_kinds: Annotated[str, Meta(description="Kinds to show, separated by commas")] = ""
    format: Annotated[Literal["markdown", "flat", "nested"], Meta(description="How to write it")] = "markdown"
    limit: Annotated[int, Meta(ge=1, le=500, description="Nodes at most")] = 200


class MinimalSetQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The most specific of some requirements."""

    req_ids: Annotated[list[str], Meta(min_length=1, max_length=MOST_IDS, description="Ids of requirements")]
    edge_kinds: EdgeKinds = DEFAULT_EDGE_KINDS
    limit: Limit = 50


class ScopeQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A search within a part of the hierarchy."""

    query: Annotated[
        str, Meta(min_length=1, description="Words, phrases, alternatives, exclusions; or a regular expression")
    ]
    scope_id: Annotated[str, Meta(min_length=1, description="The node to start from")]
    direction: Annotated[Literal["descendants", "ancestors"], Meta(description="Below or above it")] = "descendants"
    field: SearchField = "all"
    regex: Annotated[bool, Meta(description="The query is a regular expression")] = False
    include_assertions: Annotated[bool, Meta(description="Match single assertions too, and name them")] = False


class ScopedQuery(ScopeQuery, frozen=True, kw_only=True):
    """The matches within a part of the hierarchy."""

    limit: Limit = 50


class DiscoveryQuery(ScopeQuery, frozen=True, kw_only=True):
    """The most specific matches within a part of the hierarchy."""

    edge_kinds: EdgeKinds = DEFAULT_EDGE_KINDS
    limit: Limit = 50


class AssertionDiscoveryQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The assertions of the requirements that match."""

    query: Annotated[str, Meta(min_length=1, description="Words, or a regular expression")]
    scope_id: Annotated[str, Meta(description="Only below or above this node")] = ""
    direction: Annotated[Literal["descendants", "ancestors"], Meta(description="Below or above it")] = "descendants"
    field: SearchField = "all"
    regex: Annotated[bool, Meta(description="The query is a regular expression")] = False
    edge_kinds: EdgeKinds = DEFAULT_EDGE_KINDS
    limit: Limit = 50
