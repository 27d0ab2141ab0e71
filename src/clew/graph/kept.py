"""Figures over many nodes, updated for the nodes that a change touched instead of being computed again.

Each node contributes one row, or none. A change of the graph names the nodes that it touched; the next reader of the
figure has their rows made again. A sum adds the difference, a list is made again where a row came out otherwise.
"""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from clew.graph.graph import Graph

V = TypeVar("V")
T = TypeVar("T")

SumRow = tuple[str, tuple[int, ...]]
"""A node's part of a sum: its group and its numbers."""


class _Rows(Generic[V]):
    def __init__(
        self, graph: "Graph", rows: "Callable[[Graph], dict[str, V]]", row: "Callable[[Graph, str], V | None]"
    ) -> None:
        self._graph = graph
        self._row = row
        self.touched: set[str] = set()
        """Nodes whose rows are to be made again."""
        self._rows = rows(graph)

    def _renewed(self) -> Iterator[tuple[V | None, V | None]]:
        """Compute the rows of touched nodes again; returns those that differ, before and after, None for a missing row.
        A row whose computation fails is tried again by the next caller."""
        for id in self.touched:
            before, after = self._rows.get(id), self._row(self._graph, id)
            if after == before:
                continue
            if after is None:
                del self._rows[id]
            else:
                self._rows[id] = after
            yield before, after
        self.touched.clear()


class KeptList(_Rows[V], Generic[V, T]):
    """A list, or any other value, that `whole` makes of the rows of many nodes. It is made again only if a row differs,
    because few changes of a title or a text concern the hierarchy."""

    def __init__(
        self,
        graph: "Graph",
        rows: "Callable[[Graph], dict[str, V]]",
        row: "Callable[[Graph, str], V | None]",
        whole: Callable[[Mapping[str, V]], T],
    ) -> None:
        super().__init__(graph, rows, row)
        self._whole = whole
        self._value: T | None = None

    def now(self) -> T:
        for _ in self._renewed():
            self._value = None
        value = self._value
        if value is None:
            value = self._value = self._whole(self._rows)
        return value


class KeptSum(_Rows[SumRow]):
    """Sums over many nodes, by group."""

    def __init__(
        self,
        graph: "Graph",
        rows: "Callable[[Graph], dict[str, SumRow]]",
        row: "Callable[[Graph, str], SumRow | None]",
    ) -> None:
        super().__init__(graph, rows, row)
        self._sums: dict[str, list[int]] = {}
        # Very many rows are alike.
        for each, times in Counter(self._rows.values()).items():
            self._add(each, times)

    def now(self) -> Mapping[str, tuple[int, ...]]:
        """By group, in order; a group without nodes is left out."""
        for before, after in self._renewed():
            if before is not None:
                self._add(before, -1)
            if after is not None:
                self._add(after, 1)
        return {group: tuple(numbers) for group, numbers in sorted(self._sums.items()) if any(numbers)}

    def _add(self, row: SumRow, times: int) -> None:
        group, numbers = row
        sums = self._sums.get(group)
        if sums is None:
            sums = self._sums[group] = [0] * len(numbers)
        for position, number in enumerate(numbers):
            sums[position] += times * number


class KeptFigures:
    """The figures of a graph by name; the first caller computes each."""

    def __init__(self, graph: "Graph") -> None:
        self._graph = graph
        self._kept: dict[str, KeptList[Any, Any] | KeptSum] = {}
        self._lock = threading.RLock()
        """Several may ask at the same time, and one figure may be made of others."""

    def __bool__(self) -> bool:
        return bool(self._kept)

    def sum(
        self,
        name: str,
        rows: "Callable[[Graph], dict[str, SumRow]]",
        row: "Callable[[Graph, str], SumRow | None]",
    ) -> Mapping[str, tuple[int, ...]]:
        """Sums over many nodes, by group. `rows` counts all of them once; after that, `row` counts what a change
        touched: itself, its edges or its figures."""
        with self._lock:
            figure = self._kept.get(name)
            if figure is None:
                figure = self._kept[name] = KeptSum(self._graph, rows, row)
            return cast("KeptSum", figure).now()

    def list(
        self,
        name: str,
        rows: "Callable[[Graph], dict[str, V]]",
        row: "Callable[[Graph, str], V | None]",
        whole: Callable[[Mapping[str, V]], T],
    ) -> T:
        """The value of `whole` over one row for each node that has any. `rows` makes all rows once; later `row` makes
        the row of each node that a change touched, and `whole` is computed again if a row differs. Neither keeps the
        rows it is given."""
        with self._lock:
            figure = self._kept.get(name)
            if figure is None:
                figure = self._kept[name] = KeptList(self._graph, rows, row, whole)
            return cast("KeptList[V, T]", figure).now()

    def touch(self, ids: Collection[str]) -> None:
        """Note that these nodes, or edges at them, changed."""
        for figure in self._kept.values():
            figure.touched.update(ids)

    def clear(self) -> None:
        self._kept.clear()
