"""Toolset specs: specs, scenarios and open changes, under the names and shapes that users of Spec Oxide know."""

from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from clew.operation.call import Call
from clew.operation.fitting import cursor_to, longest_page, place_of
from clew.operation.registry import Freshness, MaxTokens, NoArguments, PageCursor, Request, Tool, Toolset
from clew.specs import results

SpecId = Annotated[str, Meta(min_length=1, max_length=400, description="Such as auth or platform/auth")]
ChangeId = Annotated[str, Meta(min_length=1, max_length=400, description="Such as add-login")]
Findings = Annotated[int, Meta(ge=1, le=500, description="Findings at most")]
Strict = Annotated[bool, Meta(description="Warnings make it invalid too")]
Rules = Annotated[
    Literal["all", "openspec", "spox"], Meta(description="Hold only the rules of one tool; default all, and Clew's own")
]


class ListRequest(Request, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=500, description="Items at most")] = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class CatalogueRequest(ListRequest, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(ge=1, le=500, description="Lines at most")] = 300
    max_tokens: Annotated[
        Annotated[int, Meta(ge=400, le=20_000)] | None, Meta(description="Size at most, as text and as data together")
    ] = 6_000


class RequirementsRequest(Request, frozen=True, kw_only=True):
    spec_id: SpecId
    requirement: Annotated[str | None, Meta(description="Only this one, by name or slug")] = None
    detail: Annotated[
        Literal["names", "outline", "full"],
        Meta(description="names; outline with descriptions and scenario names; full text"),
    ] = "names"
    limit: Annotated[int, Meta(ge=1, le=500, description="Requirements at most")] = 100
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class ScenarioRequest(Request, frozen=True, kw_only=True):
    spec_id: SpecId
    requirement: Annotated[str, Meta(min_length=1, description="Name or slug of the requirement")]
    scenario: Annotated[str | None, Meta(description="Name or slug; default the first")] = None
    max_tokens: MaxTokens = None


class SearchSpecsRequest(Request, frozen=True, kw_only=True):
    query: Annotated[str, Meta(min_length=1, max_length=2_000, description="Words or a question")]
    top_k: Annotated[int, Meta(ge=0, le=100, description="Results at most")] = 10
    include_changes: Annotated[bool, Meta(description="Search open changes as well")] = False
    spec_prefix: Annotated[str | None, Meta(description="Only this spec and those below, such as platform")] = None
    auto_build: Annotated[bool, Meta(description="Build the index if there is none")] = False
    max_tokens: MaxTokens = None


class ChangeRequest(Request, frozen=True, kw_only=True):
    change_id: ChangeId
    section: Annotated[str | None, Meta(description="Only proposal, tasks, design or deltas")] = None
    full: Annotated[bool, Meta(description="Deltas with their whole text, as far as there is room")] = False
    spec_id: Annotated[str | None, Meta(description="Of the deltas only that of this spec")] = None
    requirement: Annotated[str | None, Meta(description="Of the deltas only this requirement")] = None
    max_tokens: MaxTokens = None


class ValidateSpecRequest(Request, frozen=True, kw_only=True):
    spec_id: Annotated[str | None, Meta(description="Default: all specs")] = None
    strict: Strict = False
    rules: Rules = "all"
    limit: Findings = 100
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class ValidateChangeRequest(Request, frozen=True, kw_only=True):
    change_id: Annotated[str | None, Meta(description="Default: all open changes")] = None
    strict: Strict = False
    rules: Rules = "all"
    limit: Findings = 100
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class ConflictsRequest(Request, frozen=True, kw_only=True):
    change_id: Annotated[str | None, Meta(description="Default: all open changes")] = None
    limit: Annotated[int, Meta(ge=1, le=500, description="Conflicts at most")] = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class RebaseRequest(Request, frozen=True, kw_only=True):
    change_id: ChangeId
    max_tokens: MaxTokens = None


