"""Questions that list: nodes by kind and keyword, gaps, tests, subtrees, and searches within a part of the hierarchy.

Every list is cut to a page here; the surfaces say where a page begins and how long it may be.

Gaps are what is missing or loose: assertions without a test, citations without a target, nodes that cite nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any, Protocol

import msgspec
from msgspec import UNSET

from clew.graph.graph import Graph
from clew.graph.model import BrokenReference, Node, NodeKind
from clew.text.display import shortened
from clew.trace.coverage import is_counted, is_expected, live_labels
from clew.trace.find import results as results_find
from clew.trace.find.keywords import WordIndex, matching, searchable_text, title_text
from clew.trace.find.minimize import DEFAULT_EDGE_KINDS, minimize, superseded_by
from clew.trace.find.patterns import may_match
from clew.trace.find.query import edge_kinds, listed, node_kinds, parse, sorted_nodes, text_matcher
from clew.trace.find.requests import (
    AssertionDiscoveryQuery,
    AssertionQuery,
    BrokenReferenceQuery,
    CoverageQuery,
    DiscoveryQuery,
    GapQuery,
    Lacking,
    MinimalSetQuery,
    NodeQuery,
    OrphanQuery,
    ScopedQuery,
    ScopeQuery,
    SubtreeQuery,
    TitleQuery,
)
from clew.trace.find.scope import Direction, scope
from clew.trace.find.search import Check, Matches, RequirementMatch
from clew.trace.find.summaries import assertion_in_context, node_summary, pruned_summary, scoped_summary
from clew.trace.find.tests import RequirementTests
from clew.trace.find.texts import may_hold
from clew.trace.read.assertions import assertions_of, citations_of, live_assertions_of, owner_of
from clew.trace.read.copies import find_copy
from clew.trace.read.resolve import Resolver
from clew.trace.read.serialize import place, requirement_summary
from clew.trace.read.subtree import SubtreeFormat, SubtreeView, collect, view

CHECKED_EVERY = 500
"""Texts between two looks at whether the caller still waits."""
ORPHAN_KINDS = (NodeKind.TEST, NodeKind.CODE, NodeKind.TEST_RESULT)
_LISTED_KINDS = tuple(kind for kind in NodeKind if kind is not NodeKind.SYMBOL)
"""Functions and classes are listed for those who ask for them."""


class SearchableAssertion(msgspec.Struct, frozen=True, gc=False):
    """The text of one assertion, for searches."""

    node: Node
    owner: str
    """The id of its requirement."""
    folded: str


class Gap(msgspec.Struct, frozen=True, gc=False):
    """An assertion that no test names."""

    assertion: Node
    requirement: Node


def uncovered_assertions(graph: Graph, *, implemented_only: bool = False, source: Lacking = "test") -> tuple[Gap, ...]:
    """All assertions without a test, of requirements that are neither retired nor ideas for later, in the order of ids
    and labels; or only the implemented ones."""

    def of(node: Node | None) -> tuple[Gap, ...] | None:
        if node is None or node.kind is not NodeKind.REQUIREMENT or not (is_counted(node) or is_expected(node)):
            return None
        return tuple(gaps_of(graph, node, implemented_only=implemented_only, source=source)) or None

    return graph.kept.list(
        f"uncovered_assertions:{implemented_only}:{source}",
        lambda graph: {node.id: gaps for node in graph.nodes_by_kind(NodeKind.REQUIREMENT) if (gaps := of(node))},
        lambda graph, id: of(graph.get_node(id)),
        _in_order,
    )


def _in_order(gaps: Mapping[str, tuple[Gap, ...]]) -> tuple[Gap, ...]:
    return tuple([gap for id in sorted(gaps) for gap in gaps[id]])


def gaps_of(graph: Graph, node: Node, *, implemented_only: bool = False, source: Lacking = "test") -> Iterator[Gap]:
    """The gaps of one requirement."""
    lacking: set[str] = set(graph.metrics(node.id)["untested_labels"]) if source != "uat" else set()
    if source != "test":
        lacking |= _without_journey(graph, node)
    if not lacking:
        return
    if implemented_only:
        citations = list(citations_of(graph, node.id))
        lacking = {label for label in lacking if any(each.implements(label) for each in citations)}
    for assertion in assertions_of(graph, node.id):
        if assertion.get_field("label") in lacking:
            yield Gap(assertion, node)


def _without_journey(graph: Graph, node: Node) -> set[str]:
    """The labels that no user journey names."""
    named = {
        label
        for cited in citations_of(graph, node.id)
        if cited.by.kind is NodeKind.USER_JOURNEY
        for label in cited.edge.labels
    }
    return set(live_labels(node)[0]) - named


def broken_references(graph: Graph) -> tuple[BrokenReference, ...]:
    """All citations that name something which does not exist, by place."""
    return graph.derived(
        "sorted_broken_references",
        lambda graph: tuple(
            sorted(graph.memory.broken, key=lambda each: (each.path, each.line, each.source_id, each.target_id))
        ),
    )


def orphaned_nodes(graph: Graph) -> tuple[Node, ...]:
    """Tests, places in code and results that cite nothing, by kind and id."""
    return graph.kept.list("orphaned_nodes", _orphans, _orphan, _by_kind)


def _orphans(graph: Graph) -> dict[str, Node]:
    nodes = (graph.get_node(id) for kind in ORPHAN_KINDS for id in graph.memory.citing_nothing(kind))
    return {node.id: node for node in nodes if node is not None}


def _orphan(graph: Graph, id: str) -> Node | None:
    node = graph.get_node(id)
    return node if node is not None and node.kind in ORPHAN_KINDS and not any(graph.iter_outgoing_edges(id)) else None


def _by_kind(orphans: Mapping[str, Node]) -> tuple[Node, ...]:
    return tuple(sorted(orphans.values(), key=lambda node: (ORPHAN_KINDS.index(node.kind), node.id)))


def orphans_by_kind(graph: Graph) -> dict[str, int]:
    return graph.derived(
        "orphans_by_kind", lambda graph: dict(Counter(node.kind.value for node in orphaned_nodes(graph)))
    )


def _assertion_texts(graph: Graph) -> dict[str, SearchableAssertion]:
    found = ((node.id, _assertion_text(graph, node.id)) for node in graph.nodes_by_kind(NodeKind.ASSERTION))
    return {id: text for id, text in found if text is not None}


def _assertion_text(graph: Graph, id: str) -> SearchableAssertion | None:
    node = graph.get_node(id)
    owner = owner_of(graph, node) if node is not None and node.kind is NodeKind.ASSERTION else None
    return (
        SearchableAssertion(node, owner.id, node.title.casefold()) if node is not None and owner is not None else None
    )


def never() -> None:
    """A check that never interrupts."""


class SearchMatches(Protocol):
    """The one search over requirements; every tool that searches ranks through it."""

    def __call__(
        self,
        query: str,
        *,
        field: str,
        regex: bool,
        within: AbstractSet[str] | None = None,
        again: bool,
        check: Check,
    ) -> Matches: ...


class ScopedMatch(msgspec.Struct, frozen=True):
    match: RequirementMatch
    assertions: tuple[Node, ...] = ()
    """The assertions that match by themselves."""


class TraceQueries:
    def __init__(self, graph: Graph, resolver: Resolver, search: SearchMatches) -> None:
        self._graph = graph
        self._resolver = resolver
        self._search = search
        self._index = WordIndex(graph)

    # Nodes

    def nodes(self, query: NodeQuery) -> Sequence[Node]:
        """The nodes that fit, kind by kind; with keywords the best first, else by id."""
        found: list[Node] = []
        for kind in node_kinds(query.kind) or _LISTED_KINDS:
            if listed(query.keywords):
                found += matching(self._index.words(kind, searchable_text), query.keywords, match_all=query.match_all)
            else:
                found += sorted_nodes(self._graph, kind)
        return _with_fields(found, level=query.level, status=query.status, actor=query.actor)

    def node_page(self, query: NodeQuery, *, offset: int) -> results_find.NodePage:
        return _node_page(self.nodes(query), offset, query.limit)

    def by_title(self, query: TitleQuery, *, offset: int) -> results_find.NodePage:
        """Nodes whose title has the keywords."""
        found: list[Node] = []
        for kind in node_kinds(query.kind) or (NodeKind.REQUIREMENT,):
            found += matching(self._index.words(kind, title_text), query.keywords, match_all=query.match_all)
        return _node_page(found, offset, query.limit)

    def assertions_by_keywords(self, query: AssertionQuery, *, offset: int) -> results_find.AssertionPage:
        """Assertions whose text has the keywords."""
        words = self._index.words(NodeKind.ASSERTION, searchable_text)
        found = matching(words, query.keywords, match_all=query.match_all)
        page = tuple(
            assertion_in_context(node, owner)
            for node in found[offset : offset + query.limit]
            if (owner := owner_of(self._graph, node)) is not None
        )
        return results_find.AssertionPage(assertions=page, count=len(page), total=len(found))

    def requirements(
        self, *, root_id: str | None = None, level: str = "", status: str = "", gaps_only: bool = False
    ) -> Sequence[Node]:
        """Requirements by id: all, or those at and below one; of one level and status if these are given; or only those
        with an assertion without a test, or with a failed one."""
        found = _with_fields(sorted_nodes(self._graph, NodeKind.REQUIREMENT), level=level, status=status)
        if root_id is not None:
            inside = scope(self._graph, self._resolver.requirement(root_id), Direction.DESCENDANTS)
            found = [node for node in found if node.id in inside]
        if gaps_only:
            found = [node for node in found if _has_gap(self._graph.metrics(node.id))]
        return found

    # Tests and gaps

    def tests(self, query: CoverageQuery) -> RequirementTests:
        if (copy := find_copy(self._graph, query.req_id.strip())) is not None:
            return RequirementTests(self._graph, copy.template, copy)
        return RequirementTests(self._graph, self._resolver.requirement(query.req_id))

    def gaps(self, query: GapQuery) -> Sequence[Gap]:
        """Assertions that no test, or no user journey, names: of one requirement, or of all."""
        if query.req_id is None:
            return uncovered_assertions(self._graph, implemented_only=query.implemented_only, source=query.source)
        node = self._resolver.requirement(query.req_id)
        return tuple(gaps_of(self._graph, node, implemented_only=query.implemented_only, source=query.source))

    def gap_page(
        self, gaps: Sequence[Gap], req_id: str | None, *, offset: int, limit: int
    ) -> results_find.UncoveredPage:
        page = gaps[offset : offset + limit]
        asked = None if req_id is None else self._resolver.requirement(req_id)
        own = None if asked is None else self._requirement_gap(asked)
        return results_find.UncoveredPage(
            assertions=tuple(assertion_in_context(gap.assertion, gap.requirement) for gap in page),
            requirements=tuple(
                self._requirement_gap(node) for node in {gap.requirement.id: gap.requirement for gap in page}.values()
            ),
            count=len(page),
            total=len(gaps),
            req_id=None if asked is None else asked.id,
            title=UNSET if own is None else own.title,
            total_assertions=UNSET if own is None else own.total_assertions,
            uncovered_count=UNSET if own is None else own.uncovered_count,
            uncovered_labels=UNSET if own is None else own.uncovered_labels,
        )

    def _requirement_gap(self, node: Node) -> results_find.RequirementGap:
        metrics = self._graph.metrics(node.id)
        labels: tuple[str, ...] = metrics["untested_labels"]
        status = node.get_field("status", "Unknown")
        return results_find.RequirementGap(
            node.id, node.title, metrics["total_assertions"], len(labels), labels, status
        )

    def broken_references(self, query: BrokenReferenceQuery, *, offset: int) -> results_find.BrokenPage:
        found = broken_references(self._graph)
        page = tuple(
            results_find.BrokenItem(
                source_id=each.source_id,
                target_id=each.target_id,
                edge_kind=each.edge_kind.value,
                fault=each.fault,
                path=each.path,
                line=each.line,
            )
            for each in found[offset : offset + query.limit]
        )
        return results_find.BrokenPage(broken_references=page, count=len(page), total=len(found))

    def orphaned_nodes(self, query: OrphanQuery, *, offset: int) -> results_find.OrphanPage:
        found = orphaned_nodes(self._graph)
        page = found[offset : offset + query.limit]
        return results_find.OrphanPage(
            orphans=tuple(results_find.Orphan(node.id, node.kind.value, node.title, place(node)) for node in page),
            count=len(page),
            total=len(found),
            by_kind=orphans_by_kind(self._graph),
        )

    # Parts of the hierarchy

    def subtree(self, query: SubtreeQuery) -> SubtreeView:
        root = self._resolver.node(query.root_id)
        kinds = node_kinds(query.include_kinds)
        return view(collect(self._graph, root, depth=query.depth, kinds=kinds), root, SubtreeFormat(query.format))

    def minimal_set(self, query: MinimalSetQuery, *, offset: int) -> results_find.MinimalSet:
        """The most specific of these requirements. The first page also lists the others, each with the one that
        supersedes it."""
        wanted, limit = edge_kinds(query.edge_kinds or DEFAULT_EDGE_KINDS), query.limit
        found = {id: self._resolver.find_requirement(id) for id in dict.fromkeys(query.req_ids)}
        members = {node.id: node for node in found.values() if node is not None}
        divided = minimize(self._graph, members.values(), wanted)
        shown = divided.pruned[:limit] if offset == 0 else ()
        return results_find.MinimalSet(
            minimal_set=tuple(requirement_summary(node) for node in divided.minimal[offset : offset + limit]),
            pruned=tuple(
                pruned_summary(node, superseded_by(self._graph, node, members.keys(), wanted)) for node in shown
            ),
            not_found=tuple(shortened(id) for id, node in found.items() if node is None),
            stats={
                "input_count": len(query.req_ids),
                "minimal_count": len(divided.minimal),
                "pruned_count": len(divided.pruned),
            },
            total=len(divided.minimal),
        )

    def scoped_matches(self, query: ScopeQuery, *, again: bool = False, check: Check = never) -> list[ScopedMatch]:
        """The requirements within a scope that match, best first; `again` where another page of them is asked for."""
        inside = scope(self._graph, self._resolver.node(query.scope_id), Direction(query.direction))
        matches = self._search(
            query.query, field=query.field, regex=query.regex, within=inside, again=again, check=check
        ).found
        if not query.include_assertions:
            return [ScopedMatch(match) for match in matches]
        by_text = self._matching_assertions(query, inside, check)
        found = [ScopedMatch(match, tuple(by_text.pop(match.node.id, ()))) for match in matches]
        # What is left matches by its assertions only: it comes after everything that matches by itself.
        least = found[-1].match.score if found else 1.0
        for id in sorted(by_text):
            node = self._graph.get_node(id)
            if node is not None:
                found.append(ScopedMatch(RequirementMatch(node, least), tuple(by_text[id])))
        return found

    def _matching_assertions(self, query: ScopeQuery, inside: frozenset[str], check: Check) -> dict[str, list[Node]]:
        """By requirement, the assertions whose own text matches the query, in the order of the file."""
        matches = folded_matcher(query.query, regex=query.regex)
        texts = self._graph.kept.list("assertion_texts", _assertion_texts, _assertion_text, dict)
        words = self._index.words(NodeKind.ASSERTION, title_text)
        narrowed = may_match(query.query, words) if query.regex else may_hold(parse(query.query), words)
        found: dict[str, list[Node]] = {}
        for at, id in enumerate(texts if narrowed is None else narrowed):
            if at % CHECKED_EVERY == 0:
                check()
            text = texts.get(id)
            if text is not None and text.owner in inside and matches(text):
                found.setdefault(text.owner, []).append(text.node)
        for parts in found.values():
            parts.sort(key=lambda part: part.source.line if part.source else 0)
        return found

    def scoped_page(self, query: ScopedQuery, *, offset: int, check: Check = never) -> results_find.ScopedPage:
        found = self.scoped_matches(query, again=offset > 0, check=check)
        page = tuple(scoped_summary(each.match, each.assertions) for each in found[offset : offset + query.limit])
        return results_find.ScopedPage(
            results=page,
            scope_id=self._resolver.node(query.scope_id).id,
            direction=query.direction,
            count=len(page),
            total=len(found),
        )

    def discover(self, query: DiscoveryQuery, *, offset: int, check: Check = never) -> results_find.Discovered:
        """The most specific requirements of a scoped search, and those they supersede."""
        wanted, limit = edge_kinds(query.edge_kinds or DEFAULT_EDGE_KINDS), query.limit
        found = {each.match.node.id: each for each in self.scoped_matches(query, again=offset > 0, check=check)}
        divided = minimize(self._graph, (each.match.node for each in found.values()), wanted)
        page = [found[node.id] for node in divided.minimal[offset : offset + limit]]
        shown = divided.pruned[:limit] if offset == 0 else ()
        return results_find.Discovered(
            results=tuple(scoped_summary(each.match, each.assertions) for each in page),
            pruned=tuple(
                pruned_summary(node, superseded_by(self._graph, node, found.keys(), wanted)) for node in shown
            ),
            scope_id=self._resolver.node(query.scope_id).id,
            direction=query.direction,
            stats={
                "candidate_count": len(found),
                "minimal_count": len(divided.minimal),
                "pruned_count": len(divided.pruned),
            },
            total=len(divided.minimal),
        )

    def discover_assertions(
        self, query: AssertionDiscoveryQuery, *, offset: int, check: Check = never
    ) -> results_find.DiscoveredAssertions:
        """The assertions of matching requirements; those whose own text matches come first."""
        inside = None
        if query.scope_id:
            inside = scope(self._graph, self._resolver.node(query.scope_id), Direction(query.direction))
        found = self._search(
            query.query, field=query.field, regex=query.regex, within=inside, again=offset > 0, check=check
        ).found
        if query.scope_id:
            kinds = edge_kinds(query.edge_kinds or DEFAULT_EDGE_KINDS)
            specific = {node.id for node in minimize(self._graph, (each.node for each in found), kinds).minimal}
            found = [each for each in found if each.node.id in specific]
        direct = text_matcher(query.query, regex=query.regex)
        parts = [(match, part) for match in found for part in live_assertions_of(self._graph, match.node.id)]
        ranked = sorted(
            ((match, part, direct(part.title)) for match, part in parts), key=lambda each: (not each[2], -each[0].score)
        )
        page = tuple(_discovered(*each) for each in ranked[offset : offset + query.limit])
        stats = {"requirements_matched": len(found), "assertions_returned": len(page)}
        return results_find.DiscoveredAssertions(assertions=page, stats=stats, total=len(ranked))


DIRECT_SCORE = 50
"""The additional points of an assertion that matches by itself."""


def _discovered(match: RequirementMatch, part: Node, is_direct: bool) -> results_find.DiscoveredAssertion:
    return results_find.DiscoveredAssertion(
        id=part.id,
        label=part.get_field("label", ""),
        text=part.title,
        requirement_id=match.node.id,
        requirement_title=match.node.title,
        level=match.node.get_field("level", "Unknown"),
        score=round(match.score + (DIRECT_SCORE if is_direct else 0), 3),
        direct_match=is_direct,
    )


@lru_cache(maxsize=1_000)
def _folded(value: object) -> str:
    """The level of a section is a number."""
    return "" if value is None else str(value).casefold()


def _with_fields(nodes: Sequence[Node], **wanted: str) -> Sequence[Node]:
    """The nodes whose fields have these values; empty values match all."""
    for name, value in wanted.items():
        if folded := _folded(value.strip()):
            nodes = [node for node in nodes if _folded(node.fields.get(name)) == folded]
    return nodes


def folded_matcher(query: str, *, regex: bool) -> Callable[[SearchableAssertion], bool]:
    """A test for assertions that match a query by themselves. Plain words, which nearly every query is, are only looked
    for in the text."""
    parsed = None if regex else parse(query)
    if parsed is not None and parsed.is_plain and not any(group[0].whole_keyword for group in parsed.groups):
        asked = [group[0].text for group in parsed.groups]
        return lambda text: all(word in text.folded for word in asked)
    matches = text_matcher(query, regex=regex)
    return lambda text: matches(text.node.title)


def _has_gap(metrics: Mapping[str, Any]) -> bool:
    return bool(metrics["untested_labels"] or metrics["failed_labels"])


def _node_page(found: Sequence[Node], offset: int, limit: int) -> results_find.NodePage:
    page = tuple(node_summary(node) for node in found[offset : offset + limit])
    return results_find.NodePage(results=page, count=len(page), total=len(found))
