"""Lists over many nodes that follow a change by what it touched, instead of being made anew.

What is listed is made of one row for each node that contributes. After a change only the rows of the touched nodes are
made again, and the list only where one of them came out otherwise: nearly no change of a title or a text concerns the
hierarchy.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from clew.graph.graph import Graph

V = TypeVar("V")
T = TypeVar("T")


class Followed(Generic[V, T]):
    """Whoever changes the graph says which nodes it touched; whoever asks for the list has their rows made again."""

    def __init__(
        self,
        graph: "Graph",
        rows: "Callable[[Graph], dict[str, V]]",
        row: "Callable[[Graph, str], V | None]",
        whole: Callable[[Mapping[str, V]], T],
    ) -> None:
        self._graph = graph
        self._row = row
        self._whole = whole
        self._touched: set[str] = set()
        self._following = threading.Lock()
        """Several may ask at the same time."""
        self._rows = rows(graph)
        self._value: T | None = None

    def touch(self, ids: Iterable[str]) -> None:
        self._touched.update(ids)

    def now(self) -> T:
        with self._following:
            # What fails is made again by the next who asks.
            for id in self._touched:
                self._make_again(id)
            self._touched.clear()
            value = self._value
            if value is None:
                value = self._value = self._whole(self._rows)
            return value

    def _make_again(self, id: str) -> None:
        before, after = self._rows.get(id), self._row(self._graph, id)
        if after == before:
            return
        self._value = None
        if after is None:
            del self._rows[id]
        else:
            self._rows[id] = after
