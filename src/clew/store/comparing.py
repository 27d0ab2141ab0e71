"""Comparing the events of a team's database with those of a copy, by counts and digests of blocks of numbers.

The digest of a block is the sum of the hashes of its events, so that the database makes it in one question and sends
only a number. Both sides hash the same text: each value after its length.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

COLUMNS = "seq, at, actor, operation, reason, collection, id, version, before, after"
BLOCK = 256
"""Numbers of events in a block."""
_DIGITS = 15
"""Of the hash of an event, in hexadecimal."""
_COLLECTION, _ID = 5, 6

Row = tuple[Any, ...]
Digests = Mapping[int, tuple[int, int]]
"""For each block that has events, how many, and the sum of their hashes."""
Place = tuple[str, str]
"""A collection and an id."""


def block_of(seq: int) -> int:
    return seq // BLOCK


def in_sql() -> str:
    """The digests of blocks as PostgreSQL computes them."""
    values = " || ".join(f"coalesce(length({name}::text) || ':' || {name}, '-')" for name in COLUMNS.split(", "))
    return f"""
        SELECT seq / {BLOCK}, count(*), sum(
            ('x' || left(encode(sha256(convert_to({values}, 'UTF8')), 'hex'), {_DIGITS}))::bit({4 * _DIGITS})::bigint
        ) FROM events WHERE seq >= ? AND seq < ? GROUP BY 1
    """  # noqa: S608 (Clew's own)


def digests_of(rows: Sequence[Row]) -> dict[int, tuple[int, int]]:
    found: dict[int, tuple[int, int]] = {}
    for row in rows:
        count, total = found.get(block_of(row[0]), (0, 0))
        found[block_of(row[0])] = count + 1, total + _hashed(row)
    return found


def _hashed(row: Row) -> int:
    text = "".join("-" if value is None else f"{len(str(value))}:{value}" for value in row)
    return int(hashlib.sha256(text.encode()).hexdigest()[:_DIGITS], 16)


class Difference:
    """Events of the database that a copy lacks, or has in another form."""

    def __init__(self) -> None:
        self.missing = self.changed = self.surplus = 0
        self.places: set[Place] = set()

    def __bool__(self) -> bool:
        return bool(self.places)

    def note(self, there: Sequence[Row], here: Sequence[Row]) -> None:
        """Compare the events of a block."""
        left = {row[0]: row for row in here}
        for row in there:
            own = left.pop(row[0], None)
            if own == row:
                continue
            self.missing += own is None
            self.changed += own is not None
            self._add(row)
            if own is not None:
                self._add(own)
        self.surplus += len(left)
        for row in left.values():
            self._add(row)

    def _add(self, row: Row) -> None:
        self.places.add((row[_COLLECTION], row[_ID]))

    def __str__(self) -> str:
        return (
            f"{self.missing} events of the database were missing in the copy, {self.changed} were others, and"
            f" {self.surplus} were not in the database"
        )
