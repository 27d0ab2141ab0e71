"""Results of user acceptance as elspais keeps them: a table with the columns `journey_id` and `status`."""

import csv
import io
from collections.abc import Iterator

from clew.formats.diagnostics import Findings
from clew.formats.results.records import FAILED, PASSED, SKIPPED, UNKNOWN, Outcome
from clew.text.display import shortened

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


def read_acceptance(data: bytes, findings: Findings) -> Iterator[Outcome]:
    """What became of each journey. Further columns are not looked at."""
    reader = csv.DictReader(io.StringIO(data.decode("utf-8", "replace"), newline=""), restkey="", restval="")
    for row in reader:
        cells = {(name or "").strip().casefold(): value for name, value in row.items() if isinstance(value, str)}
        journey, status = cells.get("journey_id", "").strip(), cells.get("status", "").strip()
        if not journey:
            findings.warning("unnamed", reader.line_num, "A row names no journey. Fill in its first column.")
            continue
        outcome = _STATUSES.get(status.casefold())
        if outcome is None:
            message = f"{shortened(status)!r} of {journey} says neither yes nor no. Write passed, failed or skipped."
            findings.warning("unknown_status", reader.line_num, message)
        yield Outcome(journey, "", outcome or UNKNOWN, reader.line_num)
