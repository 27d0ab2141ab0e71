"""Hashes of a passage of text or code, independent of its formatting, by which it is found again.

Two passages have the same tokens when they differ only in blanks, line breaks, kind of quotes, trailing commas or kind
of bullets: what a formatter may change without changing what is said. Where indentation has a meaning, as in Python,
the nesting of the lines counts as well, and how far all of them are indented does not.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec

from clew.text.hashing import content_hash

_TOKEN = re.compile(r"\w+|[^\w\s]")
_BULLET = re.compile(r"^([ \t]*)[*+](?=[ \t])")
_QUOTES = frozenset("'\"`\u2018\u2019\u201c\u201d")
_PAIRS = {")": "(", "]": "[", "}": "{"}
_OPENING, _COMMA = frozenset(_PAIRS.values()), ","
_BEFORE_A_TUPLE = frozenset(
    (
        *("and", "assert", "await", "del", "elif", "else", "for", "from", "if", "in", "is", "lambda", "not", "or"),
        *("raise", "return", "while", "with", "yield"),
    )
)
"""Words of Python after which a bracket opens no call."""
_INDENTED = (".py", ".pyi", ".pyx", ".yaml", ".yml", ".nim", ".coffee", ".hs", ".fs", ".sass", ".pug", ".haml")
_LEVEL = "\1"
_FIRST = 4
_MOST_LINES = 60


class PassageHash(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    hash: str
    tokens: int
    first: str
    """Of the first few tokens."""
    lines: tuple[str, ...] = ()
    """Of each line that says something, up to a limit."""
    times: int = 1
    """Number of times that the passage occurred in its text."""
    beside: tuple[str, str] = ("", "")
    """Of the line before it and the line after it, which tell it from its like."""
    block: str = ""
    """Of the paragraph it was in: where that is the same, its lines were only broken otherwise."""
    indented: bool = False
    """True if the nesting of the lines counts."""


class TokenizedText(NamedTuple):
    """The tokens of a text, each with the line it is in, from 0, and how far each line is indented."""

    tokens: list[str]
    lines: list[int]
    indents: list[int]


class TokenRange(NamedTuple):
    """Range of a passage among the tokens of a text."""

    start: int
    end: int


def is_indented(path: str) -> bool:
    """True if indentation has a meaning in files of this kind."""
    return path.lower().endswith(_INDENTED)


def tokens_of(text: str) -> list[str]:
    """Tokens of a text."""
    return read_tokens(text).tokens


def read_tokens(text: str) -> TokenizedText:
    found = TokenizedText([], [], [])
    brackets: list[_Bracket] = []
    for number, line in enumerate(text.splitlines()):
        spread = line.expandtabs(8)
        found.indents.append(len(spread) - len(spread.lstrip()))
        for token in _TOKEN.findall(_BULLET.sub(r"\1-", line)):
            _note_bracket(brackets, found, token)
            found.tokens.append('"' if token in _QUOTES else token)
            found.lines.append(number)
    return found


class _Bracket(NamedTuple):
    sign: str
    is_call: bool
    """True if it follows something that can be called or subscripted."""
    commas: list[int]


def _note_bracket(brackets: list[_Bracket], found: TokenizedText, token: str) -> None:
    """Follow brackets, and drop a comma before a closing one, except in a tuple of one element."""
    before = found.tokens[-1] if found.tokens else ""
    if token in _OPENING:
        is_name = before[-1:].isalnum() or before[-1:] in ("_", ")", "]")
        brackets.append(_Bracket(token, is_name and before not in _BEFORE_A_TUPLE, []))
    elif token == _COMMA and brackets:
        brackets[-1].commas.append(len(found.tokens))
    elif token in _PAIRS:
        own = brackets.pop() if brackets and brackets[-1].sign == _PAIRS[token] else None
        if before == _COMMA and not (own is not None and _is_tuple(own)):
            found.tokens.pop()
            found.lines.pop()


def _is_tuple(bracket: _Bracket) -> bool:
    """True if the last comma of a group has a meaning: in `(1,)` and `x[1,]`, but not in `f(1,)` or `[1,]`."""
    return len(bracket.commas) == 1 and bracket.is_call == (bracket.sign == "[") and bracket.sign != "{"


def passage_hash(text: str, *, indented: bool = False) -> PassageHash:
    """The hashes of a text that is a passage as a whole; with `indented`, the nesting of its lines counts."""
    whole = read_tokens(text)
    return PassageHash(
        hash=_hash_at(whole, TokenRange(0, len(whole.tokens)), indented),
        tokens=len(whole.tokens),
        first=_hash(whole.tokens[:_FIRST], 4),
        lines=tuple(_line_hashes(text)),
        indented=indented,
    )


def says(text: str, passage: PassageHash) -> bool:
    """True if a text as a whole is the passage."""
    return passage_hash(text, indented=passage.indented).hash == passage.hash


def lines_hash(text: str, first: int, last: int, *, indented: bool = False) -> PassageHash:
    """The hashes of some lines of a text, counted from 1, each with a mark that tells it from other lines with the same
    words."""
    own = passage_hash("\n".join(text.splitlines()[first - 1 : last]), indented=indented)
    whole = read_tokens(text)
    place = next((at for at in _whole_lines(whole, own) if whole.lines[at.start] >= first - 1), None)
    return msgspec.structs.replace(
        own,
        times=len(list(_whole_lines(whole, own))),
        beside=_beside(whole, place) if place is not None else ("", ""),
        block=next((hash for hash, lines in _blocks(text, indented) if first - 1 in lines), ""),
    )


def stands_in(text: str, passage: PassageHash) -> bool:
    """True if a text still contains the passage, at any lines."""
    whole = read_tokens(text)
    places = list(_whole_lines(whole, passage))
    if len(places) >= passage.times:
        return bool(places) or not passage.tokens
    if places:
        # One of several of the same words was edited: it is another one if ours still is beside what it did.
        return any(
            one == other != "" for at in places for one, other in zip(_beside(whole, at), passage.beside, strict=True)
        )
    # Its lines may have been broken otherwise, but then nothing was added before or behind them.
    return passage.block != "" and any(hash == passage.block for hash, _ in _blocks(text, passage.indented))


def lines_left(text: str, passage: PassageHash) -> int:
    """Number of lines of the passage that a text still contains."""
    present = set(_line_hashes(text, most=None))
    return sum(line in present for line in passage.lines)


def _whole_lines(whole: TokenizedText, passage: PassageHash) -> Iterator[TokenRange]:
    """Ranges of the passage that begin at the start of a line and end at the end of one."""
    tokens, lines = whole.tokens, whole.lines
    width, size = min(_FIRST, passage.tokens), passage.tokens
    if not size:
        return
    for start in range(len(tokens) - size + 1):
        if start and lines[start - 1] == lines[start]:
            continue
        end = start + size
        if end < len(tokens) and lines[end] == lines[end - 1]:
            continue
        is_like = _hash(tokens[start : start + width], 4) == passage.first
        if is_like and _hash_at(whole, TokenRange(start, end), passage.indented) == passage.hash:
            yield TokenRange(start, end)


def _beside(whole: TokenizedText, place: TokenRange) -> tuple[str, str]:
    tokens, lines = whole.tokens, whole.lines
    before = [tokens[at] for at in range(place.start) if lines[at] == lines[place.start - 1]] if place.start else []
    following = range(place.end, len(tokens))
    after = [tokens[at] for at in following if lines[at] == lines[place.end]] if place.end < len(tokens) else []
    return (_hash(before, 4) if before else "", _hash(after, 4) if after else "")


def _blocks(text: str, indented: bool) -> Iterator[tuple[str, range]]:
    """The paragraphs of a text: their hashes, and their lines from 0."""
    numbered = enumerate(text.splitlines())
    for is_said, group in groupby(numbered, key=lambda each: bool(each[1].strip())):
        if is_said:
            lines = list(group)
            block = passage_hash("\n".join(line for _, line in lines), indented=indented)
            yield block.hash, range(lines[0][0], lines[-1][0] + 1)


def _line_hashes(text: str, most: int | None = _MOST_LINES) -> list[str]:
    runs = [run for line in text.splitlines() if (run := tokens_of(line))]
    return [_hash(run, 4) for run in runs[:most]]


def _hash_at(whole: TokenizedText, place: TokenRange, indented: bool) -> str:
    """The hash of the tokens at a place, each line with its level among the lines there where nesting counts."""
    if not indented:
        return _hash(whole.tokens[place.start : place.end])
    said: list[str] = []
    depth, above = 0, [whole.indents[whole.lines[place.start]]] if place.end > place.start else []
    lowest = 0
    for at in range(place.start, place.end):
        token, line = whole.tokens[at], whole.lines[at]
        # Inside of brackets, lines are broken as a formatter likes.
        if at > place.start and line != whole.lines[at - 1] and depth == 0:
            indent = whole.indents[line]
            while len(above) > 1 and above[-1] > indent:
                above.pop()
            if indent > above[-1]:
                above.append(indent)
            elif indent < above[-1]:
                # Further out than the passage begins.
                above, lowest = [indent], lowest - 1
            said.append(f"{_LEVEL}{lowest + len(above) - 1}")
        depth = max(depth + (token in _OPENING) - (token in _PAIRS), 0)
        said.append(token)
    return _hash(said)


def _hash(tokens: Sequence[str], size: int = 12) -> str:
    return content_hash("\0".join(tokens).encode("utf-8", "replace"), size)
