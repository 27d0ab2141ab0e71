"""Text for a terminal: colours, links and tables, and the one stream that makes all other text harmless.

What Clew itself asks of a terminal is marked by a word that is another one in every process, so no file can forge it.
Everything else that is written is text, and what a terminal would obey in it is shown instead.
"""

import io
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from clew.text.controls import printable

# A command that a server answers needs no more than this to print the answer.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, TextIO

    Traits = tuple[bool, bool, int | None]
    """True for a terminal, True for one that shows colours, and its columns."""

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_MARK = f"\x1b{os.urandom(8).hex()}\x1b"
"""Stands before and after every sequence that is meant for the terminal."""
_CONTROLS = re.compile(f"{_MARK}.*?{_MARK}", re.DOTALL)
_PIECES = re.compile(rf"(?:{_MARK}.*?{_MARK}|\S)+\s*|\s+", re.DOTALL)
_BEGINNING = re.compile(r"\s*(?:[-*+•] |\d+\. |[\w ]{1,14}\S(?=\s{2,}))?\s*")
_NARROWEST = 20
_link_folder: "ContextVar[Path | None]" = ContextVar("link_folder", default=None)
_recording: "ContextVar[Recording | None]" = ContextVar("recording", default=None)


class RecordedStream:
    """A stream of text of another process, as far as it is to be written."""

    def __init__(self, recording: "Recording", number: int, traits: "Traits") -> None:
        self._recording = recording
        self._number = number
        self.traits = traits

    def write(self, text: str) -> int:
        self._recording.written.append((self._number, text))
        return len(text)

    def flush(self) -> None:
        """Nothing to do: no output is held back."""

    def isatty(self) -> bool:
        return self.traits[0]


class Recording:
    """Everything that a command prints for another process, in its order."""

    def __init__(self, output: "Traits" = (False, False, None), errors: "Traits" = (False, False, None)) -> None:
        self.written: list[tuple[int, str]] = []
        self.output, self.errors = RecordedStream(self, 1, output), RecordedStream(self, 2, errors)

    def pieces(self) -> list[tuple[int, list[str]]]:
        """The numbers of the streams with what is written to them: text and sequences for the terminal in turns."""
        found: list[tuple[int, list[str]]] = []
        for number, text in self.written:
            if found and found[-1][0] == number:
                found[-1][1].append(text)
            else:
                found.append((number, [text]))
        return [(number, "".join(texts).split(_MARK)) for number, texts in found]


@contextmanager
def recording(recorded: Recording) -> "Iterator[None]":
    """Record the output of this thread, by `output` and `errors`, inside of the block."""
    token = _recording.set(recorded)
    try:
        yield
    finally:
        _recording.reset(token)


def output() -> "Any":
    """Standard output, or the recording of it while a command of another process is answered."""
    recorded = _recording.get()
    return sys.stdout if recorded is None else recorded.output


def errors() -> "Any":
    """Standard error, likewise."""
    recorded = _recording.get()
    return sys.stderr if recorded is None else recorded.errors


def traits(stream: "Any") -> "Traits":
    """The traits of a stream: whether it is a terminal, its colours, its width."""
    if isinstance(stream, RecordedStream):
        return stream.traits
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        return False, False, None
    from shutil import get_terminal_size

    return True, not os.environ.get("NO_COLOR"), max(get_terminal_size().columns, _NARROWEST)


def coloured(text: str, style: str, *, stream: "Any" = None) -> str:
    """The text in a style where the stream is a terminal that wants colours."""
    if not traits(stream if stream is not None else output())[1]:
        return text
    return control(f"\x1b[{_STYLES[style]}m") + text + control("\x1b[0m")


def control(sequence: str) -> str:
    """A sequence that a terminal shall obey, for text that is written to a `HarmlessStream`."""
    return f"{_MARK}{sequence}{_MARK}"


LINE_START = control("\r\x1b[K")
"""Takes back what is on the line, such as a bar that shows progress."""


class OutputLost(Exception):
    """Standard output took no more: its disk is full, or it is closed."""


