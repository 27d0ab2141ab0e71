"""The JSON report of coverage.py, with the tests that executed each line where it has them (`--show-contexts`)."""

import msgspec

from clew.formats.elspais.findings import Findings
from clew.formats.results.records import LONGEST_NAME, ExecutedLines

_PHASES = ("|run", "|setup", "|teardown", "|call")
"""What pytest-cov puts behind the name of a test."""


class _File(msgspec.Struct, frozen=True):
    executed_lines: tuple[int, ...] = ()
    missing_lines: tuple[int, ...] = ()
    contexts: dict[str, tuple[str, ...]] = {}


class _Document(msgspec.Struct, frozen=True):
    files: dict[str, _File] | None = None


def read_coverage(data: bytes, findings: Findings) -> tuple[ExecutedLines, ...] | None:
    """The executed lines of each file; None where the document is no report of coverage.py."""
    try:
        document = msgspec.json.decode(data, type=_Document)
    except (msgspec.DecodeError, RecursionError) as error:
        findings.error("broken", 0, f"The file is no whole report of coverage.py: {error}. Write it again.")
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
