"""Rewriting the tables so that no byte of deleted values is left."""

import re
import time

from psycopg import sql
from psycopg.errors import Diagnostic

from clew.errors import StoreBusy
from clew.store.postgres.connections import PostgresConnections
from clew.store.postgres.faults import read_only
from clew.store.postgres.inspection import TABLES

_CHANGED_BY_PURGES_ALONE = "events"
"""Whatever is purged has events, and nothing else changes them. So once none of their dead rows has to be taken along,
nobody sees what was purged any more, and dead rows of the other tables are what somebody left there since."""
_TABLES = (_CHANGED_BY_PURGES_ALONE, *(table for table in TABLES if table != _CHANGED_BY_PURGES_ALONE))
_LOCK_SECONDS = 0.1
"""Shortest wait for a table. Writers release one much sooner; and everybody else waits behind this."""
_PAUSES = (0.05, 2.0)
"""The first and the longest: each try writes the table again, while others wait."""


def compact(connections: PostgresConnections, patience: float) -> None:
    """Write the tables again without deleted values. PostgreSQL's own log and the team's backups keep theirs until they
    are replaced. StoreReadOnly for a user who does not own the tables, StoreBusy if a transaction can see deleted rows
    all the time: such rows are copied to the new table."""
    deadline = time.monotonic() + patience
    pause, longest = _PAUSES
    seen: list[int] = []

    def hear(diagnostic: Diagnostic) -> None:
        """Read PostgreSQL's message on dead rows that it could not remove: the first number, in any language."""
        if number := re.search(r"\d+", diagnostic.message_detail or ""):
            seen.append(int(number[0]))

    with connections.reading() as connection:
        (is_owner,) = connection.execute(
            "SELECT pg_has_role(tableowner, 'USAGE') FROM pg_tables WHERE schemaname = ? AND tablename = 'events'",
            (connections.schema,),
        ).fetchone()
        if not is_owner:
            raise read_only(connections.address, "only an owner of the project can create the tables again")
        connection.lent.add_notice_handler(hear)
        ((usual,),) = connection.execute("SHOW lock_timeout").fetchall()
        try:
            connection.execute(f"SET lock_timeout = {int(1000 * max(patience, _LOCK_SECONDS))}")
            for table in _TABLES:
                statement = sql.SQL("VACUUM (FULL, VERBOSE) {}").format(sql.Identifier(connections.schema, table))
                while True:
                    seen.clear()
                    connection.lent.execute(statement)
                    if table != _CHANGED_BY_PURGES_ALONE or not any(seen):
                        break
                    if time.monotonic() >= deadline:
                        raise StoreBusy(
                            f"Bytes of what was deleted are left in {connections.address}: a transaction that is open"
                            " still sees rows that are gone.",
                            hint="End the sessions that hold a transaction open, and run the command again.",
                        )
                    time.sleep(pause)
                    pause = min(2 * pause, longest)
        finally:
            connection.lent.remove_notice_handler(hear)
            connection.execute(f"SET lock_timeout = '{usual}'")