class ArchiveRequest(Request, frozen=True, kw_only=True):
    change_id: ChangeId
    dry_run: Annotated[bool, Meta(description="Only show what would be done; false writes")] = True
    confirm: Annotated[bool, Meta(description="Must be true to write")] = False
    move: Annotated[bool, Meta(description="Move the folder into the archive afterwards")] = True
    unfinished: Annotated[bool, Meta(description="Archive though tasks are not done")] = False
    take: Annotated[
        Literal["spec", "change"] | None, Meta(description="Which side wins where there is a conflict; default refuse")
    ] = None
    max_tokens: MaxTokens = None


def run_search(call: Call, request: SearchSpecsRequest) -> results.SpecHits:
    specs = call.project.specs
    return specs.index.search(
        specs.library,
        request.query,
        top_k=request.top_k,
        with_changes=request.include_changes,
        spec_prefix=request.spec_prefix,
        auto_build=request.auto_build,
        check=call.check,
    )


def run_change(call: Call, request: ChangeRequest) -> results.ChangeDetail:
    def shown(texts: int) -> results.ChangeDetail:
        detail = call.project.specs.change(
            *(request.change_id, request.section),
            texts=texts,
            spec_id=request.spec_id,
            requirement=request.requirement,
        )
        return replace(detail, truncated=True) if texts < operations else detail

    operations = 0
    bare = shown(0)
    operations = sum(len(part.items) for part in bare.deltas or ())
    return longest_page(shown, operations, request.max_tokens) if request.full and operations else bare


def run_validate_spec(call: Call, request: ValidateSpecRequest) -> results.Validation:
    found = call.project.specs.validate_specs(request.spec_id, request.rules, strict=request.strict)
    return _page_of(found, call, request)


def run_validate_change(call: Call, request: ValidateChangeRequest) -> results.Validation:
    found = call.project.specs.validate_changes(request.change_id, request.rules, strict=request.strict)
    return _page_of(found, call, request)


def _page_of(
    found: results.Validation, call: Call, request: ValidateSpecRequest | ValidateChangeRequest
) -> results.Validation:
    start = place_of(call, request)
    page = longest_page(lambda count: found.page(start, count), request.limit, request.max_tokens)
    end = start + page.total
    return page if end >= found.total else replace(page, truncated=True, next_cursor=cursor_to(call, request, end))


def run_archive(call: Call, request: ArchiveRequest) -> results.ArchiveReport:
    from clew.specs.archive import Manner  # only a call needs it, not the listing of the tools

    manner = Manner(
        dry_run=request.dry_run,
        confirmed=request.confirm,
        move=request.move,
        unfinished=request.unfinished,
        take=request.take,
        actor=call.session or "agent",
    )
    return call.project.specs.archive(request.change_id, manner)


LIST_SPECS = Tool(
    name="list_specs",
    toolset=Toolset.SPECS,
    title="All specs",
    description=(
        "A minimal index of all specs: id, title, purpose, how many requirements and scenarios, how many rules are "
        "broken. No requirement texts. Next, call get_spec_requirements for one of them, or search_specs to find by "
        "meaning. At most `limit` (default 50) a page; next_cursor leads on."
    ),
    request=ListRequest,
    result=results.SpecList,
    run=lambda call, request: call.project.specs.list_specs(offset=call.offset, limit=request.limit),
    default=True,
    trim=("specs",),
    pages="specs",
    example={"limit": 10},
)

GET_SPEC_REQUIREMENTS = Tool(
    name="get_spec_requirements",
    toolset=Toolset.SPECS,
    title="Requirements of a spec",
    description=(
        "The requirements of one spec by name, with how many scenarios each has and its slug; no scenario bodies. "
        "detail=outline adds descriptions and scenario names, detail=full the whole text; requirement=... limits it to "
        "one. Next, call get_scenario for one scenario in full."
    ),
    request=RequirementsRequest,
    result=results.SpecRequirements,
    run=lambda call, request: call.project.specs.requirements(
        request.spec_id,
        requirement=request.requirement,
        detail=request.detail,
        offset=call.offset,
        limit=request.limit,
    ),
    default=True,
    trim=("requirements",),
    pages="requirements",
    example={"spec_id": "passage-windows", "detail": "outline"},
)

