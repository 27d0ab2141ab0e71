"""Entries of a vector space's journal: 64-bit numbers that say what became of which unit.

    N                   unit N has the vector in the next row, and no other
    -N - 1              unit N has no vector any more
    -N - 1 - FURTHER    unit N has the vector in the next row too

An entry without a row to it is a deletion. Numbers of units are below FURTHER, so no two of these are the same.
"""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from clew.search.dense.rows import Numbers

FURTHER = 2**62


def putting(numbers: "Numbers") -> "Numbers":
    """The entries for units in the order of their rows; a number that comes again has several vectors."""
    again = np.ones(len(numbers), bool)
    again[np.unique(numbers, return_index=True)[1]] = False
    return np.where(again, -numbers - 1 - FURTHER, numbers)


def deleting(numbers: "Numbers") -> "Numbers":
    return -numbers - 1


class Journal:
    """What some entries lead to, from one pass over them in the order of units."""

    def __init__(self, entries: "Numbers") -> None:
        adds = entries < -FURTHER
        deletes = (entries < 0) & ~adds
        units = np.where(entries >= 0, entries, -entries - 1 - np.where(adds, FURTHER, 0))
        order = np.argsort(units, kind="stable")
        units, row = units[order], (np.cumsum(~deletes) - 1)[order]
        first = np.flatnonzero(np.diff(units, prepend=-1))
        # Of each unit the last entry that let go of everything before; -1 where none did.
        place = np.arange(len(units))
        last = np.maximum.reduceat(np.where(adds[order], -1, place), first) if len(first) else place
        live = ~deletes[order] & (place >= np.repeat(last, np.diff(first, append=len(units))))
        self.rows = int(np.count_nonzero(~deletes))
        """How many rows come with the entries."""
        self.settled: Numbers = units[first][last >= 0]
        """The units whose rows from before are gone, sorted."""
        self.placed: Numbers = units[live]
        """The unit of each of the new rows that is still its unit's, sorted; those of one unit in their order."""
        self.placed_row: Numbers = row[live]
        """Where that row is among the new ones."""
