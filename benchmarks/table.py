"""Figures as a table, and the machine they were measured on."""

import os
import platform
import sqlite3
import statistics
from collections.abc import Sequence
from importlib.metadata import version

from benchmarks.figures import Figure, Result

COLUMNS = ("figure", "min", "median", "p95", "cpu", "limit", "of limit", "verdict")


def machine() -> dict[str, str]:
    """What matters for the figures; nothing that tells one machine of a kind from another."""
    return {
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "sqlite": sqlite3.sqlite_version,
        "mcp": version("mcp"),
        "load": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown",
    }


def render(results: Sequence[Result]) -> str:
    sections = [[_row(figure) for figure in result.figures] for result in results]
    rows = [COLUMNS, *(row for section in sections for row in section)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    lines = [_line(COLUMNS, widths), "  ".join("-" * width for width in widths)]
    for result, section in zip(results, sections, strict=True):
        lines.append(result.title)
        lines.extend(_line(row, widths) for row in section)
    return "\n".join(lines)


def _row(figure: Figure) -> tuple[str, ...]:
    unit = figure.unit
    return (
        f"  {figure.name}",
        _value(figure.least, unit),
        _value(figure.median, unit),
        _value(figure.slow, unit),
        _value(statistics.median(figure.cpu), unit) if figure.cpu else "-",
        "-" if figure.limit is None else _value(figure.limit, unit),
        "-" if figure.share is None else f"{figure.share:.0%}",
        figure.verdict,
    )


def _value(value: float, unit: str) -> str:
    digits = 2 if unit in ("x", "s") or abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f} {unit}"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.ljust(width) if column == 0 else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join((first, *others)).rstrip()
