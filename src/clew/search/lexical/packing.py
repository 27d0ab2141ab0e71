"""What a unit says, packed into one value: its terms as the ranking counts them, then its text.

Terms and text share most of their letters, so packed together they take little more than the text alone. The terms come
first: a ranking unpacks no more than those.
"""

import zlib
from typing import NamedTuple

from clew.errors import StoreCorrupt

_RAW = -zlib.MAX_WBITS
_LEVEL = 6
_END = "\n"
"""After each stream. No term holds it."""


class Row(NamedTuple):
    """The terms of a unit. Each stream starts and ends with a space, so that ` term ` can be counted in it."""

    unit: int
    title: str
    body: str
    compounds: str


class Packed(NamedTuple):
    terms: int
    """How many bytes the terms have when they are unpacked."""
    data: bytes


def packed(row: Row, text: str) -> Packed:
    terms = f"{row.title}{_END}{row.body}{_END}{row.compounds}{_END}".encode()
    press = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
    return Packed(len(terms), press.compress(terms) + press.compress(text.encode()) + press.flush())


def unpacked_terms(unit: int, terms: int, data: bytes) -> Row:
    try:
        title, body, compounds, _ = zlib.decompressobj(_RAW).decompress(data, terms).decode().split(_END)
    except (zlib.error, ValueError) as error:
        raise _damaged(error) from error
    return Row(unit, title, body, compounds)


def unpacked_text(terms: int, data: bytes) -> str:
    try:
        return zlib.decompress(data, _RAW)[terms:].decode()
    except (zlib.error, ValueError) as error:
        raise _damaged(error) from error


def _damaged(error: Exception) -> StoreCorrupt:
    return StoreCorrupt(f"The search index is damaged ({error}).")
