"""Findings as a JUnit report, which every CI server can show: a suite for each code, a failed case for each finding."""

import re
from collections.abc import Collection, Sequence
from xml.etree import ElementTree as ET

from clew.trace.reports.findings import Finding

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
    """The text without characters that no XML document may hold."""
    return _NOT_IN_XML.sub("\ufffd", text)
