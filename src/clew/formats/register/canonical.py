"""The two spellings of JSON that a register file needs, and the checksum over one of them.

Both sort the keys of every object. The *pretty* one is the file; the *canonical* one, without any white space, is what
the checksum is taken of.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from clew.errors import FormatError
from clew.formats.repeated_keys import repeated_key

ALGORITHM = "sha256:"


canonical: Callable[[Any], bytes] = msgspec.json.Encoder(order="sorted").encode


def pretty(value: Any) -> bytes:
    """Two spaces for each level, every character beyond ASCII as it is, and no line feed at the end."""
    return msgspec.json.format(canonical(value), indent=2)


def pretty_as_declared(value: Any) -> bytes:
    """The same, with the keys in the order in which they are given."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2)


def encoded_parts(value: Mapping[str, Any]) -> dict[str, bytes]:
    """The canonical text of each value of an object, so that none has to be encoded twice."""
    return {key: canonical(inner) for key, inner in value.items()}


def joined(parts: Mapping[str, bytes]) -> bytes:
    """The canonical text of the object that has these parts."""
    return b"{" + b",".join(canonical(key) + b":" + parts[key] for key in sorted(parts)) + b"}"


def digest(*parts: bytes) -> str:
    """The checksum of canonical texts that follow each other without anything between them."""
    checksum = hashlib.sha256()
    for part in parts:
        checksum.update(part)
    return ALGORITHM + checksum.hexdigest()


class ParsedObject(msgspec.Struct, frozen=True):
    document: dict[str, Any]
    parts: dict[str, bytes]
    """The canonical text of each value."""


def parse(data: bytes, name: str) -> ParsedObject:
    """The object a file holds, or an error that says what is wrong with the file and how to mend it."""
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _unreadable(data, name, error) from error
    if not isinstance(document, dict):
        raise FormatError(
            f"{name} holds {type(document).__name__}, not an object of JSON.", hint="Restore it from git or a backup."
        )
    # What prints to the same bytes cannot have said a key twice; only other files are searched for one.
    parts = encoded_parts(document)
    if msgspec.json.format(joined(parts), indent=2) != data and (key := repeated_key(data)) is not None:
        raise FormatError(
            f"{name} gives the key '{key}' twice in one object, so one of the two values would be lost.",
            hint="Remove one of them by hand, then run `clew req repair --confirm-direct-edit`.",
        )
    return ParsedObject(document, parts)


def _unreadable(data: bytes, name: str, error: Exception) -> FormatError:
    if b"\n<<<<<<< " in data or data.startswith(b"<<<<<<< "):
        return FormatError(
            f"{name} holds the marks of an unresolved merge.",
            hint="`clew req merge` merges both sides whole, out of what git has of them. `clew req setup` installs the "
            "driver with which git does so itself.",
        )
    return FormatError(
        f"{name} is not valid JSON: {error}.",
        hint=f"It may be cut off or edited by hand. `git diff -- {name}` shows what changed; restore it from git.",
    )
