"""Comments, found by scanning a file once for comments and strings: a string that looks like a comment is none."""

import re
from collections.abc import Iterator

import msgspec

from clew.formats.code.comment_marks import DECISIONS
from clew.formats.code.heredocs import Heredocs
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
    """Where it begins."""
    kind: str
    """line, block or docstring."""


class Token(msgspec.Struct, frozen=True, gc=False):
    """A comment or string: where it stands, and where its text stands inside it."""

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
    """A string is a docstring where it stands alone at the beginning of a file or below the head of a definition."""
    heads = _Heads()
    code: list[str] = []
    """What stands before the string in question, without strings and comments."""
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
        """Whether the head of a definition ends with these pieces, of which the last ends in a colon. Uses them up."""
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
