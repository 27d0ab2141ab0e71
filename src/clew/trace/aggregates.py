"""Figures over all requirements. Each is computed once for a state of the graph, however often it is asked for."""

from collections.abc import Mapping

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import NodeKind
from clew.trace.coverage import percent


class LevelCounts(msgspec.Struct, frozen=True):
    active: Mapping[str, int]
    """Only requirements whose status counts as active in this project."""
    all: Mapping[str, int]


class CoverageCounts(msgspec.Struct, frozen=True):
    total: int
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


def count_by_level(graph: Graph) -> LevelCounts:
    return graph.derived("count_by_level", _count_by_level)


def _count_by_level(graph: Graph) -> LevelCounts:
    active: dict[str, int] = {}
    everything: dict[str, int] = {}
    for node in graph.nodes_by_kind(NodeKind.REQUIREMENT):
        level = node.get_field("level", "Unknown")
        everything[level] = everything.get(level, 0) + 1
        if node.get_field("role") == "active":
            active[level] = active.get(level, 0) + 1
    return LevelCounts(active=dict(sorted(active.items())), all=dict(sorted(everything.items())))


def count_by_coverage(graph: Graph) -> CoverageCounts:
    return graph.derived("count_by_coverage", _count_by_coverage)


def _count_by_coverage(graph: Graph) -> CoverageCounts:
    full = partial = failing = validated = 0
    for node in graph.nodes_by_kind(NodeKind.REQUIREMENT):
        metrics = graph.metrics(node.id)
        if metrics["tested"] and not metrics["untested_labels"]:
            full += 1
        elif metrics["tested"]:
            partial += 1
        failing += metrics["has_failures"]
        validated += metrics["total_assertions"] > 0 and metrics["validated"] == metrics["total_assertions"]
    total = graph.count(NodeKind.REQUIREMENT)
    known = graph.evidence.has_results()
    return CoverageCounts(
        total=total,
        full_coverage=full,
        partial_coverage=partial,
        no_coverage=total - full - partial,
        failing=failing if known else None,
        validated=validated if known else None,
    )


def coverage_by_level(graph: Graph) -> tuple[LevelCoverage, ...]:
    return graph.derived("coverage_by_level", _coverage_by_level)


def _coverage_by_level(graph: Graph) -> tuple[LevelCoverage, ...]:
    sums: dict[str, list[int]] = {}
    for node in graph.nodes_by_kind(NodeKind.REQUIREMENT):
        metrics = graph.metrics(node.id)
        row = sums.setdefault(node.get_field("level", "Unknown"), [0, 0, 0, 0])
        row[0] += 1
        row[1] += metrics["total_assertions"]
        row[2] += metrics["tested"]
        row[3] += metrics["validated"] or 0
    known = graph.evidence.has_results()
    return tuple(
        LevelCoverage(
            level=level,
            requirements=requirements,
            assertions=assertions,
            tested_assertions=tested,
            tested_pct=percent(tested, assertions),
            validated_assertions=validated if known else None,
            validated_pct=percent(validated, assertions) if known else None,
        )
        for level, (requirements, assertions, tested, validated) in sorted(sums.items())
    )


def orphan_count(graph: Graph) -> int:
    """Tests and places in code that cite nothing."""
    return graph.derived("orphan_count", _orphan_count)


def _orphan_count(graph: Graph) -> int:
    kinds = (NodeKind.TEST, NodeKind.CODE, NodeKind.TEST_RESULT)
    return sum(graph.memory.count_citing_nothing(kind) for kind in kinds)


def stale_hash_count(graph: Graph) -> int:
    return graph.derived("stale_hash_count", _stale_hash_count)


def _stale_hash_count(graph: Graph) -> int:
    return sum(1 for node in graph.nodes_by_kind(NodeKind.REQUIREMENT) if node.get_field("hash_state") == "stale")


def uncovered_assertion_count(graph: Graph) -> int:
    """Assertions that no test names."""
    return graph.derived("uncovered_assertion_count", _uncovered_assertion_count)


def _uncovered_assertion_count(graph: Graph) -> int:
    return sum(len(graph.metrics(node.id)["untested_labels"]) for node in graph.nodes_by_kind(NodeKind.REQUIREMENT))
