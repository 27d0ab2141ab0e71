"""What a walk meets: the units that a unit leads to, of those a search may see."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import msgspec

from clew.search import index
from clew.search.lexical import tables as lexical_tables
from clew.search.rank.mentions import MAX_BEARERS, MentionGraph
from clew.search.units import Condition
from clew.store.sqlite.connections import Connection

Adjacency: TypeAlias = Callable[[Sequence[str]], Mapping[str, Iterable[tuple[str, float]]]]
"""From the ids of units to the ids of units that each leads to, with weights above 0."""

# Words hold no blank, and nothing that a key can hold sorts between a blank and the exclamation mark.
_BEGUN = """
    SELECT value FROM json_each(?)
    WHERE EXISTS (SELECT 1 FROM unit_titles WHERE key >= value AND key < value || '!')
"""


SAMPLE = 100


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

    def linked_share(self, condition: Condition) -> float:
        """The share of the texts, by a sample spread over all, that mention the title of another."""
        # The condition is Clew's own text; every value is a parameter.
        count = f"SELECT count(*) FROM units WHERE {condition.sql}"  # noqa: S608
        (units,) = self._connection.execute(count, condition.parameters).fetchone()
        every = max(1, units // SAMPLE)
        pick = f"""
            SELECT number FROM (SELECT number, row_number() OVER (ORDER BY number) AS place FROM units
            WHERE {condition.sql}) WHERE place % ? = 0 LIMIT ?
            """  # noqa: S608
        chosen = [number for (number,) in self._connection.execute(pick, (*condition.parameters, every, SAMPLE))]
        return sum(bool(self._mentions.neighbours(number)) for number in chosen) / max(1, len(chosen))

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


class TitleTable:
    """The titles of the units that `restrict`, a condition on the table `units`, lets through.

    The table is `unit_titles (key, number)`, sorted by key, where the key is `title_key(title)` and units without one
    are left out. It is the only thing that the finding of mentions keeps.
    """

    def __init__(self, connection: sqlite3.Connection, restrict: Condition | None = None) -> None:
        self._connection = connection
        self._parameters = restrict.parameters if restrict else ()
        join, condition = "", ""
        if restrict is not None:
            join, condition = "CROSS JOIN units USING (number)", f"AND ({restrict.sql})"
        # The condition is Clew's own text; every value is a parameter. A title that very many units bear is not read to
        # its end.
        self._borne = f"""
            SELECT asked.value, (
                SELECT json_group_array(number) FROM (
                    SELECT number FROM unit_titles {join} WHERE unit_titles.key = asked.value {condition}
                    LIMIT {MAX_BEARERS + 1}
                )
            ) FROM json_each(?) AS asked WHERE EXISTS (SELECT 1 FROM unit_titles WHERE key = asked.value)
        """  # noqa: S608

    def begun(self, beginnings: Sequence[str]) -> list[str]:
        return [row[0] for row in self._connection.execute(_BEGUN, (_json(beginnings),))]

    def borne(self, keys: Sequence[str]) -> Mapping[str, Sequence[int]]:
        rows = self._connection.execute(self._borne, (*self._parameters, _json(keys)))
        return {key: msgspec.json.decode(numbers, type=list[int]) for key, numbers in rows}


def _json(values: Sequence[str]) -> str:
    return msgspec.json.encode(values).decode("utf-8")
