"""The lines of a file of requirements: those at which a requirement or journey may begin or end are marked."""

import re

from clew.text.lines import Span
from clew.text.markdown import BOM, HEADING, TEXT, FenceRule, MarkdownLines

END = 5
"""One more kind of line: the End marker."""

# Any such line toggles, whatever follows the backticks: real files close a block with "```text".
_FENCES = FenceRule(re.compile(r"\s*+(```)"), toggles=True)
_HEADING = re.compile(r"#{1,6}\s")
_END_MARKER = "*End*"


class RequirementLines(MarkdownLines):
    """The lines of a file. A byte order mark belongs to none of them."""

    __slots__ = ("marks",)

    def __init__(self, data: bytes, id_prefixes: tuple[str, ...], errors: str = "replace") -> None:
        super().__init__(data, _FENCES, _HEADING, errors)
        if data.startswith(BOM):
            self._starts[0] = len(BOM)
        self.marks = self._mark(id_prefixes)
        """The lines at which a block may begin or end: headings, End markers, and those that begin like an id."""

    def text_span(self, first: int, last: int, indent: str = "") -> Span:
        """From after the indent of the first line to the end of the text of the last, its line end not included."""
        end = self._starts[last]
        if self._whole is not None:
            end += len(self.text[last])
        else:
            end += len(self._data[end : self._starts[last + 1]].rstrip(b"\r\n"))
        return Span(self._starts[first] + len(indent.encode()), end, first + 1, last + 1)

    def next_heading(self, first: int, stop: int) -> int:
        """The first heading in the range; `stop` where there is none."""
        found = self.kinds.find(HEADING, first, stop)
        return stop if found < 0 else found

    def heading(self, index: int) -> tuple[int, str]:
        """Depth and text of a heading."""
        text = self.text[index].lstrip("#")
        return len(self.text[index]) - len(text), text.strip()

    def _mark(self, id_prefixes: tuple[str, ...]) -> list[int]:
        marks: list[int] = []
        beginnings = (_END_MARKER, *id_prefixes)
        for index, (kind, line) in enumerate(zip(self.kinds, self.text, strict=True)):
            if kind == HEADING:
                marks.append(index)
            elif kind == TEXT and line.startswith(beginnings):
                if line.startswith(_END_MARKER):
                    self.kinds[index] = END
                elif line[0] in "#*" or line[0].isspace():
                    continue
                marks.append(index)
        return marks


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
