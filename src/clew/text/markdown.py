"""Markdown read line by line: the kind of each line, and its bytes.

Formats differ in where a code block begins and ends, and in what is a heading. Both are parameters: a `FenceRule`, and
the pattern of a heading.
"""

import re
import sys
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from clew.text.lines import Span

TEXT, HEADING, BLANK, FENCE, CODE = range(5)
"""Kinds of lines. FENCE opens or closes a code block, CODE is inside of one; neither is read as anything else."""

BOM = b"\xef\xbb\xbf"
FENCE_SIGNS = r"(`{3,}+(?!.*`)|~{3,}+)"
"""``` or ~~~, as CommonMark has it: no backtick follows those of a fence in its line."""
_SPECIAL = "#`~"
"""First characters of lines that may be more than text, besides white space."""


class FenceRule(NamedTuple):
    """Beginning and end of a code block. A block that is never closed ends with the text."""

    opening: re.Pattern[str]
    """Matches a line that opens a block; the first group is its fence."""
    toggles: bool = False
    """True if each line that could open a block closes the open one, whatever follows the fence. Otherwise the closing
    line has nothing but at least as many of the same sign."""
    closes_indented: bool = True
    """True if the closing line may have any indent; otherwise only one that the opening line may have."""

    def opened(self, text: str, start: int = 0, end: int = sys.maxsize) -> str:
        """The fence that a line, text[start:end], opens; empty if it opens none."""
        mark = self.opening.match(text, start, end)
        return mark[1] if mark is not None else ""

    def closes(self, line: str, fence: str) -> bool:
        """True if the line closes the block that this fence opened."""
        if self.toggles:
            return self.opening.match(line) is not None
        mark = line.strip()
        if not mark.startswith(fence) or mark != fence[0] * len(mark):
            return False
        return self.closes_indented or self.opening.match(line) is not None

    def closing(self, lines: Sequence[str], index: int) -> int | None:
        """The line that closes the block opened by a line; the number of lines if none does. None if no block begins
        there."""
        fence = self.opened(lines[index])
        if not fence:
            return None
        return next((at for at in range(index + 1, len(lines)) if self.closes(lines[at], fence)), len(lines))


COMMONMARK = FenceRule(re.compile(rf"[ \t]*+{FENCE_SIGNS}"))
"""As in CommonMark, but at any indent, since examples are written below bullets."""


class MarkdownLines:
    """The lines of a file. Only LF, CRLF and CR end a line; form feeds and the like do not."""

    __slots__ = ("_data", "_starts", "_whole", "fence_line", "invalid_line", "kinds", "text")

    def __init__(self, data: bytes, fences: FenceRule, heading: re.Pattern[str], errors: str = "replace") -> None:
        self._data = data
        self._starts = list(accumulate(map(len, data.splitlines(keepends=True)), initial=0))
        # Where every character is one byte, places in the text are places in the file.
        self._whole = data.decode() if data.isascii() else None
        self.invalid_line = _invalid_line(data)
        """The first line that is not UTF-8, from 1; 0 if all are."""
        self.text: list[str] = [line.decode("utf-8", errors) for line in data.splitlines()]
        """Without line ends and byte order mark; a byte that is not UTF-8 reads as U+FFFD, or as `errors` says."""
        if data.startswith(BOM):
            self.text[0] = self.text[0][1:]
        self.kinds = bytearray(len(self.text))
        self.fence_line = self._classify(fences, heading)
        """The line of a fence that is never closed, from 1; 0 if there is none."""

    def __len__(self) -> int:
        return len(self.text)

    def raw(self, first: int, stop: int) -> str:
        """The lines as they are in the file, line ends included."""
        return self.cut(self._starts[first], self._starts[stop])

    def cut(self, start: int, end: int) -> str:
        """A range of bytes as text."""
        if self._whole is not None:
            return self._whole[start:end]
        return self._data[start:end].decode("utf-8", "replace")

    def span(self, first: int, stop: int) -> Span:
        """Whole lines, the last line end included."""
        return Span(self._starts[first], self._starts[stop], first + 1, max(stop, first + 1))

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

    def _classify(self, fences: FenceRule, heading: re.Pattern[str]) -> int:
        kinds = self.kinds
        fence, opened = "", 0
        for index, line in enumerate(self.text):
            first = line[:1]
            if first and first not in _SPECIAL and not first.isspace():
                if fence:
                    kinds[index] = CODE
            elif fence:
                closes = fences.closes(line, fence)
                kinds[index] = FENCE if closes else CODE
                if closes:
                    fence, opened = "", 0
            elif not line.strip():
                kinds[index] = BLANK
            elif fence := fences.opened(line):
                kinds[index], opened = FENCE, index + 1
            elif first == "#" and heading.match(line) is not None:
                kinds[index] = HEADING
        return opened


def _invalid_line(data: bytes) -> int:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return len(data[: error.start + 1].splitlines())
    return 0
