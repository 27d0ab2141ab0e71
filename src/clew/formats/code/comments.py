"""Comments, found by scanning a file once for comments and strings: a string that looks like a comment is none.

Here-documents: strings that begin on the line below the one that announces them and end at a line with their tag.
"""

import bisect
import re
from collections.abc import Iterator

import msgspec

from clew.formats.code.comment_marks import DECISIONS
from clew.formats.code.languages import (
    BLOCK,
    DOCSTRING,
    ESCAPED,
    HEREDOC,
    LINE,
    PHP_HEREDOC,
    STRING,
    TIGHT_HEREDOC,
    Family,
    family_for,
)

__all__ = ["BLOCK", "DOCSTRING", "LINE", "STRING", "Comment", "Family", "Token", "comments", "family_for", "tokens"]

_HEREDOCS = frozenset({HEREDOC, TIGHT_HEREDOC, PHP_HEREDOC})
_RAW_PREFIXES = frozenset("rRuU")
_HEAD = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class)\b", re.MULTILINE)
_HEAD_SIGNS = re.compile(r"[()\[\]{}:]")


class Comment(msgspec.Struct, frozen=True, gc=False):
    text: str
    """Without the marks around it."""
    line: int
    """Line of its beginning."""
    kind: str
    """line, block or docstring."""


class Token(msgspec.Struct, frozen=True, gc=False):
    """A comment or string: where it stands, and where its text is inside it."""

    kind: str
    """line, block, docstring or string."""
    start: int
    end: int
    text_start: int
    text_end: int


def tokens(text: str, family: Family) -> Iterator[Token]:
    """The comments and strings of a file with LF line ends, in order."""
    return _python_tokens(text, family) if family.name == "python" else _marked_tokens(text, family)


def comments(text: str, family: Family) -> Iterator[Comment]:
    """The comments of a file, docstrings included."""
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    line, counted = 1, 0
    for token in tokens(text, family):
        if token.kind != STRING:
            line += text.count("\n", counted, token.start)
            counted = token.start
            yield Comment(text[token.text_start : token.text_end], line, token.kind)


def _marked_tokens(text: str, family: Family) -> Iterator[Token]:
    search = family.pattern.search
    position = max(0, text.find(family.opening)) if family.opening else 0
    if position:
        yield Token(STRING, 0, position, 0, position)
    heredocs = Heredocs(text)
    while True:
        match = search(text, position)
        if heredocs.start >= 0 and (match is None or match.start() >= heredocs.start):
            start, end = heredocs.take(position)
            if start < end:
                yield Token(STRING, start, end, start, end)
            position = end
            continue
        if match is None:
            return
        start, end = match.span()
        group = match.lastgroup or "x"
        letter = group[0]
        if letter in _HEREDOCS:
            position = heredocs.announce(letter, start)
        elif letter == ESCAPED:
            position = end
        elif (decide := DECISIONS.get(letter)) is None:
            text_start, text_end = match.span(group) if match.lastgroup else (start, end)
            yield Token(family.kind(letter), start, end, text_start, text_end)
            position = end
        elif (extent := decide(text, start, end)) is None:
            position = start + 1
        else:
            yield Token(family.kind(letter), start, extent[1], end, extent[0])
            position = extent[1]


def _python_tokens(text: str, family: Family) -> Iterator[Token]:
    """A string is a docstring where it is alone at the beginning of a file or below the head of a definition."""
    heads = _Heads()
    code: list[str] = []
    """Code before the string in question, without strings and comments."""
    last = ""
    """The last sign of it."""
    position = 0
    for match in family.pattern.finditer(text):
        start, end = match.span()
        gap = text[position:start]
        position = end
        group = match.lastgroup or ""
        kind = LINE
        if group[0] == "t":
            kind = STRING
            if gap[-1:] in _RAW_PREFIXES and not gap[-2:-1].isalnum():
                gap = gap[:-1]
        code.append(gap)
        if stripped := gap.rstrip():
            last = stripped[-1]
        if kind == STRING:
            if last == "" or (last == ":" and heads.end_with(code)):
                kind = DOCSTRING
            last = '"'
        yield Token(kind, start, end, *match.span(group))


class _Heads:
    """Tells where code ends with the head of a function or class. It is given the code of a file bit by bit."""

    def __init__(self) -> None:
        self._depth = -1
        """Of open brackets in a head that has not ended; -1 outside of any."""

    def end_with(self, pieces: list[str]) -> bool:
        """True if the head of a definition ends with these pieces, of which the last ends in a colon. Clears the
        list."""
        code = "".join(pieces)
        pieces.clear()
        begin = 0
        if "def" in code or "class" in code:
            for head in _HEAD.finditer(code):
                begin, self._depth = head.end(), 0
        if self._depth < 0:
            return False
        end = len(code.rstrip())
        for sign in _HEAD_SIGNS.finditer(code, begin):
            if sign[0] in "([{":
                self._depth += 1
            elif sign[0] != ":":
                self._depth = max(0, self._depth - 1)
            elif not self._depth:
                self._depth = -1
                return sign.end() == end
        return False


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
        """Offset at which the text of the announced heredocs begins, at the end of the announcing line; -1 if none is
        announced."""
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
