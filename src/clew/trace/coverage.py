"""Coverage: the assertions of a requirement that are implemented or tested, the results of the tests, and the figures
over all requirements. Each figure is computed once for a state of the graph, and a change of the graph updates only the
nodes it touched.

An assertion is *tested* when a test names it, and *implemented* when code or a requirement names it, or when a
requirement implements the whole of its parent. A test that cites only the requirement counts as a test of it, but
proves no assertion in particular: what is not named is a gap.

A tested assertion is *failed* when a test that names it failed, *validated* when one passed and none failed, and
otherwise awaits a result. Where no results were read at all, nobody knows how many are validated, and none is claimed.

These are the figures of one requirement by itself: what refines it has figures of its own.

Figures of coverage count only requirements whose status expects it, by default the active ones: a draft, an idea or a
retired requirement owes no test. The list of gaps has those of drafts too, so that they can be worked on. An assertion
that is retired (`B. <RETIRED> ...`, `B. [Removed] ...`) is no assertion any more; only its label stays taken.
"""

# Implements: REQ-d00042

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from clew.graph.graph import Graph
from clew.graph.kept import SumRow
from clew.graph.model import EdgeKind, Node, NodeKind
from clew.text.display import counted


class LevelCounts(msgspec.Struct, frozen=True):
    active: Mapping[str, int]
    """The number of those whose status is neither retired nor an idea for later."""
    all: Mapping[str, int]


class CoverageCounts(msgspec.Struct, frozen=True):
    total: int
    """Requirements whose status expects coverage."""
    full_coverage: int
    """Every assertion is named by a test."""
    partial_coverage: int
    no_coverage: int
    failing: int | None
    """Requirements with a failing test; null where no test results were read."""
    validated: int | None = None
    """Requirements of which every assertion is named by a test that passed, and by none that failed; likewise null."""


class LevelCoverage(msgspec.Struct, frozen=True):
    level: str
    requirements: int
    assertions: int
    tested_assertions: int
    tested_pct: float
    validated_assertions: int | None = None
    """Null where no test results were read."""
    validated_pct: float | None = None


class AssertionCounts(msgspec.Struct, frozen=True):
    """All assertions by whether a test is expected of them: `total` is `expected`, `drafts` and `outside` together."""

    total: int
    expected: int
    """Those of requirements whose status expects tests."""
    tested: int
    untested: int
    drafts: int
    """Those of drafts, which owe no test and may have one."""
    drafts_tested: int
    drafts_untested: int
    outside: int
    """Retired assertions, and those of retired requirements and of ideas for later."""

    def describe(self) -> str:
        told = f"tests cover {self.tested:,} of {counted(self.expected, 'assertion')}"
        others = ((self.drafts, "in drafts"), (self.outside, "retired or ideas for later"))
        rest = ", ".join(f"{number:,} {place}" for number, place in others if number)
        return f"{told} that need one; {rest} need none ({self.total:,} in all)" if rest else told


class _Sums(msgspec.Struct, frozen=True):
    """The sums over the requirements of one level."""

    requirements: int
    active: int
    expected: int
    """The number of those that figures of coverage count; the sums below are of these, except for the last two."""
    full: int
    """Every assertion is named by a test."""
    partial: int
    failing: int
    validated: int
    """Every assertion is named by a test that passed."""
    assertions: int
    tested_assertions: int
    validated_assertions: int
    untested_assertions: int
    stale_hashes: int
    all_assertions: int
    """Of all requirements, retired assertions too; likewise below."""
    drafted_assertions: int
    drafted_untested: int


def _by_level(graph: Graph) -> dict[str, _Sums]:
    sums = graph.kept.sum("requirements", _rows, lambda graph, id: _row(graph, graph.get_node(id)))
    return {level: _Sums(*numbers) for level, numbers in sums.items()}


def _rows(graph: Graph) -> dict[str, SumRow]:
    found = ((node.id, _row(graph, node)) for node in graph.nodes_by_kind(NodeKind.REQUIREMENT))
    return {id: row for id, row in found if row is not None}


