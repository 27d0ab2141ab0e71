"""How figures and states are worded in every document about coverage."""

from collections.abc import Iterable

from clew.trace.reports.matrix import Citing, Totals

PROOFS = {
    "passed": "passed",
    "failed": "failed",
    "awaiting_result": "not run",
    "untested": "no test",
}
"""What the tests say of an assertion."""


def figures(totals: Totals) -> tuple[tuple[str, str], ...]:
    """What is counted, and how much of it: implemented, tested and passed assertions."""
    return (
        ("implemented", share(totals.implemented, totals.assertions, totals.implemented_pct)),
        ("tested", share(totals.tested, totals.assertions, totals.tested_pct)),
        ("passed", share(totals.validated, totals.assertions, totals.validated_pct)),
    )


def share(part: int | None, whole: int, percent: float | None) -> str:
    if part is None:
        return "no results read"
    if percent is None:
        return "no assertions"
    return f"{part} of {whole} ({percent:.1f} %)"


def cited(citing: Iterable[Citing]) -> str:
    """Ids in one line; a test that did not pass says so."""
    return ", ".join(_one(each) for each in citing)


def _one(citing: Citing) -> str:
    return citing.id if citing.verdict in (None, "passed") else f"{citing.id} ({citing.verdict})"
