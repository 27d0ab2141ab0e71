"""Sentences of a text, as offsets into it.

Two ways to cut, both linear and both deterministic. `plain_spans` is a rule of a few words that anyone can repeat by
hand; evidence that is quoted under a contract is cut by it. `sentences` reads markdown and knows abbreviations, tables,
headings and the marks of other scripts. Every piece is trimmed, none is empty, none overlaps another, and they come in
the order of the text.
"""

import re
from collections.abc import Iterator
from enum import StrEnum

import msgspec

from clew.text.markdown import COMMONMARK

_LINE = re.compile(r"[^\r\n]+(?:\r\n?|\n)?|[\r\n]+")
"""A line with its end. Empty lines that follow each other are as good as one."""
_BULLET = re.compile(r"[ \t]*(?:[-*+•‣◦]|\d{1,9}[.)])(?=\s)")
_QUOTE_MARKER = re.compile(r"[ \t]*(?:>[ \t]?)+")
_HEADING = re.compile(r" {0,3}#{1,6}(?=[ \t]+\S)")
_UNDERLINE = re.compile(r" {0,3}(?:={2,}|-{2,})\s*")
_ROW = re.compile(r"[ \t]*\|.*\|\s*")
_RULER = re.compile(r"[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)++\|?\s*+")
"""The line between the head and the body of a table."""

_PLAIN_STOP = re.compile(r"[.?!](?=\s)")
_STOP = re.compile(r"(?<![.!?…‽؟۔।॥։።])[.!?…‽؟۔।॥։።]++[\"'”’»)\]*_`]*+(?=\s)|[。！？｡]++[」』”’）】》〉]*+")
_WORD_BEFORE = re.compile(r"[^\s()\[\]\"'“”‘’«»/]+$")
_NEXT_WORD = re.compile(r"\s*[\"'“‘«(\[*_`]*(\w[\w'’]*)")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_LOOK_BACK = 24
_LOOK_AHEAD = 40

_BEFORE_A_NAME = """
    approx capt cf col dr e.g eq fig figs ft gen gov hon i.e lt maj messrs mr mrs ms mt prof rep rev sen sgt st viz vs
"""
_BEFORE_A_NUMBER = """
    apr art aug ch dec feb jan jul jun mar no nos nov oct op p par pp sec sep sept v ver vol vols
"""
_ANYWHERE = """
    al ave blvd bros ca co corp dept ed eds est etc excl inc incl jr ltd max min rd resp sr
"""
_FIRST_WORDS = """
    a after all although an and another as at because before both but by during each for from he her his however i if in
    it its many most my no not on once one our she since so some such that the their then there these they this those
    though to under until we what when where which while who with you your
"""
_JOINED, _NUMBERED = frozenset(_BEFORE_A_NAME.split()), frozenset(_BEFORE_A_NUMBER.split())
_EITHER, _OPENERS = frozenset(_ANYWHERE.split()), frozenset(_FIRST_WORDS.split())
"""An abbreviation that may also end a sentence did so when the next word is one that often opens a sentence."""


LONGEST_HEADING = 1_000
"""Length above which a text says more than a heading does."""


LONGEST_TERM = 200
_TERM = re.compile(r"`[^`\r\n]+`(?:[,/ |]+`[^`\r\n]+`)*|\*\*[^*\r\n]+\*\*")
_BELOW = re.compile(r"[ \t]*(?:\r\n?|\n)(?:[ \t]*(?:\r\n?|\n))*(?P<indent>[ \t]+)\S")


class TextKind(StrEnum):
    """The part of a text that a piece belongs to."""

    PROSE = "prose"
    HEADING = "heading"
    ITEM = "item"
    ROW = "row"
    CODE = "code"


class Piece(msgspec.Struct, frozen=True, gc=False):
    """text[start:end] is a sentence, a heading, a row of a table or a block of code."""

    start: int
    end: int
    kind: TextKind


