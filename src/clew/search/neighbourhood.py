"""What a walk meets: the units that a unit leads to, of those a search may see."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import msgspec

from clew.search import index, lexical_tables
from clew.search.mentions import MentionGraph
from clew.search.titles import TitleTable
from clew.search.units import Condition
from clew.store.sqlite.connections import Connection

Adjacency: TypeAlias = Callable[[Sequence[str]], Mapping[str, Iterable[tuple[str, float]]]]
"""From the ids of units to the ids of units that each leads to, with weights above 0."""


class Neighbourhood:
    """Edges between the numbers of units: those of an adjacency, or the mentions of titles in texts."""

    def __init__(self, connection: Connection, condition: Condition | None, adjacency: Adjacency | None) -> None:
        """Without a condition, all units may be seen."""
        self._connection = connection
        self._condition = condition
        self._adjacency = adjacency
        self._known: dict[int, list[tuple[int, float]]] = {}
        self._mentions = MentionGraph(
            TitleTable(connection, condition),
            self._body,
            lambda terms: lexical_tables.units_with(connection, terms),
            lexical_tables.totals(connection).units,
        )

    def named_in(self, text: str) -> list[int]:
        """The units whose title a text holds. Who brings edges of their own has titles for reading, such as
        "Search": everybody uses such words, and nobody means the section by them."""
        return self._mentions.named(text) if self._adjacency is None else []

    def neighbours(self, number: int) -> list[tuple[int, float]]:
        if self._adjacency is None:
            return self._mentions.neighbours(number)
        self.load([number])
        return self._known[number]

    def load(self, numbers: Iterable[int]) -> None:
        """Look up at once where some units lead, which takes little longer than to look up one."""
        new = [number for number in numbers if number not in self._known]
        if self._adjacency is None or not new:
            return
        ids = index.ids_of(self._connection, new)
        leads = self._adjacency(list(ids.values()))
        seen = self._seen(dict.fromkeys(target for id in ids.values() for target, _ in leads.get(id, ())))
        for number in new:
            edges = leads.get(ids[number], ()) if number in ids else ()
            self._known[number] = [(seen[target], weight) for target, weight in edges if target in seen]

    def _seen(self, ids: Iterable[str]) -> dict[str, int]:
        """The numbers of those of the units that there are and that the search may see."""
        statement = "SELECT units.id, units.number FROM json_each(?) CROSS JOIN units ON units.id = value"
        numbers = dict(self._connection.execute(statement, (msgspec.json.encode(list(ids)).decode(),)).fetchall())
        if self._condition is None:
            return numbers
        allowed = set(index.allowed(self._connection, self._condition, list(numbers.values())))
        return {id: number for id, number in numbers.items() if number in allowed}

    def _body(self, number: int) -> str | None:
        row = self._connection.execute("SELECT body FROM unit_bodies WHERE number = ?", (number,)).fetchone()
        return None if row is None else str(row[0])
