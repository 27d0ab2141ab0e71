"""Findings by the rules of `.elspais.toml`: the form of requirements, forbidden citations, and terms.

| code | severity | meaning |
|---|---|---|
| `trace.format_rule` | error | a requirement lacks what `[rules.format]` demands |
| `trace.no_assertions` | as configured | a requirement has no assertions |
| `trace.forbidden_reference` | error | what templates do not allow, or integrating the same repository |
| `terms.duplicates` | error | a term is defined more than once |
| `terms.bad_definition` | error | a definition says nothing |
| `terms.undefined` | warning | something is marked like a term, and no term |
| `terms.unmarked` | warning | a term is used without a mark |
| `terms.canonical_form` | warning | a term is marked or spelled otherwise than defined |
| `terms.unused` | warning | nothing uses a term |
| `terms.collection_empty` | warning | nothing belongs to a collection |
"""

from collections.abc import Iterator

from clew.context import Context
from clew.formats.elspais.ids.grammar import label_at, position_of
from clew.formats.elspais.rules import SILENT, TERM_CHECKS, FormatRules
from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node, NodeKind
from clew.trace.read.assertions import live_assertions_of
from clew.trace.read.copies import is_template
from clew.trace.reports.finding import Finding, finding_at
from clew.trace.terms import Glossary, Term, TermUse, glossary

_OWN = "hash_state"
"""The field that only requirements of Markdown files have."""

_CODES = {"duplicate": "terms.duplicates"}


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
            hint = "Write its assertions, one sentence for each."
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
    """Citations that the rules for templates forbid: satisfying a requirement that is no template, refining a template
    from outside, and the like."""
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
        return "which is not a template, as its refining template is", f"Take **Template** away from {node.id}."
    if kind is EdgeKind.IMPLEMENTS and own:
        return "although a template implements nothing", f"Take **Template** away from {node.id}, or the reference."
    return None


def term_findings(graph: Graph, context: Context) -> Iterator[Finding]:
    found = glossary(graph, context)
    rules = context.config.elspais.terms
    severities = {check: rules.severity(check, usual) for check, usual in TERM_CHECKS}
    for check, finding in _all(found, rules.markup_styles):
        severity = severities[check]
        if severity not in SILENT:
            path, line, node_id, message, hint = finding
            yield Finding(_CODES.get(check, f"terms.{check}"), severity, message, path, line, node_id, hint)


_Item = tuple[str, int, str | None, str, str]
"""Path, line, node, message and hint."""


def _all(found: Glossary, styles: tuple[str, ...]) -> Iterator[tuple[str, _Item]]:
    for definition, path, term in found.repeated:
        place = f"{term.path}:{term.definition.line}"
        said = f"'{definition.name}' is defined in {place} already."
        yield "duplicate", (path, definition.line, None, said, "Keep one of the definitions.")
    for use in found.undefined:
        said = f"'{use.written}' is marked like a term, and not defined."
        yield "undefined", (use.path, use.line, use.node_id, said, "Define it, or take the mark away.")
    for term in found.terms:
        yield from _of_term(term)
        for use in term.uses:
            yield from _of_use(term, use, styles)


def _of_term(term: Term) -> Iterator[tuple[str, _Item]]:
    place = term.path, term.definition.line, None
    if term.definition.is_trivial:
        yield "bad_definition", (*place, f"The definition of '{term.name}' is empty.", "Explain the term.")
    if not term.uses:
        yield "unused", (*place, f"Nothing uses the term '{term.name}'.", "Use it, or remove its definition.")
        if term.definition.collection:
            said = f"Nothing belongs to the collection '{term.name}'."
            yield "collection_empty", (*place, said, "Name it where something belongs to it.")


def _of_use(term: Term, use: TermUse, styles: tuple[str, ...]) -> Iterator[tuple[str, _Item]]:
    place = use.path, use.line, use.node_id
    wanted = f"{styles[0]}{term.name}{styles[0]}" if styles else term.name
    if not term.definition.indexed:
        return
    if not use.marking:
        yield "unmarked", (*place, f"The term '{term.name}' is used without a mark.", f"Write {wanted}.")
    elif use.marking not in styles:
        yield "canonical_form", (*place, f"'{term.name}' is marked by {use.marking}.", f"Write {wanted}.")
    elif use.written != term.name:
        yield "canonical_form", (*place, f"'{use.written}' is spelled '{term.name}'.", f"Write {wanted}.")
