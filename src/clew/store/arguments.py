"""The rules every engine holds its arguments to, and the one encoding of values."""

import math
import re
from typing import Any

import msgspec

from clew.errors import InvalidArgument
from clew.text.display import shortened

LONGEST_NAME = 512
LARGEST_NUMBER = 2**63 - 1

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


def check_name(what: str, value: object) -> None:
    """Check a name by the contract's rule for ids and collections. `what` names the argument in the error."""
    if not isinstance(value, str):
        raise InvalidArgument(f"{what} must be a string, not {_shown(value)}.", hint="Pass a string.")
    if not value:
        raise InvalidArgument(f"{what} must not be empty.", hint="Pass at least one character.")
    if len(value) > LONGEST_NAME:
        raise InvalidArgument(
            f"{what} {_shown(value)} has {len(value)} characters; {LONGEST_NAME} are allowed.",
            hint="Use a shorter one, for example a hash of it.",
        )
    if _UNPRINTABLE.search(value):
        raise InvalidArgument(
            f"{what} {_shown(value)} contains a control character.", hint="Remove or replace the character."
        )


def check_text(what: str, value: object) -> None:
    """Free text may hold anything but NUL and halves of surrogate pairs."""
    if not isinstance(value, str):
        raise InvalidArgument(f"{what} must be a string, not {_shown(value)}.", hint="Pass a string.")
    if _UNSTORABLE.search(value):
        raise InvalidArgument(
            f"{what} {_shown(value)} contains a character that cannot be stored (NUL or half of a surrogate pair).",
            hint="Remove or replace the character.",
        )


def check_number(what: str, value: object) -> None:
    """Counters, versions, sequence numbers and limits."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST_NUMBER:
        raise InvalidArgument(
            f"{what} must be a whole number from 0 to {LARGEST_NUMBER}, not {_shown(value)}.",
            hint="Pass such a number.",
        )


def encode(collection: str, id: str, data: Any) -> str:
    """The JSON text of a record's value."""
    try:
        text = msgspec.json.encode(data).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise _not_json(collection, id, str(error)) from error
    # NaN and the infinities are written as null without a word, so only a text with a null can hide one.
    if "null" in text and not _is_finite(msgspec.to_builtins(data)):
        raise _not_json(collection, id, "it holds NaN or an infinite number")
    return text


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(_is_finite(part) for pair in value.items() for part in pair)
    if isinstance(value, list | tuple | set | frozenset):
        return all(_is_finite(part) for part in value)
    return True


def _not_json(collection: str, id: str, cause: str) -> InvalidArgument:
    return InvalidArgument(
        f"The value for {collection}/{id} cannot be written as JSON: {cause}.",
        hint="Pass objects, lists, strings, finite numbers, booleans and null only. Nothing was written.",
    )


def _shown(value: object) -> str:
    return shortened(repr(value))
