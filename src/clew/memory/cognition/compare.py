"""Memories compared in all thirteen spaces: the base of goals, drift and teleological vectors."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from clew.memory.cognition.agreement import is_text
from clew.memory.model import Memory
from clew.memory.navigation.spaces import SPACES, PairContext

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

Values = tuple[float | None, ...]
"""One for each space; None where it says nothing."""
TIMES = ("E2", "E3", "E4")
"""Spaces that tell when something was written down, and not what it says."""
ABSENT: Values = (None,) * len(SPACES)


class Comparer:
    """Compares memories of one question; what is known beside them is read once."""

    def __init__(
        self,
        view: "MemoryView",
        memories: Sequence[Memory],
        asked: str | None = None,
        lexical: Mapping[str, float] | None = None,
    ) -> None:
        """`lexical` are the scores by words, from 0 to 1, of what a ranking found for the memory or text `asked`."""
        self._asked = asked
        self._lexical = lexical or {}
        new = [memory for memory in memories if is_text(memory)]
        ids = [memory.id for memory in memories if not is_text(memory)]
        self.vectors = view.units.vectors_of(ids)
        # A text alone is compared with nothing.
        needed = new and (self.vectors or len(new) > 1)
        made = view.units.vectors([memory.text[:4_000] for memory in new]) if needed else None
        if made is not None:
            self.vectors.update({memory.id: vector for memory, vector in zip(new, made, strict=True)})
        self._around = view.library.index.around(ids)

    def values(self, one: Memory, other: Memory) -> Values:
        first, second = self.vectors.get(one.id), self.vectors.get(other.id)
        nobody: frozenset[str] = frozenset()
        pair = PairContext(
            dense=None if first is None or second is None else float(first @ second),
            lexical=self._lexical.get(other.id) if one.id == self._asked else None,
            neighbours=self._around.get(one.id, nobody),
            other_neighbours=self._around.get(other.id, nobody),
        )
        return tuple(space.compare(one, other, pair) for space in SPACES)

    def rows(self, one: Memory, others: Sequence[Memory]) -> list[Values]:
        return [self.values(one, other) for other in others if other.id != one.id or not one.id]

    def mean(self, ones: Sequence[Memory], others: Sequence[Memory]) -> tuple[Values, int]:
        """Mean similarity in each space over all pairs, and how many pairs there are."""
        rows = [row for one in ones for row in self.rows(one, others)]
        return means(rows), len(rows)


def means(rows: Sequence[Values]) -> Values:
    columns = [[value for value in column if value is not None] for column in zip(*rows, strict=True)]
    return tuple(fmean(column) if column else None for column in columns) or ABSENT


def contents(values: Values) -> list[float]:
    """The values of the spaces that compare the texts of memories."""
    return [value for space, value in zip(SPACES, values, strict=True) if value is not None and space.id not in TIMES]


def rounded(values: Values) -> Values:
    return tuple(None if value is None else round(value, 4) for value in values)


def cosine(one: Values, other: Values) -> float | None:
    """Of the spaces that both have; None where that is fewer than two, or one of them is nothing but zeros."""
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    length = sum(a * a for a, _ in pairs) * sum(b * b for _, b in pairs)
    if len(pairs) < 2 or length <= 0:
        return None
    return min(max(sum(a * b for a, b in pairs) / math.sqrt(length), -1.0), 1.0)
