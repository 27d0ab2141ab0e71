"""The validator's findings, as an answer and as a text for people."""

import sys
from collections.abc import Iterable

import msgspec

from clew.register.rules.codes import RuleViolation
from clew.text.display import counted

_STYLES = {"error": "red", "warning": "yellow"}


class FindingRow(msgspec.Struct, frozen=True):
    id: str
    rule_code: str
    level: str
    field: str
    message: str
    hint: str
    req_id: str
    severity: str
    """`req_id` and `severity` repeat `id` and `level` under the names of req's command line."""


class ValidationReport(msgspec.Struct, frozen=True):
    errors: int
    warnings: int
    findings: tuple[FindingRow, ...]


def validation_report(findings: Iterable[RuleViolation]) -> ValidationReport:
    rows = tuple(finding_row(each) for each in findings)
    errors = sum(row.level == "error" for row in rows)
    return ValidationReport(errors, len(rows) - errors, rows)


def finding_row(finding: RuleViolation) -> FindingRow:
    severity = finding.severity.value
    return FindingRow(
        id=finding.id,
        rule_code=finding.rule_code,
        level=severity,
        field=finding.field,
        message=finding.message,
        hint=finding.hint,
        req_id=finding.id,
        severity=severity,
    )


def as_text(found: ValidationReport) -> str:
    lines = [
        f"{row.id}  {_coloured(row.level, _STYLES[row.level])}  {row.rule_code}  {row.message}\n"
        f"          {_coloured(_for_people(row.hint), 'dim')}"
        for row in found.findings
    ]
    return "\n".join((*lines, f"{counted(found.errors, 'error')}, {counted(found.warnings, 'warning')}"))


def _for_people(hint: str) -> str:
    if "req_" not in hint:
        return hint
    from clew.operation.as_commands import as_commands  # reads the listing of all tools

    return as_commands(hint)


def _coloured(text: str, style: str) -> str:
    if not sys.stdout.isatty():
        return text
    from clew.text.terminal import coloured

    return coloured(text, style)
