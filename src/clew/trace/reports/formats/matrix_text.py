"""The matrix as Markdown and as CSV, with a line for every requirement and every assertion."""

import csv
import io
import re

from clew.text.controls import csv_cell, printable
from clew.text.counting import counted
from clew.trace.reports.matrix import PROOFS, Matrix, MatrixRow, cited, figures

_SPECIAL = re.compile(r"([\\|<>\[\]*_`#])")


def as_markdown(matrix: Matrix) -> str:
    lines = [
        f"# Traceability matrix of {_cell(matrix.project)}",
        "",
        f"{counted(matrix.totals.requirements, 'requirement')}, {counted(matrix.totals.assertions, 'assertion')}.",
        "",
        "| level | requirements | implemented | tested | passed |",
        "|---|---|---|---|---|",
    ]
    for level in (*matrix.levels, None):
        name, sums = (level.level, level) if level is not None else ("all", matrix.totals)
        shares = " | ".join(text for _, text in figures(sums))
        lines.append(f"| {_cell(name)} | {sums.requirements} | {shares} |")
    lines += [
        "",
        "| requirement | text | implemented by | verified by | proof |",
        "|---|---|---|---|---|",
    ]
    for row in matrix.rows:
        lines += _lines(row)
    return "\n".join(lines) + "\n"


def _lines(row: MatrixRow) -> list[str]:
    above = ", ".join(parent.written for parent in row.parents)
    about = f"{row.level}, {row.status}" + (f", below {above}" if above else "")
    proof = f"{row.tested}/{len(row.assertions)} tested" if row.assertions else ""
    head = (row.id, row.title, cited(row.implemented_by), cited(row.verified_by), proof)
    first = f"| **{_cell(head[0])}** | **{_cell(head[1])}** ({_cell(about)}) | "
    lines = [first + " | ".join(map(_cell, head[2:])) + " |"]
    for each in row.assertions:
        cells = (each.id, each.text, cited(each.implemented_by), cited(each.verified_by), PROOFS[each.proof])
        lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    return lines


def _cell(text: str) -> str:
    """A text that stays in its cell and means nothing to Markdown."""
    return _SPECIAL.sub(r"\\\1", printable(" ".join(text.split())))


COLUMNS = (
    "requirement",
    "title",
    "level",
    "status",
    "parents",
    "assertion",
    "text",
    "implemented_by",
    "verified_by",
    "proof",
    "source",
)


def as_csv(matrix: Matrix) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for row in matrix.rows:
        head = (row.id, row.title, row.level, row.status, " ".join(parent.written for parent in row.parents))
        tail = ("", "", cited(row.implemented_by), cited(row.verified_by), row.tier, row.source or "")
        writer.writerow(map(csv_cell, (*head, *tail)))
        for each in row.assertions:
            proved = (each.label, each.text, cited(each.implemented_by), cited(each.verified_by), each.proof)
            writer.writerow(map(csv_cell, (*head, *proved, row.source or "")))
    return file.getvalue()
