"""Findings as annotations of GitHub Actions: a job prints them, and each marks a line of a pull request."""

# Implements: REQ-d00526-B

from collections.abc import Sequence

from clew.text.controls import printable
from clew.trace.reports.finding import Finding

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
_IN_TEXT = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_TEXT, ":": "%3A", ",": "%2C"}


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
    """What a file says can neither end the command nor begin another one."""
    return "".join(signs.get(sign, sign) for sign in printable(text))
