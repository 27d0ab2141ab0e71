"""Toolset specs: specs, scenarios and open changes, under the names and shapes that users of Spec Oxide know."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta
from msgspec.structs import replace

from clew.operation.budget import longest_page, without_empty
from clew.operation.call import Call
from clew.operation.declare import Freshness, MaxTokens, Operation, Option, PageCursor, Toolset
from clew.specs import results
from clew.specs.requests import ArchiveRequest, ChangeId
from clew.text.display import counted
from clew.text.terminal import coloured

MOST_FOUND = 500
"""Results of one search at most."""

_SPEC_NEEDED = ("`{command}` needs the id of a spec.", "`clew specs list` shows them.")
_WORDS_NEEDED = ("`{command}` needs words.", 'Say what to look for: clew specs search "login".')
SpecId = Annotated[
    str,
    Meta(min_length=1, max_length=400, description="Such as auth or platform/auth"),
    Option(positional=True, needed=_SPEC_NEEDED),
]
_REPEATED = ("name", "when", "then", "scenario_name", "when_clause", "then_clauses")
"""Fields of a scenario's answer that say again what is inside `scenario`."""
_SCENARIO_MARKS = re.compile(r"\W+|\b(?:scenario|given|when|then|and)\b", re.IGNORECASE)
SomeChange = Annotated[str | None, Meta(description="Default: all open changes"), Option(positional=True)]
Findings = Annotated[int, Meta(ge=1, le=500, description="Findings at most")]
Strict = Annotated[bool, Meta(description="Warnings make it invalid too")]
Rules = Annotated[
    Literal["own", "all", "openspec", "spox"],
    Meta(description="own: the rules of the folder's tool and of Clew; or the rules of both tools, or of one"),
]


class ListSpecs(
    Operation,
    tool="list_specs",
    toolset=Toolset.SPECS,
    title="All specs",
    trim=("specs",),
    pages="specs",
    example={"limit": 10},
):
    """A minimal index of all specs: id, title, purpose, how many requirements and scenarios, how many rules are broken.
    No requirement texts. Next, call get_spec_requirements for one of them, or search_specs to find by meaning. At most
    `limit` (default 50) a page; next_cursor leads on."""

    limit: Annotated[int, Meta(ge=1, le=500, description="Items at most")] = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.SpecList:
        return call.project.specs.list_specs(offset=call.offset, limit=self.limit)


class GetSpecRequirements(
    Operation,
    tool="get_spec_requirements",
    toolset=Toolset.SPECS,
    title="Requirements of a spec",
    trim=("requirements",),
    pages="requirements",
    example={"spec_id": "passage-windows", "detail": "outline"},
):
    """The requirements of one spec by name, with how many scenarios each has and its slug; no scenario bodies.
    detail=outline adds descriptions and scenario names, detail=full the whole text; requirement=... limits it to one.
    Next, call get_scenario for one scenario in full."""

    spec_id: SpecId
    requirement: Annotated[
        str | None, Meta(description="Only this one, by name or slug"), Option(positional=True, joined=True)
    ] = None
    detail: Annotated[
        Literal["names", "outline", "full"],
        Meta(description="names; outline with descriptions and scenario names; full text"),
    ] = "names"
    limit: Annotated[int, Meta(ge=1, le=500, description="Requirements at most")] = 100
    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.SpecRequirements:
        return call.project.specs.requirements(
            self.spec_id, requirement=self.requirement, detail=self.detail, offset=call.offset, limit=self.limit
        )