def _row(graph: Graph, node: Node | None) -> SumRow | None:
    if node is None or node.kind is not NodeKind.REQUIREMENT:
        return None
    fields, metrics = node.fields, graph.metrics(node.id)
    level, is_stale = fields.get("level", "Unknown"), fields.get("hash_state") == "stale"
    is_active = is_counted(node)
    total, tested, untested = metrics["total_assertions"], metrics["tested"], len(metrics["untested_labels"])
    written = len(fields.get("labels", ()))
    if not is_expected(node):
        drafted = (total, untested) if is_active else (0, 0)
        return level, (1, is_active, *(0,) * 8, untested if is_active else 0, is_stale, written, *drafted)
    return level, (
        1,
        is_active,
        1,
        tested > 0 and not untested,
        tested > 0 and untested > 0,
        metrics["has_failures"],
        total > 0 and metrics["validated"] == total,
        total,
        tested,
        metrics["validated"] or 0,
        untested,
        is_stale,
        written,
        0,
        0,
    )


_COUNTED = ("active", "provisional")


def is_counted(node: Node) -> bool:
    """True if a requirement is active: neither retired nor an idea for later."""
    return node.fields.get("role", "active") in _COUNTED


def is_expected(node: Node) -> bool:
    """True if the status of a requirement expects that it is implemented and tested. Where the format does not decide
    that, all but the retired ones are expected."""
    expected: bool | None = node.fields.get("expected")
    return node.fields.get("role") != "retired" if expected is None else expected


def count_by_level(graph: Graph) -> LevelCounts:
    return graph.derived("count_by_level", _count_by_level)


def _count_by_level(graph: Graph) -> LevelCounts:
    levels = _by_level(graph)
    return LevelCounts(
        active={level: sums.active for level, sums in levels.items() if sums.active},
        all={level: sums.requirements for level, sums in levels.items()},
    )


def count_by_coverage(graph: Graph) -> CoverageCounts:
    return graph.derived("count_by_coverage", _count_by_coverage)


def _count_by_coverage(graph: Graph) -> CoverageCounts:
    levels = _by_level(graph).values()
    total = sum(sums.expected for sums in levels)
    full, partial = sum(sums.full for sums in levels), sum(sums.partial for sums in levels)
    known = graph.evidence.has_results()
    return CoverageCounts(
        total=total,
        full_coverage=full,
        partial_coverage=partial,
        no_coverage=total - full - partial,
        failing=sum(sums.failing for sums in levels) if known else None,
        validated=sum(sums.validated for sums in levels) if known else None,
    )


def coverage_by_level(graph: Graph) -> tuple[LevelCoverage, ...]:
    return graph.derived("coverage_by_level", _coverage_by_level)


def _coverage_by_level(graph: Graph) -> tuple[LevelCoverage, ...]:
    known = graph.evidence.has_results()
    return tuple(
        LevelCoverage(
            level=level,
            requirements=sums.expected,
            assertions=sums.assertions,
            tested_assertions=sums.tested_assertions,
            tested_pct=percent(sums.tested_assertions, sums.assertions),
            validated_assertions=sums.validated_assertions if known else None,
            validated_pct=percent(sums.validated_assertions, sums.assertions) if known else None,
        )
        for level, sums in _by_level(graph).items()
        if sums.expected
    )


_CITING = (NodeKind.TEST, NodeKind.CODE, NodeKind.TEST_RESULT)
_ONE: SumRow = ("", (1,))


def orphan_count(graph: Graph) -> int:
    """Tests and places in code that cite nothing."""
    return graph.derived("orphan_count", _orphan_count)


def _orphan_count(graph: Graph) -> int:
    sums = graph.kept.sum("orphans", _orphans, _orphan)
    return sum(number for (number,) in sums.values())


