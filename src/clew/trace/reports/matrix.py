"""The traceability matrix: every requirement and assertion with its implementations and tests."""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node, NodeKind
from clew.text.controls import csv_cell, printable
from clew.text.display import counted
from clew.trace.coverage import is_expected, percent, proof
from clew.trace.read.assertions import RequirementCitation, citations_of, live_assertions_of, written
from clew.trace.read.serialize import place


class Citing(msgspec.Struct, frozen=True):
    """A node that implements or verifies something."""

    id: str
    kind: str
    title: str
    source: str | None
    verdict: str | None = None
    """Of a test: what its results say together; null where there are none."""


class Parent(msgspec.Struct, frozen=True):
    """A requirement above another one."""

    id: str
    edge_kind: str
    written: str
    """As a reference: REQ-p00001-A+B."""


class AssertionRow(msgspec.Struct, frozen=True):
    id: str
    label: str
    text: str
    implemented_by: tuple[Citing, ...]
    """The nodes that name it. Those that implement the requirement as a whole are listed there."""
    verified_by: tuple[Citing, ...]
    is_implemented: bool
    proof: str
    """passed, failed, awaiting_result or untested."""


class MatrixRow(msgspec.Struct, frozen=True):
    id: str
    title: str
    level: str
    status: str
    source: str | None
    parents: tuple[Parent, ...]
    implemented_by: tuple[Citing, ...]
    """The nodes that cite it as a whole."""
    verified_by: tuple[Citing, ...]
    assertions: tuple[AssertionRow, ...]
    tested: int
    implemented: int
    tier: str
    """full, partial, failing or missing: how far its assertions are tested."""


class MatrixTotals(msgspec.Struct, frozen=True):
    requirements: int
    assertions: int
    implemented: int
    implemented_pct: float | None
    """This and the others are null where there is no assertion to cover."""
    tested: int
    tested_pct: float | None
    validated: int | None
    """Null where no test results were read."""
    validated_pct: float | None
    failed: int | None


class LevelTotals(MatrixTotals, frozen=True, kw_only=True):
    level: str


class Matrix(msgspec.Struct, frozen=True):
    project: str
    rows: tuple[MatrixRow, ...]
    totals: MatrixTotals
    levels: tuple[LevelTotals, ...]


def matrix(graph: Graph, project: str, requirements: Sequence[Node]) -> Matrix:
    return Matrix(
        project=project,
        rows=tuple(_row(graph, node) for node in requirements),
        totals=totals(graph, _counted(requirements)),
        levels=totals_by_level(graph, _counted(requirements)),
    )


def _counted(requirements: Sequence[Node]) -> Sequence[Node]:
    """The requirements whose status expects coverage; all of them if none does."""
    return [node for node in requirements if is_expected(node)] or requirements


def totals(graph: Graph, requirements: Iterable[Node]) -> MatrixTotals:
    """Sums of the figures that each requirement has by itself."""
    metrics = [graph.metrics(node.id) for node in requirements]
    assertions = _sum(metrics, "total_assertions")
    known = graph.evidence.has_results()
    validated = sum(len(each["passed_labels"]) for each in metrics) if known else None

    def share(part: int | None) -> float | None:
        return percent(part, assertions) if assertions and part is not None else None

    implemented, tested = _sum(metrics, "implemented"), _sum(metrics, "tested")
    return MatrixTotals(
        requirements=len(metrics),
        assertions=assertions,
        implemented=implemented,
        implemented_pct=share(implemented),
        tested=tested,
        tested_pct=share(tested),
        validated=validated,
        validated_pct=share(validated),
        failed=sum(len(each["failed_labels"]) for each in metrics) if known else None,
    )


def totals_by_level(graph: Graph, requirements: Iterable[Node]) -> tuple[LevelTotals, ...]:
    by_level: dict[str, list[Node]] = {}
    for node in requirements:
        by_level.setdefault(node.get_field("level", "Unknown"), []).append(node)
    return tuple(
        LevelTotals(**msgspec.structs.asdict(totals(graph, nodes)), level=level)
        for level, nodes in sorted(by_level.items())
    )


def _sum(metrics: Iterable[Mapping[str, Any]], name: str) -> int:
    return sum(each[name] for each in metrics)


def _row(graph: Graph, node: Node) -> MatrixRow:
    metrics = graph.metrics(node.id)
    citations = sorted(citations_of(graph, node.id), key=lambda each: (each.by.kind.value, each.by.id))
    whole = [each for each in citations if not each.edge.labels]
    return MatrixRow(
        id=node.id,
        title=node.title,
        level=node.get_field("level", "Unknown"),
        status=node.get_field("status", "Unknown"),
        source=place(node),
        parents=_parents(graph, node),
        implemented_by=_implementing(graph, whole),
        verified_by=_verifying(graph, whole),
        assertions=tuple(_assertion(graph, part, citations, metrics) for part in live_assertions_of(graph, node.id)),
        tested=metrics["tested"],
        implemented=metrics["implemented"],
        tier=metrics["tier"],
    )


def _parents(graph: Graph, node: Node) -> tuple[Parent, ...]:
    citing = (edge for edge in graph.iter_outgoing_edges(node.id) if edge.kind is not EdgeKind.STRUCTURES)
    edges = sorted(citing, key=lambda edge: (edge.target, edge.labels))
    return tuple(Parent(edge.target, edge.kind.value, written(graph, edge)) for edge in edges)


