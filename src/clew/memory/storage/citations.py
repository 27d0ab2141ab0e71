"""Questions about citations that servers and hooks alike ask the index.

A hook that runs alone has no time to load more than SQLite, so these questions need nothing else.
"""

import json
from collections.abc import Iterable, Sequence

from clew.memory.scope import Viewer, condition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

VERSION = 5
"""Of the tables of the index."""
SEQ = "seq"
"""The number of the last event that was read into the index."""


def number(connection: "Connection", name: str) -> int:
    """A number that the index keeps under a name; 0 where it does not."""
    row = connection.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
    return int(row[0]) if row else 0


def citing(connection: "Connection", nodes: Sequence[str], prefixes: Sequence[str], viewer: Viewer) -> list[str]:
    """The memories that cite one of these nodes, or one whose id begins like that, the latest first."""
    seen = condition(viewer)
    ranges = [(prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)) for prefix in prefixes]
    query = f"""
        WITH cited AS (
            SELECT source FROM json_each(?) JOIN links ON target = value WHERE is_cite
            UNION SELECT source FROM json_each(?)
            JOIN links ON target >= json_extract(value, '$[0]')
                AND target < json_extract(value, '$[1]') WHERE is_cite
        )
        SELECT memories.id FROM cited CROSS JOIN memories ON memories.id = source WHERE {seen.sql}
        ORDER BY made DESC
    """  # noqa: S608
    values = (json.dumps(nodes), json.dumps(ranges), *seen.parameters)
    return [id for (id,) in connection.execute(query, values).fetchall()]


def symbols_called(connection: "Connection", names: Iterable[str]) -> list[str]:
    """The cited symbols that have one of these names, whatever file they are in."""
    wanted = set(names)
    query = "SELECT DISTINCT target FROM links WHERE is_cite AND target >= 'symbol:' AND target < 'symbol;'"
    targets = [target for (target,) in connection.execute(query).fetchall()] if wanted else []
    spelled = ((target, target.rpartition("::")[2]) for target in targets)
    return [target for target, name in spelled if {name, name.rpartition(".")[2]} & wanted]


def shown_in(connection: "Connection", session: str, *, injected: bool) -> list[str]:
    """The memories that were shown in a session, the latest first; only those that were injected, if asked."""
    query = "SELECT memory FROM shown WHERE session = ? AND injected >= ? ORDER BY seq DESC"
    return [id for (id,) in connection.execute(query, (session, injected)).fetchall()]
