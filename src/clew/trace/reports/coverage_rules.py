"""Findings by `[rules.coverage]` of `.elspais.toml` on requirements that are not implemented, tested or accepted.

| code | severity | meaning |
|---|---|---|
| `trace.coverage_rule` | as configured | a requirement is covered as far as a rule names |
| `trace.uncredited_evidence` | as configured | a test names an assertion that nothing implements |
| `trace.external_test_failure` | as configured | a test failed that cites no requirement |
"""

from collections.abc import Iterator

from clew.context import Context
from clew.formats.elspais.rules import CoverageRules
from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node, NodeKind
from clew.trace.coverage import FAILING, FULL, MISSING, PARTIAL, is_expected, live_labels, tier
from clew.trace.read.assertions import citations_of
from clew.trace.read.serialize import is_integrating
from clew.trace.reports.finding import Finding, finding_at

_FAILED = ("failed", "error")
_WORDS = {FULL: "is wholly", PARTIAL: "is in part", FAILING: "has failures where it should be", MISSING: "is not"}
_NAMES = {
    "implemented": "implemented",
    "tested": "tested",
    "verified": "proved by tests that passed",
    "uat_coverage": "validated by user journeys",
    "uat_verified": "accepted in user journeys",
}
_ACCEPTANCE = ("uat_coverage", "uat_verified")


def coverage_rules(graph: Graph, context: Context) -> Iterator[Finding]:
    settings = context.config.elspais
    rules = settings.coverage_rules
    accepted = {level.name for level in settings.levels if level.expects_validation}
    if rules.severities or rules.uncredited_evidence:
        for node in graph.nodes_by_kind(NodeKind.REQUIREMENT):
            if "hash_state" in node.fields and not node.get_field("associate") and is_expected(node):
                yield from _of_requirement(graph, node, rules, node.get_field("level") in accepted)
    if rules.external_test_failure:
        yield from _external_failures(graph, rules.external_test_failure)


def _of_requirement(graph: Graph, node: Node, rules: CoverageRules, accepted: bool) -> Iterator[Finding]:
    labels, _ = live_labels(node)
    if not labels:
        return
    reached: dict[str, str] = {}
    for dimension, wanted, severity in rules.severities:
        if dimension in _ACCEPTANCE and not accepted:
            continue
        found = reached.get(dimension) or reached.setdefault(dimension, _tier(graph, node, dimension, labels))
        if found == wanted:
            said = f"{node.id} {_WORDS[found]} {_NAMES[dimension]} (rules.coverage.{dimension}.{found})."
            yield finding_at(node, "trace.coverage_rule", severity, said, _HINTS[dimension])
    if rules.uncredited_evidence and not is_integrating(graph, node):
        yield from _uncredited(graph, node, labels, rules.uncredited_evidence)


_HINTS = {
    "implemented": "Cite its assertions where the code implements them.",
    "tested": "Cite its assertions in the tests that prove them.",
    "verified": "Run its tests, and let Clew read their report.",
    "uat_coverage": "Write a user journey that validates it.",
    "uat_verified": "Walk through its user journeys, and note the results.",
}


def _tier(graph: Graph, node: Node, dimension: str, labels: tuple[str, ...]) -> str:
    """The degree to which a requirement is covered; all of its assertions count."""
    metrics = graph.metrics(node.id)
    match dimension:
        case "implemented":
            return FULL if is_integrating(graph, node) else tier(metrics["implemented"], len(labels))
        case "tested":
            return tier(metrics["tested"], len(labels))
        case "verified":
            return tier(metrics["validated"] or 0, len(labels), failing=bool(metrics["failed_labels"]))
    named: set[str] = set()
    passed: set[str] = set()
    failed: set[str] = set()
    for cited in citations_of(graph, node.id):
        if cited.by.kind is NodeKind.USER_JOURNEY:
            verdict = graph.evidence.verdict(cited.by.id)
            named.update(cited.edge.labels)
            (passed if verdict == "passed" else failed if verdict in _FAILED else set()).update(cited.edge.labels)
    if dimension == "uat_coverage":
        return tier(len(named.intersection(labels)), len(labels))
    return tier(len((passed - failed).intersection(labels)), len(labels), failing=bool(failed.intersection(labels)))


def _uncredited(graph: Graph, node: Node, labels: tuple[str, ...], severity: str) -> Iterator[Finding]:
    citations = list(citations_of(graph, node.id))
    implemented = {label for label in labels if any(each.implements(label) for each in citations)}
    for each in citations:
        if not each.is_test:
            continue
        for label in each.edge.labels:
            if label in labels and label not in implemented:
                said = f"{each.by.id} tests assertion {label} of {node.id}, which nothing implements."
                hint = "Cite the assertion where the code implements it, or correct the test's citation."
                yield finding_at(each.by, "trace.uncredited_evidence", severity, said, hint)


def _external_failures(graph: Graph, severity: str) -> Iterator[Finding]:
    for node in graph.nodes_by_kind(NodeKind.TEST):
        if graph.evidence.verdict(node.id) in _FAILED and not any(
            edge.kind is not EdgeKind.STRUCTURES for edge in graph.memory.iter_outgoing_edges(node.id)
        ):
            said = f"{node.id} failed, and cites no requirement."
            yield finding_at(
                node, "trace.external_test_failure", severity, said, "Fix it, or cite the requirement that it tests."
            )