class GetScenario(
    Operation,
    tool="get_scenario",
    toolset=Toolset.SPECS,
    title="One scenario in full",
    trim=("scenario.raw", "then", "then_clauses"),
    example={"spec_id": "passage-windows", "requirement": "Days without a window"},
):
    """One scenario with its GIVEN, WHEN and THEN, its raw text and line, the description of its requirement, whether a
    test verifies it, and the reference by which a test cites it. Without `scenario`, the first one of the requirement.
    Names and slugs both work; get_spec_requirements lists them."""

    spec_id: SpecId
    requirement: Annotated[str, Meta(min_length=1, description="Name or slug of the requirement")]
    scenario: Annotated[str | None, Meta(description="Name or slug; default the first")] = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.ScenarioAnswer:
        return call.project.specs.scenario(self.spec_id, self.requirement, self.scenario)

    def said_once(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The scenario once, by its clauses; its raw text only where it holds more than them."""
        scenario = dict(data["scenario"])
        clauses = (text for name in ("given", "when", "then") for text in scenario[name])
        if not _more_than(scenario["raw"], (scenario["name"], *clauses)):
            del scenario["raw"]
        kept = {name: data[name] for name in data if name not in _REPEATED}
        return dict(without_empty({**kept, "scenario": scenario}))


def _more_than(raw: str, parts: Iterable[str]) -> bool:
    """True if the text of a scenario holds words that its name and clauses do not."""
    return sorted(_SCENARIO_MARKS.sub(" ", raw).split()) != sorted(_SCENARIO_MARKS.sub(" ", " ".join(parts)).split())


class SearchSpecs(
    Operation,
    tool="search_specs",
    toolset=Toolset.SPECS,
    title="Search specs",
    trim=("results",),
    example={"query": "what happens at midnight", "auto_build": True},
):
    """Finds purposes, requirements and scenarios by words and meaning, best first, each with spec_id, requirement,
    scenario, score, snippet and line; none below the relevance threshold. include_changes searches open changes too.
    Without an index it is an error: call rebuild_index once, or pass auto_build=true. Next, get_scenario."""

    query: Annotated[
        str,
        Meta(min_length=1, max_length=2_000, description="Words or a question"),
        Option(positional=True, joined=True, needed=_WORDS_NEEDED),
    ]
    top_k: Annotated[int, Meta(ge=0, le=100, description="Results at most")] = 10
    include_changes: Annotated[bool, Meta(description="Search open changes as well"), Option("--changes")] = False
    spec_prefix: Annotated[str | None, Meta(description="Only this spec and those below, such as platform")] = None
    auto_build: Annotated[bool, Meta(description="Build the index if there is none")] = False
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.SpecHits:
        specs = call.project.specs
        return specs.index.search(
            specs.library,
            self.query,
            top_k=min(self.top_k, MOST_FOUND),
            with_changes=self.include_changes,
            spec_prefix=self.spec_prefix,
            auto_build=self.auto_build,
            check=call.check,
        )


class ListChanges(
    Operation, tool="list_changes", toolset=Toolset.SPECS, title="Open changes", trim=("changes",), pages="changes"
):
    """The open changes: id, title, progress of tasks, status, how many requirements each adds, modifies, removes and
    renames, and in which specs. Archived changes are not listed. Next, get_change for one of them, or change_conflicts
    to see which of them collide."""

    limit: Annotated[int, Meta(ge=1, le=500, description="Items at most")] = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.ChangeList:
        return call.project.specs.list_changes(offset=call.offset, limit=self.limit)


class GetChange(
    Operation,
    tool="get_change",
    toolset=Toolset.SPECS,
    title="One open change",
    trim=("design", "tasks.content", "deltas"),
    example={"change_id": "add-neap-warning", "section": "deltas"},
):
    """One open change: why and what (proposal), tasks with progress, design, and what it does to each spec (deltas).
    Parts that do not exist are left out. section=... returns only one part, full=true the whole text of the deltas;
    where that is too long, spec_id and requirement ask for some of it. validate_change says whether it can be
    archived."""

    change_id: ChangeId
    section: Annotated[str | None, Meta(description="Only proposal, tasks, design or deltas")] = None
    full: Annotated[bool, Meta(description="Deltas with their whole text, as far as there is room")] = False
    spec_id: Annotated[str | None, Meta(description="Of the deltas only that of this spec")] = None
    requirement: Annotated[str | None, Meta(description="Of the deltas only this requirement")] = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.ChangeDetail:
        def shown(texts: int) -> results.ChangeDetail:
            detail = call.project.specs.change(
                self.change_id, self.section, texts=texts, spec_id=self.spec_id, requirement=self.requirement
            )
            return replace(detail, truncated=True) if texts < operations else detail

        operations = 0
        bare = shown(0)
        operations = sum(len(part.items) for part in bare.deltas or ())
        return longest_page(shown, operations, self.max_tokens) if self.full and operations else bare


class ValidateSpec(
    Operation,
    tool="validate_spec",
    toolset=Toolset.SPECS,
    title="Check specs",
    example={"spec_id": "tide-tables", "strict": True},
):
    """Holds one spec, or all of them, to the rules of its tool, Spec Oxide or OpenSpec: errors, warnings and notes with
    file, line, code and what to do. valid is true without errors; strict=true also counts warnings. At most `limit`
    (default 100) a page, errors first; next_cursor leads on. Changes nothing."""

    spec_id: Annotated[str | None, Meta(description="Default: all specs"), Option(positional=True)] = None
    strict: Strict = False
    rules: Rules = "own"
    limit: Findings = 100
    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.Validation:
        return _page(call.project.specs.validate_specs(self.spec_id, self.rules, strict=self.strict), call, self)


class ValidateChange(
    Operation,
    tool="validate_change",
    toolset=Toolset.SPECS,
    title="Check changes",
    example={"change_id": "add-neap-warning"},
):
    """Holds one open change, or all of them, to the rules, and against the specs in force: names that do not exist are
    reported with similar ones, scenarios that would be dropped are named. Errors, warnings and notes with file, line,
    code and section; next_cursor leads on. change_conflicts compares changes with each other."""

    change_id: SomeChange = None
    strict: Strict = False
    rules: Rules = "own"
    limit: Findings = 100
    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.Validation:
        return _page(call.project.specs.validate_changes(self.change_id, self.rules, strict=self.strict), call, self)


def _page(found: results.Validation, call: Call, request: ValidateSpec | ValidateChange) -> results.Validation:
    pages, state = call.pages(request, strict=True), call.project.graph.state.fingerprint
    start = pages.start(state)
    page = longest_page(lambda count: found.page(start, count), request.limit, request.max_tokens)
    end = start + page.total
    return page if end >= found.total else replace(page, truncated=True, next_cursor=pages.cursor_to(end, state))


class RebuildIndex(
    Operation,
    tool="rebuild_index",
    verb="specs index",
    toolset=Toolset.SPECS,
    title="Build the search index",
    summary="rebuild the search index of the specs",
):
    """Builds the search index of the specs again and says how many specs it holds. Needed once before search_specs;
    after that changed specs are indexed by themselves. Use it again when search results look wrong. Changes no file of
    the project."""

    def run(self, call: Call) -> results.IndexBuilt:
        return call.project.specs.index.rebuild(call.project.specs.library)

    def render(self, result: results.IndexBuilt) -> str:
        indexed = f"{counted(result.specs_indexed, 'spec')} indexed, {counted(result.units_indexed, 'text')}."
        return f"{indexed} {result.note}".rstrip()


class SpecCatalogue(
    Operation,
    tool="spec_catalogue",
    toolset=Toolset.ADDED,
    title="Catalogue of specs",
    trim=("lines",),
    pages="lines",
):
    """Every spec on one short line: id, requirements/scenarios, the first words of its purpose, 300 specs in under
    3,000 tokens. The cheapest way to see what a repository holds before writing a proposal; list_specs has the whole
    purposes, search_specs finds by words and meaning."""

    limit: Annotated[int, Meta(ge=1, le=500, description="Lines at most")] = 300
    cursor: PageCursor = None
    max_tokens: Annotated[
        Annotated[int, Meta(ge=400, le=20_000)] | None, Meta(description="Size at most, as text and as data together")
    ] = 6_000

    def run(self, call: Call) -> results.Catalogue:
        return call.project.specs.catalogue(offset=call.offset, limit=self.limit)


class ChangeConflicts(
    Operation,
    tool="change_conflicts",
    toolset=Toolset.ADDED,
    title="Conflicts of open changes",
    trim=("conflicts", "dependencies", "order"),
    pages="conflicts",
    example={"change_id": "add-neap-warning"},
):
    """Conflicts between open changes: two that touch one requirement, a requirement that changed since a change was
    written (with the texts of then, now and the change), a scenario that archiving would drop; and the order in which
    changes can be archived. Call it before archive_change."""

    change_id: SomeChange = None
    limit: Annotated[int, Meta(ge=1, le=500, description="Conflicts at most")] = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.ConflictList:
        return call.project.specs.conflicts(self.change_id, offset=call.offset, limit=self.limit)


class RebaseChange(
    Operation,
    tool="rebase_change",
    verb="change rebase",
    toolset=Toolset.ADDED,
    title="A change is up to date",
    summary="note that a change was brought up to date with the specs",
    writes=True,
    trim=("errors", "moved"),
    example={"change_id": "add-neap-warning"},
):
    """Notes that an open change was brought up to date with the specs: from now on it is compared with them as they
    are, and change_conflicts reports only what moves after that. Call it after mending the texts of a change; says what
    had moved and what is still wrong. Changes no file."""

    change_id: ChangeId
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.Rebased:
        return call.project.specs.rebase(self.change_id)

    def render(self, result: results.Rebased) -> str:
        moved = f" Moved since it was written: {', '.join(result.moved)}." if result.moved else ""
        first = f"{result.change_id} is compared with the specs as they are now.{moved}"
        errors = (
            f"{issue.file}:{issue.line or 1}: {coloured('error', 'red')} {issue.code}: {issue.description}"
            for issue in result.errors
        )
        return "\n".join((first, *errors))

    def exit_code(self, result: results.Rebased) -> int:
        return 0 if result.valid else 1


class ArchiveChange(
    ArchiveRequest,
    Operation,
    tool="archive_change",
    toolset=Toolset.ADDED,
    title="Apply and archive a change",
    needs=Freshness.NONE,
    writes=True,
    destructive=True,
    trim=("diff", "summary", "warnings", "files"),
    example={"change_id": "add-neap-warning", "unfinished": True},
):
    """Applies an open change to the specs and moves it into the archive: all or nothing. By default it only shows the
    difference; dry_run=false with confirm=true writes. Refuses what is missing, taken, misspelled or in conflict, what
    has to wait for another change, and unfinished tasks; take=spec|change decides conflicts. move=false leaves the
    folder in place."""

    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.ArchiveReport:
        return call.project.specs.archive(self, actor=call.session or "agent")
