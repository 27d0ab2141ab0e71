"""A markdown file as lines with exact byte offsets: which stand in a code block, and which are headings.

Fences follow CommonMark: ``` or ~~~, closed by at least as many of the same sign with nothing after them, else open to
the end of the file. Like OpenSpec, Clew takes them at any indent: examples stand below bullets.
"""

import re
from itertools import accumulate

import msgspec

from clew.text.lines import Span

TEXT, BLANK, FENCE, CODE = range(4)
"""Kinds of lines. FENCE opens or closes a code block, CODE stands in one; neither is ever read as anything else."""

BOM = b"\xef\xbb\xbf"

_FENCE = re.compile(r"\s*+(`{3,}+(?!.*`)|~{3,}+)")
_HEADING = re.compile(r"(#{1,6})(?:\s+|$|(?=(?:requirement|scenario)\s*:))(.*)", re.IGNORECASE)
_CLOSING = re.compile(r"(?:^|(?<=\s))#+$")


class Heading(msgspec.Struct, frozen=True, gc=False):
    index: int
    depth: int
    text: str
    """Without the number signs in front and behind."""
    spaced: bool
    """Whether a space follows the signs; `###Requirement:` has none but is a heading too."""

    @property
    def line(self) -> int:
        return self.index + 1


class Lines:
    """The lines of a file. Only LF, CRLF and CR end a line; form feeds and the like do not."""

    __slots__ = ("_data", "_starts", "_whole", "fence_line", "headings", "invalid_line", "kinds", "text")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts = list(accumulate(map(len, data.splitlines(keepends=True)), initial=0))
        # Where every character is one byte, places in the text are places in the file.
        self._whole = data.decode() if data.isascii() else None
        self.invalid_line = _invalid_line(data)
        """The first line that is not UTF-8; 0 where all are."""
        self.text: list[str] = [line.decode("utf-8", "replace") for line in data.splitlines()]
        """Without line ends and byte order mark; a byte that is not UTF-8 reads as U+FFFD."""
        if data.startswith(BOM):
            self.text[0] = self.text[0][1:]
        self.kinds = bytearray(len(self.text))
        self.headings: list[Heading] = []
        self.fence_line = self._classify()
        """Where a fence opens that is never closed; 0 where there is none."""

    def __len__(self) -> int:
        return len(self.text)

    def raw(self, first: int, stop: int) -> str:
        """The lines as they stand in the file, line ends and byte order mark included."""
        return self.cut(self._starts[first], self._starts[stop])

    def cut(self, start: int, end: int) -> str:
        """A range of bytes as text."""
        if self._whole is not None:
            return self._whole[start:end]
        return self._data[start:end].decode("utf-8", "replace")

    def span(self, first: int, stop: int) -> Span:
        """Whole lines, the last line end included."""
        return Span(self._starts[first], self._starts[stop], first + 1, max(stop, first + 1))

    def offset(self, index: int, column: int) -> int:
        """The byte at which a character of a line stands; the first is where the line begins."""
        if column == 0 or self._whole is not None:
            return self._starts[index] + column
        mark = len(BOM) if index == 0 and self._data.startswith(BOM) else 0
        return self._starts[index] + mark + len(self.text[index][:column].encode())

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

    def _classify(self) -> int:
        kinds = self.kinds
        fence, opened = "", 0
        for index, line in enumerate(self.text):
            first = line[:1]
            if first and first not in "#`~ \t" and not first.isspace():
                kinds[index] = CODE if fence else TEXT
                continue
            mark = _FENCE.match(line)
            if fence:
                closes = mark is not None and mark[1].startswith(fence) and not line[mark.end() :].strip()
                kinds[index] = FENCE if closes else CODE
                if closes:
                    fence, opened = "", 0
            elif mark is not None:
                fence, opened = mark[1], index + 1
                kinds[index] = FENCE
            elif not line.strip():
                kinds[index] = BLANK
            elif first == "#" and (heading := _HEADING.match(line)) is not None:
                text = _CLOSING.sub("", heading[2].strip()).rstrip()
                self.headings.append(Heading(index, len(heading[1]), text, line[len(heading[1]) :][:1].isspace()))
        return opened


def _invalid_line(data: bytes) -> int:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return len(data[: error.start + 1].splitlines())
    return 0
