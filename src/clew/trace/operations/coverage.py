"""The commands `clew trace` and `clew coverage`: implementations and tests of the requirements."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from clew.errors import InvalidArgument
from clew.operation.call import Call
from clew.operation.declare import Operation, Option, Toolset
from clew.text.controls import pretty_json
from clew.text.terminal import coloured
from clew.trace import coverage
from clew.trace.reports.matrix import PROOFS, Citing, Matrix, MatrixRow, cited, figures

SHOWN_GAPS = 20
SHOWN_CITING = 20

_ENDINGS = {".csv": "csv", ".json": "json", ".html": "html", ".htm": "html"}
_MARKS = {
    "passed": ("+", "green"),
    "failed": ("!", "red"),
    "awaiting_result": ("+", "yellow"),
    "untested": ("-", "red"),
}

Level = Annotated[str, Option(metavar="NAME", about="only requirements of this level")]
Status = Annotated[str, Option(metavar="NAME", about="only requirements of this status")]


class MatrixShown(msgspec.Struct, frozen=True):
    matrix: Matrix
    levels: tuple[str, ...]
    """The levels that requirements of this project have."""
    root: str = ""
    """The project's folder."""

    @property
    def nothing_fits(self) -> str:
        return f"clew: no requirement matches. Levels here: {', '.join(self.levels) or 'none'}."


class ShowMatrix(
    Operation,
    verb="trace",
    toolset=Toolset.TRACE,
    summary="the traceability matrix as Markdown, CSV, JSON or one HTML file",
    epilog="clew trace --output matrix.html\nclew trace REQ-p00001 --format csv\nclew trace --gaps --level dev",
):
    """The traceability matrix: every requirement and assertion with its implementations and tests."""

    id: Annotated[str | None, Option(positional=True, about="only this requirement and its descendants")] = None
    format: Annotated[
        Literal["markdown", "csv", "json", "html"] | None, Option(about="default: by the file's ending, else markdown")
    ] = None
    output: Annotated[str | None, Option("-o", metavar="FILE", about="write it to a file")] = None
    level: Level = ""
    status: Status = ""
    gaps: Annotated[bool, Option(about="only requirements that are not fully tested")] = False

    def run(self, call: Call) -> MatrixShown:
        chosen = call.project.trace.find.requirements(
            root_id=self.id, level=self.level, status=self.status, gaps_only=self.gaps
        )
        return MatrixShown(call.project.trace.matrix(chosen), _levels(call), str(call.root))

    def document(self, result: MatrixShown) -> str:
        ending = Path(self.output).suffix.lower() if self.output is not None else ""
        match self.format or _ENDINGS.get(ending):
            case "csv":
                from clew.trace.reports.matrix import as_csv

                return as_csv(result.matrix)
            case "html":
                from clew.trace.reports.matrix_html import as_html

                return as_html(result.matrix, self._above(result.root))
            case "json":
                return pretty_json(result.matrix) + "\n"
            case _:
                from clew.trace.reports.matrix import as_markdown

                return as_markdown(result.matrix)

    def _above(self, root: str) -> str | None:
        """The relative path from the file to the project; None for a file outside."""
        if self.output is None:
            return None
        folder = Path(self.output).absolute().parent
        inside = folder.is_relative_to(root)
        return "../" * len(folder.relative_to(root).parts) if inside else None

    def render(self, result: MatrixShown) -> str:
        return self.document(result) if self.output is None else ""

    def exit_code(self, result: MatrixShown) -> int:
        # Where there is no requirement at all, `clew coverage` succeeds as well.
        return 0 if result.matrix.rows or self.gaps or not result.levels else 1

    def messages(self, result: MatrixShown) -> tuple[str, ...]:
        if not result.levels and not result.matrix.rows:
            return (NO_REQUIREMENTS,)
        return (result.nothing_fits,) if self.exit_code(result) else ()


NO_REQUIREMENTS = (
    "This project has no requirements or specs yet, so there is nothing to cover. Put the first one into spec/ as "
    "docs/getting-started.md shows, or begin a spec with `clew change new NAME`."
)


