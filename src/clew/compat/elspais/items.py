"""The items of a cursor: the results of each kind of query, in the requested size.

| batch size | items |
|---|---|
| -1 | assertions are items of their own, each after its requirement |
| 0 | nodes, each with its assertions |
| 1 | the same, with a preview of what is below |

Of test_coverage the nodes are the tests: with -1 the assertions, each saying whether it is covered and by which tests,
with 0 the tests with the assertions they name, with 1 also their results.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from clew.compat.elspais.cursor import CursorEntry, CursorState
from clew.compat.elspais.queries import CursorRequest
from clew.compat.elspais.results import CursorItem
from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind
from clew.trace.find.results import AssertionText
from clew.trace.find.scope import hierarchy
from clew.trace.find.search import Check
from clew.trace.find.summaries import assertion_text, node_summary
from clew.trace.find.tests import TestCase, tests_of
from clew.trace.operations.find import GetSubtree, GetTestCoverage, GetUncoveredAssertions, QueryNodes, ScopedSearch
from clew.trace.operations.read import GetHierarchy, SearchRequirements
from clew.trace.read.assertions import assertions_of, owner_of
from clew.trace.read.serialize import coverage_summary, place
from clew.trace.service import TraceService

MOST_PREVIEWED = 20
MOST_INLINE = 50
"""Neighbours that an item shows; get_requirement has them all."""
ALONE, INLINE, WITH_CHILDREN = -1, 0, 1


class CursorContents:
    def __init__(self, graph: Graph, trace: TraceService) -> None:
        self._graph = graph
        self._trace = trace
        self._find = trace.find

    def entries(self, asked: CursorRequest, batch_size: int, check: Check) -> tuple[CursorEntry, ...]:
        """All items of a query, in order."""
        query, limit = asked.query, asked.limit
        match query:
            case GetSubtree():
                found = self._subtree(query, batch_size)
            case GetTestCoverage():
                found = self._tests(query, batch_size)
            case GetUncoveredAssertions():
                found = self._gaps(query, batch_size)
            case GetHierarchy():
                found = self._expanded(self._hierarchy(query), batch_size)
            case SearchRequirements():
                found = self._expanded(self._matches(query, limit, check), batch_size)
            case QueryNodes():
                found = self._expanded(map(CursorEntry, self._find.nodes(query)[:limit]), batch_size)
            case ScopedSearch():
                found = self._expanded(self._scoped(query, limit, check), batch_size)
        return tuple(found)

    def _subtree(self, query: GetSubtree, batch_size: int) -> Iterator[CursorEntry]:
        for member in self._find.subtree(msgspec.structs.replace(query, format="nested")).members:
            if member.node.kind is not NodeKind.ASSERTION or batch_size == ALONE or member.depth == 0:
                yield CursorEntry(member.node, depth=member.depth)

    def _hierarchy(self, query: GetHierarchy) -> Iterator[CursorEntry]:
        place = self._trace.hierarchy(query.req_id)
        sections = (("ancestor", place.ancestors), ("child", place.children), ("sibling", place.siblings))
        for section, summaries in sections:
            for summary in summaries:
                node = self._graph.get_node(summary.id)
                if node is not None:
                    yield CursorEntry(node, section=section)

    def _matches(self, query: SearchRequirements, limit: int | None, check: Check) -> Iterator[CursorEntry]:
        matches = self._trace.search_matches(query.query, field=query.field, regex=query.regex, check=check)
        for match in matches.found[:limit]:
            yield CursorEntry(match.node, score=match.score)

    def _scoped(self, query: ScopedSearch, limit: int | None, check: Check) -> Iterator[CursorEntry]:
        for each in self._find.scoped_matches(query, check=check)[:limit]:
            matched = each.assertions if query.include_assertions else None
            yield CursorEntry(each.match.node, score=each.match.score, matched=matched)

    def _tests(self, query: GetTestCoverage, batch_size: int) -> Iterator[CursorEntry]:
        requirement = self._trace.resolve(query.req_id)
        assertions = assertions_of(self._graph, requirement.id)
        tests = tests_of(self._graph, requirement.id)
        if batch_size == ALONE:
            for assertion in assertions:
                naming = tuple(test.node for test in tests if assertion.get_field("label") in test.labels)
                yield CursorEntry(assertion, children=naming)
            return
        for test in tests:
            yield _test(test, assertions, with_results=batch_size == WITH_CHILDREN)

    def _gaps(self, query: GetUncoveredAssertions, batch_size: int) -> Iterator[CursorEntry]:
        gaps = self._find.gaps(query)
        if batch_size == ALONE:
            for gap in gaps:
                yield CursorEntry(gap.assertion)
            return
        by_requirement: dict[str, list[Node]] = {}
        nodes: dict[str, Node] = {}
        for gap in gaps:
            nodes[gap.requirement.id] = gap.requirement
            by_requirement.setdefault(gap.requirement.id, []).append(gap.assertion)
        for id, assertions in by_requirement.items():
            yield CursorEntry(nodes[id], assertions=tuple(assertions))

    def _expanded(self, entries: Iterable[CursorEntry], batch_size: int) -> Iterator[CursorEntry]:
        """With -1, every requirement is followed by its assertions."""
        for entry in entries:
            yield entry
            if batch_size == ALONE and entry.node.kind is NodeKind.REQUIREMENT:
                for assertion in assertions_of(self._graph, entry.node.id):
                    yield CursorEntry(assertion)


def _test(test: TestCase, assertions: Iterable[Node], *, with_results: bool) -> CursorEntry:
    named = tuple(assertion for assertion in assertions if assertion.get_field("label") in test.labels)
    return CursorEntry(test.node, assertions=named, children=test.results if with_results else None)


def written_out(graph: Graph, state: CursorState, start: int, count: int) -> tuple[Mapping[str, Any], ...]:
    """Items as data, from one position on. Counts and neighbours are those of the present graph."""
    entries = state.items[start : start + count]
    return tuple(msgspec.to_builtins(_item(graph, entry, state.batch_size)) for entry in entries)


def _item(graph: Graph, entry: CursorEntry, batch_size: int) -> CursorItem:
    node = entry.node
    is_assertion = node.kind is NodeKind.ASSERTION
    is_requirement = node.kind is NodeKind.REQUIREMENT
    owner = owner_of(graph, node) if is_assertion else None
    assertions = entry.assertions
    if assertions is None and is_requirement and batch_size != ALONE:
        assertions = assertions_of(graph, node.id)
    children = entry.children
    if children is None and is_requirement and batch_size == WITH_CHILDREN:
        children = _below(graph, node)
    return CursorItem(
        id=node.id,
        kind=node.kind.value,
        title=None if is_assertion else node.title,
        text=node.title if is_assertion else None,
        level=node.get_field("level"),
        status=node.get_field("status"),
        source=place(node),
        section=entry.section,
        depth=entry.depth,
        score=entry.score,
        label=node.get_field("label") if is_assertion else None,
        parent_id=owner.id if owner is not None else None,
        parent_title=owner.title if owner is not None else None,
        covered=None if owner is None else node.get_field("label") not in graph.metrics(owner.id)["untested_labels"],
        coverage=coverage_summary(graph, node) if batch_size != ALONE else None,
        assertions=_texts(assertions),
        assertions_total=None if assertions is None else len(assertions),
        matched_assertions=_texts(entry.matched),
        children=None if children is None else tuple(map(node_summary, children[:MOST_PREVIEWED])),
        children_total=None if children is None else len(children),
    )


def _texts(assertions: tuple[Node, ...] | None) -> tuple[AssertionText, ...] | None:
    return None if assertions is None else tuple(map(assertion_text, assertions[:MOST_INLINE]))


def _below(graph: Graph, node: Node) -> tuple[Node, ...]:
    ids = dict.fromkeys(edge.source for edge in hierarchy(graph).below.get(node.id, ()))
    return tuple(child for id in ids if (child := graph.get_node(id)) is not None)
