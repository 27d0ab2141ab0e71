"""The trace service: questions about the requirements graph.

Every method reads the graph through its iterators and returns frozen values. It changes nothing and knows no surface.
"""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from msgspec import structs

from clew import __version__
from clew.context import Context
from clew.graph.build.builder import BuildReport, without_garbage_collection
from clew.graph.graph import Graph
from clew.graph.model import HIERARCHY, Node, NodeKind
from clew.graph.walk import reached
from clew.text.display import counted
from clew.trace import coverage
from clew.trace.find.lists import TraceQueries
from clew.trace.find.requests import SearchQuery
from clew.trace.find.search import Check, Matches, Rank, RequirementSearch
from clew.trace.find.summaries import scored_summary
from clew.trace.find.table import Branch, Table, TableFilter, branches, table
from clew.trace.read.copies import Copy, copies_of, find_copy
from clew.trace.read.resolve import Resolver
from clew.trace.read.results import (
    ChangeCounts,
    ConfigSummary,
    GraphStatus,
    Hierarchy,
    ProjectSummary,
    RefreshReport,
    RequirementDetail,
    RequirementPage,
    RequirementSummary,
    Workspace,
)
from clew.trace.read.serialize import copy_full, requirement_full, requirement_summary
from clew.trace.reports.finding import Finding
from clew.trace.reports.findings import findings
from clew.trace.reports.matrix import Matrix, matrix
from clew.workspace.git import api as git


