"""The text of one requirement or journey, taken apart into lines that can be changed, and put together again.

Whatever is not changed comes out as it went in: line ends of every kind, and bytes that are not UTF-8.
"""

from collections.abc import Container, Sequence

from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.lines import END, RequirementLines
from clew.text.lines import matched
from clew.text.markdown import HEADING

_LOSSLESS = "surrogateescape"


class BlockLines:
    """The lines of a block, from its header to its End marker where it has one."""

    def __init__(self, data: bytes, grammar: IdGrammar) -> None:
        self.read = RequirementLines(data, grammar.header_prefixes, _LOSSLESS)
        """The lines as they are read, before any change."""
        self.text = list(self.read.text)
        whole = data.splitlines(keepends=True)
        self._ends = [line[len(bare) :].decode() for line, bare in zip(whole, data.splitlines(), strict=True)]
        self.line_end = next(filter(None, self._ends), "\n")

    @property
    def end_marker(self) -> int | None:
        """The line of the End marker."""
        last = len(self.read) - 1
        return last if last > 0 and self.read.kinds[last] == END else None

    @property
    def content_stop(self) -> int:
        """The line behind the content: that of the End marker, or the end of the block."""
        marker = self.end_marker
        return len(self.read) if marker is None else marker

    @property
    def first_heading(self) -> int:
        return self.read.next_heading(1, self.content_stop)

    def heading_depth(self, line: int) -> int:
        return self.read.heading(line)[0] if self.read.kinds[line] == HEADING else 0

    def replace(self, line: int, start: int, end: int, text: str) -> None:
        """Put another text between two columns of a line."""
        self.text[line] = self.text[line][:start] + text + self.text[line][end:]

    def insert(self, line: int, *texts: str) -> None:
        """Put lines in front of a line. Columns and line numbers of what was read hold only above it afterwards."""
        if line == len(self.text) and not self._ends[-1]:
            self._ends[-1] = self.line_end
            self._ends[line:line] = [self.line_end] * (len(texts) - 1) + [""]
        else:
            self._ends[line:line] = [self.line_end] * len(texts)
        self.text[line:line] = texts

    def remove(self, first: int, stop: int) -> None:
        if stop == len(self.text) and first and not self._ends[-1]:
            self._ends[first - 1] = ""
        del self.text[first:stop]
        del self._ends[first:stop]

    def exchange(self, first: int, stop: int, texts: Sequence[str], besides: Container[int] = ()) -> None:
        """Put lines in the place of others, those `besides` left out. One that reads as before keeps its bytes, its end
        and its place."""
        places = [line for line in range(first, stop) if line not in besides]
        former = [as_read(self.text[line]) for line in places]
        for is_same, (start, end, begin, until) in reversed(matched(former, texts)):
            if is_same:
                continue
            common = min(end - start, until - begin)
            for line, text in zip(places[start:end], texts[begin:until], strict=False):
                self.text[line] = text
            if begin + common < until:
                behind = places[start + common - 1] + 1 if start + common else first
                self.insert(behind, *texts[begin + common : until])
            for line in reversed(places[start + common : end]):
                self.remove(line, line + 1)

    def is_blank(self, line: int) -> bool:
        return not self.text[line].strip()

    def data(self) -> bytes:
        return encoded("".join(text + end for text, end in zip(self.text, self._ends, strict=True)))


def encoded(text: str) -> bytes:
    return text.encode("utf-8", _LOSSLESS)


def as_read(line: str) -> str:
    """A line as records have it: a byte that is not UTF-8 is U+FFFD there."""
    return encoded(line).decode("utf-8", "replace")
