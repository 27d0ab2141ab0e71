"""Counts and checks of a store for `clew store status` and `clew doctor`."""

from typing import Any

import msgspec

from clew.store.postgres.connections import PostgresConnection, PostgresConnections
from clew.store.postgres.migrations import found_version

TABLES = ("entries", "tombstones", "events", "jobs", "settings")
_VALUES = {
    "value of": "SELECT collection || '/' || id, data FROM records",
    "deleted value of": "SELECT collection || '/' || id, data FROM tombstones",
    "value before event": "SELECT seq::text, before FROM events WHERE before IS NOT NULL",
    "value after event": "SELECT seq::text, after FROM events WHERE after IS NOT NULL",
}
_AT_ONCE = 2_000


def described(connection: PostgresConnection, connections: PostgresConnections) -> dict[str, Any]:
    (version,) = connection.execute("SHOW server_version").fetchone()
    sizes = " + ".join(f"pg_total_relation_size('{table}')" for table in TABLES)
    (size,) = connection.execute(f"SELECT {sizes}").fetchone()
    (user,) = connection.execute("SELECT session_user").fetchone()
    return {
        "engine": "postgresql",
        "engine_version": version,
        "location": str(connections.address),
        "schema": connections.schema,
        "schema_version": found_version(connection.lent, connections.schema)[0],
        "user": user,
        "read_only": not connections.may_write,
        "bytes": int(size),
    }


def counted(connection: PostgresConnection) -> dict[str, Any]:
    names = ("records", "events", "tombstones", "jobs")
    counts = ", ".join(f"(SELECT count(*) FROM {table})" for table in names)  # noqa: S608
    return dict(zip(names, connection.execute(f"SELECT {counts}").fetchone(), strict=True))


def damage(connection: PostgresConnection) -> list[str]:
    found: list[str] = []
    for what, query in _VALUES.items():
        with connection.lent.transaction(), connection.lent.cursor("values") as rows:
            rows.itersize = _AT_ONCE
            for name, text in rows.execute(query.encode()):
                try:
                    msgspec.json.decode(text)
                except msgspec.DecodeError:
                    found.append(f"the {what} {name} is not JSON")
    return found
