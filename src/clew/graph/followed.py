"""Lists over many nodes that follow a change by what it touched, instead of being made anew.

What is listed is made of one row for each node that contributes, and made again only where one of the touched rows came
out otherwise: nearly no change of a title or a text concerns the hierarchy.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

from clew.graph.rows import Rows

if TYPE_CHECKING:
    from clew.graph.graph import Graph

V = TypeVar("V")
T = TypeVar("T")


class Followed(Rows[V], Generic[V, T]):
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
