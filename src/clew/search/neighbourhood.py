"""What a walk meets: the units that a unit leads to, of those a search may see."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from clew.search import index, lexical_tables
from clew.search.mentions import MentionGraph
from clew.search.titles import TitleTable
from clew.search.units import Condition
from clew.store.sqlite.connections import Connection

Adjacency: TypeAlias = Callable[[str], Iterable[tuple[str, float]]]
"""From the id of a unit to the ids of units it leads to, with weights above 0."""


class Neighbourhood:
    """Edges between the numbers of units: those of an adjacency, or the mentions of titles in texts."""

    def __init__(self, connection: Connection, condition: Condition | None, adjacency: Adjacency | None) -> None:
        """Without a condition, all units may be seen."""
        self._connection = connection
        self._condition = condition
        self._adjacency = adjacency
        self._mentions = MentionGraph(
            TitleTable(connection, condition),
            self._body,
            lambda terms: lexical_tables.units_with(connection, terms),
            lexical_tables.totals(connection).units,
        )

    def named_in(self, text: str) -> list[int]:
        """The units whose title a text holds."""
        return self._mentions.named(text)

    def neighbours(self, number: int) -> list[tuple[int, float]]:
        if self._adjacency is None:
            return self._mentions.neighbours(number)
        id = index.ids_of(self._connection, [number]).get(number)
        weights = dict(self._adjacency(id)) if id is not None else {}
        numbers = index.numbers_of(self._connection, weights)
        seen = set(numbers.values())
        if self._condition is not None:
            seen = set(index.allowed(self._connection, self._condition, list(numbers.values())))
        return [(target, weights[id]) for id, target in numbers.items() if target in seen]

    def _body(self, number: int) -> str | None:
        row = self._connection.execute("SELECT body FROM unit_bodies WHERE number = ?", (number,)).fetchone()
        return None if row is None else str(row[0])
