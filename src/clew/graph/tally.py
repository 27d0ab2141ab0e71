"""Tallies: sums over many nodes that follow a change by what it touched, instead of being added up anew."""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clew.graph.graph import Graph

Row = tuple[str, tuple[int, ...]]
"""What one node adds: the group it belongs to, and its numbers."""


class Tally:
    """Whoever changes the graph says which nodes it touched; whoever asks for the sums has those counted again."""

    def __init__(
        self, graph: "Graph", rows: "Callable[[Graph], dict[str, Row]]", row: "Callable[[Graph, str], Row | None]"
    ) -> None:
        self._graph = graph
        self._row = row
        self._sums: dict[str, list[int]] = {}
        self._touched: set[str] = set()
        self._counting = threading.Lock()
        """Several may ask at the same time."""
        self._rows = rows(graph)
        # Very many rows are alike.
        for each, times in Counter(self._rows.values()).items():
            self._add(each, times)

    def touch(self, ids: Iterable[str]) -> None:
        self._touched.update(ids)

    def sums(self) -> Mapping[str, tuple[int, ...]]:
        """By group, in order; a group without nodes is left out."""
        with self._counting:
            # What fails is counted again by the next who asks.
            for id in self._touched:
                self._count_again(id)
            self._touched.clear()
            return {group: tuple(numbers) for group, numbers in sorted(self._sums.items()) if any(numbers)}

    def _count_again(self, id: str) -> None:
        after, before = self._row(self._graph, id), self._rows.pop(id, None)
        if before is not None:
            self._add(before, -1)
        if after is not None:
            self._rows[id] = after
            self._add(after, 1)

    def _add(self, row: Row, times: int) -> None:
        group, numbers = row
        sums = self._sums.get(group)
        if sums is None:
            sums = self._sums[group] = [0] * len(numbers)
        for position, number in enumerate(numbers):
            sums[position] += times * number
