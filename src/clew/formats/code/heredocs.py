"""Here-documents: strings that begin on the line below the one that announces them and end at a line with their tag."""

import bisect
import re

import msgspec

from clew.formats.code.languages import HEREDOC, PHP_HEREDOC, TIGHT_HEREDOC

_TAG = r"(?:\\?(?P<word>[A-Za-z_]\w*)|'(?P<single>[^'\n]+)'|\"(?P<double>[^\"\n]+)\")"
_OPENINGS = {
    HEREDOC: re.compile(rf"<<(?P<indented>-?)[ \t]*+{_TAG}"),
    TIGHT_HEREDOC: re.compile(rf"<<(?P<indented>[-~]?){_TAG}"),
    PHP_HEREDOC: re.compile(rf"<<(?P<indented><)[ \t]*+{_TAG}"),
}
_FIRST_WORD = re.compile(r"[ \t]*+(\w+)")


class _Tags(msgspec.Struct, frozen=True):
    """The lines of a file that may end a here-document: by their text, where they begin and where the tag ends."""

    at_margin: dict[str, list[tuple[int, int]]]
    anywhere: dict[str, list[tuple[int, int]]]


class Heredocs:
    """The here-documents of one file."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tags: dict[bool, _Tags] = {}
        self.start = -1
        """Where the text of the announced ones begins, at the end of the announcing line; -1 where none is."""
        self.end = -1

    def announce(self, letter: str, start: int) -> int:
        """Look at what may announce a here-document. Returns where that ends; one that nothing closes is none."""
        opening = _OPENINGS[letter].match(self._text, start)
        if opening is None:
            return start + 2
        line_end = self._text.find("\n", opening.end())
        begin = max(line_end, self.end)
        tag = opening["word"] or opening["single"] or opening["double"]
        closing = self._closing(tag, begin, letter, bool(opening["indented"])) if line_end >= 0 else None
        if closing is not None:
            if self.start < 0:
                self.start = line_end
            self.end = closing
        return opening.end()

    def take(self, position: int) -> tuple[int, int]:
        """The text of the announced here-documents, from `position` on at the earliest."""
        extent = max(self.start, position), max(self.end, position)
        self.start = self.end = -1
        return extent

    def _closing(self, tag: str, begin: int, letter: str, indented: bool) -> int | None:
        first_words = letter == PHP_HEREDOC
        if first_words not in self._tags:
            self._tags[first_words] = _index(self._text, first_words)
        tags = self._tags[first_words]
        found = (tags.anywhere if indented else tags.at_margin).get(tag, [])
        index = bisect.bisect_right(found, (begin, len(self._text)))
        return found[index][1] if index < len(found) else None


def _index(text: str, first_words: bool) -> _Tags:
    """All lines, by their text or by their first word."""
    tags = _Tags({}, {})
    offset = 0
    for line in text.split("\n"):
        word = _FIRST_WORD.match(line) if first_words else None
        tag = word[1] if word is not None else line.strip()
        if tag:
            begin = offset + line.index(tag)
            tags.anywhere.setdefault(tag, []).append((begin, begin + len(tag)))
            if begin == offset:
                tags.at_margin.setdefault(tag, []).append((begin, begin + len(tag)))
        offset += len(line) + 1
    return tags
