"""Comments, found by scanning a file once for comments and strings: a string that looks like a comment is none."""

import re
from collections.abc import Callable, Iterator

import msgspec

from clew.formats.languages import (
    AFTER_BLANK,
    BLOCK,
    DOCSTRING,
    FIRST_ON_LINE,
    LINE,
    NOT_AFTER_WORD,
    NOT_IN_ADDRESS,
    REGEX_BODY,
    REGEX_LITERAL,
    STRING,
    STRING_BODIES,
    Family,
    family_for,
)

__all__ = ["BLOCK", "DOCSTRING", "LINE", "STRING", "Comment", "Family", "Token", "comments", "family_for", "tokens"]

_REGEX_FOLLOWS = frozenset("(,=:[!&|?{};+-*%~^<>\n")
_REGEX_FOLLOWS_WORD = re.compile(r"(?:return|typeof|case|in|of|do|else|await|yield)\s*\Z")
_LOOK_BACK = 40


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
    """The comments and strings of a file with LF line ends, in order. A Python string is a docstring where it stands
    alone at the beginning of a file or below a colon."""
    search = family.pattern.search
    position = 0
    code_end = 0
    """Where the last thing ended that is neither blank nor a comment."""
    while (match := search(text, position)) is not None:
        start, end = match.span()
        group = match.lastgroup
        text_start, text_end = match.span(group) if group is not None else (start, end)
        if group is not None and (test := _TESTS.get(group[0])) is not None:
            if not test(text, start):
                position = code_end = start + 1
                continue
            end = text_end = _end_of(group[0], text, start)
        kind = family.kind(group)
        before = position
        position = end
        if kind == DOCSTRING:
            gap_end = _code_end(text, before, start, code_end)
            kind = DOCSTRING if gap_end == 0 or text[gap_end - 1] == ":" else STRING
        if kind in (LINE, BLOCK):
            code_end = _code_end(text, before, start, code_end)
        else:
            code_end = end
        yield Token(kind, start, end, text_start, text_end)


def comments(text: str, family: Family) -> Iterator[Comment]:
    """The comments of a file, docstrings included."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    line, counted = 1, 0
    for token in tokens(text, family):
        if token.kind != STRING:
            line += text.count("\n", counted, token.start)
            counted = token.start
            yield Comment(text[token.text_start : token.text_end], line, token.kind)


def _code_end(text: str, start: int, end: int, before: int) -> int:
    """The end of the last code in a stretch without comments or strings; `before` where it is all blank."""
    trimmed = len(text[start:end].rstrip())
    return start + trimmed if trimmed else before


def _end_of(test: str, text: str, start: int) -> int:
    """Where something ends of which only the mark was looked at so far."""
    if test == NOT_AFTER_WORD:
        body = STRING_BODIES[text[start]].match(text, start)
    elif test == REGEX_LITERAL:
        body = REGEX_BODY.match(text, start)
    else:
        end = text.find("\n", start)
        return len(text) if end < 0 else end
    return body.end() if body is not None else start + 1


def _after_blank(text: str, start: int) -> bool:
    return not start or text[start - 1].isspace() or text[start - 1] in ";(){}[]|&`,"


def _not_in_address(text: str, start: int) -> bool:
    return not start or text[start - 1] != ":"


def _first_on_line(text: str, start: int) -> bool:
    before = text[max(0, start - _LOOK_BACK) : start]
    return not before[before.rfind("\n") + 1 :].strip()


def _not_after_word(text: str, start: int) -> bool:
    return not start or not text[start - 1].isalnum()


def _regex_may_follow(text: str, start: int) -> bool:
    """Whether a slash begins a regular expression here; after a value it divides."""
    before = text[max(0, start - _LOOK_BACK) : start].rstrip(" \t")
    return not before or before[-1] in _REGEX_FOLLOWS or _REGEX_FOLLOWS_WORD.search(before) is not None


_TESTS: dict[str, Callable[[str, int], bool]] = {
    AFTER_BLANK: _after_blank,
    NOT_IN_ADDRESS: _not_in_address,
    FIRST_ON_LINE: _first_on_line,
    NOT_AFTER_WORD: _not_after_word,
    REGEX_LITERAL: _regex_may_follow,
}
"""Whether a mark means here what it usually means, by the first letter of the group that matched."""