GET_SCENARIO = Tool(
    name="get_scenario",
    toolset=Toolset.SPECS,
    title="One scenario in full",
    description=(
        "One scenario with its GIVEN, WHEN and THEN, its raw text and line, the description of its requirement, "
        "whether a test verifies it, and the reference by which a test cites it. Without `scenario`, the first one of "
        "the requirement. Names and slugs both work; get_spec_requirements lists them."
    ),
    request=ScenarioRequest,
    result=results.ScenarioAnswer,
    run=lambda call, request: call.project.specs.scenario(request.spec_id, request.requirement, request.scenario),
    default=True,
    trim=("scenario.raw", "then", "then_clauses"),
    example={"spec_id": "passage-windows", "requirement": "Days without a window"},
)

SEARCH_SPECS = Tool(
    name="search_specs",
    toolset=Toolset.SPECS,
    title="Search specs",
    description=(
        "Finds purposes, requirements and scenarios by words and meaning, best first, each with spec_id, requirement, "
        "scenario, score, snippet and line; none below the relevance threshold. include_changes searches open changes "
        "too. Without an index it is an error: call rebuild_index once, or pass auto_build=true. Next, get_scenario."
    ),
    request=SearchSpecsRequest,
    result=results.SpecHits,
    run=run_search,
    default=True,
    trim=("results",),
    example={"query": "what happens at midnight", "auto_build": True},
)

LIST_CHANGES = Tool(
    name="list_changes",
    toolset=Toolset.SPECS,
    title="Open changes",
    description=(
        "The open changes: id, title, progress of tasks, status, how many requirements each adds, modifies, removes "
        "and renames, and in which specs. Archived changes are not listed. Next, get_change for one of them, or "
        "change_conflicts to see which of them collide."
    ),
    request=ListRequest,
    result=results.ChangeList,
    run=lambda call, request: call.project.specs.list_changes(offset=call.offset, limit=request.limit),
    trim=("changes",),
    pages="changes",
)

GET_CHANGE = Tool(
    name="get_change",
    toolset=Toolset.SPECS,
    title="One open change",
    description=(
        "One open change: why and what (proposal), tasks with progress, design, and what it does to each spec "
        "(deltas). Parts that do not exist are left out. section=... returns only one part, full=true the whole text "
        "of the deltas; where that is too long, spec_id and requirement ask for some of it. validate_change says "
        "whether it can be archived."
    ),
    request=ChangeRequest,
    result=results.ChangeDetail,
    run=run_change,
    trim=("design", "tasks.content", "deltas"),
    example={"change_id": "add-neap-warning", "section": "deltas"},
)

VALIDATE_SPEC = Tool(
    name="validate_spec",
    toolset=Toolset.SPECS,
    title="Check specs",
    description=(
        "Holds one spec, or all of them, to the rules of Spec Oxide and OpenSpec: errors, warnings and remarks, each "
        "with file, line, code and what to do. valid is true without errors; strict=true also counts warnings. At most "
        "`limit` (default 100) a page, errors first; next_cursor leads on. Changes nothing."
    ),
    request=ValidateSpecRequest,
    result=results.Validation,
    run=run_validate_spec,
    example={"spec_id": "tide-tables", "strict": True},
)

VALIDATE_CHANGE = Tool(
    name="validate_change",
    toolset=Toolset.SPECS,
    title="Check changes",
    description=(
        "Holds one open change, or all of them, to the rules, and against the specs in force: names that do not exist "
        "are reported with similar ones, scenarios that would be dropped are named. Errors, warnings and remarks with "
        "file, line, code and section; next_cursor leads on. change_conflicts compares changes with each other."
    ),
    request=ValidateChangeRequest,
    result=results.Validation,
    run=run_validate_change,
    example={"change_id": "add-neap-warning"},
)

