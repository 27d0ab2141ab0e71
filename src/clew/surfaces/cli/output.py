"""How the command line speaks: data on standard output, everything else on standard error."""

import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from clew.errors import ClewError

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys instead of showing it: escapes, and signs that turn the direction of text."""
_BAR = 20


def coloured(text: str, style: str, *, stream: Any = None) -> str:
    """The text in a style where the stream is a terminal that wants colours."""
    stream = stream if stream is not None else sys.stdout
    if not _is_terminal(stream) or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def linked(text: str, path: Path, line: int) -> str:
    """The text as a link that opens a file at a line, where a terminal shows it."""
    return f"\x1b]8;;{path.as_uri()}#{line}\x1b\\{text}\x1b]8;;\x1b\\" if _is_terminal(sys.stdout) else text


def printable(text: str) -> str:
    """What somebody else wrote, with a sign in place of everything that a terminal would obey."""
    return _OBEYED.sub("\ufffd", text.replace("\r\n", "\n"))


def _is_terminal(stream: Any) -> bool:
    return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"


def print_json(value: Any) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def print_error(error: ClewError) -> None:
    label = coloured("clew:", "red", stream=sys.stderr)
    print(f"{label} {error.message}", file=sys.stderr)
    if error.hint:
        print(f"      {error.hint}", file=sys.stderr)


def progress() -> Callable[[int, int, str], None]:
    """Shows progress as a bar on one line of a terminal; silent elsewhere."""
    if not sys.stderr.isatty():
        return lambda done, total, message: None
    shown = -1

    def show(done: int, total: int, message: str) -> None:
        nonlocal shown
        percent = done * 100 // total if total else 0
        if percent != shown:
            shown = percent
            bar = "█" * (percent * _BAR // 100)
            line = f"{bar:░<{_BAR}} {percent:3}% {done}/{total} {printable(message)}"
            # A line that wraps could not be taken back.
            line = line[: shutil.get_terminal_size().columns - 1]
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    return show


def end_progress() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
