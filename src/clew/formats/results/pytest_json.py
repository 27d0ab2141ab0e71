"""JSON that pytest plugins write: pytest-json-report, one document, and pytest-reportlog, one object a line.

Also read is a plain list of objects with a name and an outcome, which many small scripts write.
"""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from clew.formats.diagnostics import DiagnosticLog
from clew.formats.results.records import (
    ERROR,
    FAILED,
    LONGEST_NAME,
    PASSED,
    SKIPPED,
    UNKNOWN,
    Outcome,
    one_line,
    split_parameters,
)
from clew.text.display import shortened

_STATUSES = {
    "passed": PASSED,
    "pass": PASSED,
    "ok": PASSED,
    "success": PASSED,
    "xpassed": PASSED,
    "failed": FAILED,
    "fail": FAILED,
    "failure": FAILED,
    "error": ERROR,
    "errored": ERROR,
    "skipped": SKIPPED,
    "skip": SKIPPED,
    "xfailed": SKIPPED,
}
"""Status by pytest's word. An expected failure proves nothing, so it counts as skipped."""
_SEVERITY = {UNKNOWN: 0, SKIPPED: 1, PASSED: 2, FAILED: 3, ERROR: 4}


class _Crash(msgspec.Struct, frozen=True):
    message: str = ""


class _Phase(msgspec.Struct, frozen=True):
    outcome: str = ""
    duration: float = 0.0
    crash: _Crash | None = None
    longrepr: Any = None


class _Test(msgspec.Struct, frozen=True):
    """A test of pytest-json-report, or of a plain list. Unknown keys are passed over."""

    nodeid: str = ""
    lineno: int | None = None
    outcome: str = ""
    setup: _Phase | None = None
    call: _Phase | None = None
    teardown: _Phase | None = None
    name: str = ""
    classname: str = ""
    module: str = ""
    file: str = ""
    status: str = ""
    message: str = ""
    duration: float | None = None


class _Collector(msgspec.Struct, frozen=True):
    nodeid: str = ""
    outcome: str = ""
    longrepr: Any = None


class _Document(msgspec.Struct, frozen=True):
    tests: tuple[_Test, ...] | None = None
    collectors: tuple[_Collector, ...] = ()


class _Report(msgspec.Struct, frozen=True):
    """A line of pytest-reportlog."""

    type: str = msgspec.field(name="$report_type", default="")
    nodeid: str = ""
    location: tuple[str, int | None, str] | None = None
    outcome: str = ""
    when: str | None = None
    duration: float = 0.0
    longrepr: Any = None
    wasxfail: str | None = None


def read_document(data: bytes, findings: DiagnosticLog) -> list[Outcome] | None:
    """The outcomes of a document or list; None where it is JSON and holds neither."""
    try:
        document = msgspec.json.decode(data, type=_Document | tuple[_Test, ...])
    except msgspec.ValidationError as error:
        findings.error("broken", 0, f"The report does not have the shape of one: {error}. Write it again with pytest.")
        return []
    except (msgspec.DecodeError, RecursionError) as error:
        findings.error("broken", _line_of(error, data), f"The file is not a whole JSON document: {error}.")
        return []
    tests = document.tests if isinstance(document, _Document) else document
    if tests is None:
        return None
    places = _Places(data)
    outcomes: list[Outcome] = []
    for test in tests:
        outcome = _outcome(test, places.line_of(test.nodeid or test.name), findings)
        if outcome is not None:
            outcomes.append(outcome)
    if isinstance(document, _Document):
        outcomes.extend(_uncollected(each.nodeid, each.longrepr) for each in document.collectors if _is_broken(each))
    return outcomes


def read_log(data: bytes, findings: DiagnosticLog) -> list[Outcome]:
    """The outcomes of a log, in which every phase of a test is a line of its own."""
    decoder = msgspec.json.Decoder(_Report)
    by_test: dict[str, list[tuple[int, _Report]]] = {}
    outcomes: list[Outcome] = []
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            report = decoder.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            findings.error("broken", number, f"The line is not a report: {error}. The other lines were read.")
            continue
        if report.type == "TestReport" and report.nodeid:
            by_test.setdefault(report.nodeid, []).append((number, report))
        elif report.type == "CollectReport" and _is_broken(report):
            outcomes.append(_uncollected(report.nodeid, report.longrepr, number))
    return [_of_phases(nodeid, phases, findings) for nodeid, phases in by_test.items()] + outcomes