class ShowCoverage(
    Operation,
    verb="coverage",
    toolset=Toolset.TRACE,
    summary="shares that are implemented, tested and passed, and the gaps",
    epilog="clew coverage\nclew coverage REQ-d00006\nclew coverage --fail-under 90",
):
    """Shares of the requirements that are implemented, tested and passed; of one requirement, assertion by
    assertion."""

    id: Annotated[str | None, Option(positional=True, about="a requirement, shown assertion by assertion")] = None
    level: Level = ""
    status: Status = ""
    fail_under: Annotated[
        float | None, Option(metavar="PERCENT", about="exit code 1 where fewer assertions are tested")
    ] = None

    def run(self, call: Call) -> MatrixShown:
        if self.fail_under is not None and not 0 <= self.fail_under <= 100:
            raise InvalidArgument(
                f"--fail-under is {self.fail_under:g}: a percentage is from 0 to 100.", hint="Pass, for example, 90."
            )
        trace = call.project.trace
        if self.id is not None:
            return MatrixShown(trace.matrix((trace.resolve(self.id),)), _levels(call))
        return MatrixShown(trace.matrix(trace.find.requirements(level=self.level, status=self.status)), _levels(call))

    def data(self, result: MatrixShown) -> Any:
        return result.matrix.rows[0] if self.id is not None else _figures(result.matrix)

    def render(self, result: MatrixShown) -> str:
        matrix = result.matrix
        if not matrix.rows and not (self.level or self.status or self.id):
            return NO_REQUIREMENTS
        return "\n".join(_requirement(matrix.rows[0]) if self.id is not None else (*_table(matrix), *_missing(matrix)))

    def exit_code(self, result: MatrixShown) -> int:
        return 1 if self.messages(result) else 0

    def messages(self, result: MatrixShown) -> tuple[str, ...]:
        tested, least = result.matrix.totals.tested_pct, self.fail_under
        if not result.matrix.rows and (self.level or self.status):
            return (result.nothing_fits,)
        if least is None:
            return ()
        if tested is None:
            return ("clew: there are no assertions, so nothing can be said about their coverage.",)
        if tested >= least:
            return ()
        return (f"clew: {tested:.1f} % of the assertions are tested, less than {least:g} %.",)


def _levels(call: Call) -> tuple[str, ...]:
    return tuple(coverage.count_by_level(call.project.graph).all)


def _figures(matrix: Matrix) -> dict[str, Any]:
    gaps = [
        {
            "id": row.id,
            "title": row.title,
            "total_assertions": len(row.assertions),
            "tested": row.tested,
            "untested_labels": _labels(row, "untested"),
            "failed_labels": _labels(row, "failed"),
        }
        for row in _gaps(matrix)
    ]
    return {"totals": matrix.totals, "levels": matrix.levels, "gaps": gaps}


def _gaps(matrix: Matrix) -> list[MatrixRow]:
    return [row for row in matrix.rows if _labels(row, "untested") or _labels(row, "failed")]


def _labels(row: MatrixRow, proof: str) -> list[str]:
    return [each.label for each in row.assertions if each.proof == proof]


def _table(matrix: Matrix) -> Iterator[str]:
    heads = ("level", "requirements", "implemented", "tested", "passed")
    lines: list[tuple[str, ...]] = [heads]
    for name, sums in (*((level.level, level) for level in matrix.levels), ("all", matrix.totals)):
        lines.append((name, str(sums.requirements), *(text for _, text in figures(sums))))
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    for line in lines:
        text = "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
        yield coloured(text, "dim") if line is heads else text


def _missing(matrix: Matrix) -> Iterator[str]:
    gaps = _gaps(matrix)
    if gaps:
        yield f"\nNot fully tested: {len(gaps)} of {matrix.totals.requirements} requirements"
    for row in gaps[:SHOWN_GAPS]:
        yield f"  {coloured(row.id, 'cyan')}  {row.tested}/{len(row.assertions)}  {row.title}  {_why(row)}"
    if len(gaps) > SHOWN_GAPS:
        yield coloured(f"  and {len(gaps) - SHOWN_GAPS} more; `clew trace --gaps` shows them all", "dim")


def _why(row: MatrixRow) -> str:
    parts = [f"no test: {', '.join(labels)}"] if (labels := _labels(row, "untested")) else []
    parts += [f"failed: {', '.join(labels)}"] if (labels := _labels(row, "failed")) else []
    return coloured("; ".join(parts), "yellow")


def _requirement(row: MatrixRow) -> Iterator[str]:
    yield coloured(f"{row.id}: {row.title}", "bold")
    yield f"{row.tested} of {len(row.assertions)} assertions tested, {row.implemented} implemented"
    for each in row.assertions:
        mark, style = _MARKS[each.proof]
        yield f"  {coloured(mark, style)} {each.label}. {each.text}  {coloured(PROOFS[each.proof], 'dim')}"
        for how, citing in (("implemented by", each.implemented_by), ("verified by", each.verified_by)):
            if citing:
                yield coloured(f"      {how} {_first(citing)}", "dim")
    for how, citing in (("implemented by", row.implemented_by), ("cited as a whole by", row.verified_by)):
        if citing:
            yield f"  {how} {_first(citing)}"


def _first(citing: Sequence[Citing]) -> str:
    more = len(citing) - SHOWN_CITING
    return cited(citing[:SHOWN_CITING]) + (f" and {more} more; --json lists them" if more > 0 else "")
