"""Reads a report of a test run, in whichever format it is.

Results of user acceptance are read here, as elspais keeps them: a table with the columns `journey_id` and `status`.
"""

import io
import re
from collections.abc import Iterator

from clew.formats.diagnostics import DiagnosticLog
from clew.formats.results.coverage import read_coverage, read_lcov
from clew.formats.results.pytest_json import read_document, read_log
from clew.formats.results.records import FAILED, PASSED, SKIPPED, UNKNOWN, ExecutedLines, Outcome, ResultRecords
from clew.text.display import shortened

__all__ = ["RESULTS_VERSION", "ExecutedLines", "Outcome", "ResultRecords", "read_results"]

RESULTS_VERSION = 2
"""Goes up whenever the same bytes give other records; records cached under another version are not used."""

_HEAD = 4_096
_ROOT = re.compile(rb"<(?!\?|!)(?:[\w.-]+:)?([\w.-]+)")
_REPORT_LOG = re.compile(rb'\{[^\n]*"\$report_type"')
_EXECUTED = re.compile(rb'"executed_lines"\s*:')
_TRACEFILE = re.compile(rb"(?:\A|\n)(?:TN:|SF:)")

HEAD = b"journey_id"
_STATUSES = {
    "pass": PASSED,
    "passed": PASSED,
    "fail": FAILED,
    "failed": FAILED,
    "error": FAILED,
    "skip": SKIPPED,
    "skipped": SKIPPED,
}


def read_results(data: bytes) -> ResultRecords:
    """Records of a report in any known format."""
    findings = DiagnosticLog("results")
    body = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not body:
        findings.warning("empty", 1, "The file is empty: the run that should have written it may have been stopped.")
        return ResultRecords(diagnostics=findings.diagnostics())
    records = _read(body, data.count(b"\n", 0, len(data) - len(body)), findings)
    if records.format and not records.outcomes and not records.lines and not findings.diagnostics():
        findings.warning("empty", 1, "The report holds no result. Check that the run found any tests.")
    return ResultRecords(records.format, records.outcomes, records.lines, findings.diagnostics())


def _read(body: bytes, lines_before: int, findings: DiagnosticLog) -> ResultRecords:
    head = body[:_HEAD]
    if head.startswith((b"<", b"\xff\xfe", b"\xfe\xff")):
        return _xml(body, lines_before, findings)
    if head.startswith((b"{", b"[")):
        return _json(head, body, findings)
    if head.lstrip(b'"').startswith(HEAD):
        return ResultRecords("uat-csv", tuple(read_acceptance(body, findings)))
    if _TRACEFILE.search(head):
        return ResultRecords("lcov", lines=read_lcov(body, findings))
    return _unknown(findings, "It begins like none of them.")


def _xml(body: bytes, lines_before: int, findings: DiagnosticLog) -> ResultRecords:
    from clew.formats.results.junit import JUnitReader  # a project may have no reports, and most are read once

    root = _ROOT.search(body[:_HEAD])
    name = root[1].decode() if root else ""
    if name and name not in ("testsuites", "testsuite"):
        advice = "; let the run write JSON or LCOV instead" if name == "coverage" else ""
        return _unknown(findings, f"Its root element is <{shortened(name)}>{advice}.")
    reader = JUnitReader(findings, lines_before)
    reader.read(body)
    return ResultRecords("junit", tuple(reader.outcomes))


def _json(head: bytes, body: bytes, findings: DiagnosticLog) -> ResultRecords:
    if _REPORT_LOG.match(head):
        return ResultRecords("pytest-reportlog", tuple(read_log(body, findings)))
    if _EXECUTED.search(body):
        lines = read_coverage(body, findings)
        if lines is not None:
            return ResultRecords("coverage-json", lines=lines)
    outcomes = read_document(body, findings)
    if outcomes is None:
        return _unknown(findings, "It is JSON without `tests` and without `files`.")
    return ResultRecords("pytest-json", tuple(outcomes))


def _unknown(findings: DiagnosticLog, why: str) -> ResultRecords:
    message = f"The file is not JUnit XML, pytest JSON, coverage.py JSON, LCOV or table of journeys. {why}"
    findings.warning("unknown_format", 1, message)
    return ResultRecords()


def read_acceptance(data: bytes, findings: DiagnosticLog) -> Iterator[Outcome]:
    """Result of each journey. Further columns are ignored."""
    import csv

    reader = csv.DictReader(io.StringIO(data.decode("utf-8", "replace"), newline=""), restkey="", restval="")
    for row in reader:
        cells = {(name or "").strip().casefold(): value for name, value in row.items() if isinstance(value, str)}
        journey, status = cells.get("journey_id", "").strip(), cells.get("status", "").strip()
        if not journey:
            findings.warning("unnamed", reader.line_num, "A row names no journey. Fill in its first column.")
            continue
        outcome = _STATUSES.get(status.casefold())
        if outcome is None:
            message = f"{shortened(status)!r} of {journey} is not a known outcome. Write passed, failed or skipped."
            findings.warning("unknown_status", reader.line_num, message)
        yield Outcome(journey, "", outcome or UNKNOWN, reader.line_num)
