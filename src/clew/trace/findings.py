"""Findings: what deserves attention in a requirements graph, each with a stable code.

| code | severity | meaning |
|---|---|---|
| `trace.broken_reference` | error | a citation names something that does not exist |
| `trace.duplicate_id` | error | an id is defined more than once |
| `trace.stale_hash` | error | assertions changed since the hash in the End marker was written |
| `trace.missing_hash` | warning | assertions, but no hash in the End marker |
| `trace.uncovered_assertion` | warning | no test names this assertion |
| `elspais.*`, `markers.*`, `file.*` | as reported | what a reader could not read as meant |

A finding is added by writing a function that yields it and naming it in `SOURCES`.
"""

from collections.abc import Callable, Iterator

import msgspec

from clew.graph.build import Builder
from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind


class Finding(msgspec.Struct, frozen=True):
    code: str
    severity: str
    """error, warning or info."""
    message: str
    path: str
    line: int
    node_id: str | None = None
    hint: str = ""


def findings(graph: Graph, builder: Builder) -> tuple[Finding, ...]:
    """All findings, sorted by place."""
    found = [finding for source in SOURCES for finding in source(graph, builder)]
    return tuple(sorted(found, key=lambda finding: (finding.path, finding.line, finding.code, finding.node_id or "")))


def broken_references(graph: Graph, builder: Builder) -> Iterator[Finding]:
    for reference in graph.broken_references():
        fault = _FAULTS[reference.fault]
        yield Finding(
            code="trace.broken_reference",
            severity="error",
            message=f"{reference.source_id} {reference.edge_kind.value} {reference.target_id}, {fault}.",
            path=reference.path,
            line=reference.line,
            node_id=reference.source_id,
            hint="Correct the id, or add what it names.",
        )


_FAULTS = {
    "unknown_requirement": "which does not exist",
    "unknown_assertion": "which names an assertion that does not exist",
    "malformed": "which does not follow the grammar of ids",
    "forbidden": "which may not be cited that way",
}


def duplicate_ids(graph: Graph, builder: Builder) -> Iterator[Finding]:
    kinds = (NodeKind.REQUIREMENT, NodeKind.USER_JOURNEY)
    for node in (node for kind in kinds for node in graph.nodes_by_kind(kind)):
        if node.get_field("is_duplicate"):
            original = node.get_field("original_id")
            yield _at(
                node,
                "trace.duplicate_id",
                "error",
                f"{original} is defined more than once; this definition is known as {node.id}.",
                "Give one of them another id.",
            )


def hashes(graph: Graph, builder: Builder) -> Iterator[Finding]:
    for node in graph.nodes_by_kind(NodeKind.REQUIREMENT):
        state = node.get_field("hash_state")
        if state == "stale":
            yield _at(
                node,
                "trace.stale_hash",
                "error",
                f"{node.id} carries hash {node.get_field('hash')}; its assertions give {node.get_field('hash_now')}.",
                "Review what changed, then write the new hash into the End marker.",
            )
        elif state == "missing":
            yield _at(
                node,
                "trace.missing_hash",
                "warning",
                f"{node.id} has assertions but no hash in its End marker.",
                f"Add | **Hash**: {node.get_field('hash_now')} to the End marker.",
            )


def uncovered_assertions(graph: Graph, builder: Builder) -> Iterator[Finding]:
    for node in graph.nodes_by_kind(NodeKind.REQUIREMENT):
        untested = set(graph.metrics(node.id)["untested_labels"])
        for assertion in graph.iter_children(node.id) if untested else ():
            if assertion.kind is NodeKind.ASSERTION and assertion.get_field("label") in untested:
                yield _at(
                    assertion,
                    "trace.uncovered_assertion",
                    "warning",
                    f"No test verifies {assertion.id}: {assertion.title}",
                    f"Write a test with the comment `Verifies: {assertion.id}`.",
                )


def reader_diagnostics(graph: Graph, builder: Builder) -> Iterator[Finding]:
    for path, item in builder.diagnostics():
        yield Finding(code=item.code, severity=item.severity, message=item.message, path=path, line=item.line)


def _at(node: Node, code: str, severity: str, message: str, hint: str) -> Finding:
    path, line = (node.source.path, node.source.line) if node.source else ("", 0)
    return Finding(code=code, severity=severity, message=message, path=path, line=line, node_id=node.id, hint=hint)


SOURCES: tuple[Callable[[Graph, Builder], Iterator[Finding]], ...] = (
    broken_references,
    duplicate_ids,
    hashes,
    uncovered_assertions,
    reader_diagnostics,
)
