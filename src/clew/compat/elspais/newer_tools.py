"""Toolset trace: questions that elspais answers since its specification was written."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from clew.compat.elspais import guide
from clew.compat.elspais.checks import FAULT_OF_CHECK, check_summary, codes_of, unresolved
from clew.compat.elspais.declarations import FILES as SETTINGS
from clew.compat.elspais.declarations import PREFIX, Declarations
from clew.compat.elspais.node import NodeDetail, NodeViewer
from clew.errors import Conflict, NotFound, WrongKind
from clew.operation.call import Call
from clew.operation.declare import Freshness, MaxTokens, Operation, PageCursor, Toolset
from clew.trace.edit.file_results import RenameResult
from clew.trace.edit.mutations.mutation import path_of_file
from clew.trace.find import results as results_find
from clew.trace.find.requests import MOST_IDS, BrokenReferenceQuery, Limit
from clew.trace.totals import FindingCounts

Topic = Annotated[str, Meta(max_length=200, description="A word; all without it")]


class GetNode(
    Operation,
    tool="get_node",
    toolset=Toolset.TRACE,
    title="Any node",
    later=True,
    trim=("links", "children", "keywords"),
    whole=("properties",),
    example={"node_id": "REQ-d00001"},
):
    """One node of any kind: requirement, assertion, journey, step (JNY-Reader-01/1), section (REQ-d00001:section:1),
    test, code, or a file (file:REQ:spec/a.md), with its parts, what it cites and what cites it."""

    node_id: Annotated[str, Meta(min_length=1, max_length=2_000, description="Its id")]
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> NodeDetail:
        return NodeViewer(call.project).show(self.node_id)


class Versions(msgspec.Struct, frozen=True):
    versions: Mapping[str, str]
    """By the ids that were asked for; unknown ones are left out."""
    truncated: bool = False


class GetVersions(
    Operation,
    tool="get_versions",
    toolset=Toolset.TRACE,
    title="Versions of nodes",
    later=True,
    example={"node_ids": ["REQ-d00001", "REQ-d00001-A"]},
):
    """The versions of requirements, journeys, assertions, sections and files, for if_version; unknown ids are left
    out."""

    node_ids: Annotated[list[str], Meta(min_length=1, max_length=MOST_IDS, description="Ids")]

    def run(self, call: Call) -> Versions:
        return Versions({id: version for id in self.node_ids if (version := _version(call, id)) is not None})

    def text(self, result: Versions) -> str:
        return msgspec.json.encode(result.versions).decode()


def _version(call: Call, id: str) -> str | None:
    if id.startswith(PREFIX):
        try:
            return Declarations(call.project).find(id).version
        except NotFound:
            return None
    if id.startswith("file:"):
        path = path_of_file(id)
        known = path in SETTINGS or any(True for _ in call.project.graph.nodes_in_file(path))
        try:
            return NodeViewer(call.project).file_version(path) if known else None
        except NotFound:
            return None
    try:
        return call.project.mutations.version(id)
    except (NotFound, WrongKind):
        return None


class ChangedRequirement(msgspec.Struct, frozen=True):
    id: str
    title: str
    level: str
    status: str
    git_state: Mapping[str, bool]
    source: str


class ChangedRequirements(msgspec.Struct, frozen=True):
    requirements: tuple[ChangedRequirement, ...]
    count: int
    summary: Mapping[str, int]
    """uncommitted and branch_changed."""
    base: str | None
    total: int
    truncated: bool = False
    next_cursor: str | None = None


class GetChangedRequirements(
    Operation,
    tool="get_changed_requirements",
    toolset=Toolset.TRACE,
    title="Changed requirements",
    later=True,
    trim=("requirements",),
    pages="requirements",
):
    """Requirements whose text differs from the last commit, or from where the branch began: which are new, changed or
    moved. Deleted ones are in `clew changed`. At most `limit` a page."""

    limit: Limit = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> ChangedRequirements:
        from clew.trace.reports.changed import changed
        from clew.workspace.git import api as git

        project = call.project
        root = project.config.root
        base = git.base_branch(root)
        if base == git.branch(root):
            base = None  # this is the branch that others begin at
        parts = (project.graph, project.config, project.context.grammar)
        now = {each.id: each for each in changed(*parts, None).items if each.kind == "requirement"}
        since = changed(*parts, base).items if base else ()
        branch = {each.id: each for each in since if each.kind == "requirement"}
        found = [
            ChangedRequirement(
                node.id,
                node.title,
                node.get_field("level", "Unknown"),
                node.get_field("status", "Unknown"),
                _git_state(now.get(id), branch.get(id), base_is_here=base is not None),
                (now.get(id) or branch[id]).path,
            )
            for id in sorted(now.keys() | branch.keys())
            if (node := project.graph.get_node(id)) is not None
        ]
        page = tuple(found[call.offset : call.offset + self.limit])
        counts = {
            name: sum(each.git_state[f"is_{name}"] for each in found) for name in ("uncommitted", "branch_changed")
        }
        return ChangedRequirements(page, len(page), counts, base, len(found))


def _git_state(now: Any, branch: Any, *, base_is_here: bool) -> dict[str, bool]:
    kinds = {each.change for each in (now, branch) if each is not None}
    return {
        "is_uncommitted": now is not None,
        "is_untracked": now is not None and now.change == "added",
        "is_modified": "changed" in kinds,
        "is_branch_changed": base_is_here and branch is not None,
        "is_moved": "moved" in kinds,
        "is_new": "added" in kinds,
    }


class Unlinked(msgspec.Struct, frozen=True):
    count: int
    by_kind: Mapping[str, int]
    by_file: tuple[Mapping[str, Any], ...]
    truncated: bool = False


class GetUnlinkedNodes(
    Operation,
    tool="get_unlinked_nodes",
    toolset=Toolset.TRACE,
    title="Tests and code without a requirement",
    later=True,
    trim=("by_file",),
):
    """Counts tests and places in code without a requirement, by kind and by file. get_orphaned_nodes lists them,
    suggest_links proposes links."""

    kind: Annotated[Literal["test", "code"] | None, Meta(description="Only these")] = None

    def run(self, call: Call) -> Unlinked:
        from collections import Counter

        from clew.graph.model import NodeKind
        from clew.trace.find.lists import orphaned_nodes

        kinds = (NodeKind(self.kind),) if self.kind else (NodeKind.TEST, NodeKind.CODE)
        found = [each for each in orphaned_nodes(call.project.graph) if each.kind in kinds]
        files = Counter(each.source.path for each in found if each.source is not None)
        by_file = tuple({"file": path, "count": count} for path, count in files.most_common())
        return Unlinked(len(found), dict(Counter(each.kind.value for each in found)), by_file)


class AllKeywords(msgspec.Struct, frozen=True):
    success: bool
    keywords: tuple[str, ...]
    count: int
    total: int
    truncated: bool = False
    next_cursor: str | None = None


class GetAllKeywords(
    Operation,
    tool="get_all_keywords",
    toolset=Toolset.TRACE,
    title="All keywords",
    later=True,
    trim=("keywords",),
    pages="keywords",
):
    """Every keyword in titles and assertions of requirements and in journeys, in alphabetical order. For
    find_by_keywords. At most `limit` a page."""

    limit: Annotated[int, Meta(ge=1, le=5_000, description="Keywords at most")] = 500
    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> AllKeywords:
        from clew.graph.model import NodeKind
        from clew.text.keywords import keywords

        def all_of(graph: Any) -> tuple[str, ...]:
            kinds = (NodeKind.REQUIREMENT, NodeKind.ASSERTION, NodeKind.USER_JOURNEY)
            nodes = (node for kind in kinds for node in graph.nodes_by_kind(kind))
            texts = (f"{node.title} {node.get_field('actor', '')} {node.get_field('goal', '')}" for node in nodes)
            return tuple(sorted({word for text in texts for word in keywords(text)}))

        found = call.project.graph.derived("all_keywords", all_of)
        page = found[call.offset : call.offset + self.limit]
        return AllKeywords(True, page, len(page), len(found))


class GetCheckFindings(
    Operation,
    tool="get_check_findings",
    toolset=Toolset.TRACE,
    title="Findings of one check",
    later=True,
    trim=("findings",),
    pages="findings",
    example={"check": "trace.broken_reference"},
):
    """The findings of one check, by the code that `clew check` prints or by elspais's name for it; known_checks names
    those that found anything. At most `limit` a page."""

    check: Annotated[str, Meta(min_length=1, max_length=100, description="Such as trace.stale_hash")]
    limit: Limit = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results_find.CheckFindings:
        codes = codes_of(self.check)
        found = call.project.findings(call)
        own = [each for each in found if each.code in codes]
        if fault := FAULT_OF_CHECK.get(self.check.strip()):
            places = {
                (each.path, each.line, each.source_id)
                for each in call.project.graph.memory.broken
                if each.fault == fault
            }
            own = [each for each in own if (each.path, each.line, each.node_id) in places]
        page = own[call.offset : call.offset + self.limit]
        repo = call.project.config.name
        return results_find.CheckFindings(
            check=self.check.strip(),
            healthy=not own,
            findings=tuple(
                results_find.CheckFinding(
                    *(each.severity, each.message, each.path, each.line, each.node_id, each.hint),
                    file_path=each.path,
                    codes=(each.code,),
                    repo=repo,
                )
                for each in page
            ),
            checks=(check_summary(self.check.strip(), len(own), own[0].severity if own else "info"),),
            summary=msgspec.structs.asdict(FindingCounts.of(found)),
            count=len(page),
            total=len(own),
            known_checks=tuple(sorted({each.code for each in found})),
        )


class GetUnresolvedReferences(
    Operation,
    tool="get_unresolved_references",
    toolset=Toolset.TRACE,
    title="Unresolved references",
    later=True,
    trim=("unresolved_references",),
    pages="unresolved_references",
):
    """The same as get_broken_references under its later name: citations of what does not exist. At most `limit` a
    page."""

    limit: Limit = 50
    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results_find.UnresolvedPage:
        find, repo = call.project.trace.find, call.project.config.name
        found = find.broken_references(BrokenReferenceQuery(limit=self.limit), offset=call.offset)
        severities = dict(call.project.config.elspais.fault_severities)
        items = tuple(unresolved(each, severities.get(each.fault, "error"), repo) for each in found.broken_references)
        faults = Counter(each.fault for each in call.project.graph.memory.broken)
        checks = (
            check_summary(name, faults[fault], severities.get(fault, "error")) for name, fault in FAULT_OF_CHECK.items()
        )
        return results_find.UnresolvedPage(items, found.count, found.total, tuple(checks))


class RenameFile(
    Operation,
    tool="mutate_rename_file",
    toolset=Toolset.TRACE,
    title="Rename a spec file",
    needs=Freshness.NONE,
    later=True,
    writes=True,
    destructive=True,
    idempotent=False,
):
    """Gives a file of requirements another path, at once and byte for byte: unlike the other mutations it is no draft.
    Refused while drafts wait for that file, where the new path is taken, or where it would not be read."""

    file_id: Annotated[str, Meta(min_length=1, max_length=2_000, description="Such as file:REQ:spec/a.md")]
    new_relative_path: Annotated[str, Meta(min_length=1, max_length=2_000, description="Such as spec/b.md")]
    if_version: Annotated[str | None, Meta(description="Refuse unless the file has this version")] = None

    def run(self, call: Call) -> RenameResult:
        path = path_of_file(self.file_id)
        call.project.ensure_graph(progress=call.progress)
        with call.project.context.lock.reading():
            version = NodeViewer(call.project).file_version(path)
        if self.if_version and self.if_version != version:
            raise Conflict(
                f"'{path}' has version {version}, not {self.if_version} as if_version demands.",
                hint="get_versions tells the present one; repeat the call if it is still right.",
                data={"node_id": self.file_id, "current_version": version},
            )
        return call.project.files.rename(path, self.new_relative_path)


class AgentInstructions(
    Operation,
    tool="agent_instructions",
    toolset=Toolset.TRACE,
    title="Rules for authors",
    needs=Freshness.NONE,
    later=True,
    trim=("instructions",),
):
    """The project's rules for writing requirements (rules.content_rules in .elspais.toml), and how versions keep
    several writers apart. Read it before you change requirements."""

    def run(self, call: Call) -> guide.AuthoringRules:
        return guide.instructions(call.project)


class AskFaq(
    Operation,
    tool="faq",
    toolset=Toolset.TRACE,
    title="Questions and answers",
    needs=Freshness.NONE,
    later=True,
    trim=("entries",),
):
    """Short answers about linking, coverage, assertions, hashes, templates, terms and concurrency; all of them, or
    those with a word. For one tool call docs."""

    topic: Topic = ""

    def run(self, call: Call) -> guide.Faq:
        return guide.faq(self.topic)


class ReadDocs(
    Operation,
    tool="docs",
    toolset=Toolset.TRACE,
    title="Documentation of the tools",
    needs=Freshness.NONE,
    later=True,
    trim=("content",),
):
    """The topics there are, or what is said about one: a topic, a tool's name, or any word. Tells what tools do and
    which arguments they take."""

    topic: Topic = ""
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> guide.TopicPage:
        return guide.page(self.topic)
