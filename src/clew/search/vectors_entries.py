"""Entries of a vector space's journal: 64-bit numbers that say what became of which unit.

    N                   unit N has the vector in the next row, and no other
    -N - 1              unit N has no vector any more
    -N - 1 - FURTHER    unit N has the vector in the next row too

An entry without a row to it is a deletion. Numbers of units are below FURTHER, so no two of these are the same.
"""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clew.search.vectors_rows import Numbers

FURTHER = 2**62


def putting(numbers: "Numbers") -> "Numbers":
    """The entries for units in the order of their rows; a number that comes again has several vectors."""
    again = np.ones(len(numbers), bool)
    again[np.unique(numbers, return_index=True)[1]] = False
    return np.where(again, -numbers - 1 - FURTHER, numbers)


def deleting(numbers: "Numbers") -> "Numbers":
    return -numbers - 1


class Entries:
    def __init__(self, entries: "Numbers") -> None:
        self.adds = entries < -FURTHER
        """Whether it leaves what was there before."""
        self.deletes = (entries < 0) & ~self.adds
        self.units = np.where(entries >= 0, entries, -entries - 1 - np.where(self.adds, FURTHER, 0))
        self._settling = np.flatnonzero(~self.adds)

    def settled(self) -> "Numbers":
        """The units whose rows from before are gone, sorted."""
        return np.unique(self.units[self._settling])

    def live(self) -> "NDArray[np.bool_]":
        """Whether the row of an entry is still its unit's: nothing after it deleted or replaced it."""
        # Of each unit the last entry that let go of everything before.
        settled, from_end = np.unique(self.units[self._settling][::-1], return_index=True)
        last = self._settling[len(self._settling) - 1 - from_end]
        place = np.searchsorted(settled, self.units)
        known = np.zeros(len(self.units), bool)
        inside = place < len(settled)
        known[inside] = settled[place[inside]] == self.units[inside]
        since = np.full(len(self.units), -1)
        since[known] = last[place[known]]
        return ~self.deletes & (np.arange(len(self.units)) >= since)
