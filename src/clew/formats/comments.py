"""Comments, found by scanning a file once for comments and strings: a string that looks like a comment is none."""

import re
from collections.abc import Iterator

import msgspec

from clew.formats.comment_marks import DECISIONS
from clew.formats.heredocs import Heredocs
from clew.formats.languages import (
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
    position = 0
    for match in family.pattern.finditer(text):
        start, end = match.span()
        kind = LINE
        gap = text[position:start]
        group = match.lastgroup or ""
        if group[0] == "t":
            kind = DOCSTRING if heads.end_in(gap) else STRING
        else:
            heads.add(gap)
        position = end
        yield Token(kind, start, end, *match.span(group))


class _Heads:
    """Tells where the code read so far ends with the head of a function or class, or has not begun."""

    def __init__(self) -> None:
        self._code: list[str] = []
        """What was read since the last look, without strings and comments."""
        self._depth = -1
        """Of open brackets in a head that has not ended; -1 outside of any."""
        self._last = ""
        """The last sign of code."""

    def add(self, code: str) -> None:
        self._code.append(code)
        if stripped := code.rstrip():
            self._last = stripped[-1]

    def end_in(self, code: str) -> bool:
        """Whether a string after this further code is a docstring."""
        if code[-1:] in _RAW_PREFIXES and not code[-2:-1].isalnum():
            code = code[:-1]
        self.add(code)
        before, self._last = self._last, '"'
        return before == "" or (before == ":" and self._ends_head())

    def _ends_head(self) -> bool:
        code = "".join(self._code)
        self._code.clear()
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
