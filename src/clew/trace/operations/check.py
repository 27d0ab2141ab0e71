"""The command `clew check`: all findings, in one of four formats."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from clew.operation.call import Call
from clew.operation.declare import Operation, Option, Toolset
from clew.text.controls import pretty_json
from clew.text.counting import counted
from clew.text.terminal import coloured
from clew.trace.reports.finding import Finding
from clew.workspace.git import api as git

_STYLES = {"error": "red", "warning": "yellow", "info": "dim"}


class CheckReport(msgspec.Struct, frozen=True):
    findings: tuple[Finding, ...]
    folder: str
    """What leads from the root of the repository to the project, which may be a folder of it."""


class CheckProject(
    Operation,
    verb="check",
    toolset=Toolset.TRACE,
    summary="list all findings; exit code 1 if there are errors",
    epilog="clew check --strict .\nclew check --format sarif --output clew.sarif",
    folder="argument",
):
    """All findings of the project."""

    strict: Annotated[bool, Option(about="warnings count as errors")] = False
    format: Annotated[Literal["text", "json", "sarif", "junit"], Option(about="how to write the findings")] = "text"
    output: Annotated[str | None, Option("-o", metavar="FILE", about="write them to a file and print the counts")] = (
        None
    )

    def run(self, call: Call) -> CheckReport:
        return CheckReport(call.project.trace.findings(), _in_repository(call.project.config.root))

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
            case _:
                plain = self.output is not None
                return "".join(_lines(finding, plain=plain) for finding in found) + _counts(found) + "\n"

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
    text = f"{finding.path}:{finding.line}: {label} {finding.code}: {finding.message}\n"
    hint = f"    {finding.hint}"
    return text + ((hint if plain else coloured(hint, "dim")) + "\n" if finding.hint else "")


def _counts(found: Sequence[Finding]) -> str:
    errors = sum(1 for finding in found if finding.severity == "error")
    warnings = sum(1 for finding in found if finding.severity == "warning")
    counts = ((errors, "error"), (warnings, "warning"), (len(found) - errors - warnings, "note"))
    return ", ".join(counted(number, word) for number, word in counts)
