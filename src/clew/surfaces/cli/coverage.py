"""`clew coverage`."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from clew.errors import InvalidArgument
from clew.graph.model import Node
from clew.project import Project
from clew.surfaces.cli.matrix.words import PROOFS, cited, figures
from clew.surfaces.cli.opening import add_folder, add_json, opened
from clew.surfaces.cli.output import end_progress, print_json, progress
from clew.text.terminal import coloured
from clew.trace.coverage import aggregates
from clew.trace.reports.matrix import Citing, Matrix, MatrixRow, Totals

EXAMPLE = """clew coverage
clew coverage REQ-d00006
clew coverage --fail-under 90"""

SHOWN_GAPS = 20
SHOWN_CITING = 20

_MARKS = {
    "passed": ("+", "green"),
    "failed": ("!", "red"),
    "awaiting_result": ("+", "yellow"),
    "untested": ("-", "red"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="a requirement, shown assertion by assertion")
    parser.add_argument("--level", default="", metavar="NAME", help="only requirements of this level")
    parser.add_argument("--status", default="", metavar="NAME", help="only requirements of this status")
    parser.add_argument(
        "--fail-under", type=float, metavar="PERCENT", help="exit code 1 where fewer assertions are tested"
    )
    add_folder(parser, positional=False)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    if args.fail_under is not None and not 0 <= args.fail_under <= 100:
        raise InvalidArgument(
            f"--fail-under is {args.fail_under:g}: a percentage is from 0 to 100.", hint="Pass, for example, 90."
        )
    with opened(args) as project:
        project.ensure_graph(progress())
        end_progress()
        with project.lock.reading():
            matrix = project.trace.matrix(_chosen(project, args))
            levels = ", ".join(aggregates.count_by_level(project.graph).all)
    if args.json:
        print_json(matrix.rows[0] if args.id is not None else _data(matrix))
    elif args.id is not None:
        _print_requirement(matrix.rows[0])
    else:
        _print_table(matrix)
    if not matrix.rows and (args.level or args.status):
        print(f"clew: no requirement fits. Levels here: {levels or 'none'}.", file=sys.stderr)
        return 1
    return _verdict(matrix.totals, args.fail_under)


def _chosen(project: Project, args: argparse.Namespace) -> Sequence[Node]:
    if args.id is not None:
        return (project.trace.resolve(args.id),)
    return project.trace.find.requirements(level=args.level, status=args.status)


def _verdict(totals: Totals, least: float | None) -> int:
    if least is None:
        return 0
    if totals.tested_pct is None:
        print("clew: there are no assertions, so nothing can be said about their coverage.", file=sys.stderr)
        return 1
    if totals.tested_pct < least:
        print(f"clew: {totals.tested_pct:.1f} % of the assertions are tested, less than {least:g} %.", file=sys.stderr)
        return 1
    return 0


def _data(matrix: Matrix) -> dict[str, Any]:
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
    return {"totals": msgspec.to_builtins(matrix.totals), "levels": msgspec.to_builtins(matrix.levels), "gaps": gaps}


def _gaps(matrix: Matrix) -> list[MatrixRow]:
    return [row for row in matrix.rows if _labels(row, "untested") or _labels(row, "failed")]


def _labels(row: MatrixRow, proof: str) -> list[str]:
    return [each.label for each in row.assertions if each.proof == proof]


def _print_table(matrix: Matrix) -> None:
    heads = ("level", "requirements", "implemented", "tested", "passed")
    lines: list[tuple[str, ...]] = [heads]
    for name, sums in (*((level.level, level) for level in matrix.levels), ("all", matrix.totals)):
        lines.append((name, str(sums.requirements), *(text for _, text in figures(sums))))
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    for line in lines:
        text = "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
        print(coloured(text, "dim") if line is heads else text)
    gaps = _gaps(matrix)
    if gaps:
        print(f"\nNot fully tested: {len(gaps)} of {matrix.totals.requirements} requirements")
    for row in gaps[:SHOWN_GAPS]:
        print(f"  {coloured(row.id, 'cyan')}  {row.tested}/{len(row.assertions)}  {row.title}  {_missing(row)}")
    if len(gaps) > SHOWN_GAPS:
        print(coloured(f"  and {len(gaps) - SHOWN_GAPS} more; `clew trace --gaps` shows them all", "dim"))


def _missing(row: MatrixRow) -> str:
    parts = [f"no test: {', '.join(labels)}"] if (labels := _labels(row, "untested")) else []
    parts += [f"failed: {', '.join(labels)}"] if (labels := _labels(row, "failed")) else []
    return coloured("; ".join(parts), "yellow")


def _print_requirement(row: MatrixRow) -> None:
    print(coloured(f"{row.id}: {row.title}", "bold"))
    print(f"{row.tested} of {len(row.assertions)} assertions tested, {row.implemented} implemented")
    for each in row.assertions:
        mark, style = _MARKS[each.proof]
        print(f"  {coloured(mark, style)} {each.label}. {each.text}  {coloured(PROOFS[each.proof], 'dim')}")
        for how, citing in (("implemented by", each.implemented_by), ("verified by", each.verified_by)):
            if citing:
                print(coloured(f"      {how} {_first(citing)}", "dim"))
    for how, citing in (("implemented by", row.implemented_by), ("cited as a whole by", row.verified_by)):
        if citing:
            print(f"  {how} {_first(citing)}")


def _first(citing: Sequence[Citing]) -> str:
    more = len(citing) - SHOWN_CITING
    return cited(citing[:SHOWN_CITING]) + (f" and {more} more; --json lists them" if more > 0 else "")
