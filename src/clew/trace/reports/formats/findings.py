"""Findings as SARIF 2.1.0, which code hosts show beside the lines they are about, and as JUnit XML."""

import hashlib
import re
from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

from clew import __version__
from clew.text.controls import pretty_json, printable
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


_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(findings: Sequence[Finding], failing: Collection[str]) -> str:
    """`failing` are the severities that fail; findings of the others are cases that were skipped."""
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


def _add_case(suite: ET.Element, finding: Finding, *, fails: bool) -> None:
    place = f"{finding.path}:{finding.line}" if finding.line else finding.path
    case = ET.SubElement(
        suite,
        "testcase",
        classname=_clean(finding.path or "clew"),
        name=_clean(finding.node_id or place or finding.code),
    )
    told = ET.SubElement(case, "failure" if fails else "skipped", message=_clean(finding.message))
    if fails:
        told.set("type", finding.code)
    told.text = _clean(f"{place}: {finding.severity} {finding.code}: {finding.message}\n{finding.hint}".strip())


def _clean(text: str) -> str:
    """The text without characters that no XML document may hold, or that a terminal would obey."""
    return _NOT_IN_XML.sub("\ufffd", printable(text))
