"""Jupyter notebooks: markdown cells as markdown, code cells as code, and what they printed."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from clew.formats.diagnostics import Diagnostic
from clew.formats.documents.decoding import sound
from clew.formats.documents.markdown import scan_markdown
from clew.formats.documents.model import BlockKind
from clew.formats.documents.page import Page
from clew.text.lines import TextLines

LONGEST_OUTPUT = 20_000

_CELL = re.compile(r'(?<!\\)"cell_type"\s*:')
"""In a string the quotes would be escaped."""
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_SHOWN = ("text/plain", "text/markdown", "text/latex")


class Notebook(NamedTuple):
    page: Page
    metadata: dict[str, Any]
    diagnostics: tuple[Diagnostic, ...]


def read_notebook(text: str) -> Notebook:
    page = Page()
    try:
        whole = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        problem = f"The notebook is not JSON: {error}. Open it in Jupyter and save it again."
        return Notebook(page, {}, (Diagnostic("documents.notebook", "error", problem, getattr(error, "lineno", 1)),))
    cells = list(_cells(whole))
    places = _places(text, len(cells))
    problems: list[Diagnostic] = []
    for cell, (line, end_line) in zip(cells, places, strict=True):
        _add_cell(page, cell, line, end_line, problems)
    metadata = whole.get("metadata") if isinstance(whole, dict) else None
    return Notebook(page, _shown_metadata(metadata), tuple(problems))


def _cells(whole: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(whole, dict):
        return
    # Before version 4 cells were in worksheets.
    sheets = whole.get("worksheets")
    holders = [whole, *(sheets if isinstance(sheets, list) else [])]
    for holder in holders:
        cells = holder.get("cells") if isinstance(holder, dict) else None
        yield from (cell for cell in (cells if isinstance(cells, list) else []) if isinstance(cell, dict))


def _places(text: str, count: int) -> list[tuple[int, int]]:
    """The lines of each cell; those of the whole file if the cells cannot be located."""
    if not count:
        return []
    lines = text.count("\n") + 1
    found: list[int] = []
    line, position = 1, 0
    for match in _CELL.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        found.append(line)
    if len(found) != count:
        return [(1, lines)] * count
    return list(
        zip(
            found, [max(begin, after - 1) for begin, after in zip(found, [*found[1:], lines], strict=True)], strict=True
        )
    )


def _add_cell(page: Page, cell: dict[str, Any], line: int, end_line: int, problems: list[Diagnostic]) -> None:
    source = _joined(cell.get("source", cell.get("input")))
    kind = cell.get("cell_type")
    if kind == "heading":
        level = cell.get("level")
        depth = level if isinstance(level, int) and 1 <= level <= 6 else 1
        page.add(BlockKind.HEADING, source, line, end_line, level=depth, title=" ".join(source.split()))
    elif kind == "markdown":
        page.add_text(source, scan_markdown(TextLines(source)).blocks, line, end_line)
    elif kind == "code":
        page.add(BlockKind.CODE, source, line, end_line)
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else []:
            _add_output(page, output, line, end_line, problems)
    else:
        page.add(BlockKind.PROSE, source, line, end_line)


def _add_output(page: Page, output: Any, line: int, end_line: int, problems: list[Diagnostic]) -> None:
    if not isinstance(output, dict):
        return
    text = _ANSI.sub("", _output_text(output))
    if len(text) > LONGEST_OUTPUT:
        problem = f"An output of {len(text):,} characters was cut after {LONGEST_OUTPUT:,}."
        problems.append(Diagnostic("documents.long_output", "info", problem, line))
        text = text[:LONGEST_OUTPUT]
    page.add(BlockKind.OUTPUT, text, line, end_line)


def _output_text(output: dict[str, Any]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        traceback = output.get("traceback")
        if isinstance(traceback, list) and traceback:
            return sound("\n".join(str(part) for part in traceback))
        return sound(f"{output.get('ename', '')}: {output.get('evalue', '')}")
    data = output.get("data")
    if isinstance(data, dict):
        return next((_joined(data[form]) for form in _SHOWN if form in data), "")
    return _joined(output.get("text"))


def _joined(lines: Any) -> str:
    if isinstance(lines, list):
        return sound("".join(line for line in lines if isinstance(line, str)))
    return sound(lines) if isinstance(lines, str) else ""


def _shown_metadata(metadata: Any) -> dict[str, Any]:
    """The few properties that say something about the document."""
    if not isinstance(metadata, dict):
        return {}
    shown: dict[str, Any] = {}
    for name in ("title", "authors", "kernelspec", "language_info"):
        value = metadata.get(name)
        if isinstance(value, dict):
            value = value.get("display_name") or value.get("name")
        elif isinstance(value, list):
            value = [each.get("name", "") if isinstance(each, dict) else str(each) for each in value]
        if value:
            shown[name] = [sound(str(each)) for each in value] if isinstance(value, list) else sound(str(value))
    return shown
