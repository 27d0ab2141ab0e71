"""A file as lines with exact byte offsets, each line classified once."""

import re
from collections.abc import Sequence
from itertools import accumulate

from clew.text.lines import Span

TEXT, BLANK, HEADING, END, FENCED = range(5)
"""Kinds of lines. FENCED lines stand in a code block, its fences included: they are never matched."""

BOM = b"\xef\xbb\xbf"
_FENCE = "```"
_DEEPEST_HEADING = 6
_END_MARKER = "*End*"


class Lines:
    """The lines of a file. Only LF, CRLF and CR end a line; form feeds and the like do not."""

    __slots__ = ("_data", "_ends", "_starts", "fence_line", "first_invalid", "kinds", "marks", "text")

    def __init__(self, data: bytes, id_prefixes: tuple[str, ...], errors: str = "replace") -> None:
        bare = data.splitlines()
        self._data = data
        self._starts = list(accumulate(map(len, data.splitlines(keepends=True)), initial=0))
        self._ends = [start + len(line) for start, line in zip(self._starts, bare, strict=False)]
        if data.startswith(BOM):
            self._starts[0] = len(BOM)
            bare[0] = bare[0][len(BOM) :]
        self.first_invalid = _first_invalid(data, bare)
        """The number of the first line that is not UTF-8; 0 where all are."""
        self.text: list[str] = [line.decode("utf-8", errors) for line in bare]
        """Without line ends; a byte that is not UTF-8 reads as U+FFFD, or as `errors` says."""
        self.kinds, self.marks, self.fence_line = _classify(self.text, id_prefixes)

    def __len__(self) -> int:
        return len(self.text)

    def raw(self, first: int, stop: int) -> str:
        """The lines as they stand in the file, line ends included."""
        return self._data[self._starts[first] : self._starts[stop]].decode("utf-8", "replace")

    def block_span(self, first: int, stop: int) -> Span:
        """Whole lines, the last line end included."""
        return Span(self._starts[first], self._starts[stop], first + 1, stop)

    def text_span(self, first: int, last: int, indent: str = "") -> Span:
        """From after the indent of the first line to the end of the text of the last, its line end not included."""
        return Span(self._starts[first] + len(indent.encode()), self._ends[last], first + 1, last + 1)

    def joined(self, first: int, stop: int) -> str:
        """The lines without the blank ones around them, line ends as LF."""
        first, stop = self.trimmed(first, stop)
        return "\n".join(self.text[first:stop])

    def trimmed(self, first: int, stop: int) -> tuple[int, int]:
        """The range without the blank lines at its beginning and end."""
        kinds = self.kinds
        while first < stop and kinds[first] == BLANK:
            first += 1
        while first < stop and kinds[stop - 1] == BLANK:
            stop -= 1
        return first, stop

    def next_heading(self, first: int, stop: int) -> int:
        """The first heading in the range; `stop` where there is none."""
        found = self.kinds.find(HEADING, first, stop)
        return stop if found < 0 else found

    def heading(self, index: int) -> tuple[int, str]:
        """Depth and text of a heading."""
        text = self.text[index].lstrip("#")
        return len(self.text[index]) - len(text), text.strip()


def _first_invalid(data: bytes, bare: Sequence[bytes]) -> int:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        for number, line in enumerate(bare, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 0


def _classify(text: Sequence[str], id_prefixes: tuple[str, ...]) -> tuple[bytearray, list[int], int]:
    """The kind of every line, the lines a block may start or end at, and the line of a fence that is never closed."""
    kinds = bytearray(len(text))
    marks: list[int] = []
    fence = 0
    for index, line in enumerate(text):
        first = line[:1]
        if not first or first.isspace():
            line = line.lstrip()
            if not line:
                kinds[index] = FENCED if fence else BLANK
                continue
        if line.startswith(_FENCE):
            # Any such line toggles, whatever follows the backticks: real files close a block with "```text".
            fence = 0 if fence else index + 1
            kinds[index] = FENCED
        elif fence:
            kinds[index] = FENCED
        elif first == "#":
            rest = line.lstrip("#")
            if len(line) - len(rest) <= _DEEPEST_HEADING and rest[:1].isspace():
                kinds[index] = HEADING
                marks.append(index)
        elif first == "*":
            if line.startswith(_END_MARKER):
                kinds[index] = END
                marks.append(index)
        elif line.startswith(id_prefixes) and first == line[0]:
            marks.append(index)
    return kinds, marks, fence


_WRAPPED = re.compile(r"(\*\*|\*|_)(?!\s)([^*_]+|[^*]+)(?<!\s)\1")


def unwrapped(text: str) -> str | None:
    """The inside of a text that is wholly emphasised (`*so*`, `**so**` or `_so_`); None for any other."""
    if text[:1] not in ("*", "_"):
        return None
    match = _WRAPPED.fullmatch(text)
    return match[2] if match is not None else None


def plain_heading(text: str) -> str:
    """A heading for comparison: without emphasis or closing mark, in lower case."""
    text = text.rstrip(":. \t")
    return (unwrapped(text) or text).rstrip(":. \t").casefold()
