"""Links between units, for a walk: only to units that the search may see."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from clew.search.rank.mentions import MentionGraph
from clew.store.sql.conditions import Condition

if TYPE_CHECKING:
    from clew.search.reading import IndexReader

Adjacency: TypeAlias = Callable[[Sequence[str]], Mapping[str, Iterable[tuple[str, float]]]]
"""From the ids of units to the ids of units that each leads to, with weights above 0."""

SAMPLE = 100


class Neighbourhood:
    """Edges between the numbers of units: from an adjacency, or from mentions of titles in texts."""

    def __init__(self, reading: "IndexReader", condition: Condition | None, adjacency: Adjacency | None) -> None:
        """Without a condition, all units may be seen."""
        self._reading = reading
        self._condition = condition
        self._adjacency = adjacency
        self._known: dict[int, list[tuple[int, float]]] = {}
        self._mentions = MentionGraph(
            VisibleTitles(reading, condition),
            self._body,
            reading.units_with,
            reading.totals().units,
        )

    def named_in(self, text: str) -> list[int]:
        """The units whose title is in a text; none with an adjacency, whose titles are common words such as
        "Search"."""
        return self._mentions.named(text) if self._adjacency is None else []

    def neighbours(self, number: int) -> list[tuple[int, float]]:
        if self._adjacency is None:
            return self._mentions.neighbours(number)
        self.load([number])
        return self._known[number]

    def linked_share(self, condition: Condition) -> float:
        """The share of the texts, by a sample that their ids decide, that mention the title of another."""
        chosen = self._reading.sample(condition, SAMPLE)
        return sum(bool(self._mentions.neighbours(number)) for number in chosen) / max(1, len(chosen))

    def load(self, numbers: Iterable[int]) -> None:
        """Look up the neighbours of some units at once, which takes little longer than for one."""
        new = [number for number in numbers if number not in self._known]
        if self._adjacency is None or not new:
            return
        ids = self._reading.ids_of(new)
        leads = self._adjacency(list(ids.values()))
        seen = self._seen(dict.fromkeys(target for id in ids.values() for target, _ in leads.get(id, ())))
        for number in new:
            edges = leads.get(ids[number], ()) if number in ids else ()
            self._known[number] = [(seen[target], weight) for target, weight in edges if target in seen]

    def _seen(self, ids: Iterable[str]) -> dict[str, int]:
        """The numbers of the existing units that the search may see."""
        numbers = self._reading.numbers_of(ids)
        if self._condition is None:
            return numbers
        allowed = set(self._reading.allowed(self._condition, list(numbers.values())))
        return {id: number for id, number in numbers.items() if number in allowed}

    def _body(self, number: int) -> str | None:
        return self._reading.bodies([number]).get(number)


class VisibleTitles:
    """The titles of the units that fulfil a condition; of all units without one."""

    def __init__(self, reading: "IndexReader", restrict: Condition | None = None) -> None:
        self._reading = reading
        self._restrict = restrict

    def title_beginnings(self, beginnings: Sequence[str]) -> list[str]:
        return self._reading.title_beginnings(beginnings)

    def units_titled(self, keys: Sequence[str]) -> Mapping[str, Sequence[int]]:
        return self._reading.units_titled(keys, self._restrict)
