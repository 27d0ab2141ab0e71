"""Records of a test report, before it is known which tests are meant."""

import msgspec

from clew.formats.diagnostics import Diagnostic

PASSED, FAILED, ERROR, SKIPPED, UNKNOWN = "passed", "failed", "error", "skipped", "unknown"

LONGEST_MESSAGE = 200
LONGEST_NAME = 1_000
_LONGEST_REASON = 20_000


class Outcome(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Result of one test, with one set of parameters."""

    name: str
    """As the report has it, without the parameters."""
    classname: str
    """The class, module, package or file that the report puts it under, as it is spelled there; may be empty."""
    status: str
    """passed, failed, error, skipped or unknown."""
    line: int
    """Line in the report; 0 if not known."""
    parameters: str = ""
    """Text in brackets after the name."""
    suite: str = ""
    file: str = ""
    """The source file, as the report spells it."""
    test_line: int = 0
    """Line of that file in which the test begins, from 1; 0 if the report does not say. Decorators may be above."""
    message: str = ""
    """Reason why it did not pass, in one line."""
    seconds: float | None = None
    properties: tuple[tuple[str, str], ...] = ()
    whole_file: bool = False
    """It concerns all tests of a file: none of them could be collected."""


class ExecutedLines(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Executed lines of a source file in a run. All lists are sorted."""

    path: str
    """As the report spells it."""
    executed: tuple[int, ...]
    missing: tuple[int, ...]
    """Lines that could have been executed and were not."""
    by_test: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """For each test that the report tells apart, as it names it, the lines that it executed."""


class ResultRecords(msgspec.Struct, frozen=True, array_like=True):
    format: str = ""
    """junit, pytest-json, pytest-reportlog, coverage-json, lcov or uat-csv; empty where the file is none of these."""
    outcomes: tuple[Outcome, ...] = ()
    lines: tuple[ExecutedLines, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def one_line(text: str) -> str:
    """The line that says most, short enough to show: the one pytest marks with an `E`, else the first with anything."""
    lines = [line.strip() for line in text[:_LONGEST_REASON].splitlines() if line.strip()]
    first = next((line[1:].strip() for line in lines if line.startswith("E  ")), lines[0] if lines else "")
    return first if len(first) <= LONGEST_MESSAGE else first[: LONGEST_MESSAGE - 3] + "..."


def split_parameters(name: str) -> tuple[str, str]:
    """The name of a test and the parameters in brackets behind it: `test_ok[a-1]`."""
    if name.endswith("]") and (start := name.find("[")) > 0:
        return name[:start], name[start:]
    return name, ""
