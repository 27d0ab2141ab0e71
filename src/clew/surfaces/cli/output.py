"""How the command line speaks: data on standard output, everything else on standard error."""

import os
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from clew.errors import ClewError

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def coloured(text: str, style: str, *, stream: Any = None) -> str:
    """The text in a style where the stream is a terminal that wants colours."""
    stream = stream if stream is not None else sys.stdout
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def print_json(value: Any) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def print_error(error: ClewError) -> None:
    label = coloured("clew:", "red", stream=sys.stderr)
    print(f"{label} {error.message}", file=sys.stderr)
    if error.hint:
        print(f"      {error.hint}", file=sys.stderr)


def progress() -> Callable[[int, int, str], None]:
    """Shows progress on one line of a terminal; silent elsewhere."""
    if not sys.stderr.isatty():
        return lambda done, total, message: None
    shown = -1

    def show(done: int, total: int, message: str) -> None:
        nonlocal shown
        percent = done * 100 // total if total else 0
        if percent != shown:
            shown = percent
            print(f"\r\x1b[K{message} {percent}%", end="", file=sys.stderr, flush=True)

    return show


def end_progress() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
