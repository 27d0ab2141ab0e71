"""What a passage of text or code says, apart from how it is formatted, as hashes by which it is found again.

Two passages have the same tokens when they differ only in blanks, line breaks, indentation, kind of quotes, trailing
commas or kind of bullets: what a formatter may change without changing what is said.
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
_CLOSING = frozenset(")]}")
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
    """How often the passage stood in its text."""
    beside: tuple[str, str] = ("", "")
    """Of the line before it and the line after it, which tell it from its like."""
    block: str = ""
    """Of the paragraph it stood in: where that is the same, its lines were only broken otherwise."""


class Tokens(NamedTuple):
    """The tokens of a text, each with the line it stands in, from 0."""

    tokens: list[str]
    lines: list[int]


class Place(NamedTuple):
    """Where a passage stands among the tokens of a text."""

    start: int
    end: int


def tokens_of(text: str) -> list[str]:
    """What the text says, token by token."""
    return read_tokens(text).tokens


def read_tokens(text: str) -> Tokens:
    found = Tokens([], [])
    for number, line in enumerate(text.splitlines()):
        for token in _TOKEN.findall(_BULLET.sub(r"\1-", line)):
            if token in _CLOSING and found.tokens and found.tokens[-1] == ",":
                found.tokens.pop()
                found.lines.pop()
            found.tokens.append('"' if token in _QUOTES else token)
            found.lines.append(number)
    return found


def passage_hash(text: str) -> PassageHash:
    """The hashes of a text that is a passage as a whole."""
    tokens = tokens_of(text)
    return PassageHash(
        hash=_hash(tokens), tokens=len(tokens), first=_hash(tokens[:_FIRST], 4), lines=tuple(_line_hashes(text))
    )


def lines_hash(text: str, first: int, last: int) -> PassageHash:
    """The hashes of some lines of a text, counted from 1, with what tells them from others of the same words."""
    own = passage_hash("\n".join(text.splitlines()[first - 1 : last]))
    whole = read_tokens(text)
    place = next((at for at in _whole_lines(whole, own) if whole.lines[at.start] >= first - 1), None)
    return msgspec.structs.replace(
        own,
        times=len(list(_whole_lines(whole, own))),
        beside=_beside(whole, place) if place is not None else ("", ""),
        block=next((hash for hash, lines in _blocks(text) if first - 1 in lines), ""),
    )


def stands_in(text: str, passage: PassageHash) -> bool:
    """Whether the passage still stands in a text, at whatever lines."""
    whole = read_tokens(text)
    places = list(_whole_lines(whole, passage))
    if len(places) >= passage.times:
        return bool(places) or not passage.tokens
    if places:
        # One of several of the same words was edited: it is another one if ours still stands beside what it did.
        return any(
            one == other != "" for at in places for one, other in zip(_beside(whole, at), passage.beside, strict=True)
        )
    # Its lines may have been broken otherwise, but then nothing was added before or behind them.
    return passage.block != "" and any(hash == passage.block for hash, _ in _blocks(text))


def lines_left(text: str, passage: PassageHash) -> int:
    """How many lines of the passage still stand in the text."""
    present = set(_line_hashes(text, most=None))
    return sum(line in present for line in passage.lines)


def _whole_lines(whole: Tokens, passage: PassageHash) -> Iterator[Place]:
    """Where the passage stands from the beginning of a line to the end of one."""
    tokens, lines = whole
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
        if is_like and _hash(tokens[start:end]) == passage.hash:
            yield Place(start, end)


def _beside(whole: Tokens, place: Place) -> tuple[str, str]:
    tokens, lines = whole
    before = [tokens[at] for at in range(place.start) if lines[at] == lines[place.start - 1]] if place.start else []
    following = range(place.end, len(tokens))
    after = [tokens[at] for at in following if lines[at] == lines[place.end]] if place.end < len(tokens) else []
    return (_hash(before, 4) if before else "", _hash(after, 4) if after else "")


def _blocks(text: str) -> Iterator[tuple[str, range]]:
    """The paragraphs of a text: their hashes, and their lines from 0."""
    numbered = enumerate(text.splitlines())
    for is_said, group in groupby(numbered, key=lambda each: bool(each[1].strip())):
        if is_said:
            lines = list(group)
            yield _hash(tokens_of("\n".join(line for _, line in lines))), range(lines[0][0], lines[-1][0] + 1)


def _line_hashes(text: str, most: int | None = _MOST_LINES) -> list[str]:
    said = [run for line in text.splitlines() if (run := tokens_of(line))]
    return [_hash(run, 4) for run in said[:most]]


def _hash(tokens: Sequence[str], size: int = 12) -> str:
    return content_hash("\0".join(tokens).encode("utf-8", "replace"), size)