def _orphans(graph: Graph) -> dict[str, SumRow]:
    return {id: _ONE for kind in _CITING for id in graph.memory.citing_nothing(kind)}


def _orphan(graph: Graph, id: str) -> SumRow | None:
    node = graph.memory.get_node(id)
    is_citing = node is not None and node.kind in _CITING
    return _ONE if is_citing and next(graph.memory.iter_outgoing_edges(id), None) is None else None


def stale_hash_count(graph: Graph) -> int:
    return sum(sums.stale_hashes for sums in _by_level(graph).values())


def uncovered_assertion_count(graph: Graph) -> int:
    """Assertions that no test names, of requirements to work on."""
    return sum(sums.untested_assertions for sums in _by_level(graph).values())


def assertion_counts(graph: Graph) -> AssertionCounts:
    return graph.derived("assertion_counts", _assertion_counts)


def _assertion_counts(graph: Graph) -> AssertionCounts:
    levels = _by_level(graph).values()
    total, expected = sum(each.all_assertions for each in levels), sum(each.assertions for each in levels)
    tested = sum(each.tested_assertions for each in levels)
    drafts, open_ = sum(each.drafted_assertions for each in levels), sum(each.drafted_untested for each in levels)
    return AssertionCounts(
        total=total,
        expected=expected,
        tested=tested,
        untested=expected - tested,
        drafts=drafts,
        drafts_tested=drafts - open_,
        drafts_untested=open_,
        outside=total - expected - drafts,
    )


FULL, PARTIAL, FAILING, MISSING = "full", "partial", "failing", "missing"
"""Degrees of a requirement's coverage by tests."""

PASSED, FAILED, AWAITING_RESULT, UNTESTED = "passed", "failed", "awaiting_result", "untested"
"""States of an assertion by its tests."""

EXECUTED, PARTLY_EXECUTED, NOT_EXECUTED, NO_LINE_EVIDENCE = (
    "executed",
    "partly executed",
    "not executed",
    "no line evidence",
)
"""States of a place in code by the reports on executed lines."""


# Looked up once: the figures of all requirements ask for these a hundred thousand times.
_PART, _IMPLEMENTS = EdgeKind.STRUCTURES, EdgeKind.IMPLEMENTS
_TEST, _CODE = NodeKind.TEST, NodeKind.CODE


class RequirementMetrics(msgspec.Struct, frozen=True):
    total_assertions: int
    tested: int
    """Assertions that a test names."""
    tested_pct: float
    implemented: int
    implemented_pct: float
    untested_labels: tuple[str, ...]
    tests: int
    """Tests that cite the requirement or one of its assertions."""
    code: int
    """Places in code that do."""
    validated: int | None
    """Assertions of which a test that names them passed and none failed; null where no results were read."""
    validated_pct: float | None
    passed_labels: tuple[str, ...]
    """The validated assertions."""
    failed_labels: tuple[str, ...]
    awaiting_labels: tuple[str, ...]
    """Tested assertions of which no test passed or failed, because none was run."""
    has_failures: bool
    """Any test that cites the requirement or one of its assertions failed."""
    tier: str
    """full, partial, failing or missing."""


class CodeMetrics(msgspec.Struct, frozen=True):
    line_evidence: str
    """executed, partly executed, not executed, or no line evidence."""
    executable_lines: int | None
    """Of the function or class that the citation belongs to; null if no report covers the file."""
    executed_lines: int | None
    executed_by: tuple[str, ...]
    """Ids of the tests that executed any of these lines, where the report tells tests apart."""


def annotate(graph: Graph, node: Node) -> Mapping[str, Any]:
    """Add the figures of a node: a requirement's coverage, a test's verdict, the executed lines of a place in code."""
    match node.kind:
        case NodeKind.REQUIREMENT:
            return msgspec.structs.asdict(requirement_metrics(graph, node))
        case NodeKind.CODE:
            return msgspec.structs.asdict(code_metrics(graph, node))
        case NodeKind.TEST | NodeKind.USER_JOURNEY:
            return {"verdict": graph.evidence.verdict(node.id)}
        case _:
            return {}


