"""Translation of SQLite's errors into those of Clew."""

import os
import re
import shlex
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clew.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreReadOnly

# A quota or a file-size limit reaches us as IOERR_WRITE, a disk too full for the shared index as IOERR_SHMSIZE.
_OUT_OF_SPACE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_IMPOSSIBLE = (
    *(sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_FORMAT),
    *(sqlite3.SQLITE_INTERNAL, sqlite3.SQLITE_RANGE),
)
"""Errors of statements that fit their tables, where rows hold what was never written."""
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_PROTECTED = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM)
NOT_UTF8 = "Could not decode to UTF-8"
"""The beginning of an error that Python's module raises by itself, without a code. It quotes the text behind that."""
_OTHER_FORMAT = "unsupported file format"
"""SQLite says so of a header with a number of the format that does not exist."""
_OTHER_TABLES = re.compile(
    r"no such (?:table|column|index|trigger|view)\b|table \S+ has (?:no column|\d+ columns)\b|no query solution"
    r"|unsupported file format|malformed |vtable constructor failed|fts5: |\S+ \S+ already exists|integer overflow"
    r"|cannot modify \S+ because it is a view|unsafe use of"
)
"""The beginnings of errors for statements that do not fit the tables; SQLite has no code of its own for them."""


@contextmanager
def translated(path: Path, *, tables_known: bool = False) -> Iterator[None]:
    """Translate every SQLite error of the block into an error of the store at `path`. If the file's tables are known to
    be the expected ones, a missing table is damage, and so is an impossible value."""
    try:
        yield
    except sqlite3.Error as error:
        if tables_known and (_OTHER_TABLES.match(str(error)) or _primary(_code_of(error)) in _IMPOSSIBLE):
            raise damaged(path, str(error)) from error
        raise fault(error, path) from error


def fault(error: sqlite3.Error, path: Path) -> StoreError:
    code = _code_of(error)
    if is_out_of_space(error):
        return StoreFull(
            f"The store {path} cannot grow: the disk is full, or a quota or size limit is reached ({error}).",
            hint="Free some space and try again. The unfinished write was rolled back; all else is unharmed.",
        )
    if _primary(code) in _DAMAGED or str(error) == _OTHER_FORMAT:
        return damaged(path, str(error))
    if str(error).startswith(NOT_UTF8):
        return damaged(path, "a text in it is not UTF-8")
    if _primary(code) in _BUSY:
        return StoreBusy(
            f"The store {path} is in use: timed out waiting for another writer ({error}).",
            hint="Try again. If it stays so, look for another Clew that hangs, and end it. Nothing was written.",
        )
    if _primary(code) in _PROTECTED or (is_refused_access(error) and not os.access(path.parent, os.W_OK)):
        return protected(path, f"it may not be written ({error})")
    return StoreError(f"The store {path} failed: {error}.", hint="Run `clew doctor`. Nothing was written.")


def damaged(path: Path, cause: str) -> StoreCorrupt:
    command = shlex.join([sys.executable, "-P", "-m", "clew.store.sqlite.rescue", str(path)])
    return StoreCorrupt(
        f"The store {path} is damaged: {cause}.",
        hint=(
            "It was not changed. Stop every Clew on this project, then put a backup in its place, or run "
            f"`{command}`, which replaces it by a new store with the readable records and keeps the damaged one beside."
        ),
        data={"path": str(path)},
    )


def protected(path: Path, cause: str) -> StoreReadOnly:
    return StoreReadOnly(
        f"The store {path} is read-only here: {cause}.",
        hint="Make the file and its folder readable and writable, and do not ask for read-only access.",
    )


def unusable(path: Path, error: OSError) -> StoreError:
    """The error for a file that cannot be opened, because of the system or of a link in its place."""
    return StoreError(
        f"The store {path} cannot be opened: {error.filename or path}: {error.strerror or error}.",
        hint="Nothing was written.",
    )


def is_refused_access(error: sqlite3.Error) -> bool:
    return _primary(_code_of(error)) in (sqlite3.SQLITE_CANTOPEN, *_PROTECTED)


def is_out_of_space(error: sqlite3.Error) -> bool:
    return _code_of(error) in _OUT_OF_SPACE


def _code_of(error: sqlite3.Error) -> int:
    """SQLite's extended code; 0 for an error that the Python module raised by itself."""
    return getattr(error, "sqlite_errorcode", 0)


def _primary(code: int) -> int:
    return code & 0xFF