def plain_spans(text: str) -> tuple[tuple[int, int], ...]:
    """The spans of fenced code blocks, and of the texts between blank lines, bullets, and `.`, `?` or `!` before a
    space."""
    found: list[tuple[int, int]] = []
    for start, end, kind in _plain_blocks(text):
        marker = _BULLET.match(text, start, end)
        cuts = () if kind is TextKind.CODE else _PLAIN_STOP.finditer(text, marker.end() if marker else start, end)
        for cut in cuts:
            found.append((start, cut.end()))
            start = cut.end()
        found.append((start, end))
    return tuple(span for span in (_trimmed(text, start, end) for start, end in found) if span[0] < span[1])


def is_heading(text: str) -> bool:
    """True if a text consists of headings only."""
    pieces = sentences(text) if len(text) <= LONGEST_HEADING else ()
    return bool(pieces) and all(piece.kind is TextKind.HEADING for piece in pieces)


def is_term(text: str, start: int, end: int) -> bool:
    """True if text[start:end] is a line with a name only, explained by an indented text below it."""
    return (
        end - start <= LONGEST_TERM
        and _TERM.fullmatch(text, start, end) is not None
        and (below := _BELOW.match(text, end)) is not None
        and len(below["indent"]) > _indent(text, start)
    )


def _indent(text: str, start: int) -> int:
    """Indentation of a line before `start`; LONGEST_TERM if anything but blanks precedes it."""
    line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    return start - line if text[line:start].isspace() or line == start else LONGEST_TERM


def sentences(text: str) -> tuple[Piece, ...]:
    """The sentences of a markdown text, with its headings, rows and code blocks as pieces of their own.

    Markers of headings, items and quotations are not part of a piece; lines that only draw a table are none.
    """
    found: list[Piece] = []
    for start, end, kind in _markdown_blocks(text):
        cuts = _sentence_ends(text, start, end) if kind in (TextKind.PROSE, TextKind.ITEM) else ()
        for cut in (*cuts, end):
            first, last = _trimmed(text, start, cut)
            start = cut
            if first < last:
                found.append(Piece(first, last, kind))
    return tuple(found)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _LINE.finditer(text))


def _fenced(text: str) -> Iterator[tuple[int, int, bool]]:
    """Each line, and each fenced code block as if it were one line. A fence that is never closed runs to the end."""
    opened, fence = -1, ""
    end = 0
    for start, end in _lines(text):
        if fence:
            if COMMONMARK.closes(text[start:end], fence):
                yield opened, end, True
                fence = ""
        elif fence := COMMONMARK.opened(text, start, end):
            opened = start
        else:
            yield start, end, False
    if fence:
        yield opened, end, True


def _plain_blocks(text: str) -> Iterator[tuple[int, int, TextKind]]:
    start = end = 0
    for first, last, is_code in _fenced(text):
        blank = not is_code and text[first:last].isspace()
        if is_code or blank or _BULLET.match(text, first, last):
            yield start, first, TextKind.PROSE
            start = last if is_code or blank else first
        if is_code:
            yield first, last, TextKind.CODE
        end = last
    yield start, end, TextKind.PROSE


class _Role(StrEnum):
    """Role of a line, judged without its neighbours."""

    BLANK = "blank"
    CODE = "code"
    HEADING = "heading"
    ROW = "row"
    RULER = "ruler"
    UNDERLINE = "underline"
    ITEM = "item"
    TEXT = "text"


def _role(text: str, first: int, last: int) -> tuple[_Role, int]:
    """The role of a line, and where its content begins."""
    quoted = _QUOTE_MARKER.match(text, first, last)
    body = quoted.end() if quoted else first
    if not text[body:last].strip():
        return _Role.BLANK, body
    if heading := _HEADING.match(text, body, last):
        return _Role.HEADING, heading.end()
    for pattern, role in ((_RULER, _Role.RULER), (_ROW, _Role.ROW), (_UNDERLINE, _Role.UNDERLINE)):
        if pattern.fullmatch(text, body, last):
            return role, body
    if marker := _BULLET.match(text, body, last):
        return _Role.ITEM, marker.end()
    return _Role.TEXT, body


