"""Embeddings that all servers share: the vectors of texts by embedder and hash of the text.

A text is encoded once, by the first process that takes it: its row in the queue is locked, and other processes skip it.
If that process dies, its lock is released.
"""

# Implements: REQ-d00491

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from clew.search.database.connecting import Database
from clew.search.database.reading import DatabaseIndexReader
from clew.search.database.values import unpacked_vector, vector_as_text
from clew.search.dense.sharing import Embedding

if TYPE_CHECKING:
    from psycopg import Connection


_FIND = "SELECT number FROM embedders WHERE name = %s"


class SharedEmbeddings:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._numbers: dict[tuple[str, str], int] = {}
        """Of embedders, by the index and the name: tables that were put back from a backup may have others."""

    def number_of(self, name: str, dimensions: int) -> int:
        """The number of an embedder that is about to make embeddings; it is noted if it is new."""
        put = """
            INSERT INTO embedders (name, dimensions) VALUES (%s, %s)
            ON CONFLICT (name) DO UPDATE SET dimensions = excluded.dimensions RETURNING number
            """
        with self._database.connection() as connection:
            row = connection.execute(_FIND, (name,)).fetchone()
            row = row or connection.execute(put, (name, dimensions)).fetchone()
            assert row is not None  # noqa: S101
            return int(row[0])

    def known_number(self, reading: DatabaseIndexReader, name: str) -> int | None:
        """The number of an embedder that has embeddings, asked on the given connection: a caller who holds one
        connection and waits for a second could deadlock."""
        key = reading.writes()[0], name
        if key not in self._numbers:
            row = reading.connection.execute(_FIND, (name,)).fetchone()
            if row is None:
                return None
            self._numbers[key] = int(row[0])
        return self._numbers[key]

    def get(self, embedder: int, hashes: Sequence[str]) -> dict[str, Embedding]:
        """The shared embeddings of these texts; texts without one are left out."""
        with self._database.connection() as connection:
            return _known(connection, embedder, hashes)

    @contextmanager
    def claimed(self, embedder: int, hashes: Sequence[str]) -> "Iterator[tuple[DatabaseClaim, frozenset[str]]]":
        """Claim texts to encode: yields the claim and the hashes that fell to the caller. Nobody else encodes these
        until the block ends. Embeddings that the caller puts are there for all when the block ends well."""
        with self._database.connection() as connection, connection.transaction():
            wanted = sorted(set(hashes))
            connection.execute(
                "INSERT INTO embedding_queue SELECT %s, unnest(%s::text[]) ON CONFLICT DO NOTHING", (embedder, wanted)
            )
        with self._database.connection() as connection, connection.transaction():
            lock = """
                SELECT text_hash FROM embedding_queue WHERE embedder = %s AND text_hash = ANY(%s)
                FOR UPDATE SKIP LOCKED
                """
            own = frozenset(hash for (hash,) in connection.execute(lock, (embedder, wanted)))
            # Somebody may have encoded them between the look and the lock.
            known = _known(connection, embedder, list(own))
            yield DatabaseClaim(connection, embedder, known), own - known.keys()
            connection.execute(
                "DELETE FROM embedding_queue WHERE embedder = %s AND text_hash = ANY(%s)", (embedder, list(own))
            )

    def forget(self, hashes: Sequence[str]) -> None:
        """Delete the embeddings of purged texts."""
        if not self._database.is_made():
            # The database keeps no vectors, or nobody has made any yet.
            return
        with self._database.connection() as connection:
            connection.execute("DELETE FROM embeddings WHERE text_hash = ANY(%s)", (list(hashes),))

    def close(self) -> None:
        self._database.close()


class DatabaseClaim:
    def __init__(self, connection: "Connection[Any]", embedder: int, known: Mapping[str, Embedding]) -> None:
        self._connection = connection
        self._embedder = embedder
        self.known = known
        """Embeddings that others made of the claimed texts in the meantime."""

    def put(self, made: Mapping[str, Embedding]) -> None:
        rows = [
            (self._embedder, hash, place, vector_as_text(vector), each.windows if place == 0 else None)
            for hash, each in sorted(made.items())
            for place, vector in enumerate(each.vectors)
        ]
        put = "INSERT INTO embeddings VALUES (%s, %s, %s, %s::halfvec, %s) ON CONFLICT DO NOTHING"
        with self._connection.cursor() as cursor:
            cursor.executemany(put, rows)


def _known(connection: "Connection[Any]", embedder: int, hashes: Sequence[str]) -> dict[str, Embedding]:
    import numpy as np

    find = """
        SELECT text_hash, array_agg(halfvec_send(vector) ORDER BY place), (array_agg(windows ORDER BY place))[1]
        FROM embeddings WHERE embedder = %s AND text_hash = ANY(%s) GROUP BY 1
        """
    rows = connection.execute(find, (embedder, list(hashes)))
    return {
        hash: Embedding(np.stack([unpacked_vector(each) for each in sent]), windows) for hash, sent, windows in rows
    }