class TraceService:
    def __init__(self, context: Context, rank: Rank = lambda query, again, check: None) -> None:
        self._context = context
        self._graph = context.graph
        self._grammar = context.grammar
        self._config = context.config
        self._root = context.root
        self._folders = context.config.requirements.folders
        self._resolver = Resolver(self._graph, self._grammar)
        self._search = RequirementSearch(self._graph, self._resolver.find_requirement, rank)
        self.resolve = self._resolver.requirement
        """The requirement an id means: as it stands, in another spelling, or by one of its assertions."""
        self.find_node = self._resolver.find
        self.meant = self._search.meant
        """The node of any kind that an id means, in any spelling; None where there is none."""
        self.find = TraceQueries(self._graph, self._resolver, self.search_matches)

    @without_garbage_collection
    def warm(self) -> None:
        """Compute frequent answers in advance, so that the first question is as fast as the next."""
        self._graph.root_count()
        coverage.orphan_count(self._graph)
        coverage.count_by_coverage(self._graph)

    # The graph as a whole

    def status(self) -> GraphStatus:
        state, figures = self._graph.state, self._graph.derived("status", _status)
        return structs.replace(figures, is_stale=state.is_stale, last_refresh=state.last_refresh)

    def refresh_report(self, report: BuildReport) -> RefreshReport:
        return RefreshReport(
            success=True,
            message=f"Read {report.files} files, parsed {report.parsed} of them.",
            node_count=sum(self._graph.node_counts().values()),
            files=report.files,
            files_parsed=report.parsed,
            files_from_cache=report.from_cache,
            files_removed=report.removed,
            seconds=round(report.seconds, 3),
            last_refresh=self._graph.state.last_refresh,
            working_dir=str(self._root),
            config=self._config_summary(),
        )

    def _config_summary(self) -> ConfigSummary:
        config = self._config
        return ConfigSummary(
            prefix=config.elspais.namespace,
            spec_directories=config.requirements.folders,
            testing_enabled=bool(config.tests.folders),
            local_config=".elspais.local.toml" in config.files,
        )

    def workspace(self, notes: tuple[str, ...]) -> Workspace:
        config = self._config
        return Workspace(
            repo_path=str(config.root),
            project_name=config.name,
            clew_version=__version__,
            config_file=config.files[0] if config.files else None,
            config_summary=self._config_summary(),
            levels=tuple(level.name for level in config.elspais.levels),
            code_directories=config.code.folders,
            test_directories=config.tests.folders,
            branch=git.branch(config.root),
            notes=notes,
        )

    def workspace_details(self, profile: str) -> dict[str, Any]:
        """The details that a profile of elspais adds to the workspace."""
        from clew.trace.read import profiles

        names = profiles.details_of(profile)
        found = profiles.of_settings(self._config, self._grammar) if names else {}
        if profiles.OF_FIGURES.intersection(names):
            nodes = self._graph.nodes_by_kind(NodeKind.REQUIREMENT)
            with_code = sum(1 for node in nodes if self._graph.metrics(node.id)["code"])
            found |= profiles.of_figures(self.summary(), with_code)
        return {name: found[name] for name in names}

    def summary(self) -> ProjectSummary:
        graph = self._graph
        return ProjectSummary(
            requirements_by_level=coverage.count_by_level(graph),
            coverage=coverage.count_by_coverage(graph),
            coverage_by_level=coverage.coverage_by_level(graph),
            changes=self.changes(),
            total_nodes=self.status().total_nodes,
            orphan_count=coverage.orphan_count(graph),
            broken_reference_count=len(graph.memory.broken),
            stale_hash_count=coverage.stale_hash_count(graph),
            unresolved_reference_count=len(graph.memory.broken) - _malformed(graph),
            malformed_reference_count=_malformed(graph),
            uncovered_assertion_count=coverage.uncovered_assertion_count(graph),
            duplicate_ids=graph.derived("duplicate_ids", lambda _: tuple(self._context.builder.duplicate_ids())),
            assertions=coverage.assertion_counts(graph),
        )

    def changes(self) -> ChangeCounts:
        """Requirements whose lines differ from the last commit, and from where the branch left its base."""
        from concurrent.futures import ThreadPoolExecutor  # only this question needs it

        with ThreadPoolExecutor(1) as aside:
            # Git is another process: both questions can be on their way at once.
            branch = aside.submit(git.changed_since_base, self._root, self._folders)
            uncommitted = git.uncommitted(self._root, self._folders)
            base, since = branch.result()
        if uncommitted is None:
            return ChangeCounts(None, None, None, note=git.problem(self._root) or "The folder is not a git work tree.")
        return ChangeCounts(
            uncommitted=self._touched(uncommitted),
            branch_changed=None if since is None else self._touched(since),
            base=base,
            note=_note(base, *(lines for lines in (uncommitted, since) if lines is not None)),
        )

    def _touched(self, lines: git.ChangedLines) -> int:
        return sum(
            1
            for path in lines.ranges
            for node in self._graph.nodes_in_file(path)
            if node.kind is NodeKind.REQUIREMENT
            and node.source is not None
            and lines.touch(path, node.source.line, node.source.end_line)
        )

    def findings(self) -> tuple[Finding, ...]:
        """All findings, sorted by place."""
        return self._graph.derived("findings", lambda graph: findings(graph, self._context))

    def matrix(self, requirements: Sequence[Node]) -> Matrix:
        """The implementations and tests of these requirements."""
        return matrix(self._graph, self._config.name, requirements)

    def table(self, chosen: TableFilter, *, offset: int = 0, limit: int = 100) -> Table:
        """One page of all requirements that pass a filter."""
        return table(self._graph, chosen, offset=offset, limit=limit)

    def branches(self, id: str | None, *, limit: int = 200) -> tuple[tuple[Branch, ...], int]:
        """The requirements directly below one, or at the top, and their number."""
        return branches(self._graph, id, limit=limit)

    # Single requirements

    def requirement(self, id: str, *, offset: int = 0, limit: int | None = None) -> RequirementDetail:
        """Everything about a requirement, with a page of its children."""
        if (copy := find_copy(self._graph, id.strip())) is not None:
            return copy_full(self._graph, copy)
        node = self.resolve(id)
        broken = self._graph.derived("broken_by_source", _broken_by_source)
        return requirement_full(self._graph, node, broken.get(node.id, ()), offset=offset, limit=limit)

    def hierarchy(self, id: str, *, offset: int = 0, limit: int | None = None) -> Hierarchy:
        """All ancestors of the requirement, its direct children, and the other children of its parents."""
        if (copy := find_copy(self._graph, id.strip())) is not None:
            return self._hierarchy_of_copy(copy)
        node = self.resolve(id)
        parents = list(self._above(node.id))
        siblings: dict[str, Node] = {}
        for parent in parents:
            siblings.update((child.id, child) for child in self._below(parent.id) if child.id != node.id)
        own = requirement_summary(node)
        copies = (each.node for each in copies_of(self._graph, node))
        children = _sorted_summaries((*self._below(node.id), *copies))
        return Hierarchy(
            id=own.id,
            title=own.title,
            level=own.level,
            status=own.status,
            ancestors=tuple(requirement_summary(ancestor) for ancestor in self._ancestors(node.id)),
            children=children[offset : None if limit is None else offset + limit],
            children_total=len(children),
            siblings=_sorted_summaries(siblings.values()),
            siblings_total=len(siblings),
        )

    def _hierarchy_of_copy(self, copy: Copy) -> Hierarchy:
        own, declaring = requirement_summary(copy.node), copy.declaring
        above = (declaring, *self._ancestors(declaring.id))
        others = _sorted_summaries(each.node for each in copies_of(self._graph, declaring) if each.id != copy.id)
        return Hierarchy(
            id=own.id,
            title=own.title,
            level=own.level,
            status=own.status,
            ancestors=tuple(map(requirement_summary, above)),
            children=(requirement_summary(copy.template),),
            children_total=1,
            siblings=others,
            siblings_total=len(others),
        )

    def _ancestors(self, id: str) -> Iterator[Node]:
        graph = self._graph

        def is_requirement(id: str) -> bool:
            return (node := graph.get_node(id)) is not None and node.kind is NodeKind.REQUIREMENT

        for ancestor in reached(graph, (id,), HIERARCHY, scope=is_requirement):
            if (node := graph.get_node(ancestor)) is not None:
                yield node

    def _above(self, id: str) -> Iterable[Node]:
        return (node for node in self._graph.iter_parents(id, HIERARCHY) if node.kind is NodeKind.REQUIREMENT)

    def _below(self, id: str) -> Iterable[Node]:
        return (node for node in self._graph.iter_children(id, HIERARCHY) if node.kind is NodeKind.REQUIREMENT)

    # Finding

    def search(self, query: SearchQuery, *, offset: int = 0, check: Check = lambda: None) -> RequirementPage:
        limit = query.limit
        matches = self.search_matches(query.query, field=query.field, regex=query.regex, again=offset > 0, check=check)
        page = tuple(scored_summary(match) for match in matches.found[offset : offset + limit])
        return RequirementPage(
            results=page,
            related=tuple(map(scored_summary, matches.related)) if offset == 0 else (),
            count=len(page),
            total=len(matches.found),
            truncated=offset + limit < len(matches.found),
            notes=matches.notes,
            indexed=matches.indexed,
        )

    def search_matches(
        self,
        query: str,
        *,
        field: str = "all",
        regex: bool = False,
        within: AbstractSet[str] | None = None,
        again: bool = False,
        check: Check = lambda: None,
    ) -> Matches:
        """The one ranking behind search, scoped search, discovery and cursors. `within` limits it to some ids; `again`
        asks for another page of the same question."""
        if field != "all" or regex:
            return Matches(self._search.find(query, field=field, regex=regex, within=within, check=check))
        return self._search.ranked(query, within=within, again=again, check=check)


