"""Ids of requirements: `REQ-0001`, with four digits or more, and the ways in which people write them."""

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

import msgspec

PREFIX = "REQ"
PADDING = 4

_LOOSE = re.compile(r"(?:req[-_ ]?)?0*([0-9]{1,18})", re.IGNORECASE)
_EXACT = re.compile(r"([A-Z]+)-([0-9]{4,18})")
MENTION = re.compile(r"(?<![A-Za-z0-9_-])REQ-[0-9]{4,18}(?![A-Za-z0-9_])")
"""An id in running text or code, whole: REQ-10000 is no mention of REQ-1000."""


class CitedId(msgspec.Struct, frozen=True, gc=False):
    """An id that a file cites."""

    id: str
    line: int
    labels: tuple[str, ...] = ()
    """The acceptance criteria that are meant; none means the whole requirement."""


NEAR = 5
"""Distance in numbers up to which an id is suggested for one that does not exist."""


def format_id(number: int) -> str:
    return f"{PREFIX}-{number:0{PADDING}d}"


def normalise(written: str) -> str:
    """The id that somebody meant by `req-1`, `REQ_0001` or `1`; text that is no id comes back trimmed."""
    text = written.strip()
    match = _LOOSE.fullmatch(text)
    return format_id(int(match[1])) if match else text


def number_of(id: str) -> int | None:
    match = _EXACT.fullmatch(id)
    return int(match[2]) if match else None


@lru_cache(maxsize=1 << 16)
def sort_key(id: str) -> tuple[str, int, str]:
    """Sorts by number, so that REQ-10000 follows REQ-9999."""
    match = _EXACT.fullmatch(id)
    return (match[1], int(match[2]), id) if match else (id, 0, id)


def in_order(ids: Iterable[str]) -> list[str]:
    return sorted(ids, key=sort_key)


def nearest(id: str, known: Collection[str]) -> str | None:
    """The known id that was probably meant: the nearest number within reach, the smaller of two."""
    number = number_of(id)
    if number is None:
        return None
    reachable = (
        (abs(other - number), other, candidate)
        for candidate in known
        if (other := number_of(candidate)) is not None and candidate.startswith(PREFIX)
    )
    distance, _, candidate = min(reachable, default=(NEAR + 1, 0, ""))
    return candidate if distance <= NEAR else None
