"""Toolset trace: the requirements graph, under the names and shapes that users of elspais know."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta, structs

from clew.errors import InvalidArgument, NotFound
from clew.graph.model import NodeKind
from clew.operation.call import Call, perform
from clew.operation.declare import Freshness, HelpHeading, MaxTokens, Operation, Option, PageCursor, Toolset
from clew.text.display import counted
from clew.text.terminal import coloured, note
from clew.trace.find.requests import SearchQuery
from clew.trace.read import results
from clew.trace.read.profiles import AVAILABLE
from clew.trace.read.said_once import requirement_said_once
from clew.trace.totals import FindingCounts
from clew.workspace.files import check_spelling

if TYPE_CHECKING:
    from clew.trace.reports.impact import Affected

MOST_HEADINGS = 50

Detail = Literal["default", "testing", "code-refs", "coverage", "retrofit", "manager", "worktree", "all"]
"""The profiles of details that users of elspais ask for."""


class GetGraphStatus(
    Operation,
    tool="get_graph_status",
    toolset=Toolset.TRACE,
    title="State of the graph",
    needs=Freshness.BUILT,
    outlined=True,
):
    """Is the graph stale, when was it last read, and how many nodes of each kind does it hold? A quick check that reads
    no file. For coverage and changes call get_project_summary; if is_stale is true, refresh_graph reads the changed
    files (other tools do so by themselves)."""

    def run(self, call: Call) -> results.GraphStatus:
        return structs.replace(call.project.trace.status(), drafts=_unsaved(call))


def _unsaved(call: Call) -> results.Unsaved | None:
    found = call.project.unsaved()
    return found if found.count else None


class RefreshGraph(
    Operation,
    tool="refresh_graph",
    toolset=Toolset.TRACE,
    title="Read the files again",
    needs=Freshness.NONE,
    outlined=True,
):
    """Brings the graph in step with the files and says what was read. Unchanged files are not opened; full=true drops
    every cache and parses all of them, for when something looks wrong. Other tools notice changed files by themselves,
    so this is rarely needed. Changes no file of the project."""

    full: Annotated[bool, Meta(description="Drop every cache and parse all files again")] = False
    path: Annotated[str, Meta(max_length=2_000, description="The project itself; others have servers of their own")] = (
        ""
    )
    force: Annotated[bool, Meta(description="Drafts are kept in any case")] = False
    if_tip_mutation_id: Annotated[str, Meta(max_length=300, description="Refuse unless it is the newest draft")] = ""

    def run(self, call: Call) -> results.RefreshReport:
        check_spelling(self.path)
        if self.path and (call.root / self.path).resolve() != call.root.resolve():
            raise InvalidArgument(
                f"'{self.path}' is not the folder of this project, {call.root}.",
                hint="Start a server for that folder, or leave path out.",
            )
        if self.if_tip_mutation_id:
            call.project.mutations.demand_tip(self.if_tip_mutation_id)
        report = call.project.refresh(full=self.full, progress=call.progress)
        return call.project.trace.refresh_report(report)


class SearchRequirements(
    SearchQuery,
    Operation,
    tool="search",
    toolset=Toolset.TRACE,
    title="Search requirements",
    trim=("related", "results"),
    pages="results",
    example={"query": "return", "limit": 5},
):
    """Finds requirements. `results` hold all words: an id in any spelling first, then titles, then texts. `related` has
    up to ten others that are near in meaning (score below 1). At most `limit` (default 50) summaries and 4,000 tokens a
    page; next_cursor leads to the rest. An operator, a field or regex=true finds exact matches only."""

    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results.RequirementPage:
        return call.project.trace.search(self, offset=call.offset, check=call.check)

    def state(self, call: Call) -> str:
        return ranking_state(call, self.query, field=self.field, regex=self.regex)

    def render(self, result: results.RequirementPage) -> str:
        return "\n".join(self._lines(result))

    def _lines(self, page: results.RequirementPage) -> Iterator[str]:
        yield from map(_summary_line, page.results)
        if not page.results:
            yield "No requirement has all the words." if page.related else "Nothing found."
        if page.related:
            yield coloured("related:", "dim")
            yield from map(_summary_line, page.related)

    def messages(self, result: results.RequirementPage) -> tuple[str, ...]:
        return tuple(map(note, result.notes))

    def exit_code(self, result: results.RequirementPage) -> int:
        return 0 if result.results or result.related else 1


def _summary_line(item: results.ScoredSummary) -> str:
    about = coloured(f"{item.level}, {item.status}", "dim")
    return f"{coloured(item.id, 'cyan')}  {item.title}  {about}"


def ranking_state(call: Call, query: str, *, field: str, regex: bool) -> str:
    """A further page belongs to the ranking of the first, whatever was indexed since."""
    return "" if regex or field != "all" else call.project.index.ranking_state(query)


class OfRequirement(Operation, toolset=Toolset.TRACE, pages="children", total="children_total"):
    """Common arguments of questions about one requirement."""

    req_id: Annotated[str, Meta(min_length=1, description="Such as REQ-d00062, or d62 for short")]
    limit: Annotated[int, Meta(ge=1, le=500, description="Children at most")] = 100
    cursor: PageCursor = None
    max_tokens: MaxTokens = None


class GetRequirement(
    OfRequirement,
    tool="get_requirement",
    outlined=True,
    title="One requirement in full",
    trim=("children", "keywords", "broken_references", "sections"),
    whole=("body", "assertions", "parents", "title"),
    repeated=("properties.body_text",),
    example={"req_id": "REQ-d00001"},
):
    """One requirement: text, assertions and whether tests cover them, what it cites (parents) and what cites it
    (children: requirements first, paged), hash, file and lines. Text and assertions are never shortened. For its place
    in the tree: get_hierarchy; to find an id: `search`."""

    def run(self, call: Call) -> results.RequirementDetail:
        return call.project.trace.requirement(self.req_id, offset=call.offset, limit=self.limit)

    def said_once(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        return requirement_said_once(data)


class GetHierarchy(
    OfRequirement,
    tool="get_hierarchy",
    title="Place in the tree",
    trim=("siblings", "children", "ancestors"),
    example={"req_id": "REQ-o00001"},
):
    """A requirement's place in the tree: all ancestors up to the roots (nearest first), direct children (paged), and
    siblings that share a parent, as summaries. All siblings are the children of that parent. For texts and assertions
    call get_requirement."""

    def run(self, call: Call) -> results.Hierarchy:
        return call.project.trace.hierarchy(self.req_id, offset=call.offset, limit=self.limit)


class GetWorkspaceInfo(
    Operation,
    tool="get_workspace_info",
    toolset=Toolset.TRACE,
    title="Workspace",
    needs=Freshness.BUILT,
):
    """Describes this repository: path, project name, configuration files, folders that are read, id prefix, levels,
    branch. Use it when paths or settings matter, or when something you expect is missing from the graph. For what the
    project contains call clew_brief or get_project_summary."""

    detail: Annotated[Detail, Meta(description="A profile, which adds more to the answer")] = "default"

    def run(self, call: Call) -> results.Workspace:
        found = call.project.trace.workspace(call.project.notes())
        more = call.project.trace.workspace_details(self.detail)
        return structs.replace(found, detail=self.detail, available_details=AVAILABLE, **more)


class GetProjectSummary(
    Operation,
    tool="get_project_summary",
    toolset=Toolset.TRACE,
    title="Project in figures",
    trim=("duplicate_ids",),
):
    """Requirement counts by level, how many assertions tests cover, requirements changed since the last commit and
    since the branch began, findings by severity, broken references, stale hashes. Figures only, under 1,000 tokens;
    clew_brief names the places, get_requirement the details."""

    def run(self, call: Call) -> results.ProjectSummary:
        counts = FindingCounts.of(call.project.findings(call))
        return structs.replace(call.project.trace.summary(), drafts=_unsaved(call), findings=counts)


class RequirementShown(results.RequirementDetail, frozen=True, kw_only=True):
    """A requirement in full, with its place in the tree."""

    ancestors: tuple[results.RequirementSummary, ...]
    siblings: tuple[results.RequirementSummary, ...]
    documented: "tuple[Affected, ...]"
    """Sections that mention it, where somebody has read the documents before."""
    remembered: "tuple[RelatedMemory, ...]"
    """The memories about it or one of its assertions."""
    drafted: bool = False
    """Drafts that are not saved change it or one of its assertions; they are not shown."""
    places: dict[str, str] = msgspec.field(default_factory=dict)
    """The places of the code and tests that cite it, by their ids."""


class RelatedMemory(msgspec.Struct, frozen=True):
    id: str
    kind: str
    title: str
    standing: str
    """current, stale where what it cites changed, or superseded."""


class ShowRequirement(
    Operation,
    verb="show",
    served=True,
    heading=HelpHeading.UNDERSTAND,
    command_of="get_requirement",
    toolset=Toolset.TRACE,
    summary="one requirement in full, with its place in the tree",
    epilog="clew show REQ-d00001",
    needs=Freshness.NONE,
):
    """One requirement with everything above it, the other children of its parents, and the documents about it."""

    id: Annotated[str, Option(positional=True, about="a requirement's id; short forms such as d1 work")]

    def run(self, call: Call) -> RequirementShown:
        detail = self._detail(call)
        place = perform(GetHierarchy(req_id=self.id), call)
        return RequirementShown(
            **structs.asdict(detail),
            ancestors=place.ancestors,
            siblings=place.siblings,
            documented=_documented(call, detail.id),
            remembered=tuple(
                RelatedMemory(each.node_id, each.kind, each.title, each.standing or "")
                for each in call.project.memory.at_place(call, detail.id)
            ),
            drafted=_is_drafted(call, detail.id),
            places=_places(call, (child.id for child in detail.children)),
        )

    def _detail(self, call: Call) -> results.RequirementDetail:
        try:
            found: results.RequirementDetail = perform(GetRequirement(req_id=self.id, limit=500), call)
        except NotFound:
            if not _is_drafted(call, self.id):
                raise
            raise NotFound(
                f"'{self.id}' is a draft that is not saved: no file holds it.",
                hint="save_mutations writes it, get_mutation_log shows it, and undo_last_mutation takes it back.",
            ) from None
        return found

    def render(self, result: RequirementShown) -> str:
        return "\n".join(_lines(result))


def _places(call: Call, ids: Iterable[str]) -> dict[str, str]:
    """The places of code and tests in the form that every other command uses: the id of a piece of code has the line of
    its comment, not of the code that the comment is about."""
    graph = call.project.graph
    nodes = (node for id in ids if (node := graph.get_node(id)) is not None)
    kinds = (NodeKind.CODE, NodeKind.TEST)
    return {
        node.id: f"{node.source.path}:{node.source.line}"
        for node in nodes
        if node.kind in kinds and node.source is not None
    }


def _is_drafted(call: Call, id: str) -> bool:
    stem = id + call.project.config.elspais.label_separator
    return any(each == id or each.startswith(stem) for each in call.project.unsaved().target_ids)


def _documented(call: Call, id: str) -> "tuple[Affected, ...]":
    from clew.trace.read.resolve import Subject
    from clew.trace.reports.impact import documented

    if not call.project.kb.was_read:
        return ()
    with call.project.context.lock.reading():
        subject = Subject(id, NodeKind.REQUIREMENT.value, "", (id,))
        found = tuple(documented(call.project.graph, subject)[:MOST_HEADINGS])
    if not found:
        call.notes = (*call.notes, *call.project.kb.missing_notes)
    return found


def _lines(shown: RequirementShown) -> Iterator[str]:
    yield coloured(f"{shown.id}: {shown.title}", "bold")
    place = f", {shown.source.path}:{shown.source.line}" if shown.source is not None else ""
    yield f"{shown.level}, {shown.status}, hash {shown.hash_state}{place}"
    if shown.drafted:
        yield coloured("Drafts that are not saved change it; they are not shown here.", "yellow")
    yield f"{shown.coverage['tested']} of {shown.coverage['total_assertions']} assertions tested"
    if (inherited := shown.coverage.get("integrated")) is not None:
        failing = ", with failures" if inherited.has_failures else ""
        yield (
            f"of the requirements that it integrates, {inherited.implemented_covered} of {inherited.implemented_total} "
            f"assertions are implemented and {inherited.verified_covered} passed{failing}"
        )
    separator = "-"
    for assertion in shown.assertions:
        separator = assertion.id.removeprefix(shown.id).removesuffix(assertion.label)
        mark = coloured("+", "green") if assertion.tested else coloured("-", "yellow")
        yield f"  {mark} {assertion.label}. {assertion.text}"
    if shown.ancestors:
        yield coloured("above", "dim")
    yield from (f"  {each.id}  {each.title}" for each in shown.ancestors)
    if shown.children:
        yield coloured("cited by", "dim")
    for child in shown.children:
        labels = separator + "+".join(child.assertion_targets) if child.assertion_targets else ""
        yield f"  {shown.places.get(child.id, child.id)}  {child.edge_kind} {labels}  {child.title}"
    more = shown.children_total - len(shown.children)
    if more > 0:
        yield coloured(f"  {more} more; `clew impact {shown.id} --limit {shown.children_total}` lists them", "dim")
    yield from (coloured(f"  cites {each}, which does not exist", "red") for each in shown.broken_references)
    if shown.documented:
        yield coloured("documents about it", "dim")
    yield from (f"  {page.id}  {coloured(f'{page.path}:{page.line}', 'dim')}" for page in shown.documented)
    if shown.remembered:
        yield coloured("memories about it", "dim")
    for each in shown.remembered:
        mark = "" if each.standing == "current" else coloured(f"  {each.standing}", "yellow")
        yield f"  {each.id[:8]}  {each.kind}  {each.title}{mark}"


class ProjectState(msgspec.Struct, frozen=True):
    graph: results.GraphStatus
    summary: results.ProjectSummary
    workspace: results.Workspace


class ShowStatus(
    Operation,
    verb="status",
    heading=HelpHeading.UNDERSTAND,
    command_of="get_project_summary",
    toolset=Toolset.TRACE,
    summary="the project in figures: graph, coverage, changes",
    epilog="clew status --json",
    folder="argument",
    needs=Freshness.NONE,
):
    """The answers of get_graph_status, get_project_summary and get_workspace_info."""

    def run(self, call: Call) -> ProjectState:
        return ProjectState(
            graph=perform(GetGraphStatus(), call),
            summary=perform(GetProjectSummary(), call),
            workspace=perform(GetWorkspaceInfo(), call),
        )

    def render(self, result: ProjectState) -> str:
        summary, workspace, changes = result.summary, result.workspace, result.summary.changes
        coverage = summary.coverage
        held = ", ".join(f"{number} {kind}" for kind, number in result.graph.node_counts.items() if number)
        lines = [f"{workspace.project_name} in {workspace.repo_path}", f"graph: {held or 'nothing yet'}"]
        if coverage.total:
            lines += (
                f"coverage: {coverage.full_coverage} full, {coverage.partial_coverage} partial, "
                f"{coverage.no_coverage} none, of {counted(coverage.total, 'requirement')}",
                f"assertions: {summary.assertions.describe()}",
            )
        else:
            lines.append("requirements: none, so there is no coverage to count; `clew` says what the project has")
        if summary.findings is not None:
            lines.append(f"findings: {summary.findings.describe()} (`clew check` lists them)")
        if coverage.total and changes.uncommitted is not None:
            differ = counted(changes.uncommitted, "requirement differs", "requirements differ")
            lines.append(f"changes: {differ} from the last commit")
        return "\n".join((*lines, *(f"note: {note}" for note in workspace.notes)))