def requirement_metrics(graph: Graph, node: Node) -> RequirementMetrics:
    labels, retired = live_labels(node)
    tested: set[str] = set()
    implemented: set[str] = set()
    passed: set[str] = set()
    failed: set[str] = set()
    tests: set[str] = set()
    code: set[str] = set()
    has_failures = False
    get_node, verdict_of = graph.memory.get_node, graph.evidence.verdict
    for edge in graph.memory.iter_incoming_edges(node.id):
        kind = edge.kind
        if kind is _PART:
            continue
        source = edge.source
        citing = get_node(source)
        if citing is None:
            continue
        if citing.kind is _TEST:
            tests.add(source)
            tested.update(edge.labels)
            verdict = verdict_of(source)
            if verdict == "passed":
                passed.update(edge.labels)
            elif verdict in ("failed", "error"):
                has_failures = True
                failed.update(edge.labels)
        elif kind is _IMPLEMENTS:
            if citing.kind is _CODE:
                code.add(source)
            implemented.update(edge.labels or labels)
    if retired:
        tested, implemented = tested - retired, implemented - retired
        passed, failed = passed - retired, failed - retired
    total, clean = len(labels), passed - failed if failed else passed
    validated = len(clean) if graph.evidence.has_results() else None
    return RequirementMetrics(
        total_assertions=total,
        tested=len(tested),
        tested_pct=percent(len(tested), total),
        implemented=len(implemented),
        implemented_pct=percent(len(implemented), total),
        untested_labels=tuple([label for label in labels if label not in tested]),
        tests=len(tests),
        code=len(code),
        validated=validated,
        validated_pct=percent(validated, total) if validated is not None else None,
        passed_labels=_in_order(labels, clean),
        failed_labels=_in_order(labels, failed),
        awaiting_labels=_in_order(labels, tested - passed - failed),
        has_failures=has_failures,
        tier=tier(len(tested), total, failing=bool(failed)),
    )


def live_labels(node: Node) -> tuple[tuple[str, ...], frozenset[str]]:
    """The labels of the assertions that count, and of the retired ones."""
    labels: tuple[str, ...] = node.fields.get("labels", ())
    retired: tuple[str, ...] = node.fields.get("retired_labels", ())
    if not retired:
        return labels, frozenset()
    return tuple(label for label in labels if label not in retired), frozenset(retired)


def _in_order(labels: tuple[str, ...], wanted: set[str]) -> tuple[str, ...]:
    return tuple([label for label in labels if label in wanted]) if wanted else ()


def code_metrics(graph: Graph, node: Node) -> CodeMetrics:
    source = node.source
    count = graph.evidence.lines(source.path, source.line, source.end_line) if source is not None else None
    if count is None or not count.executable:
        return CodeMetrics(NO_LINE_EVIDENCE, None, None, ())
    if not count.executed:
        evidence = NOT_EXECUTED
    else:
        evidence = EXECUTED if count.executed == count.executable else PARTLY_EXECUTED
    return CodeMetrics(evidence, count.executable, count.executed, count.tests)


def proof(metrics: Mapping[str, Any], label: str) -> str:
    """The state of one assertion by its tests, from the figures of its requirement."""
    if label in metrics["untested_labels"]:
        return UNTESTED
    if label in metrics["failed_labels"]:
        return FAILED
    return PASSED if label in metrics["passed_labels"] else AWAITING_RESULT


def tier(covered: float, total: int, *, failing: bool = False) -> str:
    """The degree of coverage in one word; a failure takes precedence over all others."""
    if failing:
        return FAILING
    if not covered:
        return MISSING
    return FULL if covered >= total else PARTIAL


@lru_cache(1_000)
def percent(part: float, whole: int) -> float:
    """One decimal; 0 where there is nothing to cover."""
    return round(100.0 * part / whole, 1) if whole else 0.0
