"""What the rules of `.elspais.toml` demand of requirements, and which citations they forbid.

| code | severity | meaning |
|---|---|---|
| `trace.format_rule` | error | a requirement lacks what `[rules.format]` demands |
| `trace.no_assertions` | as configured | a requirement has no assertions |
| `trace.forbidden_reference` | error | what templates do not allow, or integrating the same repository |
"""

from collections.abc import Iterator

from clew.context import Context
from clew.formats.elspais.ids.grammar import label_at, position_of
from clew.formats.elspais.rules import SILENT, FormatRules
from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node, NodeKind
from clew.trace.read.assertions import live_assertions_of
from clew.trace.read.copies import is_template
from clew.trace.reports.finding import Finding, finding_at

_OWN = "hash_state"
"""The field that only requirements of Markdown files have."""


def format_rules(graph: Graph, context: Context) -> Iterator[Finding]:
    rules = context.config.elspais.format_rules
    if not rules.any:
        return
    for node in graph.nodes_by_kind(NodeKind.REQUIREMENT):
        if _OWN not in node.fields or node.get_field("associate"):
            continue
        for rule, lacks in _broken(graph, context, node, rules):
            hint = f"Add it, or change {rule} under [rules.format] of .elspais.toml."
            yield finding_at(node, "trace.format_rule", "error", f"{rule}: {node.id} {lacks}.", hint)
        if rules.no_assertions and not node.get_field("labels"):
            hint = "Say what has to hold, one sentence for each assertion."
            yield finding_at(node, "trace.no_assertions", rules.no_assertions, f"{node.id} has no assertions.", hint)


def _broken(graph: Graph, context: Context, node: Node, rules: FormatRules) -> Iterator[tuple[str, str]]:
    labels = node.get_field("labels", ())
    if rules.require_hash and node.get_field("hash") is None:
        yield "require_hash", "has no hash in its End marker"
    if rules.require_assertions and not labels:
        yield "require_assertions", "has no assertions"
    if rules.require_status and node.get_field("status") in (None, "", "Unknown"):
        yield "require_status", "has no status"
    if rules.require_rationale:
        headings = {heading.strip("*_ :.").casefold() for heading in node.get_field("sections", ())}
        if "rationale" not in headings:
            yield "require_rationale", "has no section Rationale"
    if rules.require_shall:
        for part in live_assertions_of(graph, node.id):
            if "SHALL" not in part.title:
                yield "require_shall", f"says no SHALL in assertion {part.get_field('label')}"
    if rules.labels_sequential and labels:
        settings = context.config.elspais
        wanted = tuple(label_at(number, settings) for number in range(len(labels)))
        in_order = tuple(sorted(labels, key=lambda label: position_of(label, settings) or 0))
        if in_order != wanted:
            yield "labels_sequential", f"has the labels {', '.join(labels)}"


def forbidden_references(graph: Graph, context: Context) -> Iterator[Finding]:
    """What templates do not allow: satisfying what is none, refining one from outside, and the like."""
    severity = dict(context.config.elspais.fault_severities).get("forbidden", "error")
    if severity in SILENT:
        return
    for node in graph.nodes_by_kind(NodeKind.REQUIREMENT):
        if _OWN not in node.fields:
            continue
        for edge in graph.memory.iter_outgoing_edges(node.id):
            cited = graph.get_node(edge.target)
            if cited is None or cited.kind is not NodeKind.REQUIREMENT or _OWN not in cited.fields:
                continue
            forbidden = _forbidden(node, edge.kind, cited)
            if forbidden is not None:
                message = f"{node.id} {edge.kind.value} {cited.id}, {forbidden[0]}."
                yield finding_at(node, "trace.forbidden_reference", severity, message, forbidden[1])


def _forbidden(node: Node, kind: EdgeKind, cited: Node) -> tuple[str, str] | None:
    own, other = is_template(node), is_template(cited)
    if kind is EdgeKind.INTEGRATES and node.get_field("associate") == cited.get_field("associate"):
        return "which is of the same repository", f"Implement or refine {cited.id} instead."
    if kind is EdgeKind.SATISFIES and not other:
        return "which is not marked as a template", f"Write **Template** among the fields of {cited.id}."
    if kind is EdgeKind.REFINES and other and not own:
        return "which is a template", f"Satisfy it, or mark {node.id} as a template too."
    if kind is EdgeKind.REFINES and own and not other:
        return "which is no template, as its refining template is", f"Take **Template** away from {node.id}."
    if kind is EdgeKind.IMPLEMENTS and own:
        return "although a template implements nothing", f"Take **Template** away from {node.id}, or the reference."
    return None
