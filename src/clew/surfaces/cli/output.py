"""Output of the command line: data on standard output, everything else on standard error."""

import shutil
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from clew.errors import ClewError, NotFound
from clew.text.controls import pretty_json, printable
from clew.text.terminal import LINE_START, coloured, columns, errors, output, wrapped

ANSWER_IS_NO: Final = 1
BAD_CALL: Final = 2

SECONDS_BEFORE_LINES = 2.0
"""A command that takes longer reports its progress in lines, also where standard error is no terminal."""
SECONDS_BETWEEN_LINES = 5.0

_BAR = 20


def print_json(value: Any) -> None:
    output().write(pretty_json(value) + "\n")


def print_error(error: ClewError) -> None:
    label = coloured("clew:", "red", stream=errors())
    width = columns(errors())
    print(wrapped(f"{label} {error.message}", width), file=errors())
    if error.hint:
        print(wrapped(f"      {error.hint}", width), file=errors())


def told(error: ClewError) -> int:
    """Print an error that ends a command, and return its exit code."""
    end_progress()
    print_error(error)
    return exit_code_of(error)


def exit_code_of(error: ClewError) -> int:
    return ANSWER_IS_NO if isinstance(error, NotFound) else BAD_CALL


def progress(*, monotonic: Callable[[], float] = time.monotonic) -> Callable[[int, int, str], None]:
    """Shows progress as a bar on one line of a terminal; elsewhere as a line now and then, if the work takes long."""
    if not sys.stderr.isatty():
        return _progress_lines(monotonic)
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
            print(f"{LINE_START}{line}", end="", file=sys.stderr, flush=True)

    return show


def _progress_lines(monotonic: Callable[[], float]) -> Callable[[int, int, str], None]:
    next_line = monotonic() + SECONDS_BEFORE_LINES

    def tell(done: int, total: int, message: str) -> None:
        nonlocal next_line
        if monotonic() < next_line:
            return
        next_line = monotonic() + SECONDS_BETWEEN_LINES
        share = f" {done * 100 // total}%" if total else ""
        print(f"clew: {printable(message)}{share} {done}/{total}", file=sys.stderr, flush=True)

    return tell


def end_progress() -> None:
    if errors().isatty():
        print(LINE_START, end="", file=errors(), flush=True)
