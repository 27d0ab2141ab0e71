"""What a passage of text or code says, apart from how it is formatted, as hashes by which it is found again.

Two passages have the same tokens when they differ only in blanks, line breaks, indentation, kind of quotes, trailing
commas or kind of bullets: what a formatter may change without changing what is said.
"""

import re
from collections.abc import Sequence

import msgspec

from clew.text.hashing import content_hash

_TOKEN = re.compile(r"\w+|[^\w\s]")
_BULLET = re.compile(r"^([ \t]*)[*+](?=[ \t])", re.MULTILINE)
_QUOTES = frozenset("'\"`\u2018\u2019\u201c\u201d")
_CLOSING = frozenset(")]}")
_FIRST = 4
_MOST_LINES = 60


class PassageHash(msgspec.Struct, frozen=True):
    hash: str
    tokens: int
    first: str
    """Of the first few tokens."""
    lines: tuple[str, ...]
    """Of each line that says something, up to a limit."""


def tokens_of(text: str) -> list[str]:
    """What the text says, token by token."""
    found: list[str] = []
    for token in _TOKEN.findall(_BULLET.sub(r"\1-", text)):
        if token in _CLOSING and found and found[-1] == ",":
            found.pop()
        found.append('"' if token in _QUOTES else token)
    return found


def passage_hash(text: str) -> PassageHash:
    tokens = tokens_of(text)
    said = [run for line in text.splitlines() if (run := tokens_of(line))]
    lines = tuple(_hash(run, 4) for run in said[:_MOST_LINES])
    return PassageHash(_hash(tokens), len(tokens), _hash(tokens[:_FIRST], 4), lines)


def holds(tokens: Sequence[str], passage: PassageHash) -> bool:
    """Whether the passage stands somewhere among the tokens."""
    if not passage.tokens:
        return True
    width = min(_FIRST, passage.tokens)
    starts: dict[tuple[str, ...], bool] = {}
    for start in range(len(tokens) - passage.tokens + 1):
        head = tuple(tokens[start : start + width])
        if head not in starts:
            starts[head] = _hash(head, 4) == passage.first
        if starts[head] and _hash(tokens[start : start + passage.tokens]) == passage.hash:
            return True
    return False


def lines_left(text: str, passage: PassageHash) -> int:
    """How many lines of the passage still stand in the text."""
    present = {_hash(run, 4) for line in text.splitlines() if (run := tokens_of(line))}
    return sum(line in present for line in passage.lines)


def _hash(tokens: Sequence[str], size: int = 12) -> str:
    return content_hash("\0".join(tokens).encode("utf-8", "replace"), size)
