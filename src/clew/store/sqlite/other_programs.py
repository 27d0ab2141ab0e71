"""Databases of other programs: read, never written, never locked for longer than one query."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from clew.errors import FormatError, NotFound
from clew.store.sqlite.guard import guard

_MOST_ROWS = 200_000
_SECONDS = 5.0


def read_rows(place: Path, tables: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """The rows of the existing tables among these, by their columns. The file is opened for reading only; while its
    program does not run, not even a lock is taken."""
    if not place.is_file():
        raise NotFound(f"There is no file '{place}'.", hint="Check the path.")
    log = place.with_name(f"{place.name}-wal")
    access = "mode=ro" if log.exists() else "mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"{place.resolve().as_uri()}?{access}", uri=True, timeout=_SECONDS)) as connection:
            connection.execute("PRAGMA query_only = 1")
            guard(connection)
            present = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            return {table: _rows(connection, table) for table in tables if table in present}
    except sqlite3.Error as error:
        raise FormatError(
            f"'{place.name}' cannot be read as a SQLite database: {error}.",
            hint="Check that it is the right file, and that it may be read. Nothing was changed.",
        ) from error


def _rows(connection: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    count = connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]  # noqa: S608
    if count > _MOST_ROWS:
        raise FormatError(
            f"The table {table} has {count:,} rows; {_MOST_ROWS:,} are the most.",
            hint="Import a part. Nothing was changed.",
        )
    found = connection.execute(f'SELECT * FROM "{table}" ORDER BY rowid')  # noqa: S608
    names = [column[0] for column in found.description]
    return [dict(zip(names, map(_plain, row), strict=True)) for row in found]


def _plain(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
