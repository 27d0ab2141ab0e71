"""Toolset trace: the requirements graph, under the names and shapes that users of elspais know."""

from typing import Annotated, Literal

from msgspec import Meta

from clew.operation.call import Call
from clew.operation.registry import Freshness, MaxTokens, NoArguments, PageCursor, Request, Tool, Toolset
from clew.trace.read import results

SearchField = Annotated[Literal["all", "id", "title", "body", "keywords"], Meta(description="Where to look")]


class RefreshRequest(Request, frozen=True, kw_only=True):
    full: Annotated[bool, Meta(description="Drop every cache and parse all files again")] = False


class SearchRequest(Request, frozen=True, kw_only=True):
    query: Annotated[
        str,
        Meta(min_length=1, description='Words (all must occur), OR, "a phrase", -excluded, =keyword; or a pattern'),
    ]
    field: SearchField = "all"
    regex: Annotated[bool, Meta(description="The query is a regular expression; ^ and $ match at lines")] = False
    limit: Annotated[int, Meta(ge=1, le=500, description="Results at most")] = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class RequirementRequest(Request, frozen=True, kw_only=True):
    req_id: Annotated[str, Meta(min_length=1, description="Such as REQ-d00062, or d62 for short")]
    limit: Annotated[int, Meta(ge=1, le=500, description="Children at most")] = 100
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


def run_refresh(call: Call, request: RefreshRequest) -> results.RefreshReport:
    report = call.project.refresh(full=request.full, progress=call.progress)
    return call.project.trace.refresh_report(report)


def run_search(call: Call, request: SearchRequest) -> results.SearchPage:
    return call.project.trace.search(
        request.query,
        field=request.field,
        regex=request.regex,
        offset=call.offset,
        limit=request.limit,
        check=call.check,
    )


def ranking_of(call: Call, request: SearchRequest) -> str:
    """A further page belongs to the ranking of the first, whatever was indexed since."""
    if request.regex or request.field != "all":
        return ""
    return call.project.index.ranking_state(request.query)


GET_GRAPH_STATUS = Tool(
    name="get_graph_status",
    toolset=Toolset.TRACE,
    title="State of the graph",
    description=(
        "Is the graph stale, when was it last read, and how many nodes of each kind does it hold? A quick check "
        "that reads no file. For coverage and changes call get_project_summary; if is_stale is true, "
        "refresh_graph reads the changed files (other tools do so by themselves)."
    ),
    request=NoArguments,
    result=results.Status,
    run=lambda call, request: call.project.trace.status(),
    needs=Freshness.BUILT,
    default=True,
)

REFRESH_GRAPH = Tool(
    name="refresh_graph",
    toolset=Toolset.TRACE,
    title="Read the files again",
    description=(
        "Brings the graph in step with the files and says what was read. Unchanged files are not opened; full=true "
        "drops every cache and parses all of them, for when something looks wrong. Other tools notice changed files by "
        "themselves, so this is rarely needed. Changes no file of the project."
    ),
    request=RefreshRequest,
    result=results.RefreshReport,
    run=run_refresh,
    needs=Freshness.NONE,
    default=True,
)

SEARCH = Tool(
    name="search",
    toolset=Toolset.TRACE,
    title="Search requirements",
    description=(
        "Finds requirements by words and meaning: first those that hold all words, then related ones (score below 1). "
        "At most `limit` (default 50) summaries and 4,000 tokens a page; next_cursor leads to the rest. With an id, "
        "call get_requirement. An operator, a field or regex=true finds exact matches only."
    ),
    request=SearchRequest,
    result=results.SearchPage,
    run=run_search,
    default=True,
    trim=("results",),
    pages="results",
    state=ranking_of,
    example={"query": "return", "limit": 5},
)

GET_REQUIREMENT = Tool(
    name="get_requirement",
    toolset=Toolset.TRACE,
    title="One requirement in full",
    description=(
        "One requirement: text, assertions and whether tests cover them, what it cites (parents), what cites it "
        "(children, paged), hash state, file and lines. For its place in the tree call get_hierarchy; to find an id, "
        "search."
    ),
    request=RequirementRequest,
    result=results.RequirementDetail,
    run=lambda call, request: call.project.trace.requirement(request.req_id, offset=call.offset, limit=request.limit),
    default=True,
    trim=(
        "properties.body_text",
        "children",
        "body",
        "parents",
        "assertions",
        "sections",
        "broken_references",
        "keywords",
    ),
    pages="children",
    total="children_total",
    example={"req_id": "REQ-d00001"},
)

GET_HIERARCHY = Tool(
    name="get_hierarchy",
    toolset=Toolset.TRACE,
    title="Place in the tree",
    description=(
        "Where a requirement stands: all ancestors up to the roots (nearest first), direct children (paged), and "
        "siblings that share a parent, as summaries. All siblings are the children of that parent. For texts and "
        "assertions call get_requirement."
    ),
    request=RequirementRequest,
    result=results.Hierarchy,
    run=lambda call, request: call.project.trace.hierarchy(request.req_id, offset=call.offset, limit=request.limit),
    default=True,
    trim=("siblings", "children", "ancestors"),
    pages="children",
    total="children_total",
    example={"req_id": "REQ-o00001"},
)

GET_WORKSPACE_INFO = Tool(
    name="get_workspace_info",
    toolset=Toolset.TRACE,
    title="Workspace",
    description=(
        "Which repository this is: path, project name, configuration files, folders that are read, id prefix, levels, "
        "branch. Use it when paths or settings matter, or when something you expect is missing from the graph. For "
        "what the project contains call clew_brief or get_project_summary."
    ),
    request=NoArguments,
    result=results.Workspace,
    run=lambda call, request: call.project.trace.workspace(call.project.notes()),
    needs=Freshness.BUILT,
    default=True,
)

GET_PROJECT_SUMMARY = Tool(
    name="get_project_summary",
    toolset=Toolset.TRACE,
    title="Project in figures",
    description=(
        "Requirement counts by level, how many assertions tests cover, requirements changed since the last commit and "
        "since the branch began, broken references, stale hashes. Figures only, under 1,000 tokens; clew_brief names "
        "the places, get_requirement the details."
    ),
    request=NoArguments,
    result=results.ProjectSummary,
    run=lambda call, request: call.project.trace.summary(),
    default=True,
    trim=("duplicate_ids",),
)

TOOLS = (
    GET_GRAPH_STATUS,
    REFRESH_GRAPH,
    SEARCH,
    GET_REQUIREMENT,
    GET_HIERARCHY,
    GET_WORKSPACE_INFO,
    GET_PROJECT_SUMMARY,
)
