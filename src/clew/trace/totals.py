"""Totals of findings by severity."""

from collections import Counter
from collections.abc import Iterable
from typing import Protocol

import msgspec

from clew.text.display import counted


class HasSeverity(Protocol):
    @property
    def severity(self) -> str: ...


class FindingCounts(msgspec.Struct, frozen=True):
    """All findings by severity, counted before anything is left out of an answer."""

    errors: int
    warnings: int
    notes: int

    @classmethod
    def of(cls, found: Iterable[HasSeverity]) -> "FindingCounts":
        severities = Counter(each.severity for each in found)
        errors, warnings = severities.pop("error", 0), severities.pop("warning", 0)
        return cls(errors, warnings, severities.total())

    @property
    def total(self) -> int:
        return self.errors + self.warnings + self.notes

    def describe(self) -> str:
        counts = ((self.errors, "error"), (self.warnings, "warning"), (self.notes, "note"))
        return ", ".join(counted(number, word) for number, word in counts)
