"""The command `clew check`: all findings, in one of five formats. Many of one kind are shown as a group."""

# Implements: REQ-d00441
# Implements: REQ-d00526-B

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from clew.graph.model import NodeKind
from clew.operation.call import Call
from clew.operation.declare import Operation, Option, Toolset
from clew.text.controls import pretty_json, printable
from clew.text.terminal import coloured
from clew.trace.links.requests import SuggestionSearch
from clew.trace.reports.finding import Finding
from clew.trace.reports.groups import FLOOD, SHOWN, UNCOVERED, Group, grouped, proposed_for
from clew.trace.totals import FindingCounts
from clew.workspace.git import api as git

_EVERY = 1_000_000
_NO_REQUIREMENTS = (
    "There is nothing to check: this project has no requirements or specs. `clew` says what it has, and `clew why "
    "FILE:LINE` works without any."
)
_STYLES = {"error": "red", "warning": "yellow", "info": "dim"}

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
_IN_TEXT = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_TEXT, ":": "%3A", ",": "%2C"}


class CheckReport(msgspec.Struct, frozen=True):
    findings: tuple[Finding, ...]
    folder: str
    """The path from the root of the repository to the project, which may be a folder of it."""
    floods: tuple[Group, ...] = ()
    """The kinds of which there are many."""
    proposed: int | None = None
    """For how many assertions without a test `clew links suggest --tests` proposes one; None where nobody asked."""
    is_empty: bool = False
    """True if there is no requirement or spec to check."""
    by_words: bool = False
    """True if that comes from a comparison by words alone so far."""


class CheckProject(
    Operation,
    verb="check",
    toolset=Toolset.TRACE,
    summary="list all findings; exit code 1 if there are errors",
    epilog="clew check\nclew check --all --strict .\nclew check --format sarif --output clew.sarif",
    folder="argument",
):
    """All findings of the project."""

    all_: Annotated[
        bool, Option("--all", about=f"list every finding, also where more than {FLOOD} are of one kind")
    ] = msgspec.field(default=False, name="all")
    strict: Annotated[bool, Option(about="warnings count as errors")] = False
    format: Annotated[
        Literal["text", "json", "sarif", "junit", "github"], Option(about="how to write the findings")
    ] = "text"
    output: Annotated[str | None, Option("-o", metavar="FILE", about="write them to a file and print the counts")] = (
        None
    )

    def run(self, call: Call) -> CheckReport:
        project = call.project
        found = project.findings(call)
        is_empty = not found and not any(True for _ in project.graph.nodes_by_kind(NodeKind.REQUIREMENT))
        report = CheckReport(found, _in_repository(project.config.root), is_empty=is_empty)
        if self.format != "text" or self.output is not None or self.all_ or call.as_data:
            return report
        floods = tuple(each for each in grouped(found, project.graph) if len(each.findings) > FLOOD)
        report = msgspec.structs.replace(report, floods=floods)
        uncovered = next((each for each in floods if each.code == UNCOVERED), None)
        if uncovered is None or not project.links.has_unlinked_tests():
            return report
        page = project.links.suggest(SuggestionSearch(limit=_EVERY, tests=True), progress=call.progress)
        return msgspec.structs.replace(
            report,
            proposed=proposed_for(uncovered.findings, page.suggestions),
            by_words=not page.with_meaning,
        )

    def document(self, result: CheckReport) -> str:
        found = result.findings
        match self.format:
            case "json":
                data = {"findings": msgspec.to_builtins(found), "count": len(found)}
                return pretty_json(data) + "\n"
            case "sarif":
                from clew.trace.reports.findings import sarif

                return sarif(found, result.folder)
            case "junit":
                from clew.trace.reports.findings import junit

                return junit(found, self._failing)
            case "github":
                return annotations(found, result.folder) + _counts(found) + "\n"
            case _:
                plain = self.output is not None
                flooding = {(each.code, each.severity) for each in result.floods}
                single = [each for each in found if (each.code, each.severity) not in flooding]
                groups = "".join(_flood(each, result) for each in result.floods)
                whole = "".join(_lines(each, plain=plain) for each in single) + groups + _counts(found) + "\n"
                return whole + (f"{_NO_REQUIREMENTS}\n" if result.is_empty and not plain else "")

    def render(self, result: CheckReport) -> str:
        if self.output is None:
            return self.document(result)
        return "" if self.format == "text" else _counts(result.findings)

    def exit_code(self, result: CheckReport) -> int:
        return 1 if any(finding.severity in self._failing for finding in result.findings) else 0

    @property
    def _failing(self) -> Collection[str]:
        """The severities that count as errors."""
        return frozenset({"error", "warning"} if self.strict else {"error"})


def _in_repository(root: Path) -> str:
    top, here = git.toplevel(root), root.resolve()
    if top is None or not here.is_relative_to(top.resolve()):
        return ""
    return f"{here.relative_to(top.resolve()).as_posix()}/".removeprefix("./")


def _lines(finding: Finding, *, plain: bool) -> str:
    label = finding.severity if plain else coloured(finding.severity, _STYLES[finding.severity])
    place = f"{finding.path}:{finding.line}: " if finding.path else ""
    text = f"{place}{label} {finding.code}: {finding.message}\n"
    hint = f"    {finding.hint}"
    return text + ((hint if plain else coloured(hint, "dim")) + "\n" if finding.hint else "")


def _flood(group: Group, report: CheckReport) -> str:
    """The first of many findings of one kind, their number, and advice for all of them."""
    first = "".join(_lines(each, plain=False) for each in group.findings[:SHOWN])
    title = coloured(f"{group.title},", _STYLES[group.severity])
    ways = (f"{title} {SHOWN} of them above. `clew check --all` lists all.", _way_out(group, report))
    return first + "".join(f"  {line}\n" for line in ways if line)


def _way_out(group: Group, report: CheckReport) -> str:
    if group.code != UNCOVERED or report.proposed is None:
        return group.help
    if not report.proposed:
        return "`clew links suggest --tests` proposes no test for them: they have to be written."
    by_words = ", by keywords only so far" if report.by_words else ""
    return (
        f"`clew links suggest --tests` proposes tests for {report.proposed:,} of them{by_words}; "
        "`clew links review` goes through them by keyboard."
    )


def _counts(found: Sequence[Finding]) -> str:
    return FindingCounts.of(found).describe()


def annotations(findings: Sequence[Finding], folder: str = "") -> str:
    """One line for each finding. `folder` leads from the root of the repository to the project."""
    return "".join(f"{_annotation(finding, folder)}\n" for finding in findings)


def _annotation(finding: Finding, folder: str) -> str:
    place = {"file": f"{folder}{finding.path}", "line": str(max(finding.line, 1))} if finding.path else {}
    properties = {**place, "title": finding.code}
    location = ",".join(f"{name}={_escaped(value, _IN_PROPERTY)}" for name, value in properties.items())
    text = _escaped(f"{finding.message}\n{finding.hint}".strip(), _IN_TEXT)
    return f"::{_COMMANDS.get(finding.severity, 'notice')} {location}::{text}"


def _escaped(text: str, signs: dict[str, str]) -> str:
    """A text from a file, escaped so that it can neither end the command nor begin another one."""
    return "".join(signs.get(sign, sign) for sign in printable(text))