REBUILD_INDEX = Tool(
    name="rebuild_index",
    toolset=Toolset.SPECS,
    title="Build the search index",
    description=(
        "Builds the search index of the specs anew and says how many specs it holds. Needed once before search_specs; "
        "after that changed specs are indexed by themselves. Use it again when search results look wrong. Changes no "
        "file of the project."
    ),
    request=NoArguments,
    result=results.IndexBuilt,
    run=lambda call, request: call.project.specs.index.rebuild(call.project.specs.library),
)

SPEC_CATALOGUE = Tool(
    name="spec_catalogue",
    toolset=Toolset.SPECS,
    title="Catalogue of specs",
    description=(
        "Every spec on one short line: id, requirements/scenarios, the first words of its purpose, 300 specs in under "
        "3,000 tokens. The cheapest way to see what a repository holds before writing a proposal; list_specs has the "
        "whole purposes, search_specs finds by meaning."
    ),
    request=CatalogueRequest,
    result=results.Catalogue,
    run=lambda call, request: call.project.specs.catalogue(offset=call.offset, limit=request.limit),
    trim=("lines",),
    pages="lines",
    in_profile=False,
)

CHANGE_CONFLICTS = Tool(
    name="change_conflicts",
    toolset=Toolset.SPECS,
    title="Conflicts of open changes",
    description=(
        "What open changes would do to each other: two that touch one requirement, a requirement that changed since a "
        "change was written (with a view of then, now and wanted), a scenario that archiving would drop; and the order "
        "in which changes can be archived. Call it before archive_change."
    ),
    request=ConflictsRequest,
    result=results.ConflictList,
    run=lambda call, request: call.project.specs.conflicts(request.change_id, offset=call.offset, limit=request.limit),
    default=True,
    trim=("conflicts", "dependencies", "order"),
    pages="conflicts",
    in_profile=False,
    example={"change_id": "add-neap-warning"},
)

REBASE_CHANGE = Tool(
    name="rebase_change",
    toolset=Toolset.SPECS,
    title="A change is up to date",
    description=(
        "Notes that an open change was brought up to date with the specs: from now on it is compared with them as they "
        "are, and change_conflicts reports only what moves after that. Call it after mending the texts of a change; "
        "says what had moved and what is still wrong. Changes no file."
    ),
    request=RebaseRequest,
    result=results.Rebased,
    run=lambda call, request: call.project.specs.rebase(request.change_id),
    read_only=False,
    trim=("errors", "moved"),
    in_profile=False,
    example={"change_id": "add-neap-warning"},
)

ARCHIVE_CHANGE = Tool(
    name="archive_change",
    toolset=Toolset.SPECS,
    title="Apply and archive a change",
    description=(
        "Applies an open change to the specs and moves it into the archive: all or nothing. By default it only shows "
        "the difference; dry_run=false with confirm=true writes. Refuses what is missing, taken, misspelled or in "
        "conflict, what has to wait for another change, and unfinished tasks; take=spec|change decides conflicts. "
        "move=false leaves the folder in place."
    ),
    request=ArchiveRequest,
    result=results.ArchiveReport,
    run=run_archive,
    needs=Freshness.NONE,
    read_only=False,
    destructive=True,
    trim=("diff", "summary", "warnings", "files"),
    in_profile=False,
    example={"change_id": "add-neap-warning", "unfinished": True},
)

TOOLS = (
    LIST_SPECS,
    GET_SPEC_REQUIREMENTS,
    GET_SCENARIO,
    SEARCH_SPECS,
    LIST_CHANGES,
    GET_CHANGE,
    VALIDATE_SPEC,
    VALIDATE_CHANGE,
    REBUILD_INDEX,
    SPEC_CATALOGUE,
    CHANGE_CONFLICTS,
    REBASE_CHANGE,
    ARCHIVE_CHANGE,
)
