"""Writing a record in one round trip: while a writer holds the lock, every round trip keeps others waiting. A record in
a transaction of its own takes one in all."""

from typing import Any, NamedTuple

import msgspec

from clew.store.arguments import encode
from clew.store.interface import Record
from clew.store.postgres.connections import NOW, PostgresConnection
from clew.store.postgres.pipeline import PreparedStatement, StatementCall, StatementResult, ask
from clew.store.sql.records import SqlTransaction, demand_version

_PUT = PreparedStatement(
    b"clew_put",
    # The time is read here where the writer had no answer yet after it got the lock.
    f"""
    WITH present AS MATERIALIZED (
        SELECT version, data FROM entries WHERE collection = $1 AND id = $2
    ), moment AS MATERIALIZED (
        SELECT coalesce($4, {NOW}) AS at
    ), written AS (
        INSERT INTO entries (collection, id, version, data, updated_at)
        SELECT $1, $2, coalesce((SELECT version FROM present), 0) + 1, $3, at FROM moment
        WHERE $5::bigint IS NULL OR $5 = coalesce((SELECT version FROM present WHERE data IS NOT NULL), 0)
        ON CONFLICT (collection, id) DO UPDATE SET
            version = excluded.version, data = excluded.data, updated_at = excluded.updated_at
        RETURNING version
    ), noted AS (
        INSERT INTO events (at, actor, operation, reason, collection, id, version, before, after)
        SELECT at, $6, 'put', $7, $1, $2, version, (SELECT data FROM present), $3 FROM written, moment
    )
    SELECT at, (SELECT version FROM written), (SELECT version FROM present WHERE data IS NOT NULL) FROM moment
    """,  # noqa: S608 (Clew's own)
)


class Put(NamedTuple):
    """A record that is to be written."""

    collection: str
    id: str
    text: str
    if_version: int | None
    actor: str
    reason: str

    def asked(self, at: str | None = None) -> StatementCall:
        wanted = None if self.if_version is None else str(self.if_version)
        return StatementCall(_PUT, (self.collection, self.id, self.text, at, wanted, self.actor, self.reason))

    def record(self, done: StatementResult) -> Record:
        """The written record; Conflict if another version is there than was wanted. Then nothing was written."""
        ((at, written, present),) = done.rows
        if written is None:
            demand_version(self.collection, self.id, int(present or 0), self.if_version)
        return Record(self.collection, self.id, int(written or 0), msgspec.json.decode(self.text), str(at))


class PostgresTransaction(SqlTransaction[PostgresConnection]):
    def put(self, collection: str, id: str, data: Any, *, if_version: int | None = None) -> Record:
        self._check(collection, id, if_version)
        put = Put(collection, id, encode(collection, id, data), if_version, self._actor, self._reason)
        with self._writing():
            (done,) = ask(self._connection.lent, put.asked(self._at))
        return put.record(done)
