"""The requirements of all formats as one table: filtered, counted for each filter, sorted, paged."""

# Implements: REQ-d00420

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import HIERARCHY, Node, NodeKind
from clew.trace.read.assertions import assertions_of

Format = Literal["elspais", "openspec", "register"]
Proof = Literal["failing", "missing", "partial", "unrun", "full", "none"]
"""Some test fails; no assertion is tested; some are; all are, but not all of them ran; all passed; no assertions."""
Sort = Literal["id", "title", "level", "status", "proof", "file"]
SORTS: tuple[Sort, ...] = get_args(Sort)
PROOFS: tuple[Proof, ...] = get_args(Proof)

MOST_WORDS = 20


class TableRow(msgspec.Struct, frozen=True, gc=False):
    id: str
    title: str
    level: str
    status: str
    format: Format
    path: str
    line: int
    assertions: int
    implemented: int
    tested: int
    passed: int
    proof: Proof
    folded: str
    """Everything that words are looked for in."""


class TableFilter(msgspec.Struct, frozen=True):
    """Filter of the table; an empty value admits everything."""

    words: str = ""
    level: str = ""
    status: str = ""
    proof: str = ""
    format: str = ""
    file: str = ""
    """A file or folder."""
    sort: Sort = "id"
    descending: bool = False


class Table(msgspec.Struct, frozen=True):
    rows: tuple[TableRow, ...]
    """One page of them."""
    total: int
    """Rows that pass the filter."""
    all: int
    assertions: int
    tested: int
    passed: int
    """These three are sums over the rows that pass."""
    facets: Mapping[str, tuple[tuple[str, int], ...]]
    """For level, status, proof and format: each value with how many rows have it that pass the rest of the filter."""


FACETS: tuple[str, ...] = ("proof", "level", "status", "format")


def table(graph: Graph, chosen: TableFilter, *, offset: int = 0, limit: int = 100) -> Table:
    everything = _rows(graph)
    words = [word.casefold() for word in chosen.words.split()[:MOST_WORDS]]
    found = [row for row in everything if all(word in row.folded for word in words) and _lies_in(row, chosen.file)]
    wanted = {name: getattr(chosen, name) for name in FACETS}
    passing = [row for row in found if _passes(row, wanted)]
    key = _KEYS[chosen.sort]
    passing.sort(key=key, reverse=chosen.descending)
    return Table(
        rows=tuple(passing[offset : offset + limit]),
        total=len(passing),
        all=len(everything),
        assertions=sum(row.assertions for row in passing),
        tested=sum(row.tested for row in passing),
        passed=sum(row.passed for row in passing),
        facets={name: _counts(found, wanted, name) for name in FACETS},
    )


def _rows(graph: Graph) -> Sequence[TableRow]:
    return graph.kept.list(
        "requirement_table",
        lambda graph: {node.id: _row(graph, node) for node in graph.nodes_by_kind(NodeKind.REQUIREMENT)},
        lambda graph, id: _row_of(graph, graph.get_node(id)),
        lambda rows: [rows[id] for id in sorted(rows)],
    )


def _row_of(graph: Graph, node: Node | None) -> TableRow | None:
    return _row(graph, node) if node is not None and node.kind is NodeKind.REQUIREMENT else None


def _row(graph: Graph, node: Node) -> TableRow:
    metrics = graph.metrics(node.id)
    texts = [each.title for each in assertions_of(graph, node.id)]
    path = node.source.path if node.source is not None else ""
    return TableRow(
        id=node.id,
        title=node.title,
        level=node.get_field("level", "Unknown"),
        status=node.get_field("status", "Unknown"),
        format=format_of(node),
        path=path,
        line=node.source.line if node.source is not None else 0,
        assertions=metrics["total_assertions"],
        implemented=metrics["implemented"],
        tested=metrics["tested"],
        passed=metrics["validated"] or 0,
        proof=_proof(metrics),
        folded="\n".join((node.id, node.title, path, node.get_field("body") or "", *texts)).casefold(),
    )


def format_of(node: Node) -> Format:
    """The format in which a requirement is written."""
    if node.get_field("spec_id") is not None:
        return "openspec"
    return "register" if node.get_field("level") == "register" else "elspais"


def _proof(metrics: Mapping[str, Any]) -> Proof:
    total = metrics["total_assertions"]
    if not total:
        return "none"
    if metrics["has_failures"]:
        return "failing"
    if not metrics["tested"]:
        return "missing"
    if metrics["tested"] < total:
        return "partial"
    return "full" if (metrics["validated"] or 0) >= total else "unrun"


def _lies_in(row: TableRow, file: str) -> bool:
    return not file or row.path == file or row.path.startswith(f"{file.rstrip('/')}/")


def _passes(row: TableRow, wanted: Mapping[str, str], but: str = "") -> bool:
    return all(not value or name == but or getattr(row, name) == value for name, value in wanted.items())


def _counts(rows: Sequence[TableRow], wanted: Mapping[str, str], name: str) -> tuple[tuple[str, int], ...]:
    found = Counter(getattr(row, name) for row in rows if _passes(row, wanted, but=name))
    if name == "proof":
        return tuple((each, found[each]) for each in PROOFS if found[each])
    return tuple(sorted(found.items()))


_KEYS: Mapping[str, Callable[[TableRow], Any]] = {
    "id": lambda row: row.id,
    "title": lambda row: (row.title.casefold(), row.id),
    "level": lambda row: (row.level, row.id),
    "status": lambda row: (row.status, row.id),
    "proof": lambda row: (PROOFS.index(row.proof), row.id),
    "file": lambda row: (row.path, row.line, row.id),
}


class Branch(msgspec.Struct, frozen=True):
    """A requirement in the tree, with the number of its direct children."""

    row: TableRow
    below: int


def branches(graph: Graph, id: str | None, *, limit: int) -> tuple[tuple[Branch, ...], int]:
    """The requirements directly below one, or at the top without one, by level and id; and their number."""
    rows = graph.derived("requirement_rows_by_id", lambda graph: {row.id: row for row in _rows(graph)})
    if id is None:
        found = graph.derived(
            "requirement_roots", lambda graph: [each for each in rows if not _above(graph, each, rows)]
        )
    else:
        found = sorted(_below(graph, id, rows))
    shown = tuple(Branch(rows[each], len(_below(graph, each, rows))) for each in found[:limit])
    return shown, len(found)


def _below(graph: Graph, id: str, rows: Mapping[str, TableRow]) -> set[str]:
    return {node.id for node in graph.iter_children(id, HIERARCHY) if node.id in rows and node.id != id}


def _above(graph: Graph, id: str, rows: Mapping[str, TableRow]) -> bool:
    return any(node.id in rows and node.id != id for node in graph.iter_parents(id, HIERARCHY))
