"""Toolset trace: questions that list. Nodes, tests and gaps, subtrees, and searches within a part of the hierarchy."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from clew.operation.call import Call
from clew.operation.fitting import cursor_to, longest_page, place_of
from clew.operation.registry import MaxTokens, PageCursor, Request, Tool, Toolset
from clew.trace.find import results as results_find
from clew.trace.find.lists import NodeQuery, ScopedQuery
from clew.trace.find.minimize import DEFAULT_EDGE_KINDS
from clew.trace.find.scope import Direction
from clew.trace.operations.read import SearchField, ranking_of
from clew.trace.read.subtree_results import Subtree, SubtreeFormat

MOST_IDS = 500

Limit = Annotated[int, Meta(ge=1, le=500, description="Items at most")]
Id = Annotated[str, Meta(min_length=1, description="Such as REQ-d00062, or d62 for short")]
Keywords = Annotated[str | list[str], Meta(description="Words or phrases: a list, or separated by commas")]
MatchAll = Annotated[bool, Meta(description="All keywords must occur, not just one")]
EdgeKinds = Annotated[str, Meta(description="Edges that count, with commas")]
Query = Annotated[str, Meta(min_length=1, description="As for search")]
ScopeId = Annotated[str, Meta(min_length=1, description="The node to start from")]
ScopeDirection = Annotated[Literal["descendants", "ancestors"], Meta(description="Below or above it")]
IsPattern = Annotated[bool, Meta(description="The query is a regular expression")]
IncludeAssertions = Annotated[bool, Meta(description="Match single assertions too, and name them")]


class ListRequest(Request, frozen=True, kw_only=True):
    limit: Limit = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class QueryNodesRequest(Request, frozen=True, kw_only=True):
    kind: Annotated[
        str, Meta(description="requirement, assertion, code, test, result, journey, spec or remainder; or several")
    ] = ""
    keywords: Keywords = ""
    match_all: MatchAll = True
    level: Annotated[str, Meta(description="Only this level, such as prd")] = ""
    status: Annotated[str, Meta(description="Only this status, such as Active")] = ""
    actor: Annotated[str, Meta(description="Only journeys of this actor")] = ""
    limit: Limit = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class KeywordsRequest(Request, frozen=True, kw_only=True):
    keywords: Keywords
    match_all: MatchAll = True
    limit: Limit = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class TitleKeywordsRequest(Request, frozen=True, kw_only=True):
    keywords: Keywords
    match_all: MatchAll = True
    kind: Annotated[str, Meta(description="Kind of node whose titles are searched")] = "requirement"
    limit: Limit = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class RequirementTestsRequest(Request, frozen=True, kw_only=True):
    req_id: Id
    limit: Limit = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class UncoveredRequest(Request, frozen=True, kw_only=True):
    req_id: Annotated[str | None, Meta(description="Only this requirement; all without it")] = None
    implemented_only: Annotated[bool, Meta(description="Only assertions that code or a requirement implements")] = False
    limit: Limit = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class SubtreeRequest(Request, frozen=True, kw_only=True):
    root_id: Annotated[str, Meta(min_length=1, description="Any node, such as REQ-p00001")]
    depth: Annotated[int, Meta(ge=0, le=10_000, description="Levels below the root; 0 for all")] = 0
    include_kinds: Annotated[str, Meta(description="Kinds to show, with commas")] = ""
    format: Annotated[Literal["markdown", "flat", "nested"], Meta(description="How to write it")] = "markdown"
    limit: Annotated[int, Meta(ge=1, le=500, description="Nodes at most")] = 200
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class MinimizeRequest(Request, frozen=True, kw_only=True):
    req_ids: Annotated[list[str], Meta(min_length=1, max_length=MOST_IDS, description="Ids of requirements")]
    edge_kinds: EdgeKinds = DEFAULT_EDGE_KINDS
    limit: Limit = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class ScopedSearchRequest(Request, frozen=True, kw_only=True):
    query: Query
    scope_id: ScopeId
    direction: ScopeDirection = "descendants"
    field: SearchField = "all"
    regex: IsPattern = False
    include_assertions: IncludeAssertions = False
    limit: Limit = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class DiscoverRequest(Request, frozen=True, kw_only=True):
    query: Query
    scope_id: ScopeId
    direction: ScopeDirection = "descendants"
    field: SearchField = "all"
    regex: IsPattern = False
    include_assertions: IncludeAssertions = False
    edge_kinds: EdgeKinds = DEFAULT_EDGE_KINDS
    limit: Limit = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


def run_query_nodes(call: Call, request: QueryNodesRequest) -> results_find.NodePage:
    query = NodeQuery(
        kind=request.kind,
        keywords=request.keywords,
        match_all=request.match_all,
        level=request.level,
        status=request.status,
        actor=request.actor,
    )
    return call.project.trace.find.node_page(query, offset=call.offset, limit=request.limit)


def run_test_coverage(call: Call, request: RequirementTestsRequest) -> results_find.CoverageByTests:
    tests = call.project.trace.find.tests(request.req_id)
    return longest_page(lambda count: tests.page(call.offset, count), request.limit, request.max_tokens)


def run_uncovered(call: Call, request: UncoveredRequest) -> results_find.UncoveredPage:
    find = call.project.trace.find
    gaps = find.gaps(request.req_id, implemented_only=request.implemented_only)
    return longest_page(
        lambda count: find.gap_page(gaps, request.req_id, offset=call.offset, limit=count),
        request.limit,
        request.max_tokens,
    )


def run_subtree(call: Call, request: SubtreeRequest) -> Subtree:
    graph = call.project.graph
    view = call.project.trace.find.subtree(
        request.root_id, depth=request.depth, include_kinds=request.include_kinds, shape=SubtreeFormat(request.format)
    )
    start = place_of(call, request)
    page = longest_page(lambda count: view.page(graph, start, count), request.limit, request.max_tokens)
    end = start + page.count
    if end >= len(view.members):
        return page
    return msgspec.structs.replace(page, truncated=True, next_cursor=cursor_to(call, request, end))


def subtree_text(result: Subtree) -> str:
    """Markdown reads as it is; the other formats are for programs."""
    if result.content is None:
        return msgspec.json.encode(result).decode()
    more = f"\n(More: pass cursor {result.next_cursor})\n" if result.next_cursor else ""
    return result.content + more


def scoped_query(request: ScopedSearchRequest | DiscoverRequest) -> ScopedQuery:
    return ScopedQuery(
        query=request.query,
        scope_id=request.scope_id,
        direction=Direction(request.direction),
        field=request.field,
        regex=request.regex,
        include_assertions=request.include_assertions,
    )


QUERY_NODES = Tool(
    name="query_nodes",
    toolset=Toolset.TRACE,
    title="Nodes by kind and keyword",
    description=(
        "Lists nodes of any kind: requirements, assertions, tests, places in code, results, journeys, free text. "
        "Narrow them by keywords, level, status or actor; each may be left out. Summaries, at most `limit` (default "
        "50) a page. For a search by relevance call search; for assertion texts find_assertions_by_keywords."
    ),
    request=QueryNodesRequest,
    result=results_find.NodePage,
    run=run_query_nodes,
    trim=("results",),
    pages="results",
    example={"kind": "requirement", "level": "ops", "keywords": "tide"},
)

FIND_BY_KEYWORDS = Tool(
    name="find_by_keywords",
    toolset=Toolset.TRACE,
    title="Requirements by keywords in the title",
    description=(
        "Finds requirements whose title has the keywords, in any form of the word (token finds Tokens). "
        "match_all=false takes any of them, those with most first. Titles only: find_assertions_by_keywords looks into "
        "assertions, search into everything. At most `limit` a page."
    ),
    request=TitleKeywordsRequest,
    result=results_find.NodePage,
    run=lambda call, request: call.project.trace.find.by_keywords(
        request.keywords, match_all=request.match_all, kind=request.kind, offset=call.offset, limit=request.limit
    ),
    trim=("results",),
    pages="results",
    example={"keywords": ["tide", "table"], "match_all": True},
)

FIND_ASSERTIONS = Tool(
    name="find_assertions_by_keywords",
    toolset=Toolset.TRACE,
    title="Assertions by keywords",
    description=(
        "Finds assertions whose text has the keywords, in any case and any form of the word, with the requirement each "
        "belongs to. Use it to find what a test or a piece of code should cite. match_all=false takes any keyword, "
        "those with most first. At most `limit` a page."
    ),
    request=KeywordsRequest,
    result=results_find.AssertionPage,
    run=lambda call, request: call.project.trace.find.assertions_by_keywords(
        request.keywords, match_all=request.match_all, offset=call.offset, limit=request.limit
    ),
    trim=("assertions",),
    pages="assertions",
    example={"keywords": ["reject"]},
)

GET_TEST_COVERAGE = Tool(
    name="get_test_coverage",
    toolset=Toolset.TRACE,
    title="Tests of a requirement",
    description=(
        "Which tests cite a requirement (paged), what each names and last gave, and which assertions are covered or "
        "not. A test that cites only the whole requirement covers none. For the gaps of all requirements call "
        "get_uncovered_assertions."
    ),
    request=RequirementTestsRequest,
    result=results_find.CoverageByTests,
    run=run_test_coverage,
    default=True,
    trim=("result_nodes", "test_nodes", "uncovered_detail", "covered_assertions", "uncovered_assertions"),
    pages="test_nodes",
    total="tests_total",
    example={"req_id": "REQ-d00006"},
)

GET_UNCOVERED = Tool(
    name="get_uncovered_assertions",
    toolset=Toolset.TRACE,
    title="Assertions without a test",
    description=(
        "Assertions that no test names, with their text and requirement: of one requirement or, without req_id, of "
        "all. The work list for writing tests; cite the id in the test, as in `Verifies: REQ-d00006-C`. At most "
        "`limit` a page. implemented_only=true keeps what code or a requirement implements already."
    ),
    request=UncoveredRequest,
    result=results_find.UncoveredPage,
    run=run_uncovered,
    default=True,
    trim=("requirements", "assertions"),
    pages="assertions",
    example={"limit": 5},
)

GET_BROKEN_REFERENCES = Tool(
    name="get_broken_references",
    toolset=Toolset.TRACE,
    title="Broken references",
    description=(
        "Citations that name something which does not exist, or not by the grammar of ids: who cites, what is written, "
        "why it fails, in which file and line. Correct the file, or use mutate_fix_broken_reference. At most `limit` a "
        "page, by place."
    ),
    request=ListRequest,
    result=results_find.BrokenPage,
    run=lambda call, request: call.project.trace.find.broken_references(offset=call.offset, limit=request.limit),
    trim=("broken_references",),
    pages="broken_references",
)

GET_ORPHANED_NODES = Tool(
    name="get_orphaned_nodes",
    toolset=Toolset.TRACE,
    title="Tests and code that cite nothing",
    description=(
        "Tests, places in code and test results that are tied to no requirement, by kind and id, with how many there "
        "are of each kind. suggest_links proposes what they may belong to. At most `limit` a page."
    ),
    request=ListRequest,
    result=results_find.OrphanPage,
    run=lambda call, request: call.project.trace.find.orphaned_nodes(offset=call.offset, limit=request.limit),
    trim=("orphans",),
    pages="orphans",
)

GET_SUBTREE = Tool(
    name="get_subtree",
    toolset=Toolset.TRACE,
    title="Everything below a node",
    description=(
        "A node and everything below it, each once: requirements and assertions with coverage, or the kinds you name. "
        "depth limits the levels. format: markdown to read, flat for nodes and edges, nested for a tree. Long subtrees "
        "come in pages. For one level call get_hierarchy; to walk item by item, open_cursor."
    ),
    request=SubtreeRequest,
    result=Subtree,
    run=run_subtree,
    default=True,
    text=subtree_text,
    example={"root_id": "REQ-p00001", "depth": 1},
)

MINIMIZE = Tool(
    name="minimize_requirement_set",
    toolset=Toolset.TRACE,
    title="Most specific requirements of a set",
    description=(
        "Prunes a list of requirements to the most specific: one goes when another of the list stands below it. Says "
        "what supersedes each that goes, and which ids are unknown. Use it before you hand a list on. At most 500 ids; "
        "to search and prune at once call discover_requirements."
    ),
    request=MinimizeRequest,
    result=results_find.MinimalSet,
    run=lambda call, request: call.project.trace.find.minimal_set(
        request.req_ids, kinds=request.edge_kinds, offset=call.offset, limit=request.limit
    ),
    trim=("pruned", "minimal_set", "not_found"),
    pages="minimal_set",
    example={"req_ids": ["REQ-p00001", "REQ-o00001", "REQ-d00002"]},
)

SCOPED_SEARCH = Tool(
    name="scoped_search",
    toolset=Toolset.TRACE,
    title="Search below or above a node",
    description=(
        "Searches only what stands below a node (direction=descendants) or above it (ancestors), the node included. "
        "The query is that of search, for exact matches; include_assertions=true also matches single assertions and "
        "names them. At most `limit` a page. To keep only the most specific hits call discover_requirements."
    ),
    request=ScopedSearchRequest,
    result=results_find.ScopedPage,
    run=lambda call, request: call.project.trace.find.scoped_page(
        scoped_query(request), offset=call.offset, limit=request.limit, check=call.check
    ),
    trim=("results",),
    pages="results",
    state=ranking_of,
    example={"query": "tide", "scope_id": "REQ-p00001", "include_assertions": True},
)

DISCOVER = Tool(
    name="discover_requirements",
    toolset=Toolset.TRACE,
    title="Most specific matches below a node",
    description=(
        "scoped_search and minimize_requirement_set in one: the most specific matches within a part of the tree, and "
        "in `pruned` the broader ones they supersede. The best way to find what a ticket is about. At most `limit` a "
        "page."
    ),
    request=DiscoverRequest,
    result=results_find.Discovered,
    run=lambda call, request: call.project.trace.find.discover(
        scoped_query(request), kinds=request.edge_kinds, offset=call.offset, limit=request.limit, check=call.check
    ),
    default=True,
    trim=("pruned", "results"),
    pages="results",
    state=ranking_of,
    example={"query": "tide", "scope_id": "REQ-p00001"},
)

TOOLS = (
    QUERY_NODES,
    GET_TEST_COVERAGE,
    GET_UNCOVERED,
    FIND_ASSERTIONS,
    FIND_BY_KEYWORDS,
    GET_BROKEN_REFERENCES,
    GET_ORPHANED_NODES,
    GET_SUBTREE,
    MINIMIZE,
    SCOPED_SEARCH,
    DISCOVER,
)
