"""Writing a record in one question: while a writer holds the lock, every way to the database and back keeps others
waiting."""

from typing import Any

import msgspec

from clew.store.arguments import encode
from clew.store.interface import Record
from clew.store.postgres.connections import Connection
from clew.store.postgres.together import Asked, Prepared, ask
from clew.store.sql.records import SqlTransaction, demand_version

_PUT = Prepared(
    b"clew_put",
    """
    WITH present AS MATERIALIZED (
        SELECT version, data FROM entries WHERE collection = $1 AND id = $2
    ), written AS (
        INSERT INTO entries (collection, id, version, data, updated_at)
        SELECT $1, $2, coalesce((SELECT version FROM present), 0) + 1, $3, $4
        WHERE $5::bigint IS NULL OR $5 = coalesce((SELECT version FROM present WHERE data IS NOT NULL), 0)
        ON CONFLICT (collection, id) DO UPDATE SET
            version = excluded.version, data = excluded.data, updated_at = excluded.updated_at
        RETURNING version
    ), noted AS (
        INSERT INTO events (at, actor, operation, reason, collection, id, version, before, after)
        SELECT $4, $6, 'put', $7, $1, $2, version, (SELECT data FROM present), $3 FROM written
    )
    SELECT (SELECT version FROM written), (SELECT version FROM present WHERE data IS NOT NULL)
    """,
)


class PostgresTransaction(SqlTransaction[Connection]):
    def put(self, collection: str, id: str, data: Any, *, if_version: int | None = None) -> Record:
        self._check(collection, id, if_version)
        text = encode(collection, id, data)
        wanted = None if if_version is None else str(if_version)
        values = (collection, id, text, self._at, wanted, self._actor, self._reason)
        with self._writing():
            (done,) = ask(self._connection.lent, Asked(_PUT, values))
        written, present = (None if version is None else int(version) for version in done.rows[0])
        if written is None:
            demand_version(collection, id, present or 0, if_version)
        # Nothing is written only where another version is there than was wanted.
        assert written is not None  # noqa: S101
        return Record(collection, id, written, msgspec.json.decode(text), self._at)
