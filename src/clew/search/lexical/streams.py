"""The streams that a ranking reads, kept for the next one: many searches meet the same units."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clew.cache import Cache
from clew.search.lexical import tables as lexical_tables
from clew.search.lexical.tables import Row

MOST_CHARACTERS = 8_000_000
_LONGEST = 100_000
"""A longer text is read again each time, rather than put out many others."""
_AT_ONCE = 50


class Stream(NamedTuple):
    row: Row
    words: int
    """How many there are."""


class Streams:
    """Of one index, in which the number of a unit stands for one text for ever. Any thread may ask."""

    def __init__(self, characters: int = MOST_CHARACTERS) -> None:
        self._kept: Cache[int, Stream] = Cache(characters, size_of=_characters)

    def of(self, connection: sqlite3.Connection, units: Sequence[int]) -> Iterator[Stream]:
        """The streams of these units, in their order. They are read as they are asked for: some may be very long."""
        for start in range(0, len(units), _AT_ONCE):
            part = units[start : start + _AT_ONCE]
            known = self._kept.get_many(part)
            missing = [unit for unit in part if unit not in known]
            if missing:
                rows = lexical_tables.streams(connection, missing)
                read = {row.unit: Stream(row, lexical_tables.length(row)) for row in rows}
                self._kept.put_many({unit: each for unit, each in read.items() if _characters(each) <= _LONGEST})
                known |= read
            yield from (known[unit] for unit in part if unit in known)


def _characters(stream: Stream) -> int:
    return len(stream.row.title) + len(stream.row.body) + len(stream.row.compounds)
