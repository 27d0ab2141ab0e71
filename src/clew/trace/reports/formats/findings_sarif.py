"""Findings as SARIF 2.1.0, which code hosts show beside the lines they are about."""

import hashlib
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from clew import __version__
from clew.trace.reports.findings import Finding

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVELS = {"error": "error", "warning": "warning"}
"""Everything else is a note."""


def sarif(findings: Sequence[Finding], folder: str = "") -> str:
    """`folder` leads from the root of the sources to the project: code hosts know no other root."""
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
    return msgspec.json.format(msgspec.json.encode(log), indent=2).decode() + "\n"


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
