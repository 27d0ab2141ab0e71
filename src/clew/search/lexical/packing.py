"""The words of a unit, packed into one value: its terms as the ranking counts them, then its title and its text.

Terms and text share most of their letters, so packed together they take little more than the text alone. The terms come
first: a ranking unpacks no more than those. Units are short, and share words with others: what some of them say is kept
once, as a dictionary for the others.
"""

import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from clew.errors import StoreCorrupt

_RAW = -zlib.MAX_WBITS
_LEVEL = 6
_END = "\n"
"""After each stream. No term holds it."""
_DICTIONARY = 32_000
"""Bytes; deflate looks back no further than 32 KB."""


class UnitTerms(NamedTuple):
    """The terms of a unit. Each stream starts and ends with a space, so that ` term ` can be counted in it."""

    unit: int
    title: str
    body: str
    compounds: str


class UnitText(NamedTuple):
    """The title and the text of a unit, as written."""

    title: str
    body: str


class Packed(NamedTuple):
    terms: int
    """Bytes of the terms when they are unpacked."""
    title: int
    """Characters of the title."""
    data: bytes


def packed(row: UnitTerms, text: UnitText, dictionary: bytes) -> Packed:
    terms = _terms(row)
    press = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW, zdict=dictionary)
    data = press.compress(terms) + press.compress(f"{text.title}{text.body}".encode()) + press.flush()
    return Packed(len(terms), len(text.title), data)


def unpacked_terms(unit: int, terms: int, data: bytes, dictionary: bytes) -> UnitTerms:
    try:
        press = zlib.decompressobj(_RAW, zdict=dictionary)
        title, body, compounds, _ = press.decompress(data, terms).decode().split(_END)
    except (zlib.error, ValueError) as error:
        raise _damaged(error) from error
    return UnitTerms(unit, title, body, compounds)


def unpacked_text(terms: int, title: int, data: bytes, dictionary: bytes) -> UnitText:
    try:
        said = zlib.decompressobj(_RAW, zdict=dictionary).decompress(data)[terms:].decode()
    except (zlib.error, ValueError) as error:
        raise _damaged(error) from error
    return UnitText(said[:title], said[title:])


def repacked(data: bytes, before: bytes, after: bytes) -> bytes:
    """The same for another dictionary."""
    try:
        said = zlib.decompressobj(_RAW, zdict=before).decompress(data)
    except zlib.error as error:
        raise _damaged(error) from error
    press = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW, zdict=after)
    return press.compress(said) + press.flush()


def dictionary_of(units: Sequence[tuple[UnitTerms, UnitText]]) -> bytes:
    """A compression dictionary for packing units: the beginnings of some of them."""
    beginnings = [(_terms(row), f"{text.title}{text.body}".encode()) for row, text in units]
    each = _DICTIONARY // max(1, len(beginnings)) // 2
    return b"".join(part[:each] for said in beginnings for part in said)


def packed_dictionary(dictionary: bytes) -> bytes:
    return zlib.compress(dictionary)


@lru_cache(maxsize=4)
def unpacked_dictionary(packed: bytes) -> bytes:
    try:
        return zlib.decompress(packed)
    except zlib.error as error:
        raise _damaged(error) from error


def _terms(row: UnitTerms) -> bytes:
    return f"{row.title}{_END}{row.body}{_END}{row.compounds}{_END}".encode()


def _damaged(error: Exception) -> StoreCorrupt:
    return StoreCorrupt(f"The search index is damaged ({error}).")
