"""What is wrong with the terms of a project, under the names of elspais's checks.

| code | severity | meaning |
|---|---|---|
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
from clew.formats.elspais.rules import SILENT, TERM_CHECKS
from clew.graph.graph import Graph
from clew.trace.reports.finding import Finding
from clew.trace.terms import Glossary, Term, TermUse, glossary

_CODES = {"duplicate": "terms.duplicates"}


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
        yield "bad_definition", (*place, f"The definition of '{term.name}' says nothing.", "Explain the term.")
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
