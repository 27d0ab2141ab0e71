"""The findings of `clew check` as diagnostics."""

from lsprotocol import types as lsp

from clew.surfaces.lsp.desk import Desk
from clew.trace.operations.check import CheckProject
from clew.trace.reports.finding import Finding

SOURCE = "clew"
_SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "info": lsp.DiagnosticSeverity.Information,
}


def diagnostics(desk: Desk) -> dict[str, list[lsp.Diagnostic]]:
    """Every finding that stands in a file, by the address of the file."""
    found: dict[str, list[lsp.Diagnostic]] = {}
    for finding in desk.ask(CheckProject).findings:
        if finding.path:
            found.setdefault(desk.uri_of(finding.path), []).append(_diagnostic(desk, finding))
    return found


def _diagnostic(desk: Desk, finding: Finding) -> lsp.Diagnostic:
    return lsp.Diagnostic(
        range=desk.line_range(finding.path, finding.line),
        message=f"{finding.message}\n{finding.hint}".rstrip(),
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        source=SOURCE,
        data={"id": finding.node_id},
    )
