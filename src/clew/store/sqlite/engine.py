"""The engine on one SQLite file."""

import sqlite3
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from clew.edit.admission import FolderTrust, admit, make, settle
from clew.edit.below import BESIDE, remove
from clew.errors import StoreCorrupt, StoreError
from clew.store.sql.engine import SqlStore
from clew.store.sqlite import compacting, inspection
from clew.store.sqlite.connections import SqliteConnections
from clew.store.sqlite.light_connection import AS_WRITTEN, VALUE
from clew.store.sqlite.opening import open_connections

BUSY_TIMEOUT = 30.0
"""Seconds a writer waits for another one."""
COMPACTING_SECONDS = 10.0
"""Longest wait for readers."""
MOMENT_SECONDS = 0.1
"""Shortest wait for them. Most of them read for a few milliseconds, and then nothing is left to try again."""


def open_own(path: Path, *, busy_timeout: float = BUSY_TIMEOUT, standing: FolderTrust | None = None) -> "SqliteStore":
    """The store in a file of a state folder, with the trust in that folder where it is known already. A store that came
    from another machine is opened for reading only, and its errors say why."""
    if standing is None:
        # The system, or the store itself, says what is wrong with the folder.
        with suppress(OSError):
            standing = make(path.parent, 0o700)
    standing = standing or admit(path.parent)
    if standing.believes(path.name):
        return open_sqlite(path, busy_timeout=busy_timeout)
    refusal = standing.refusal(path.name)
    if not path.exists():
        raise refusal
    store = SqliteStore(open_connections(path, read_only=True, busy_timeout=busy_timeout, refusal=refusal))
    if not standing.is_ours or not standing.may_be_trusted or not _is_blank(store):
        return store
    # Nobody wrote anything in it: there is nothing to be asked about.
    store.close()
    for ending in BESIDE:
        remove(path.with_name(path.name + ending))
    settle(path.parent, path.name)
    return open_sqlite(path, busy_timeout=busy_timeout)


def _is_blank(store: "SqliteStore") -> bool:
    try:
        counts = store.describe()
    except StoreError:
        return False
    return not any(counts[each] for each in ("records", "events", "tombstones"))


def open_sqlite(path: Path, *, read_only: bool = False, busy_timeout: float = BUSY_TIMEOUT) -> "SqliteStore":
    """The store in this file. It and its folder are created where they are missing, and an older one is brought to the
    present schema, unless `read_only`. If the file or its folder is write-protected, reading still works."""
    return SqliteStore(open_connections(path, read_only=read_only, busy_timeout=busy_timeout))


class SqliteStore(SqlStore[SqliteConnections]):
    get_many_query = f"""
        SELECT records.id, version, {VALUE}, updated_at, {AS_WRITTEN} FROM json_each(?) AS asked
        CROSS JOIN records ON collection = ? AND records.id = asked.value ORDER BY asked.key
    """  # noqa: S608

    def mark(self) -> object:
        with self._connections.reading() as connection:
            return connection.mark()

    def changing_events(self, connection: sqlite3.Connection) -> AbstractContextManager[None]:
        return compacting.changing_events(connection)

    def compact(self, *, waits: bool = True) -> None:
        compacting.compact(self._connections, COMPACTING_SECONDS if waits else MOMENT_SECONDS)

    def describe(self, *, counts: bool = True) -> Mapping[str, Any]:
        with self._connections.reading() as connection:
            description = inspection.described(connection, self._connections.path)
            return description | inspection.counted(connection) if counts else description

    def check(self) -> list[str]:
        try:
            with self._connections.reading() as connection:
                return inspection.damage(connection)
        except StoreCorrupt as error:
            return [error.message]
