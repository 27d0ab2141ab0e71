"""The matrix as one HTML file that needs nothing else: no network, no other file, and without scripts it still reads.

Whatever comes from the project is escaped, and the page forbids itself to load anything.
"""

from collections.abc import Iterable
from html import escape
from importlib.resources import files

from clew.text.controls import printable
from clew.text.counting import counted
from clew.trace.reports.matrix import PROOFS, AssertionRow, Citing, Matrix, MatrixRow, Parent, Totals, figures

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def as_html(matrix: Matrix) -> str:
    here = files("clew.trace.reports")
    title = escape(f"Traceability matrix of {matrix.project}")
    page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{title}</title>
<style>
{here.joinpath("matrix.css").read_text("utf-8")}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p>{counted(matrix.totals.requirements, "requirement")}, {counted(matrix.totals.assertions, "assertion")}</p>
{_meters(matrix.totals)}
</header>
{_levels(matrix)}
{_controls(matrix)}
<table class="matrix">
<thead><tr>{_heads()}</tr></thead>
{"".join(map(_requirement, matrix.rows))}</table>
<p class="nothing" hidden>No requirement fits.</p>
<script>
{here.joinpath("matrix.js").read_text("utf-8")}</script>
</body>
</html>
"""
    return printable(page)


def _meters(totals: Totals) -> str:
    shares = (totals.implemented_pct, totals.tested_pct, totals.validated_pct)
    return (
        '<dl class="meters">'
        + "".join(
            f'<div><dt>{name}</dt><dd><span class="bar"><span style="width:{percent or 0:.1f}%"></span></span> '
            f"{escape(text)}</dd></div>"
            for (name, text), percent in zip(figures(totals), shares, strict=True)
        )
        + "</dl>"
    )


def _levels(matrix: Matrix) -> str:
    rows = "".join(
        f"<tr><th>{escape(level.level)}</th><td>{level.requirements}</td>"
        + "".join(f"<td>{escape(text)}</td>" for _, text in figures(level))
        + "</tr>"
        for level in matrix.levels
    )
    heads = "".join(f"<th>{name}</th>" for name in ("level", "requirements", "implemented", "tested", "passed"))
    return f'<table class="levels"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'


def _controls(matrix: Matrix) -> str:
    levels = dict.fromkeys(row.level for row in matrix.rows)
    statuses = sorted({row.status for row in matrix.rows})
    return f"""<form class="controls" hidden>
<input type="search" name="words" placeholder="Filter by id, text or file" aria-label="Filter">
<select name="level" aria-label="Level"><option value="">all levels</option>{_options(levels)}</select>
<select name="status" aria-label="Status"><option value="">all statuses</option>{_options(statuses)}</select>
<label><input type="checkbox" name="gaps"> only what is not fully tested</label>
<button type="button" name="all">Open all</button>
<output></output>
</form>"""


def _options(values: Iterable[str]) -> str:
    return "".join(f"<option>{escape(value)}</option>" for value in values)


def _heads() -> str:
    columns = (("id", "requirement"), ("title", "title"), ("level", "level"), ("status", "status"), ("share", "tested"))
    return "".join(f'<th data-key="{key}"><button type="button">{name}</button></th>' for key, name in columns)


def _requirement(row: MatrixRow) -> str:
    total = len(row.assertions)
    share = 100.0 * row.tested / total if total else -1.0
    gap = any(each.proof in ("untested", "failed") for each in row.assertions)
    data = {"id": row.id, "title": row.title, "level": row.level, "status": row.status, "share": f"{share:.1f}"}
    attributes = "".join(f' data-{name}="{escape(value)}"' for name, value in data.items())
    tested = f"{row.tested} of {total}" if total else "no assertions"
    return f"""<tbody{attributes} data-gap="{int(gap)}" id="{escape(row.id)}">
<tr class="head {row.tier if total else "none"}">
<th scope="row">{escape(row.id)}</th><td>{escape(row.title)}</td><td>{escape(row.level)}</td>
<td>{escape(row.status)}</td><td><span class="mark"></span>{tested}</td></tr>
<tr class="body"><td colspan="5">{_detail(row)}</td></tr>
</tbody>
"""


def _detail(row: MatrixRow) -> str:
    parts = [f'<p class="place">{escape(row.source)}</p>' if row.source else ""]
    if row.parents:
        parts.append("<p>stands below " + ", ".join(map(_reference, row.parents)) + "</p>")
    parts.append(_citing("implemented by", row.implemented_by) + _citing("verified by", row.verified_by))
    if row.assertions:
        parts.append('<ul class="assertions">' + "".join(map(_assertion, row.assertions)) + "</ul>")
    return f"<details><summary>{counted(len(row.assertions), 'assertion')}</summary>{''.join(parts)}</details>"


def _reference(parent: Parent) -> str:
    return f'<a href="#{escape(parent.id)}">{escape(parent.written)}</a>'


def _assertion(row: AssertionRow) -> str:
    mark = "" if row.is_implemented else " <em>not implemented</em>"
    return (
        f'<li class="{row.proof}"><span class="mark"></span><b>{escape(row.label)}</b> '
        f'<span class="proof">{PROOFS[row.proof]}</span>{mark}<p>{escape(row.text)}</p>'
        f"{_citing('implemented by', row.implemented_by)}{_citing('verified by', row.verified_by)}</li>"
    )


def _citing(how: str, citing: Iterable[Citing]) -> str:
    items = "".join(_one(each) for each in citing)
    return f'<div class="citing"><span>{how}</span><ul>{items}</ul></div>' if items else ""


def _one(citing: Citing) -> str:
    verdict = f' <span class="{escape(citing.verdict)}">{escape(citing.verdict)}</span>' if citing.verdict else ""
    place = f' <span class="place">{escape(citing.source)}</span>' if citing.source else ""
    name = f"{citing.id} {citing.title}" if citing.kind == "requirement" else citing.title
    return f"<li>{escape(name)}{place}{verdict}</li>"
