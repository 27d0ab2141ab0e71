"""Toolset trace: questions that list. Nodes, tests and gaps, subtrees, and searches within a part of the hierarchy."""

import msgspec

from clew.operation.budget import longest_page
from clew.operation.call import Call
from clew.operation.declare import MaxTokens, Operation, PageCursor, Toolset
from clew.trace.find import results as results_find
from clew.trace.find.requests import (
    AssertionDiscoveryQuery,
    AssertionQuery,
    BrokenReferenceQuery,
    CoverageQuery,
    DiscoveryQuery,
    GapQuery,
    MinimalSetQuery,
    NodeQuery,
    OrphanQuery,
    ScopedQuery,
    ScopeQuery,
    SubtreeQuery,
    TitleQuery,
)
from clew.trace.operations.read import ranking_state
from clew.trace.read.subtree import Subtree


class RankedInScope(ScopeQuery, Operation, toolset=Toolset.TRACE, pages="results"):
    """A search within a part of the hierarchy, whose pages belong to one ranking."""

    def state(self, call: Call) -> str:
        return ranking_state(call, self.query, field=self.field, regex=self.regex)


class QueryNodes(
    NodeQuery,
    Operation,
    tool="query_nodes",
    toolset=Toolset.TRACE,
    title="Nodes by kind and keyword",
    trim=("results",),
    pages="results",
    example={"kind": "requirement", "level": "ops", "keywords": "tide"},
):
    """Lists nodes of any kind: requirements, assertions, tests, places in code, results, journeys, free text. Narrow
    them by keywords, level, status or actor; each may be left out. Summaries, at most `limit` (default 50) a page. For
    a search by relevance call `search`; for assertion texts find_assertions_by_keywords."""

    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results_find.NodePage:
        return call.project.trace.find.node_page(self, offset=call.offset)


class GetTestCoverage(
    CoverageQuery,
    Operation,
    tool="get_test_coverage",
    outlined=True,
    toolset=Toolset.TRACE,
    title="Tests of a requirement",
    trim=("result_nodes", "test_nodes", "uncovered_detail", "covered_assertions", "uncovered_assertions"),
    pages="test_nodes",
    total="tests_total",
    example={"req_id": "REQ-d00006"},
):
    """Lists the tests that cite a requirement (paged), what each names and its last result, and the assertions that are
    covered or not. A test that cites only the whole requirement covers none. For the gaps of all requirements call
    get_uncovered_assertions."""

    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results_find.CoverageByTests:
        tests = call.project.trace.find.tests(self)
        return longest_page(lambda count: tests.page(call.offset, count), self.limit, self.max_tokens)


class GetUncoveredAssertions(
    GapQuery,
    Operation,
    tool="get_uncovered_assertions",
    toolset=Toolset.TRACE,
    title="Assertions without a test",
    trim=("requirements", "assertions"),
    whole=("text",),
    pages="assertions",
    example={"limit": 5},
):
    """Assertions that no test names, with their text and requirement: of one requirement or, without req_id, of all.
    The work list for writing tests; cite the id in the test, as in `Verifies: REQ-d00006-C`. At most `limit` a page.
    implemented_only=true keeps what code or a requirement implements already."""

    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results_find.UncoveredPage:
        find = call.project.trace.find
        gaps = find.gaps(self)
        return longest_page(
            lambda count: find.gap_page(gaps, self.req_id, offset=call.offset, limit=count),
            self.limit,
            self.max_tokens,
        )


class FindAssertions(
    AssertionQuery,
    Operation,
    tool="find_assertions_by_keywords",
    toolset=Toolset.TRACE,
    title="Assertions by keywords",
    trim=("assertions",),
    whole=("text",),
    pages="assertions",
    example={"keywords": ["reject"]},
):
    """Finds assertions whose text has the keywords, in any case and any form of the word, with the requirement each
    belongs to. Use it to find what a test or a piece of code should cite. match_all=false takes any keyword, those with
    most first. At most `limit` a page."""

    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results_find.AssertionPage:
        return call.project.trace.find.assertions_by_keywords(self, offset=call.offset)


class FindByTitle(
    TitleQuery,
    Operation,
    tool="find_by_keywords",
    toolset=Toolset.TRACE,
    title="Requirements by keywords in the title",
    trim=("results",),
    pages="results",
    example={"keywords": ["tide", "table"], "match_all": True},
):
    """Finds requirements whose title has the keywords, in any form of the word (token finds Tokens). match_all=false
    takes any of them, those with most first. Titles only: find_assertions_by_keywords looks into assertions, `search`
    into everything. At most `limit` a page."""

    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results_find.NodePage:
        return call.project.trace.find.by_title(self, offset=call.offset)


