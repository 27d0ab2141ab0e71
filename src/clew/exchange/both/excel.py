"""Excel: a sheet with the same rows and columns as CSV. Needs the extra `excel`.

A workbook that others made is read by its values: no formula is ever calculated, and one in a cell is read as its text.
"""

import io
import zipfile
from typing import Any

from clew.errors import FormatError, Unavailable
from clew.exchange.columns import ColumnMapping, exchange_of, rows_of
from clew.exchange.model import Exchange
from clew.exchange.sources import MOST_BYTES, ImportSource
from clew.text.controls import printable

_LONGEST_CELL = 32_767
"""Excel has no longer cells."""
_NOTHING = "Nothing was changed."
_UNPACKED = 16
"""The limit for the unpacked parts of a workbook, as a multiple of MOST_BYTES."""


def _library() -> Any:
    try:
        import openpyxl
    except ImportError as error:
        raise Unavailable(
            "Excel files need openpyxl, which is not installed.",
            hint="Install Clew with the extra: `pip install 'clew-mcp[excel]'`. CSV needs nothing.",
        ) from error
    return openpyxl


def read(source: ImportSource, columns: ColumnMapping | None = None) -> Exchange:
    library = _library()
    data = source.data()
    _check_size(data, source.name)
    try:
        # Formulas come as their texts: they are never calculated.
        book = library.load_workbook(io.BytesIO(data), read_only=True, data_only=False, keep_links=False)
        sheet = book.worksheets[0]
        rows = [[_text(cell) for cell in row] for row in sheet.iter_rows(values_only=True)]
    except FormatError:
        raise
    except Exception as error:  # whatever a broken workbook makes of a library's reader
        raise FormatError(
            f"'{source.name}' cannot be read as an Excel workbook: {type(error).__name__}: {error}.",
            hint=f"Save it as .xlsx, or as CSV. {_NOTHING}",
        ) from error
    return exchange_of(_without_empty_ends(rows), source.name, columns)


def _check_size(data: bytes, name: str) -> None:
    """Refuse a workbook that unpacks to far more than a file may have."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            size = sum(part.file_size for part in packed.infolist())
    except zipfile.BadZipFile as error:
        raise FormatError(
            f"'{name}' is not an Excel workbook.", hint=f"Save it as .xlsx, or as CSV. {_NOTHING}"
        ) from error
    if size > _UNPACKED * MOST_BYTES:
        raise FormatError(
            f"'{name}' unpacks to {size:,} bytes; {_UNPACKED * MOST_BYTES:,} are the most.",
            hint=f"Export it in parts. {_NOTHING}",
        )


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).replace("\r\n", "\n")


def _without_empty_ends(rows: list[list[str]]) -> list[list[str]]:
    """Rows without the empty cells that a workbook has to the right of its table."""
    width = max((index + 1 for row in rows[:1] for index, cell in enumerate(row) if cell), default=0)
    return [row[:width] if not any(row[width:]) else row for row in rows]


def write(exchange: Exchange, project: str, columns: ColumnMapping | None = None) -> bytes:
    library = _library()
    book = library.Workbook(write_only=True)
    sheet = book.create_sheet("Requirements")
    for row in rows_of(exchange.items, columns):
        sheet.append([_cell(sheet, text) for text in row])
    packed = io.BytesIO()
    book.save(packed)
    return packed.getvalue()


def _cell(sheet: Any, text: str) -> Any:
    from openpyxl.cell import WriteOnlyCell

    if len(text) > _LONGEST_CELL:
        raise FormatError(
            f"A text of {len(text):,} characters does not fit into a cell of Excel, which holds {_LONGEST_CELL:,}.",
            hint="Export CSV instead.",
        )
    cell = WriteOnlyCell(sheet, value=printable(text) if text else None)
    if text:
        # A text, whatever it begins with.
        cell.data_type = "s"
    return cell
