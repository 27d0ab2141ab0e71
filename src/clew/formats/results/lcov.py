"""LCOV tracefiles: `SF:` names a file, `DA:` says how often a line was executed, `end_of_record` ends the file."""

from clew.formats.elspais.findings import Findings
from clew.formats.results.records import LONGEST_NAME, ExecutedLines


def read_lcov(data: bytes, findings: Findings) -> tuple[ExecutedLines, ...]:
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
                findings.warning("unreadable_line", number, f"'{line[:80]}' is not `DA:line,count`. It is ignored.")
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
