"""The matrix as one HTML file that needs no network, no other file and no scripts.

Whatever comes from the project is escaped, and the page forbids itself to load anything, and to run any other script
than its own. The rows are in a part that a browser with scripts keeps as text: the script makes elements of those
that are shown, so that thousands of requirements open as fast as ten.
"""

import base64
import hashlib
from collections.abc import Iterator
from importlib.resources import files

import msgspec
from markupsafe import Markup

from clew.markup.environment import shared
from clew.trace.reports.matrix import PROOFS, Matrix, MatrixRow, figures

_STATES = {"passed": "full", "failed": "failing", "awaiting_result": "unrun", "untested": "missing"}
"""The style of an assertion, by its proof."""


class _Shown(msgspec.Struct, frozen=True):
    id: str
    title: str
    level: str
    status: str
    share: str
    gap: int
    state: str
    tested: str
    count: int
    row: MatrixRow


def as_html(matrix: Matrix, above: str | None = None) -> str:
    """`above` is the path from the file to the project's folder, for links to places; None if it is unknown."""
    style, script = _own("style.css"), _own("matrix.js")
    policy = f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; base-uri 'none'"
    totals = matrix.totals
    parts = (totals.implemented, totals.tested, totals.validated)
    return shared().get_template("matrix.html").render(
        matrix=matrix,
        above=above,
        policy=policy,
        # Our own files, which hold nothing of any project.
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        figures=[(name, text, part) for (name, text), part in zip(figures(totals), parts, strict=True)],
        levels=[(level, figures(level)) for level in matrix.levels],
        all_levels=list(dict.fromkeys(row.level for row in matrix.rows)),
        statuses=sorted({row.status for row in matrix.rows}),
        rows=_rows(matrix),
        states=_STATES,
        proofs=PROOFS,
    )  # fmt: skip


def _own(name: str) -> str:
    return files("clew.markup").joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _rows(matrix: Matrix) -> Iterator[_Shown]:
    for row in matrix.rows:
        total = len(row.assertions)
        yield _Shown(
            id=row.id,
            title=row.title,
            level=row.level,
            status=row.status,
            share=f"{100.0 * row.tested / total if total else -1.0:.1f}",
            gap=int(any(each.proof in ("untested", "failed") for each in row.assertions)),
            state=row.tier if total else "none",
            tested=f"{row.tested} of {total}" if total else "no assertions",
            count=total,
            row=row,
        )
