"""The titles of all units, as a table answers for them.

The table is `unit_titles (key, number)`, sorted by key, where the key is `title_key(title)` and units without one are
left out. It is the only thing that the finding of mentions keeps.
"""

import sqlite3
from collections.abc import Mapping, Sequence

import msgspec

from clew.search.mentions import MAX_BEARERS
from clew.search.units import Condition

# Words hold no blank, and nothing that a key can hold sorts between a blank and the exclamation mark.
_BEGUN = """
    SELECT value FROM json_each(?)
    WHERE EXISTS (SELECT 1 FROM unit_titles WHERE key >= value AND key < value || '!')
"""


class TitleTable:
    """The titles of the units that `restrict`, a condition on the table `units`, lets through."""

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
