"""CSV: one row for each item, one column for each field.

The first row names the columns; which column means what can be said by a mapping, and kept in a file. A cell that a
spreadsheet would calculate is written with an apostrophe before it, and a cell that looks like a formula is read as the
text that it is.
"""

import csv
import io

from clew.errors import FormatError
from clew.exchange.columns import ColumnMapping, exchange_of, rows_of
from clew.exchange.model import Exchange
from clew.exchange.sources import ImportSource
from clew.text.controls import csv_cell

_LARGEST_CELL = 16 * 1024 * 1024
_NOTHING = "Nothing was changed."


def read(source: ImportSource, columns: ColumnMapping | None = None) -> Exchange:
    text = source.text()
    if "\0" in text:
        raise FormatError(f"'{source.name}' holds NUL characters; it is not CSV.", hint=f"Save it as CSV. {_NOTHING}")
    csv.field_size_limit(_LARGEST_CELL)
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=_delimiter(text), strict=True))
    except csv.Error as error:
        raise FormatError(
            f"'{source.name}' is not valid CSV: {error}.", hint=f"Correct the file. {_NOTHING}"
        ) from error
    return exchange_of([[plain(cell) for cell in row] for row in rows], source.name, columns)


def _delimiter(text: str) -> str:
    """The sign that parts the names of the columns."""
    first = text.partition("\n")[0]
    return max((",", ";", "\t"), key=first.count)


def plain(cell: str) -> str:
    """The text of a cell without the apostrophe that keeps a spreadsheet from calculating it."""
    rest = cell[1:]
    return rest if cell.startswith("'") and (rest.startswith("'") or csv_cell(rest) == cell) else cell


def write(exchange: Exchange, project: str, columns: ColumnMapping | None = None) -> bytes:
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    for row in rows_of(exchange.items, columns):
        writer.writerow(map(_cell, row))
    return sheet.getvalue().encode()


def _cell(text: str) -> str:
    # A text that begins with an apostrophe gets another one, so that it is read back as it is.
    return f"'{text}" if text.startswith("'") else csv_cell(text)
