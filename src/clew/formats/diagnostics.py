"""Diagnostics: reports of a reader about text that it cannot read as meant, so that nothing is lost silently."""

from collections import Counter

import msgspec


class Diagnostic(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Something in a file that could not be read as meant, or that deserves a look."""

    code: str
    """Stable and dotted, such as `elspais.duplicate_label`."""
    severity: str
    """error, warning or info."""
    message: str
    """Names the value, the rule and what to do."""
    line: int


MOST_PER_CODE = 100
"""A damaged file would otherwise yield as many diagnostics as it has lines."""


class DiagnosticLog:
    def __init__(self, of_format: str = "elspais") -> None:
        self._format = of_format
        """The first part of every code."""
        self._diagnostics: list[Diagnostic] = []
        self._counts: Counter[str] = Counter()

    def error(self, code: str, line: int, message: str) -> None:
        self._add(code, "error", line, message)

    def warning(self, code: str, line: int, message: str) -> None:
        self._add(code, "warning", line, message)

    def info(self, code: str, line: int, message: str) -> None:
        self._add(code, "info", line, message)

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """In the order of the file, with a last word on those that were too many to list."""
        listed = sorted(self._diagnostics, key=lambda diagnostic: diagnostic.line)
        last = DiagnosticLog(self._format)
        for code, count in sorted(self._counts.items()):
            if count > MOST_PER_CODE:
                last.info("more", 0, f"{count - MOST_PER_CODE} more of {code}; the first {MOST_PER_CODE} are listed.")
        return (*listed, *last._diagnostics)

    def _add(self, code: str, severity: str, line: int, message: str) -> None:
        self._counts[code] += 1
        if self._counts[code] <= MOST_PER_CODE:
            self._diagnostics.append(Diagnostic(f"{self._format}.{code}", severity, message, line))
