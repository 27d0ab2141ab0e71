"""JUnit XML, in the dialects that test runners write.

Elements are read one by one as they come, so that a report of any size costs no more memory than what is kept of it.
A report is data from elsewhere: one that declares entities is refused, and nothing outside of it is ever fetched.
"""

import math
import re
from xml.parsers import expat

from clew.formats.diagnostics import DiagnosticLog
from clew.formats.results.records import (
    ERROR,
    FAILED,
    LONGEST_NAME,
    PASSED,
    SKIPPED,
    Outcome,
    one_line,
    split_parameters,
)

_CHUNK = 65_536
_MOST_PROPERTIES = 20
_LONGEST_TEXT = 4_000
"""Of a failure's description; only its first line is kept."""

_FORBIDDEN = bytes(code for code in range(32) if code not in b"\t\n\r")
"""Control characters that no XML file may hold, but that programs under test print."""
_SPEAKING = {"failure": FAILED, "error": ERROR, "skipped": SKIPPED, "disabled": SKIPPED, "ignored": SKIPPED}
"""Status by the name of an element inside a test. Repeated attempts (`rerunFailure`, `flakyError`) have none: the last
attempt counts."""
_NOT_RUN = frozenset({"notrun", "disabled", "skipped", "suppressed", "ignored", "pending", "not run"})
_FAILED_WORDS = {"fail": FAILED, "failed": FAILED, "failure": FAILED, "error": ERROR, "errored": ERROR}
_SEVERITY = {PASSED: 0, SKIPPED: 1, FAILED: 2, ERROR: 3}
_FILE_ENDING = re.compile(r"\.[A-Za-z]{1,6}\Z")
_COLLECTION = re.compile(r"collection (?:failure|skipped)", re.IGNORECASE)


class _Refused(Exception):
    """The file asks for something that is not done."""


class JUnitReader:
    def __init__(self, findings: DiagnosticLog, lines_before: int = 0) -> None:
        self._findings = findings
        self._lines_before = lines_before
        """Empty lines that were taken away, because XML allows none before its declaration."""
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.EntityDeclHandler = self._entity
        self._suites: list[dict[str, str]] = []
        """The suites around what is being read, the innermost last."""
        self._case: dict[str, str] | None = None
        self._case_line = 0
        self._status = PASSED
        self._message = ""
        self._properties: list[tuple[str, str]] = []
        self._text: list[str] | None = None
        """The words of a failure without a message of its own."""
        self._text_size = 0
        self.outcomes: list[Outcome] = []

    def read(self, data: bytes) -> None:
        """Collect the outcomes; what was read before a fault is kept, and the fault reported."""
        if not data.startswith((b"\xff\xfe", b"\xfe\xff")):
            data = data.translate(None, _FORBIDDEN)
        view = memoryview(data)
        try:
            for start in range(0, len(view), _CHUNK):
                self._parser.Parse(bytes(view[start : start + _CHUNK]), False)
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            line = error.lineno + self._lines_before
            message = (
                f"The XML breaks off: {expat.ErrorString(error.code)} in line {line}. "
                f"{len(self.outcomes)} results before it were read. Run the tests again to write a whole report."
            )
            self._findings.error("broken", line, message)
        except (LookupError, ValueError) as error:
            self._findings.error("broken", 1, f"The encoding that the file declares cannot be read: {error}.")
        except _Refused as refusal:
            self._findings.error("entities", self._line(), str(refusal))
            self.outcomes.clear()

    def _line(self) -> int:
        return self._parser.CurrentLineNumber + self._lines_before

    def _entity(self, name: str, *_: object) -> None:
        raise _Refused(f"The file declares the entity '{name}', which no test report needs. It was not read.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(":")[2]
        if tag == "testcase":
            self._open_case(attributes)
        elif tag in ("testsuite", "testsuites"):
            self._suites.append(attributes)
        elif tag == "property":
            if self._case is not None and len(self._properties) < _MOST_PROPERTIES:
                value = attributes.get("value", "")
                self._properties.append((attributes.get("name", "")[:LONGEST_NAME], value[:LONGEST_NAME]))
        elif tag in _SPEAKING and self._case is not None:
            self._speak(_SPEAKING[tag], attributes)

    def _open_case(self, attributes: dict[str, str]) -> None:
        self._case, self._case_line = attributes, self._line()
        self._status, self._message = _stated(attributes), ""
        self._properties = []

    def _speak(self, status: str, attributes: dict[str, str]) -> None:
        # pytest writes a failure and an error of the same test side by side: the worst counts, and its reason.
        if self._message and _SEVERITY[status] <= _SEVERITY[self._status]:
            return
        self._status = max(self._status, status, key=lambda each: _SEVERITY[each])
        self._message = one_line(attributes.get("message") or "")
        if not self._message:
            self._text, self._text_size = [], 0
            self._parser.CharacterDataHandler = self._characters

    def _characters(self, text: str) -> None:
        if self._text is not None and self._text_size < _LONGEST_TEXT:
            self._text.append(text[:_LONGEST_TEXT])
            self._text_size += len(text)

    def _end(self, name: str) -> None:
        tag = name.rpartition(":")[2]
        if tag == "testcase":
            self._close_case()
        elif tag in ("testsuite", "testsuites"):
            self._suites.pop()
        elif tag in _SPEAKING and self._text is not None:
            self._message = one_line("".join(self._text))
            self._text = None
            self._parser.CharacterDataHandler = None

    def _close_case(self) -> None:
        case, self._case = self._case, None
        if case is None:
            return
        name = case.get("name", "")[:LONGEST_NAME]
        if not name.strip():
            self._findings.warning("unnamed", self._case_line, "A testcase has no name, so it can be no test's result.")
            return
        bare, parameters = split_parameters(name)
        self.outcomes.append(
            Outcome(
                name=bare,
                classname=(case.get("classname") or case.get("class") or "")[:LONGEST_NAME],
                status=self._status,
                line=self._case_line,
                parameters=parameters,
                suite=self._suites[-1].get("name", "")[:LONGEST_NAME] if self._suites else "",
                file=self._file(case),
                test_line=_test_line(case),
                message=self._message,
                seconds=_seconds(case.get("time", "")),
                properties=tuple(self._properties),
                whole_file=not case.get("classname") and _COLLECTION.match(self._message) is not None,
            )
        )

    def _file(self, case: dict[str, str]) -> str:
        """The source file: of the test, or of the nearest suite that names one."""
        for attributes in (case, *reversed(self._suites)):
            for key in ("file", "filepath", "filename"):
                if value := attributes.get(key):
                    return value[:LONGEST_NAME]
        suite = self._suites[-1].get("name", "") if self._suites else ""
        return suite[:LONGEST_NAME] if _is_path(suite) else ""


def _stated(attributes: dict[str, str]) -> str:
    """Status by the attributes alone, as ctest and GoogleTest write them."""
    for key in ("status", "result"):
        word = attributes.get(key, "").lower()
        if word in _NOT_RUN:
            return SKIPPED
        if word in _FAILED_WORDS:
            return _FAILED_WORDS[word]
    return PASSED


def _test_line(case: dict[str, str]) -> int:
    """pytest counts lines from 0 and writes `line` beside a `file`; others count from 1."""
    for key in ("line", "lineno"):
        if (text := case.get(key, "")).isdecimal() and len(text) < 10:
            return int(text) + int(case.get("file", "").endswith(".py"))
    return 0


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text.replace(",", "")) if text else math.nan
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _is_path(text: str) -> bool:
    return "/" in text and " " not in text and _FILE_ENDING.search(text) is not None
