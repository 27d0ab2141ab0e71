"""Toolset register: questions about managed requirements, under the names and shapes that users of req know."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from clew.formats.register.model import Kind, Priority, Requirement, Status
from clew.operation.call import Call
from clew.operation.registry import Freshness, MaxTokens, NoArguments, PageCursor, Request, Tool, Toolset
from clew.register import help as helping
from clew.register import results
from clew.register.operations.views import (
    BriefView,
    ExportPage,
    HelpView,
    ListPage,
    NextView,
    RequirementView,
    SchemaView,
    ValidationPage,
    VersionView,
    paged,
    shown,
)
from clew.register.reports.brief_text import brief_text
from clew.register.reports.queries import Filter, rows
from clew.register.rules.schema import schema
from clew.register.words import parse

if TYPE_CHECKING:
    from clew.register.service import RegisterService

StatusWord = Literal["draft", "proposed", "approved", "implemented", "verified", "obsolete"]
KindWord = Literal["functional", "non-functional", "constraint", "interface", "business"]
PriorityWord = Literal["must", "should", "could", "wont"]
Id = Annotated[str, Meta(min_length=1, max_length=80, description="REQ-0042; req-42 and 42 mean the same")]
Tags = Annotated[tuple[str, ...], Meta(description="All of these tags")]
Folder = Annotated[str, Meta(min_length=1, description="A folder of the project")]
Limit = Annotated[Annotated[int, Meta(ge=1, le=2000)] | None, Meta(description="Items at most")]


class FilterRequest(Request, frozen=True, kw_only=True):
    status: Annotated[StatusWord | None, Meta(description="Only this status")] = None
    kind: Annotated[KindWord | None, Meta(description="Only this kind")] = None
    priority: Annotated[PriorityWord | None, Meta(description="Only this priority")] = None
    tag: Tags = ()


class ListRequest(FilterRequest, frozen=True, kw_only=True):
    query: Annotated[str | None, Meta(description="Part of the title or the statement, in any case")] = None
    include_obsolete: Annotated[bool, Meta(description="Retired ones too")] = True
    limit: Limit = None
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class NextRequest(FilterRequest, frozen=True, kw_only=True):
    max_tokens: MaxTokens = None


class ShowRequest(Request, frozen=True, kw_only=True):
    id: Id
    max_tokens: MaxTokens = None


class PageRequest(Request, frozen=True, kw_only=True):
    limit: Limit = None
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class ExportRequest(Request, frozen=True, kw_only=True):
    format: Annotated[Literal["markdown", "json", "csv", "html"], Meta(description="What to render")] = "markdown"
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class HelpRequest(Request, frozen=True, kw_only=True):
    section: Annotated[str, Meta(max_length=80, description="A name from the index; _index lists them")] = "_index"


class BriefRequest(Request, frozen=True, kw_only=True):
    full: Annotated[bool, Meta(description="Longer lists")] = False
    json: Annotated[bool, Meta(description="false: text to read")] = True


class SchemaRequest(Request, frozen=True, kw_only=True):
    which: Annotated[Literal["add", "batch", "import", "test-map"], Meta(description="Whose input")] = "add"


def register_of(call: Call) -> "RegisterService":
    return call.project.register


def _filter(request: FilterRequest, **more: Any) -> Filter:
    return Filter(
        status=parse(request.status, Status, "status") if request.status else None,
        kind=parse(request.kind, Kind, "kind") if request.kind else None,
        priority=parse(request.priority, Priority, "priority") if request.priority else None,
        tags=request.tag,
        **more,
    )


def run_list(call: Call, request: ListRequest) -> ListPage:
    now = register_of(call).snapshot()
    found = rows(now.register, _filter(request, query=request.query, include_obsolete=request.include_obsolete))
    return paged(
        *(call, request, now.version, found),
        lambda page, more, cursor: ListPage(len(found), now.register.name, tuple(page), more, cursor),
    )


def run_show(call: Call, request: ShowRequest) -> dict[str, Any]:
    return shown(register_of(call).show(request.id), request.max_tokens)


def run_next(call: Call, request: NextRequest) -> dict[str, Any]:
    found = register_of(call).next(_filter(request))
    if isinstance(found, Requirement):
        return shown(found, request.max_tokens)
    nothing: dict[str, Any] = msgspec.to_builtins(found)
    return nothing


def run_validate(call: Call, request: PageRequest) -> ValidationPage:
    service = register_of(call)
    found = service.validate()
    return paged(
        *(call, request, service.snapshot().version, found.findings),
        lambda rows, more, cursor: ValidationPage(found.errors, found.warnings, tuple(rows), more, cursor),
    )


def run_export(call: Call, request: ExportRequest) -> ExportPage:
    service = register_of(call)
    lines = service.export(request.format).splitlines(keepends=True)
    return paged(
        *(call, request, service.snapshot().version, lines),
        lambda rows, more, cursor: ExportPage(request.format, "".join(rows), more, cursor),
    )


def run_help(call: Call, request: HelpRequest) -> dict[str, Any]:
    found = helping.index() if request.section == "_index" else helping.section(request.section)
    plain: dict[str, Any] = msgspec.to_builtins(found)
    return plain


def run_brief(call: Call, request: BriefRequest) -> BriefView:
    found = register_of(call).brief(full=request.full)
    values = {name: getattr(found, name) for name in found.__struct_fields__}
    return BriefView(**values, text=None if request.json else brief_text(found))


def run_version(call: Call, request: NoArguments) -> VersionView:
    from mcp_types import LATEST_PROTOCOL_VERSION

    from clew.register.service import RegisterService

    return VersionView(mcp_protocol=LATEST_PROTOCOL_VERSION, **RegisterService.version())


_tool = partial(Tool, toolset=Toolset.REGISTER, needs=Freshness.NONE)
"""Neither reads nor needs the graph: the register is a file of its own."""

REQ_LIST = _tool(
    name="req_list",
    title="List requirements",
    description=(
        "Lists managed requirements by id: title, kind, priority, status and tags. Call it before adding one, to see "
        "what exists. All filters must fit. Not for details: req_show has those. `count` is all that match; long "
        "lists come in pages (next_cursor)."
    ),
    request=ListRequest,
    result=ListPage,
    run=run_list,
    default=True,
    example={"status": "draft"},
)
REQ_SHOW = _tool(
    name="req_show",
    title="One requirement in full",
    description=(
        "One managed requirement as the file has it: statement, rationale, acceptance criteria, links, history and "
        "test records. Call it for the why. Of a long history the newest part is given, with totals."
    ),
    request=ShowRequest,
    result=RequirementView,
    run=run_show,
    default=True,
    example={"id": "REQ-0001"},
)
REQ_VALIDATE = _tool(
    name="req_validate",
    title="Check every requirement",
    description=(
        "Runs every rule over the register: errors and warnings with rule code, field, message and how to rewrite. "
        "Call it before saying that work is done: no errors is a must. Findings come in pages, sorted by id."
    ),
    request=PageRequest,
    result=ValidationPage,
    run=run_validate,
)
REQ_EXPORT = _tool(
    name="req_export",
    title="Render the register",
    description=(
        "The register as markdown, json, csv or html, for people and other programs. Writes no file: long texts come "
        "in pages, and `clew req export -o FILE` writes them whole."
    ),
    request=ExportRequest,
    result=ExportPage,
    run=run_export,
    text=lambda page: page.text,
    trim=("text",),
    example={"format": "csv"},
)
REQ_HELP = _tool(
    name="req_help",
    title="Help on the register",
    description=(
        "Texts on working with the register. Without a section the index; begin with `agents` (which tool when), "
        "`best-practice` (how to write) or `errors` (all rules)."
    ),
    request=HelpRequest,
    result=HelpView,
    run=run_help,
    trim=("body",),
    example={"section": "agents"},
)
REQ_STATUS = _tool(
    name="req_status",
    title="Progress in figures",
    description=(
        "How many requirements are in which status, and how much of what is live is implemented or verified. For "
        "what to do next call req_next; for the start of a session req_brief."
    ),
    request=NoArguments,
    result=results.StatusReport,
    run=lambda call, request: register_of(call).status(),
    trim=("verified_but_defective",),
)
REQ_NEXT = _tool(
    name="req_next",
    title="What to work on next",
    description=(
        "The most urgent unfinished requirement whose dependencies are all done, in full; or found=false with what "
        "blocks the rest. Filters narrow the choice."
    ),
    request=NextRequest,
    result=NextView,
    run=run_next,
    default=True,
)
REQ_BRIEF = _tool(
    name="req_brief",
    title="Where the register stands",
    description=(
        "Start a session here: project, progress, what is next and what is loose (implemented but not verified, "
        "drafts, failed evidence). Under 600 tokens; full=true gives longer lists."
    ),
    request=BriefRequest,
    result=BriefView,
    run=run_brief,
    default=True,
    text=lambda view: view.text or msgspec.json.encode(view).decode(),
    trim=("implemented_unverified", "drafts", "verified_but_defective"),
)
REQ_SCHEMA = _tool(
    name="req_schema",
    title="Schema of an input",
    description=(
        "The JSON Schema of what req_add, req_batch or req_import take, with the format of the file it belongs to."
    ),
    request=SchemaRequest,
    result=SchemaView,
    run=lambda call, request: schema(request.which),
    example={"which": "import"},
)
REQ_VERSION = _tool(
    name="req_version",
    title="Versions",
    description=(
        "The versions of the program, of the file format that it writes and of the protocol that it speaks, for "
        "whoever pins a combination that is known to work."
    ),
    request=NoArguments,
    result=VersionView,
    run=run_version,
)

TOOLS = (
    *(REQ_LIST, REQ_SHOW, REQ_VALIDATE, REQ_EXPORT, REQ_HELP, REQ_STATUS, REQ_NEXT, REQ_BRIEF, REQ_SCHEMA),
    REQ_VERSION,
)
