"""Copies of what something else takes the place of."""

from collections.abc import Callable
from pathlib import Path

from clew.edit.replacing import replace_file

MARK = ".bak-"
REPLACED = "replaced"
"""Why most copies are made."""


def keep_copy(named: Path, data: bytes) -> Path:
    """Leave a copy under a name, or under one with a number where something else has that name; returns its place."""
    place = free_place(named, lambda there: there.is_file() and there.read_bytes() == data)
    replace_file(place, data)
    return place


def free_place(named: Path, is_the_same: Callable[[Path], bool]) -> Path:
    place, number = named, 1
    while place.exists() and not is_the_same(place):
        number += 1
        place = named.with_name(f"{named.name}-{number}")
    return place
