"""Writing a record in one question: while a writer holds the lock, every way to the database and back keeps others
waiting."""

from typing import Any

import msgspec

from clew.store.arguments import encode
from clew.store.interface import Record
from clew.store.postgres.connections import Connection
from clew.store.sql.records import SqlTransaction, demand_version

_PUT = """
    WITH present AS MATERIALIZED (
        SELECT version, data FROM entries WHERE collection = %(collection)s AND id = %(id)s
    ), written AS (
        INSERT INTO entries (collection, id, version, data, updated_at)
        SELECT %(collection)s, %(id)s, coalesce((SELECT version FROM present), 0) + 1, %(data)s, %(at)s
        WHERE %(if_version)s::bigint IS NULL
            OR %(if_version)s = coalesce((SELECT version FROM present WHERE data IS NOT NULL), 0)
        ON CONFLICT (collection, id) DO UPDATE SET
            version = excluded.version, data = excluded.data, updated_at = excluded.updated_at
        RETURNING version
    ), noted AS (
        INSERT INTO events (at, actor, operation, reason, collection, id, version, before, after)
        SELECT %(at)s, %(actor)s, 'put', %(reason)s, %(collection)s, %(id)s, version, (SELECT data FROM present),
            %(data)s FROM written
    )
    SELECT (SELECT version FROM written), (SELECT version FROM present WHERE data IS NOT NULL)
"""


class PostgresTransaction(SqlTransaction[Connection]):
    def put(self, collection: str, id: str, data: Any, *, if_version: int | None = None) -> Record:
        self._check(collection, id, if_version)
        text = encode(collection, id, data)
        values = {"collection": collection, "id": id, "data": text, "if_version": if_version}
        values |= {"at": self._at, "actor": self._actor, "reason": self._reason}
        with self._writing():
            written, present = self._connection.lent.execute(_PUT, values).fetchone() or (None, None)
        if written is None:
            demand_version(collection, id, present or 0, if_version)
        return Record(collection, id, written, msgspec.json.decode(text), self._at)
