"""The matrix as CSV: a line for every requirement, and one for each of its assertions."""

import csv
import io

from clew.trace.reports.formats.words import cited
from clew.trace.reports.matrix import Matrix

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

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins like this would be calculated by a spreadsheet."""


def as_csv(matrix: Matrix) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for row in matrix.rows:
        head = (row.id, row.title, row.level, row.status, " ".join(parent.written for parent in row.parents))
        tail = ("", "", cited(row.implemented_by), cited(row.verified_by), row.tier, row.source or "")
        writer.writerow(map(_cell, (*head, *tail)))
        for each in row.assertions:
            proved = (each.label, each.text, cited(each.implemented_by), cited(each.verified_by), each.proof)
            writer.writerow(map(_cell, (*head, *proved, row.source or "")))
    return file.getvalue()


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