def _status(graph: Graph) -> GraphStatus:
    """The figures of one state of the graph."""
    counts = {**graph.node_counts(), "file": sum(1 for _ in graph.memory.files())}
    malformed = _malformed(graph)
    return GraphStatus(
        is_stale=graph.state.is_stale,
        last_refresh=graph.state.last_refresh,
        node_counts=counts,
        total_nodes=sum(counts.values()),
        root_count=graph.root_count(),
        has_orphans=coverage.orphan_count(graph) > 0,
        has_broken_references=len(graph.memory.broken) > 0,
        broken_reference_count=len(graph.memory.broken),
        has_unresolved_references=len(graph.memory.broken) > malformed,
        has_malformed_references=malformed > 0,
    )


def _malformed(graph: Graph) -> int:
    return sum(1 for each in graph.memory.broken if each.fault == "malformed")


def _note(base: str | None, *compared: git.ChangedLines) -> str | None:
    """The limits of the counts of changes."""
    notes = [] if base else ["There is no branch main or master to compare with."]
    if unknown := sorted({path for lines in compared for path in lines.not_compared}):
        shown = ", ".join(unknown[:5]) + (", ..." if len(unknown) > 5 else "")
        notes.append(f"{counted(len(unknown), 'file')} not compared, because git has a filter for them: {shown}.")
    return " ".join(notes) or None


def _broken_by_source(graph: Graph) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for reference in sorted(graph.memory.broken, key=lambda each: (each.path, each.line)):
        found[reference.source_id] = (*found.get(reference.source_id, ()), reference.target_id)
    return found


def _sorted_summaries(nodes: Iterable[Node]) -> tuple[RequirementSummary, ...]:
    return tuple(requirement_summary(node) for node in sorted(nodes, key=lambda node: node.id))
