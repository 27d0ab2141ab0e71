"""Checksums of values in derived files: a value whose checksum differs is not used.

SQLite notices a page whose structure is damaged, and not a byte that changed inside of a value. These checksums are
against damage; who may have made a file is decided before it is opened.
"""

from struct import Struct
from typing import Any
from zlib import crc32

import msgspec

_SEAL = Struct("<II")
_ENCODE = msgspec.msgpack.Encoder().encode


def sealed(payload: bytes, *about: object) -> bytes:
    """The payload behind its length and a checksum of it and of the values that it belongs to."""
    return _SEAL.pack(len(payload), crc32(payload, checksum(*about))) + payload


def unsealed(value: Any, *about: object) -> bytes | None:
    """The payload of a sealed value; None if a byte of it, or of its context, was altered."""
    if not isinstance(value, bytes) or len(value) < _SEAL.size:
        return None
    length, expected = _SEAL.unpack_from(value)
    payload = value[_SEAL.size :]
    if length != len(payload):
        return None
    try:
        return payload if crc32(payload, checksum(*about)) == expected else None
    except (TypeError, ValueError):
        # A value of a type that was never written, such as a text that is not UTF-8.
        return None


def checksum(*values: object) -> int:
    """A number that differs when any of the values, or its type, does."""
    return crc32(_ENCODE(values))
