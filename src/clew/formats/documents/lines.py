"""The lines of a text, with the place of each."""

import re

_LINE = re.compile(r"([^\r\n]*)(?:\r\n?|\n)|([^\r\n]+)")


class TextLines:
    """Only LF, CRLF and CR end a line; form feeds and the like do not."""

    __slots__ = ("bare", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts: list[int] = []
        """Where each line begins; one more for the end of the text."""
        self.bare: list[str] = []
        """The lines without their ends."""
        for match in _LINE.finditer(text):
            self.starts.append(match.start())
            self.bare.append(match[1] if match[2] is None else match[2])
        self.starts.append(len(text))

    def __len__(self) -> int:
        return len(self.bare)

    def end(self, index: int) -> int:
        """Where the text of a line ends, its line end not included."""
        return self.starts[index] + len(self.bare[index])

    def is_blank(self, index: int) -> bool:
        return not self.bare[index].strip()

    def indent(self, index: int) -> int:
        """How far a line is indented, a tab as four spaces."""
        line = self.bare[index]
        rest = line.lstrip(" \t")
        return len(line[: len(line) - len(rest)].expandtabs(4))
