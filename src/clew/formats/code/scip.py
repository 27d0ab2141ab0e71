"""Index files of the SCIP format: definitions and references as an indexer, such as that of a compiler, found them.

The format is a message of Protocol Buffers. Only the fields below are read; others are skipped by their wire types.

| message | fields |
|---|---|
| Index | 1 metadata, 2 documents |
| Metadata | 2 tool (1 name, 2 version) |
| Document | 1 path, 2 occurrences, 5 text, 6 encoding of positions |
| Occurrence | 1 range (line, first column, last column, or two lines and two columns), 2 symbol, 3 roles |
"""

# Implements: REQ-d00788

import re
from collections.abc import Iterator
from typing import NamedTuple

from clew.errors import FormatError

DEFINITION, IMPORT, WRITE = 1, 2, 4
"""Roles of an occurrence."""
UTF8, UTF32 = 1, 3
"""Units of columns; all others are those of UTF-16."""
_LOCAL = b"local "
_VARINT, _EIGHT, _LENGTH, _FOUR = 0, 1, 2, 5
_LAST = re.compile(r"(?:`((?:[^`]|``)+)`|([\w$+\-]+))(?:[#.!]|\([\w$+\-]*\)\.)$")
_LONGEST_SYMBOL = 2_000
_ALL_ROLES = 0xFFFF

Field = tuple[int, int | memoryview]


class ScipOccurrence(NamedTuple):
    line: int
    """From 0."""
    column: int
    end: int
    """The column behind the last character."""
    symbol: str
    roles: int


class ScipDocument(NamedTuple):
    path: str
    text: str | None
    """The whole text, where the indexer wrote it."""
    encoding: int
    occurrences: tuple[ScipOccurrence, ...]
    """Those of symbols that other files may use, on one line each."""


def documents_in(data: bytes) -> Iterator[ScipDocument | str]:
    """The documents of an index, and as a text the name and version of its tool. FormatError where it is no index."""
    for number, value in _fields(memoryview(data)):
        if number == 1 and isinstance(value, memoryview):
            yield _tool(value)
        elif number == 2 and isinstance(value, memoryview):
            yield _document(value)


def name_of(symbol: str) -> str:
    """The last name in a symbol, as it stands in a source; empty for parameters and the like."""
    found = _LAST.search(symbol[-_LONGEST_SYMBOL:])
    if found is None:
        return ""
    return found[2] or found[1].replace("``", "`")


def _tool(metadata: memoryview) -> str:
    for number, value in _fields(metadata):
        if number == 2 and isinstance(value, memoryview):
            parts = {part: _text(said) for part, said in _fields(value) if isinstance(said, memoryview)}
            return " ".join(filter(None, (parts.get(1, ""), parts.get(2, ""))))[:100]
    return ""


def _document(data: memoryview) -> ScipDocument:
    path, text, encoding = "", None, 0
    found: list[ScipOccurrence] = []
    symbols: dict[bytes, str] = {}
    for number, value in _fields(data):
        if isinstance(value, int):
            encoding = value if number == 6 else encoding
        elif number == 1:
            path = _text(value)
        elif number == 2:
            occurrence = _occurrence(value, symbols)
            if occurrence is not None:
                found.append(occurrence)
        elif number == 5:
            text = _text(value) or None
    return ScipDocument(path, text, encoding, tuple(found))


def _occurrence(data: memoryview, symbols: dict[bytes, str]) -> ScipOccurrence | None:
    place: list[int] = []
    symbol, roles = b"", 0
    for number, value in _fields(data):
        if number == 1:
            place += [value] if isinstance(value, int) else _numbers(value)
        elif number == 2 and isinstance(value, memoryview):
            symbol = bytes(value)
        elif number == 3 and isinstance(value, int):
            roles = value & _ALL_ROLES
    if not symbol or len(symbol) > _LONGEST_SYMBOL or symbol.startswith(_LOCAL):
        return None
    if len(place) == 4 and place[0] == place[2]:
        place = [place[0], place[1], place[3]]
    if len(place) != 3 or not 0 <= place[1] < place[2]:
        return None
    text = symbols.setdefault(symbol, symbol.decode("utf-8", "replace"))
    return ScipOccurrence(place[0], place[1], place[2], text, roles)


# The wire format


def _fields(data: memoryview) -> Iterator[Field]:
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield number, value
        elif kind == _LENGTH:
            length, at = _varint(data, at)
            if length > end - at:
                raise _broken("a field is longer than what it is in")
            yield number, data[at : at + length]
            at += length
        elif kind in (_EIGHT, _FOUR):
            at += 8 if kind == _EIGHT else 4
        else:
            raise _broken(f"it has a field of the wire type {kind}")
    if at > end:
        raise _broken("it is cut off")


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise _broken("it is cut off")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 64:
                break
            return value, at
    raise _broken("it has a number of more than 64 bits")


def _numbers(data: memoryview) -> list[int]:
    found: list[int] = []
    at = 0
    while at < len(data) and len(found) < 5:
        value, at = _varint(data, at)
        found.append(value)
    return found


def _text(value: memoryview) -> str:
    return bytes(value).decode("utf-8", "replace")


def _broken(why: str) -> FormatError:
    return FormatError(f"This is no index in the SCIP format: {why}.", hint="Have the indexer write it again.")
