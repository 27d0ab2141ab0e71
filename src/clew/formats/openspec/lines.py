"""The lines of a spec or change: which are inside of a code block, and which are headings."""

import re

import msgspec

from clew.text.markdown import BOM, FENCE_SIGNS, HEADING, FenceRule, MarkdownLines

# Like OpenSpec, Clew takes fences at any indent: examples are written below bullets.
_FENCES = FenceRule(re.compile(rf"\s*+{FENCE_SIGNS}"))
_HEADING = re.compile(r"(#{1,6})(?:\s+|$|(?=(?:requirement|scenario)\s*:))(.*)", re.IGNORECASE)
_CLOSING = re.compile(r"(?:^|(?<=\s))#+$")


class Heading(msgspec.Struct, frozen=True, gc=False):
    index: int
    depth: int
    text: str
    """Without the number signs in front and behind."""
    spaced: bool
    """True if a space follows the signs; `###Requirement:` has none but is a heading too."""

    @property
    def line(self) -> int:
        return self.index + 1


class SpecLines(MarkdownLines):
    """The lines of a file, and its headings."""

    __slots__ = ("headings",)

    def __init__(self, data: bytes) -> None:
        super().__init__(data, _FENCES, _HEADING)
        self.headings: list[Heading] = []
        index = -1
        while (index := self.kinds.find(HEADING, index + 1)) >= 0:
            if (match := _HEADING.match(self.text[index])) is not None:
                self.headings.append(_heading(index, match))

    def offset(self, index: int, column: int) -> int:
        """The byte at which a character of a line stands; the first is where the line begins."""
        if column == 0 or self._whole is not None:
            return self._starts[index] + column
        mark = len(BOM) if index == 0 and self._data.startswith(BOM) else 0
        return self._starts[index] + mark + len(self.text[index][:column].encode())


def _heading(index: int, match: re.Match[str]) -> Heading:
    text = _CLOSING.sub("", match[2].strip()).rstrip()
    return Heading(index, len(match[1]), text, match.string[match.end(1) :][:1].isspace())
