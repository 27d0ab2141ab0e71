"""The traceability matrix as a document, in one of four formats. Each format is a module, imported when it is used."""

from pathlib import Path

import msgspec

from clew.trace.reports.matrix import Matrix

FORMATS = ("markdown", "csv", "json", "html")

_ENDINGS = {".csv": "csv", ".json": "json", ".html": "html", ".htm": "html"}


def shape_of(file: Path | None) -> str:
    """The format that a file's name asks for; Markdown where it asks for none."""
    return _ENDINGS.get(file.suffix.lower(), "markdown") if file is not None else "markdown"


def written(matrix: Matrix, shape: str) -> str:
    match shape:
        case "csv":
            from clew.surfaces.cli.matrix.as_csv import as_csv

            return as_csv(matrix)
        case "html":
            from clew.surfaces.cli.matrix.as_html import as_html

            return as_html(matrix)
        case "json":
            return msgspec.json.format(msgspec.json.encode(matrix), indent=2).decode() + "\n"
        case _:
            from clew.surfaces.cli.matrix.as_markdown import as_markdown

            return as_markdown(matrix)
