"""Findings: problems in a requirements graph, each with a stable code.

| code | severity | meaning |
|---|---|---|
| `trace.broken_reference` | error | a citation names something that does not exist |
| `trace.circle` | error | a requirement is its own ancestor |
| `trace.duplicate_id` | error | an id is defined more than once |
| `trace.stale_hash` | error | assertions changed since the hash in the End marker was written |
| `trace.missing_hash` | warning | assertions, but no hash in the End marker |
| `trace.uncovered_assertion` | warning | no test names this assertion |
| `trace.wrong_level` | warning | a requirement implements one of a level that its own may not implement |
| `trace.unread_associate` | warning | something cites a repository of `[associates]` that is not read |
| `trace.retired_reference` | warning | something cites a retired requirement or assertion |
| `trace.unsettled_reference` | as configured | something cites a draft or an idea, where a project asks for it |
| `trace.unmatched_result` | warning | a report has a result for a test that does not exist, or that several could be |
| `trace.state_in_git` | error | git keeps files of the folder in which Clew keeps its own |
| `trace.suspect_link` | warning, info | what a link cites changed since the link was reviewed, or first seen here |
| `elspais.*`, `markers.*`, `results.*`, `reviews.*`, `file.*` | as reported | what a reader could not read as meant |

A finding is added by writing a function that yields it and naming it in `SOURCES`.

Findings are also written as SARIF 2.1.0, which code hosts show beside the lines they are about, and as JUnit XML.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from clew import __version__
from clew.context import Context
from clew.formats.elspais.rules import SILENT
from clew.graph.cycles import cycles
from clew.graph.graph import Graph
from clew.graph.model import BrokenReference, EdgeKind, Node, NodeKind
from clew.text.controls import pretty_json, printable
from clew.trace.coverage import is_expected
from clew.trace.find.scope import hierarchy
from clew.trace.reports.coverage_rules import coverage_rules
from clew.trace.reports.finding import Finding, finding_at
from clew.trace.reports.format_rules import forbidden_references, format_rules, term_findings
from clew.trace.reports.suspect import suspects
from clew.workspace.git.staged import is_kept

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET


def findings(graph: Graph, context: Context) -> tuple[Finding, ...]:
    """All findings, sorted by place."""
    found = [finding for source in SOURCES for finding in source(graph, context)]
    return tuple(sorted(found, key=lambda finding: (finding.path, finding.line, finding.code, finding.node_id or "")))


def broken_references(graph: Graph, context: Context) -> Iterator[Finding]:
    severities = dict(context.config.elspais.fault_severities)
    for reference in graph.memory.broken:
        if (finding := _of_associate(reference, context)) is not None:
            yield finding
            continue
        fault = _FAULTS[reference.fault]
        severity = severities.get(reference.fault, "error")
        if severity in SILENT:
            continue
        yield Finding(
            code="trace.broken_reference",
            severity=severity,
            message=f"{reference.source_id} {reference.edge_kind.value} {reference.target_id}, {fault}.",
            path=reference.path,
            line=reference.line,
            node_id=reference.source_id,
            hint="Correct the id, or add what it names.",
        )


def _of_associate(reference: BrokenReference, context: Context) -> Finding | None:
    """The warning for a citation of a repository that is not read, which is not a mistake of the citing requirement."""
    parsed = context.grammar.parse_reference(reference.target_id)
    associate = context.grammar.associate_of(parsed.target) if parsed is not None else None
    if associate is None or not associate.problem:
        return None
    return Finding(
        code="trace.unread_associate",
        severity="warning",
        message=f"{reference.source_id} {reference.edge_kind.value} {reference.target_id} of the associate "
        f"{associate.name}, which is not read: {associate.problem}.",
        path=reference.path,
        line=reference.line,
        node_id=reference.source_id,
        hint="Put that repository into the project's folder, for example as a git submodule, and name it in `path`.",
    )


_FAULTS = {
    "unknown_requirement": "which does not exist",
    "unknown_assertion": "which names an assertion that does not exist",
    "malformed": "which does not follow the grammar of ids",
    "forbidden": "which may not be cited that way",
}


def circular_hierarchy(graph: Graph, context: Context) -> Iterator[Finding]:
    for cycle in () if context.config.elspais.allow_circular else cycles(graph, hierarchy(graph).circular):
        *_, last, first = cycle
        node = graph.get_node(last)
        if node is None:
            continue
        if last == first:
            message, hint = f"{last} is its own ancestor.", "Remove that reference."
        else:
            message = f"{last} is its own ancestor: {_shortened((last, *cycle[:-1]))}."
            hint = f"Remove its reference to {first}, or another one on the way."
        yield finding_at(node, "trace.circle", "error", message, hint)


MOST_OF_A_CYCLE = 10
"""Ids of one cycle that a message names."""


def _shortened(cycle: tuple[str, ...]) -> str:
    named = cycle if len(cycle) <= MOST_OF_A_CYCLE else (*cycle[: MOST_OF_A_CYCLE - 2], "...", *cycle[-2:])
    return " -> ".join(named)


def wrong_levels(graph: Graph, context: Context) -> Iterator[Finding]:
    allowed = {level.name: level.implements for level in context.config.elspais.levels if level.implements is not None}
    known = {level.name for level in context.config.elspais.levels}
    for node in graph.nodes_by_kind(NodeKind.REQUIREMENT):
        levels = allowed.get(node.get_field("level"))
        if levels is None:
            continue
        for cited in graph.iter_parents(node.id, (EdgeKind.IMPLEMENTS,)):
            level = cited.get_field("level")
            if level in known and not any(level.casefold() == each.casefold() for each in levels):
                own = node.get_field("level")
                yield finding_at(
                    node,
                    "trace.wrong_level",
                    "warning",
                    f"{node.id} of level {own} implements {cited.id} of level {level}.",
                    f"Level {own} may implement {', '.join(levels) or 'nothing'}. Reverse the reference, or correct "
                    "the level.",
                )


def duplicate_ids(graph: Graph, context: Context) -> Iterator[Finding]:
    for node in _duplicates(graph):
        yield finding_at(
            node,
            "trace.duplicate_id",
            "error",
            f"{node.get_field('original_id')} is defined more than once; this definition is known as {node.id}.",
            "Give one of them another id.",
        )


def _duplicates(graph: Graph) -> Iterator[Node]:
    kinds = (NodeKind.REQUIREMENT, NodeKind.USER_JOURNEY)
    nodes = (node for kind in kinds for node in graph.nodes_by_kind(kind))
    return (node for node in nodes if node.get_field("is_duplicate"))


def hashes(graph: Graph, context: Context) -> Iterator[Finding]:
    for node in graph.nodes_by_kind(NodeKind.REQUIREMENT):
        state = node.get_field("hash_state")
        if state == "stale":
            yield finding_at(
                node,
                "trace.stale_hash",
                "error",
                f"{node.id} carries hash {node.get_field('hash')}; its assertions give {node.get_field('hash_now')}.",
                f"Review what changed, then run `clew fix {node.id}`, which writes the new hash into the End marker.",
            )
        elif state == "missing":
            yield finding_at(
                node,
                "trace.missing_hash",
                "warning",
                f"{node.id} has assertions but no hash in its End marker.",
                f"Add | **Hash**: {node.get_field('hash_now')} to the End marker; `clew fix {node.id}` does.",
            )


def uncovered_assertions(graph: Graph, context: Context) -> Iterator[Finding]:
    for node in graph.nodes_by_kind(NodeKind.REQUIREMENT):
        untested = set(graph.metrics(node.id)["untested_labels"]) if is_expected(node) else set()
        for assertion in graph.iter_children(node.id) if untested else ():
            if assertion.kind is NodeKind.ASSERTION and assertion.get_field("label") in untested:
                yield finding_at(
                    assertion,
                    "trace.uncovered_assertion",
                    "warning",
                    f"No test verifies {assertion.id}: {assertion.title}",
                    f"Write a test with the comment `Verifies: {assertion.id}`.",
                )


def references_by_role(graph: Graph, context: Context) -> Iterator[Finding]:
    """Citations of retired requirements; and, if the settings ask for it, of drafts or ideas."""
    severities = dict(context.config.elspais.reference_severities)
    for node in graph.nodes_by_kind(NodeKind.REQUIREMENT):
        role, retired = node.get_field("role", "active"), set(node.get_field("retired_labels", ()))
        severity = severities.get(role)
        if severity is None and not retired:
            continue
        for edge in graph.memory.iter_incoming_edges(node.id):
            citing = graph.get_node(edge.source) if edge.kind is not EdgeKind.STRUCTURES else None
            if citing is None or citing.get_field("role") == "retired":
                continue
            if severity is not None:
                code = "trace.retired_reference" if role == "retired" else "trace.unsettled_reference"
                said = f"{citing.id} {edge.kind.value} {node.id}, whose status is {node.get_field('status')}."
                yield finding_at(citing, code, severity, said, "Cite what replaced it, or remove the reference.")
            elif gone := sorted(retired & set(edge.labels)):
                cited = context.grammar.assertion_id(node.id, "+".join(gone))
                said = f"{citing.id} {edge.kind.value} {cited}, which is retired."
                yield finding_at(
                    citing,
                    "trace.retired_reference",
                    severities.get("retired", "warning"),
                    said,
                    "Cite the assertion that replaced it, or remove the reference.",
                )


def suspect_links(graph: Graph, context: Context) -> Iterator[Finding]:
    """Citations whose target changed. One that is known only in this working copy is a note: an answer that CI depends
    on must be the same everywhere."""
    for suspect in suspects(graph, context.store):
        link, citing = suspect.link, graph.get_node(suspect.link.citing_id)
        since = "the link was reviewed" if suspect.reviewed else "it was first seen here"
        if citing is not None:
            yield finding_at(
                citing,
                "trace.suspect_link",
                "warning" if suspect.reviewed else "info",
                f"{citing.id} {link.kind} {link.cited}, whose text changed since {since}.",
                f"See whether both still agree, then run `clew review {link.cited}`.",
            )


MOST_UNMATCHED = 100
"""Of one report: where its names lead nowhere, the reason is nearly always the same for all."""


def unmatched_results(graph: Graph, context: Context) -> Iterator[Finding]:
    counts: dict[str, int] = {}
    for id, reason in graph.evidence.unmatched():
        node = graph.get_node(id)
        if node is None or node.source is None:
            continue
        path = node.source.path
        counts[path] = counts.get(path, 0) + 1
        if counts[path] <= MOST_UNMATCHED:
            place = node.get_field("file") or node.get_field("classname")
            named = f"'{node.title}'" + (f" in {place}" if place else "")
            message, hint = _UNMATCHED[reason]
            yield finding_at(node, "trace.unmatched_result", "warning", message.format(named), hint)
    for path, count in counts.items():
        if count > MOST_UNMATCHED:
            more = f"{count - MOST_UNMATCHED} more results of this report belong to no test."
            hint = "Correct the folders under [tests] in clew.toml, or run the tests again."
            yield Finding("trace.unmatched_result", "warning", more, path, 0, hint=hint)


_UNMATCHED = {
    "unknown": (
        "There is a result for {}, but no such test.",
        "Run the tests again, or name the folder of that test in [tests] of clew.toml.",
    ),
    "ambiguous": (
        "There is a result for {}, which is the name of several tests.",
        "Let the report name files or classes, or give each test a name of its own.",
    ),
}


def reader_diagnostics(graph: Graph, context: Context) -> Iterator[Finding]:
    reported = {(node.source.path, node.source.line) for node in _duplicates(graph) if node.source is not None}
    for path, item in context.builder.diagnostics():
        # A reader sees an id twice in one file; the graph sees it wherever it is, and says more.
        if item.code == "elspais.duplicate_id" and (path, item.line) in reported:
            continue
        yield Finding(code=item.code, severity=item.severity, message=item.message, path=path, line=item.line)


def state_in_git(graph: Graph, context: Context) -> Iterator[Finding]:
    """The finding for a state folder that git tracks, which is not trusted because others change it with a commit."""
    if is_kept(context.state_folder):
        name = context.state_folder.name
        yield Finding(
            code="trace.state_in_git",
            severity="error",
            message=f"git keeps files of {name}/, the folder of Clew's own, so that nothing in it is believed.",
            path=f"{name}/",
            line=0,
            hint=f"Run `git rm -r --cached {name}` and commit that.",
        )


SOURCES: tuple[Callable[[Graph, Context], Iterator[Finding]], ...] = (
    broken_references,
    circular_hierarchy,
    wrong_levels,
    duplicate_ids,
    hashes,
    uncovered_assertions,
    references_by_role,
    format_rules,
    coverage_rules,
    forbidden_references,
    term_findings,
    unmatched_results,
    suspect_links,
    state_in_git,
    reader_diagnostics,
)


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVELS = {"error": "error", "warning": "warning"}
"""Everything else is a note."""


def sarif(findings: Sequence[Finding], folder: str = "") -> str:
    """Findings as SARIF. `folder` is the path from the root of the repository to the project, because code hosts know
    no other root."""
    rules = {code: number for number, code in enumerate(dict.fromkeys(finding.code for finding in findings))}
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "clew",
                        "version": __version__,
                        "rules": [_rule(code, findings) for code in rules],
                    }
                },
                "results": [_result(finding, rules[finding.code], folder) for finding in findings],
            }
        ],
    }
    return pretty_json(log) + "\n"


def _rule(code: str, findings: Sequence[Finding]) -> dict[str, Any]:
    first = next(finding for finding in findings if finding.code == code)
    words = code.replace(".", ": ").replace("_", " ")
    return {
        "id": code,
        "shortDescription": {"text": words[0].upper() + words[1:]},
        "defaultConfiguration": {"level": _LEVELS.get(first.severity, "note")},
    }


def _result(finding: Finding, rule: int, folder: str) -> dict[str, Any]:
    text = f"{finding.message} {finding.hint}".strip()
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": _LEVELS.get(finding.severity, "note"),
        "message": {"text": text},
        "partialFingerprints": {"clewFinding/v1": _fingerprint(finding)},
    }
    if finding.path:
        # A path is a reference relative to the root of the sources, wherever they are checked out.
        place: dict[str, Any] = {"artifactLocation": {"uri": quote(folder + finding.path), "uriBaseId": "%SRCROOT%"}}
        if finding.line > 0:
            place["region"] = {"startLine": finding.line}
        result["locations"] = [{"physicalLocation": place}]
    return result


def _fingerprint(finding: Finding) -> str:
    """The same for the same finding after lines were inserted above it."""
    identity = (finding.code, finding.path, finding.node_id or "", finding.message)
    return hashlib.sha256("\0".join(identity).encode("utf-8", "surrogatepass")).hexdigest()[:32]


@cache
def _not_in_xml() -> re.Pattern[str]:
    # Compiled when a report is written: that takes longer than most other imports.
    return re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(findings: Sequence[Finding], failing: Collection[str]) -> str:
    """Findings as JUnit cases. Severities in `failing` fail; the others are skipped cases."""
    # What only asks the graph writes no XML.
    from xml.etree import ElementTree as ET

    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    root = ET.Element("testsuites", _about("clew check", findings, failing))
    for code, members in by_code.items():
        suite = ET.SubElement(root, "testsuite", _about(code, members, failing))
        for finding in members:
            _add_case(suite, finding, fails=finding.severity in failing)
    if not findings:
        suite = ET.SubElement(root, "testsuite", _about("clew check", findings, failing))
        ET.SubElement(suite, "testcase", classname="clew", name="no findings")
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _about(name: str, findings: Sequence[Finding], failing: Collection[str]) -> dict[str, str]:
    failures = sum(1 for finding in findings if finding.severity in failing)
    # A report without any case looks like a run that never happened.
    return {
        "name": name,
        "tests": str(len(findings) or 1),
        "failures": str(failures),
        "errors": "0",
        "skipped": str(len(findings) - failures),
    }


def _add_case(suite: "ET.Element", finding: Finding, *, fails: bool) -> None:
    from xml.etree import ElementTree as ET

    place = f"{finding.path}:{finding.line}" if finding.line else finding.path
    case = ET.SubElement(
        suite,
        "testcase",
        classname=_clean(finding.path or "clew"),
        name=_clean(finding.node_id or place or finding.code),
    )
    outcome = ET.SubElement(case, "failure" if fails else "skipped", message=_clean(finding.message))
    if fails:
        outcome.set("type", finding.code)
    outcome.text = _clean(f"{place}: {finding.severity} {finding.code}: {finding.message}\n{finding.hint}".strip())


def _clean(text: str) -> str:
    """The text without characters that are invalid in XML, or that a terminal would obey."""
    return _not_in_xml().sub("\ufffd", printable(text))