class HarmlessStream:
    """A stream of text on which a terminal obeys only the sequences that `control` marks. BrokenPipeError if its
    reader went away, and OutputLost if it takes no more. Standard error is not `needed`: text that it does not take
    is lost."""

    def __init__(self, stream: "TextIO", *, needed: bool = True) -> None:
        self._stream = stream
        self._needed = needed

    def write(self, text: str) -> int:
        pieces = text.split(_MARK)
        pieces[::2] = map(printable, pieces[::2])
        with self._taking():
            self._stream.write("".join(pieces))
        return len(text)

    def flush(self) -> None:
        with self._taking():
            self._stream.flush()

    @contextmanager
    def _taking(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            if self._needed:
                raise
        except OSError as error:
            if self._needed:
                raise OutputLost(error.strerror or str(error)) from error

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> "Any":
        return getattr(self._stream, name)


@contextmanager
def harmless_output() -> Iterator[None]:
    """Make all output printed inside harmless: standard output and standard error pass through one stream each."""
    before = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    ours = {
        name: HarmlessStream(stream, needed=name == "stdout") for name, stream in before.items() if stream is not None
    }
    for name, stream in ours.items():
        if isinstance(before[name], io.TextIOWrapper):
            # A terminal or pipe that knows fewer letters shows the others escaped.
            before[name].reconfigure(errors="backslashreplace")
        setattr(sys, name, stream)
    try:
        yield
    finally:
        for name, stream in ours.items():
            if getattr(sys, name) is stream:
                setattr(sys, name, before[name])


def note(text: str) -> str:
    """A note for standard error."""
    return coloured(f"note: {text}", "yellow", stream=errors())


@contextmanager
def links_into(folder: "Path") -> Iterator[None]:
    """Relative paths of links mean files in this folder."""
    token = _link_folder.set(folder)
    try:
        yield
    finally:
        _link_folder.reset(token)


def linked(text: str, path: str, line: int) -> str:
    """The text as a link that opens a file at a line, where a terminal shows it."""
    if not traits(output())[0]:
        return text
    from pathlib import Path

    target = (_link_folder.get() or Path()).joinpath(path).absolute()
    return control(f"\x1b]8;;{target.as_uri()}#{line}\x1b\\") + text + control("\x1b]8;;\x1b\\")


def columns(stream: "Any" = None) -> int | None:
    """Width of the terminal in columns; None if the stream is no terminal, so that lines are not wrapped."""
    return traits(stream if stream is not None else output())[2]


def wrapped(text: str, width: int | None) -> str:
    """The text with long lines broken between words; the rest of a line is indented a little more. Colours and links
    have no width."""
    if width is None:
        return text
    return "\n".join(part for line in text.split("\n") for part in _wrapped_line(line, width))


def _wrapped_line(line: str, width: int) -> Iterator[str]:
    if shown_length(line) <= width:
        yield line
        return
    indent = " " * min(_hanging(line), width // 2)
    row, room = "", width
    for piece in _PIECES.findall(line):
        # A word as long as a line, such as an address, is left whole.
        if row.strip() and shown_length(row) + shown_length(piece.rstrip()) > room:
            yield row.rstrip(" ")
            row, piece = indent, piece.lstrip(" ")
        row += piece
    yield row.rstrip(" ")


def _hanging(line: str) -> int:
    """Column at which the text of a line begins: after its indentation, a list mark, and the label of a column."""
    plain = _CONTROLS.sub("", line)
    start = _BEGINNING.match(plain)
    return start.end() if start is not None else 0


def shown_length(text: str) -> int:
    """The columns that a text takes, without sequences for the terminal."""
    from unicodedata import east_asian_width

    plain = _CONTROLS.sub("", text)
    return len(plain) if plain.isascii() else sum(2 if east_asian_width(each) in "WF" else 1 for each in plain)


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Columns as wide as they need to be."""
    filled = list(rows)
    if not filled:
        return ""
    widths = [max(len(row[column]) for row in filled) for column in range(len(filled[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in filled)
    return "\n".join(line.rstrip() for line in lines)
