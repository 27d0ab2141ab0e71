"""Text for a terminal: colours, links, tables, and what others wrote made safe to print."""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys instead of showing it: escapes, and signs that turn the direction of text."""
_link_folder = ContextVar("link_folder", default=Path())


def coloured(text: str, style: str, *, stream: Any = None) -> str:
    """The text in a style where the stream is a terminal that wants colours."""
    stream = stream if stream is not None else sys.stdout
    if not _is_terminal(stream) or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def note(text: str) -> str:
    """A note for standard error."""
    return coloured(f"note: {printable(text)}", "yellow", stream=sys.stderr)


@contextmanager
def links_into(folder: Path) -> Iterator[None]:
    """Relative paths of links mean files in this folder."""
    token = _link_folder.set(folder)
    try:
        yield
    finally:
        _link_folder.reset(token)


def linked(text: str, path: str, line: int) -> str:
    """The text as a link that opens a file at a line, where a terminal shows it."""
    if not _is_terminal(sys.stdout):
        return text
    target = (_link_folder.get() / path).absolute()
    return f"\x1b]8;;{target.as_uri()}#{line}\x1b\\{text}\x1b]8;;\x1b\\"


def printable(text: str) -> str:
    """What somebody else wrote, with a sign in place of everything that a terminal would obey."""
    return _OBEYED.sub("\ufffd", text.replace("\r\n", "\n"))


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Columns as wide as they need to be."""
    filled = list(rows)
    if not filled:
        return ""
    widths = [max(len(row[column]) for row in filled) for column in range(len(filled[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in filled)
    return "\n".join(line.rstrip() for line in lines)


def _is_terminal(stream: Any) -> bool:
    return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"
