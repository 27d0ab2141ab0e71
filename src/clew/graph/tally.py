"""Tallies: sums over many nodes that follow a change by what it touched, instead of being added up anew."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from clew.graph.rows import Rows

if TYPE_CHECKING:
    from clew.graph.graph import Graph

Row = tuple[str, tuple[int, ...]]
"""What one node adds: the group it belongs to, and its numbers."""


class Tally(Rows[Row]):
    def __init__(
        self, graph: "Graph", rows: "Callable[[Graph], dict[str, Row]]", row: "Callable[[Graph, str], Row | None]"
    ) -> None:
        super().__init__(graph, rows, row)
        self._sums: dict[str, list[int]] = {}
        # Very many rows are alike.
        for each, times in Counter(self._rows.values()).items():
            self._add(each, times)

    def sums(self) -> Mapping[str, tuple[int, ...]]:
        """By group, in order; a group without nodes is left out."""
        with self._renewing:
            for before, after in self._renewed():
                if before is not None:
                    self._add(before, -1)
                if after is not None:
                    self._add(after, 1)
            return {group: tuple(numbers) for group, numbers in sorted(self._sums.items()) if any(numbers)}

    def _add(self, row: Row, times: int) -> None:
        group, numbers = row
        sums = self._sums.get(group)
        if sums is None:
            sums = self._sums[group] = [0] * len(numbers)
        for position, number in enumerate(numbers):
            sums[position] += times * number