class GetBrokenReferences(
    BrokenReferenceQuery,
    Operation,
    tool="get_broken_references",
    toolset=Toolset.TRACE,
    title="Broken references",
    trim=("broken_references",),
    pages="broken_references",
):
    """Citations that name something which does not exist, or not by the grammar of ids: who cites, what is written, why
    it fails, in which file and line. Correct the file, or use mutate_fix_broken_reference. At most `limit` a page, by
    place."""

    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results_find.BrokenPage:
        return call.project.trace.find.broken_references(self, offset=call.offset)


class GetOrphanedNodes(
    OrphanQuery,
    Operation,
    tool="get_orphaned_nodes",
    toolset=Toolset.TRACE,
    title="Tests and code that cite nothing",
    trim=("orphans",),
    pages="orphans",
):
    """Tests, places in code and test results that are tied to no requirement, by kind and id, with how many there are
    of each kind. suggest_links proposes what they may belong to. At most `limit` a page."""

    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results_find.OrphanPage:
        return call.project.trace.find.orphaned_nodes(self, offset=call.offset)


class GetSubtree(
    SubtreeQuery,
    Operation,
    tool="get_subtree",
    toolset=Toolset.TRACE,
    title="Everything below a node",
    example={"root_id": "REQ-p00001", "depth": 1},
):
    """A node and everything below it, each once: requirements and assertions with coverage, or the kinds you name.
    depth limits the levels. format: markdown to read, flat for nodes and edges, nested for a tree. Long subtrees come
    in pages. For one level call get_hierarchy; to walk item by item, open_cursor."""

    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> Subtree:
        graph = call.project.graph
        view = call.project.trace.find.subtree(self)
        pages, state = call.pages(self, strict=True), graph.state.fingerprint
        start = pages.start(state)
        page = longest_page(lambda count: view.page(graph, start, count), self.limit, self.max_tokens)
        end = start + page.count
        if end >= len(view.members):
            return page
        return msgspec.structs.replace(page, truncated=True, next_cursor=pages.cursor_to(end, state))

    def text(self, result: Subtree) -> str:
        """Markdown reads as it is; the other formats are for programs."""
        if result.content is None:
            return msgspec.json.encode(result).decode()
        more = f"\n(More: pass cursor {result.next_cursor})\n" if result.next_cursor else ""
        return result.content + more


class MinimizeRequirementSet(
    MinimalSetQuery,
    Operation,
    tool="minimize_requirement_set",
    toolset=Toolset.TRACE,
    title="Most specific requirements of a set",
    trim=("pruned", "minimal_set", "not_found"),
    pages="minimal_set",
    example={"req_ids": ["REQ-p00001", "REQ-o00001", "REQ-d00002"]},
):
    """Prunes a list of requirements to the most specific: one goes when another of the list is below it. Says what
    supersedes each that goes, and which ids are unknown. Use it before you hand a list on. At most 500 ids; to search
    and prune at once call discover_requirements."""

    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results_find.MinimalSet:
        return call.project.trace.find.minimal_set(self, offset=call.offset)


class ScopedSearch(
    ScopedQuery,
    RankedInScope,
    tool="scoped_search",
    title="Search below or above a node",
    trim=("results",),
    example={"query": "tide", "scope_id": "REQ-p00001", "include_assertions": True},
):
    """Searches only what is below a node (direction=descendants) or above it (ancestors), the node included. The
    query finds exact matches; include_assertions=true also matches single assertions and names them.
    At most `limit` a page. To keep only the most specific hits call discover_requirements."""

    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results_find.ScopedPage:
        return call.project.trace.find.scoped_page(self, offset=call.offset, check=call.check)


class DiscoverRequirements(
    DiscoveryQuery,
    RankedInScope,
    tool="discover_requirements",
    title="Most specific matches below a node",
    trim=("pruned", "results"),
    example={"query": "tide", "scope_id": "REQ-p00001"},
):
    """The most specific matches within a part of the tree, and in `pruned` the broader ones they supersede:
    scoped_search and minimize_requirement_set in one. The best way to find what a ticket is about. At most `limit` a
    page."""

    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results_find.Discovered:
        return call.project.trace.find.discover(self, offset=call.offset, check=call.check)


class DiscoverAssertions(
    AssertionDiscoveryQuery,
    Operation,
    tool="discover_assertions",
    toolset=Toolset.TRACE,
    title="Assertions that fit",
    later=True,
    trim=("assertions",),
    whole=("text",),
    pages="assertions",
    example={"query": "tide"},
):
    """Searches requirements, everywhere or within a part of the tree, and returns their assertions, those that match by
    themselves first. Use it to find what a test or a change is about. At most `limit` a page."""

    cursor: PageCursor = None
    max_tokens: MaxTokens = None

    def run(self, call: Call) -> results_find.DiscoveredAssertions:
        return call.project.trace.find.discover_assertions(self, offset=call.offset, check=call.check)

    def state(self, call: Call) -> str:
        return ranking_state(call, self.query, field=self.field, regex=self.regex)
