"""The tests of one requirement, the assertions that they name, and their last results."""

from collections.abc import Mapping
from typing import Any

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind
from clew.trace.coverage import percent
from clew.trace.find.results import Acceptance, CitingTest, CoverageByTests, JourneyOfRequirement, ResultOfTest
from clew.trace.find.summaries import assertion_text
from clew.trace.read.assertions import citations_of, live_assertions_of
from clew.trace.read.copies import Copy
from clew.trace.read.serialize import place


class TestCase(msgspec.Struct, frozen=True):
    """A test with the assertions it names and its results."""

    __test__ = False

    node: Node
    labels: tuple[str, ...]
    results: tuple[Node, ...]


def tests_of(graph: Graph, id: str) -> tuple[TestCase, ...]:
    """The tests that cite a requirement, by id. It follows only its edges, so the cost does not depend on other
    tests."""
    labels: dict[str, dict[str, None]] = {}
    nodes: dict[str, Node] = {}
    for cited in citations_of(graph, id):
        if cited.is_test:
            nodes[cited.by.id] = cited.by
            labels.setdefault(cited.by.id, {}).update(dict.fromkeys(cited.edge.labels))
    return tuple(
        TestCase(
            nodes[test],
            tuple(sorted(labels[test])),
            tuple(child for child in graph.iter_children(test) if child.kind is NodeKind.TEST_RESULT),
        )
        for test in sorted(nodes)
    )


class RequirementTests:
    """Evidence of tests for one requirement; the tests are shown page by page."""

    def __init__(self, graph: Graph, requirement: Node, copy: Copy | None = None) -> None:
        """The tests of a copy of a template are those of the template."""
        metrics = graph.metrics(requirement.id)
        if copy is not None:
            metrics = _narrowed(metrics, copy)
        untested = frozenset(metrics["untested_labels"])
        assertions = live_assertions_of(graph, requirement.id)
        if copy is not None:
            assertions = tuple(_copied(part, copy) for part in assertions if part.get_field("label") in copy.labels)
        gaps = tuple(part for part in assertions if part.get_field("label") in untested)
        self._graph = graph
        self._tests = tests_of(graph, requirement.id)
        self._whole = CoverageByTests(
            success=True,
            req_id=requirement.id if copy is None else copy.id,
            title=requirement.title,
            test_nodes=(),
            result_nodes=(),
            covered_assertions=tuple(part.id for part in assertions if part.get_field("label") not in untested),
            uncovered_assertions=tuple(part.id for part in gaps),
            uncovered_detail=tuple(assertion_text(part) for part in gaps),
            total_assertions=metrics["total_assertions"],
            covered_count=metrics["tested"],
            coverage_pct=metrics["tested_pct"],
            referenced_pct=metrics["tested_pct"],
            tested_breakdown={
                "passed": len(metrics["passed_labels"]),
                "failed": len(metrics["failed_labels"]),
                "awaiting_result": len(metrics["awaiting_labels"]),
            },
            tests_total=len(self._tests),
            uat=_acceptance(graph, requirement, assertions),
        )

    def page(self, offset: int, count: int) -> CoverageByTests:
        page = self._tests[offset : offset + count]
        return msgspec.structs.replace(
            self._whole,
            test_nodes=tuple(self._citing_test(test) for test in page),
            result_nodes=tuple(_result(result, test.node.id) for test in page for result in test.results),
        )

    def _citing_test(self, test: TestCase) -> CitingTest:
        node = test.node
        return CitingTest(
            id=node.id,
            label=node.title,
            name=node.get_field("function") or node.title,
            file=node.source.path if node.source else None,
            line=node.source.line if node.source else None,
            assertion_targets=test.labels,
            verdict=self._graph.evidence.verdict(node.id),
            results=tuple(ResultOfTest(result.id, result.get_field("status", "unknown")) for result in test.results),
        )


def _copied(part: Node, copy: Copy) -> Node:
    return msgspec.structs.replace(part, id=copy.id + part.id.removeprefix(copy.template.id))


def _narrowed(metrics: Mapping[str, Any], copy: Copy) -> Mapping[str, Any]:
    """The figures of a template, limited to the assertions that a copy has."""
    retired = copy.template.get_field("retired_labels", ())
    live = [label for label in copy.labels if label not in retired]
    named = ("untested_labels", "passed_labels", "failed_labels", "awaiting_labels")
    labels = {name: tuple(label for label in metrics[name] if label in live) for name in named}
    tested = len(live) - len(labels["untested_labels"])
    return {**labels, "total_assertions": len(live), "tested": tested, "tested_pct": percent(tested, len(live))}


def _acceptance(graph: Graph, requirement: Node, assertions: tuple[Node, ...]) -> Acceptance:
    """Acceptance of a requirement by user journeys. A journey that validates the whole requirement names no
    assertion."""
    journeys: dict[str, Node] = {}
    covered: set[str] = set()
    passed: set[str] = set()
    failed: set[str] = set()
    for cited in citations_of(graph, requirement.id):
        if cited.by.kind is not NodeKind.USER_JOURNEY:
            continue
        journeys[cited.by.id] = cited.by
        covered.update(cited.edge.labels)
        verdict = graph.evidence.verdict(cited.by.id)
        (passed if verdict == "passed" else failed if verdict in ("failed", "error") else set()).update(
            cited.edge.labels
        )
    own = [part for part in assertions if part.get_field("label") in covered]
    valid = [part for part in own if part.get_field("label") in passed - failed]
    return Acceptance(
        jny_nodes=tuple(
            JourneyOfRequirement(
                id, node.title, node.source.path if node.source else None, graph.evidence.verdict(id) or "unverified"
            )
            for id, node in sorted(journeys.items())
        ),
        covered_assertions=tuple(part.id for part in own),
        covered_count=len(own),
        referenced_pct=percent(len(own), len(assertions)),
        validated_pct=percent(len(valid), len(assertions)),
        validated_assertions=tuple(part.id for part in valid),
        failed_assertions=tuple(part.id for part in own if part.get_field("label") in failed),
    )


def _result(node: Node, test_id: str) -> ResultOfTest:
    return ResultOfTest(
        id=node.id,
        status=node.get_field("status", "unknown"),
        test_id=test_id,
        message=node.get_field("message") or None,
        source=place(node),
    )