_WHOLE_LINES = {_Role.CODE: TextKind.CODE, _Role.HEADING: TextKind.HEADING, _Role.ROW: TextKind.ROW}


class _Blocks:
    """Joins lines to blocks. An open block takes the next line of text; only prose and items are open."""

    def __init__(self) -> None:
        self.found: list[tuple[int, int, TextKind]] = []
        self._open = False
        self._in_table = False
        self._last_line = 0

    def add(self, role: _Role, first: int, body: int, last: int, has_bar: bool) -> None:
        if role is _Role.TEXT and self._in_table and has_bar:
            role = _Role.ROW
        if role is _Role.TEXT and self._open:
            start, _, kind = self.found[-1]
            self.found[-1] = (start, last, kind)
        elif role is _Role.UNDERLINE:
            self._underline()
        elif role is _Role.RULER:
            self._rule()
        elif role is not _Role.BLANK:
            kind = TextKind.ITEM if role is _Role.ITEM else _WHOLE_LINES.get(role, TextKind.PROSE)
            self.found.append((body, last, kind))
        self._open = role in (_Role.TEXT, _Role.ITEM)
        self._in_table = role in (_Role.ROW, _Role.RULER)
        self._last_line = first

    def _underline(self) -> None:
        """One line of prose with a line drawn under it is a heading."""
        if self._open and self.found[-1][2] is TextKind.PROSE and self._last_line <= self.found[-1][0]:
            start, end, _ = self.found[-1]
            self.found[-1] = (start, end, TextKind.HEADING)

    def _rule(self) -> None:
        """The line above the ruler is the head of a table, although it looked like text."""
        if self._open:
            start, end, kind = self.found.pop()
            cut = max(start, self._last_line)
            self.found += [(start, cut, kind), (cut, end, TextKind.ROW)]


def _markdown_blocks(text: str) -> list[tuple[int, int, TextKind]]:
    blocks = _Blocks()
    for first, last, is_code in _fenced(text):
        role, body = (_Role.CODE, first) if is_code else _role(text, first, last)
        blocks.add(role, first, body, last, has_bar="|" in text[body:last])
    return blocks.found


def _sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    return (stop.end() for stop in _STOP.finditer(text, start, end) if _ends_sentence(text, start, stop, end))


def _ends_sentence(text: str, start: int, stop: re.Match[str], end: int) -> bool:
    if stop.group()[0] in "。！？｡":
        return True
    following = _NEXT_WORD.match(text, stop.end(), min(end, stop.end() + _LOOK_AHEAD))
    if following is None:
        return True
    word = following.group(1)
    if word[0].islower():
        return False
    before = text[max(start, stop.start() - _LOOK_BACK) : stop.start()]
    if stop.group()[0] != ".":
        return True
    return not _counts(before, begins=len(before) == stop.start() - start) and _ends_after_word(before, word)


def _counts(before: str, *, begins: bool) -> bool:
    """True if a full stop after `before` follows a letter that numbers a line, as in `A. First of all`."""
    line = before.replace("\r", "\n").rpartition("\n")
    return (begins or bool(line[1])) and len(line[2].strip()) == 1 and line[2].strip().isalpha()


def _ends_after_word(before: str, following: str) -> bool:
    """True if a full stop after `before` ends a sentence, and is not the dot of an abbreviation."""
    match = _WORD_BEFORE.search(before)
    word = match.group().lower() if match else ""
    if word in _JOINED or (word in _NUMBERED and following[0].isdigit()):
        return False
    if word in _EITHER or _INITIALS.fullmatch(word):
        return following.lower() in _OPENERS
    return True


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
