"""Figures over all requirements. Each is computed once for a state of the graph, however often it is asked for, and a
change of the graph costs no more than what it touched."""

from collections.abc import Mapping

import msgspec

from clew.graph.graph import Graph
from clew.graph.kept import SumRow
from clew.graph.model import Node, NodeKind
from clew.trace.coverage.annotate import percent


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


class _Sums(msgspec.Struct, frozen=True):
    """What the requirements of one level add up to."""

    requirements: int
    active: int
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
    total, tested, untested = metrics["total_assertions"], metrics["tested"], len(metrics["untested_labels"])
    return fields.get("level", "Unknown"), (
        1,
        fields.get("role") == "active",
        tested > 0 and not untested,
        tested > 0 and untested > 0,
        metrics["has_failures"],
        total > 0 and metrics["validated"] == total,
        total,
        tested,
        metrics["validated"] or 0,
        untested,
        fields.get("hash_state") == "stale",
    )


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
    total = sum(sums.requirements for sums in levels)
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
            requirements=sums.requirements,
            assertions=sums.assertions,
            tested_assertions=sums.tested_assertions,
            tested_pct=percent(sums.tested_assertions, sums.assertions),
            validated_assertions=sums.validated_assertions if known else None,
            validated_pct=percent(sums.validated_assertions, sums.assertions) if known else None,
        )
        for level, sums in _by_level(graph).items()
    )


def orphan_count(graph: Graph) -> int:
    """Tests and places in code that cite nothing."""
    return graph.derived("orphan_count", _orphan_count)


_CITING = (NodeKind.TEST, NodeKind.CODE, NodeKind.TEST_RESULT)
_ONE: SumRow = ("", (1,))


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
    """Assertions that no test names."""
    return sum(sums.untested_assertions for sums in _by_level(graph).values())
