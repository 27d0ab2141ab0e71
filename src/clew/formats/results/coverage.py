"""Reports of executed lines: LCOV, and the JSON of coverage.py, which may name the tests (`--show-contexts`)."""

import msgspec

from clew.formats.diagnostics import DiagnosticLog
from clew.formats.results.records import LONGEST_NAME, ExecutedLines
from clew.text.display import shortened

_PHASES = ("|run", "|setup", "|teardown", "|call")
"""Suffixes that pytest-cov adds to the name of a test."""


class _File(msgspec.Struct, frozen=True):
    executed_lines: tuple[int, ...] = ()
    missing_lines: tuple[int, ...] = ()
    contexts: dict[str, tuple[str, ...]] = {}


class _Document(msgspec.Struct, frozen=True):
    files: dict[str, _File] | None = None


def read_coverage(data: bytes, findings: DiagnosticLog) -> tuple[ExecutedLines, ...] | None:
    """The executed lines of each file; None where the document is no report of coverage.py."""
    try:
        document = msgspec.json.decode(data, type=_Document)
    except (msgspec.DecodeError, RecursionError) as error:
        findings.error("broken", 0, f"The file is not a whole report of coverage.py: {error}. Write it again.")
        return ()
    if document.files is None:
        return None
    return tuple(
        ExecutedLines(
            path=path[:LONGEST_NAME],
            executed=_sorted(file.executed_lines),
            missing=_sorted(file.missing_lines),
            by_test=_by_test(file.contexts),
        )
        for path, file in sorted(document.files.items())
    )


def _sorted(lines: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted({line for line in lines if line > 0}))


def _by_test(contexts: dict[str, tuple[str, ...]]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    lines: dict[str, set[int]] = {}
    for number, names in contexts.items():
        if not number.isdecimal() or len(number) > 9:
            continue
        for name in names:
            # The empty name stands for what ran outside of any test, such as imports.
            if name:
                lines.setdefault(_test(name), set()).add(int(number))
    return tuple((name, tuple(sorted(found))) for name, found in sorted(lines.items()))


def _test(context: str) -> str:
    name = context[:LONGEST_NAME]
    for phase in _PHASES:
        name = name.removesuffix(phase)
    return name


def read_lcov(data: bytes, findings: DiagnosticLog) -> tuple[ExecutedLines, ...]:
    """The executed lines of each file. Several records of one file add up: a line that one of them executed was."""
    counts: dict[str, dict[int, bool]] = {}
    file: dict[int, bool] | None = None
    number = 0
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        if line.startswith("DA:"):
            if file is None:
                findings.warning(
                    "stray_line", number, "A `DA:` line stands outside of any `SF:` record. It is ignored."
                )
            elif (found := _line(line)) is None:
                findings.warning(
                    "unreadable_line", number, f"'{shortened(line)}' is not `DA:line,count`. It is ignored."
                )
            else:
                file[found[0]] = file.get(found[0], False) or found[1]
        elif line.startswith("SF:"):
            file = counts.setdefault(line[3:].strip()[:LONGEST_NAME], {})
        elif line.startswith("end_of_record"):
            file = None
    if file is not None:
        message = "The last record has no `end_of_record`, so the file may be cut off. What it holds was read."
        findings.warning("cut_off", number, message)
    return tuple(
        ExecutedLines(
            path=path,
            executed=tuple(sorted(line for line, executed in lines.items() if executed)),
            missing=tuple(sorted(line for line, executed in lines.items() if not executed)),
        )
        for path, lines in sorted(counts.items())
    )


def _line(line: str) -> tuple[int, bool] | None:
    """The number of a line and whether it was executed; a checksum may follow. Counts may be negative by mistake of a
    compiler, which means not at all."""
    number, _, rest = line[3:].partition(",")
    count = rest.partition(",")[0]
    try:
        return (int(number), float(count) > 0) if len(number) < 10 else None
    except ValueError:
        return None