class _Places:
    """Lines of the tests' names in a document, asked for in their order."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = max(0, data.find(b'"tests"'))
        self._line = data.count(b"\n", 0, self._position) + 1

    def line_of(self, name: str) -> int:
        """The line on which the next mention of the name stands; 0 where it is spelled in a way of its own."""
        found = self._data.find(msgspec.json.encode(name), self._position) if name else -1
        if found < 0:
            return 0
        self._line += self._data.count(b"\n", self._position, found)
        self._position = found
        return self._line


def _outcome(test: _Test, line: int, findings: DiagnosticLog) -> Outcome | None:
    status = _status(test.outcome or test.status, test.nodeid or test.name, line, findings)
    phases = [phase for phase in (test.setup, test.call, test.teardown) if phase is not None]
    message = test.message or next((reason for phase in phases if (reason := _reason(phase))), "")
    if not test.nodeid:
        return _plain(test, status, message, line, findings)
    classname, name, parameters = split_nodeid(test.nodeid)
    return Outcome(
        name=name,
        classname=classname,
        status=status,
        line=line,
        parameters=parameters,
        file=test.nodeid.partition("::")[0][:LONGEST_NAME],
        test_line=test.lineno + 1 if test.lineno is not None else 0,
        message=one_line(message) if status != PASSED else "",
        seconds=sum(phase.duration for phase in phases) if phases else test.duration,
    )


def _plain(test: _Test, status: str, message: str, line: int, findings: DiagnosticLog) -> Outcome | None:
    if not test.name.strip():
        findings.warning("unnamed", line, "A test has neither nodeid nor name, so it can be no test's result.")
        return None
    name, parameters = split_parameters(test.name[:LONGEST_NAME])
    classname = (test.classname or test.module)[:LONGEST_NAME]
    return Outcome(name, classname, status, line, parameters, "", test.file[:LONGEST_NAME], 0, one_line(message))


def _of_phases(nodeid: str, phases: list[tuple[int, _Report]], findings: DiagnosticLog) -> Outcome:
    """One outcome of the phases of a test. A test that was run again is judged by its last run."""
    run = phases
    for index in range(len(phases) - 1, -1, -1):
        if phases[index][1].when == "setup":
            run = phases[index:]
            break
    statuses = [(_phase_status(report, number, findings), number, report) for number, report in run]
    status, number, report = max(statuses, key=lambda each: _SEVERITY[each[0]])
    classname, name, parameters = split_nodeid(nodeid)
    location = report.location
    return Outcome(
        name=name,
        classname=classname,
        status=status,
        line=number,
        parameters=parameters,
        file=nodeid.partition("::")[0][:LONGEST_NAME],
        test_line=location[1] + 1 if location is not None and location[1] is not None else 0,
        message=one_line(_words(report.longrepr)) if status != PASSED else "",
        seconds=sum(each.duration for _, _, each in statuses),
    )


def _phase_status(report: _Report, number: int, findings: DiagnosticLog) -> str:
    status = _status(report.outcome, report.nodeid, number, findings)
    if report.when in ("setup", "teardown"):
        # That a test could be set up proves nothing.
        return {FAILED: ERROR, PASSED: UNKNOWN}.get(status, status)
    return SKIPPED if report.wasxfail is not None and status == SKIPPED else status


def _status(word: str, name: str, line: int, findings: DiagnosticLog) -> str:
    status = _STATUSES.get(word.lower())
    if status is None:
        findings.warning(
            "unknown_status", line, f"'{name[:200]}' ended as '{shortened(word)}', which is not a known outcome."
        )
    return status or UNKNOWN


def _is_broken(collector: _Collector | _Report) -> bool:
    return collector.outcome == "failed" and bool(collector.nodeid)


def _uncollected(nodeid: str, reason: Any, line: int = 0) -> Outcome:
    """A file whose tests could not be collected: all of them are in error."""
    file = nodeid.partition("::")[0][:LONGEST_NAME]
    return Outcome(file, "", ERROR, line, file=file, message=one_line(_words(reason)), whole_file=True)


def split_nodeid(nodeid: str) -> tuple[str, str, str]:
    """Classes, name and parameters of a test as pytest names it: `tests/test_a.py::TestA::test_b[c::d]`."""
    head, parameters = split_parameters(nodeid[: 3 * LONGEST_NAME])
    _, *names = head.split("::")
    if not names:
        return "", head, parameters
    return ".".join(names[:-1]), names[-1], parameters


def _reason(phase: _Phase) -> str:
    if phase.outcome == "passed":
        return ""
    return phase.crash.message if phase.crash is not None and phase.crash.message else _words(phase.longrepr)


def _words(reason: Any) -> str:
    """Text of a failure, in any form that pytest writes."""
    match reason:
        case str():
            return reason
        case {"reprcrash": {"message": str() as message}}:
            return message
        case {"longrepr": str() as message}:
            return message
        case [*parts]:
            return _last_text(parts)
    return ""


def _last_text(parts: Iterable[Any]) -> str:
    texts = [part for part in parts if isinstance(part, str)]
    return texts[-1] if texts else ""


def _line_of(error: Exception, data: bytes) -> int:
    """The line of a fault, where the message has its byte."""
    found = re.search(r"\(byte (\d+)\)", str(error))
    return data.count(b"\n", 0, int(found[1])) + 1 if found else 0
