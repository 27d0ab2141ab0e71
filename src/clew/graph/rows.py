"""What many nodes contribute to one figure, kept in step by what a change touched instead of being made anew."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from clew.graph.graph import Graph

V = TypeVar("V")

T = TypeVar("T")


class Rows(Generic[V]):
    """One row for each node that contributes. Whoever changes the graph says which nodes it touched; whoever asks for
    the figure has their rows made again."""

    def __init__(
        self, graph: "Graph", rows: "Callable[[Graph], dict[str, V]]", row: "Callable[[Graph, str], V | None]"
    ) -> None:
        self._graph = graph
        self._row = row
        self._touched: set[str] = set()
        self._renewing = threading.Lock()
        """Several may ask at the same time."""
        self._rows = rows(graph)

    def touch(self, ids: Iterable[str]) -> None:
        self._touched.update(ids)

    def _renewed(self) -> Iterator[tuple[V | None, V | None]]:
        """Make the rows of touched nodes again: those that came out otherwise, before and after, None where there is
        none. What fails is made again by the next who asks."""
        for id in self._touched:
            before, after = self._rows.get(id), self._row(self._graph, id)
            if after == before:
                continue
            if after is None:
                del self._rows[id]
            else:
                self._rows[id] = after
            yield before, after
        self._touched.clear()


class Followed(Rows[V], Generic[V, T]):
    """A list over many nodes. It is made again only where one of the touched rows came out otherwise: nearly no change
    of a title or a text concerns the hierarchy."""

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
        with self._renewing:
            for _ in self._renewed():
                self._value = None
            value = self._value
            if value is None:
                value = self._value = self._whole(self._rows)
            return value
