"""Text as it runs out of a page: white space as one space, with the places of links kept."""

import re

_SPACE = re.compile(r"\s+")


class RunningText:
    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._last = "\n"
        self._opened: list[tuple[int, str]] = []
        self._links: list[tuple[int, int, str]] = []

    @property
    def is_empty(self) -> bool:
        return not self._parts

    def add(self, text: str, *, keep_space: bool = False) -> None:
        if not keep_space:
            text = _SPACE.sub(" ", text)
            if self._last.isspace():
                text = text.lstrip(" ")
        elif not self._parts:
            text = text.lstrip("\r\n")
        self._append(text)

    def break_line(self, opening: str = "") -> None:
        """Go on in a new line, unless one was just begun."""
        if self._parts and self._last != "\n":
            self._append("\n")
        self._append(opening)

    def separate(self, sign: str) -> None:
        """Put a sign between two cells; none before the first of a line."""
        if self._last != "\n":
            self._append(sign)

    def open_link(self, target: str) -> None:
        self.close_link()
        self._opened.append((self._length, target))

    def close_link(self) -> None:
        if self._opened:
            start, target = self._opened.pop()
            self._links.append((start, self._length, target))

    def taken(self) -> tuple[str, list[tuple[int, int, str]]]:
        """The text and its links; what follows is another text."""
        self.close_link()
        text, links = "".join(self._parts).rstrip(), self._links
        self._parts, self._length, self._last, self._links = [], 0, "\n", []
        return text, [(start, min(end, len(text)), target) for start, end, target in links if start < len(text)]

    def _append(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._length += len(text)
            self._last = text[-1]