def _assertion(
    graph: Graph, part: Node, citations: Sequence[RequirementCitation], metrics: Mapping[str, Any]
) -> AssertionRow:
    label = part.get_field("label", "")
    naming = [each for each in citations if each.names(label)]
    return AssertionRow(
        id=part.id,
        label=label,
        text=part.title,
        implemented_by=_implementing(graph, naming),
        verified_by=_verifying(graph, naming),
        is_implemented=any(each.implements(label) for each in citations),
        proof=proof(metrics, label),
    )


def _implementing(graph: Graph, citations: Iterable[RequirementCitation]) -> tuple[Citing, ...]:
    """The implementing code and requirements, each once, also if it cites in two ways."""
    kinds = (EdgeKind.IMPLEMENTS, EdgeKind.REFINES, EdgeKind.SATISFIES)
    return _unique(graph, (each.by for each in citations if not each.is_test and each.edge.kind in kinds))


def _verifying(graph: Graph, citations: Iterable[RequirementCitation]) -> tuple[Citing, ...]:
    return _unique(graph, (each.by for each in citations if each.is_test or each.by.kind is NodeKind.USER_JOURNEY))


def _unique(graph: Graph, nodes: Iterable[Node]) -> tuple[Citing, ...]:
    return tuple(
        Citing(node.id, node.kind.value, node.title, place(node), graph.evidence.verdict(node.id))
        for node in {node.id: node for node in nodes}.values()
    )


PROOFS = {
    "passed": "passed",
    "failed": "failed",
    "awaiting_result": "not run",
    "untested": "no test",
}
"""Names of the states of an assertion by its tests."""


def figures(totals: MatrixTotals) -> tuple[tuple[str, str], ...]:
    """The figures and their names: implemented, tested and passed assertions."""
    return (
        ("implemented", share(totals.implemented, totals.assertions, totals.implemented_pct)),
        ("tested", share(totals.tested, totals.assertions, totals.tested_pct)),
        ("passed", share(totals.validated, totals.assertions, totals.validated_pct)),
    )


def share(part: int | None, whole: int, percent: float | None) -> str:
    if part is None:
        return "no results read"
    if percent is None:
        return "no assertions"
    return f"{part} of {whole} ({percent:.1f} %)"


def cited(citing: Iterable[Citing]) -> str:
    """The citing nodes in one line: requirements and tests by their ids, code by its place, as in every command. A test
    that did not pass is marked."""
    return ", ".join(_one(each) for each in citing)


def _one(citing: Citing) -> str:
    name = citing.source if citing.kind == "code" and citing.source else citing.id
    return name if citing.verdict in (None, "passed") else f"{name} ({citing.verdict})"


_SPECIAL = re.compile(r"([\\|<>\[\]*_`#])")


def as_markdown(matrix: Matrix) -> str:
    lines = [
        f"# Traceability matrix of {_cell(matrix.project)}",
        "",
        f"{counted(matrix.totals.requirements, 'requirement')}, {counted(matrix.totals.assertions, 'assertion')}.",
        "",
        "| level | requirements | implemented | tested | passed |",
        "|---|---|---|---|---|",
    ]
    for level in (*matrix.levels, None):
        name, sums = (level.level, level) if level is not None else ("all", matrix.totals)
        shares = " | ".join(text for _, text in figures(sums))
        lines.append(f"| {_cell(name)} | {sums.requirements} | {shares} |")
    lines += [
        "",
        "| requirement | text | implemented by | verified by | proof |",
        "|---|---|---|---|---|",
    ]
    for row in matrix.rows:
        lines += _lines(row)
    return "\n".join(lines) + "\n"


def _lines(row: MatrixRow) -> list[str]:
    above = ", ".join(parent.written for parent in row.parents)
    about = f"{row.level}, {row.status}" + (f", below {above}" if above else "")
    proof = f"{row.tested}/{len(row.assertions)} tested" if row.assertions else ""
    head = (row.id, row.title, cited(row.implemented_by), cited(row.verified_by), proof)
    first = f"| **{_cell(head[0])}** | **{_cell(head[1])}** ({_cell(about)}) | "
    lines = [first + " | ".join(map(_cell, head[2:])) + " |"]
    for each in row.assertions:
        cells = (each.id, each.text, cited(each.implemented_by), cited(each.verified_by), PROOFS[each.proof])
        lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    return lines


def _cell(text: str) -> str:
    """A text that stays in its cell and means nothing to Markdown."""
    return _SPECIAL.sub(r"\\\1", printable(" ".join(text.split())))


COLUMNS = (
    "requirement",
    "title",
    "level",
    "status",
    "parents",
    "assertion",
    "text",
    "implemented_by",
    "verified_by",
    "proof",
    "source",
)


def as_csv(matrix: Matrix) -> str:
    import csv

    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for row in matrix.rows:
        head = (row.id, row.title, row.level, row.status, " ".join(parent.written for parent in row.parents))
        tail = ("", "", cited(row.implemented_by), cited(row.verified_by), row.tier, row.source or "")
        writer.writerow(map(csv_cell, (*head, *tail)))
        for each in row.assertions:
            proved = (each.label, each.text, cited(each.implemented_by), cited(each.verified_by), each.proof)
            writer.writerow(map(csv_cell, (*head, *proved, row.source or "")))
    return file.getvalue()
