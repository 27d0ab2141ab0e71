"""Search by meaning in a database: pgvector keeps the vectors as 16-bit floats.

Few vectors are compared one by one. From some thousands on, an HNSW index of their space finds the nearest; where a
search may not see all units, it goes on until it has enough of those it may (`hnsw.iterative_scan`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg import Rollback, errors

from clew.cache import Cache, RowCache
from clew.search.database.connecting import BOUNDED, GO_ON, NEAREST_LOOKED_AT, Database, look_further
from clew.search.database.embeddings import SharedEmbeddings
from clew.search.database.reading import DatabaseIndexReader
from clew.search.database.tables import SHARED
from clew.search.database.values import array, numbers_in, packed_vector, vector_as_text
from clew.search.dense.indexing import Progress, VectorReport, encode_together
from clew.search.dense.sharing import Embedding
from clew.search.dense.spaces import Embedders, QueryEncoder
from clew.search.embed.embedder import Embedder
from clew.search.units import FIRST, WORDS_ONLY, Unit
from clew.store.sql.conditions import Condition

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Vectors = NDArray[np.float32]

INDEXED_FROM = 5_000
"""Vectors of a space from which an HNSW index is built. Fewer are compared one by one in a few milliseconds."""
VECTOR_BYTES = 80 * 1000 * 1000
"""Of vectors that searches compared, kept for the next ones: those of 100,000 texts with 384 dimensions."""
_TAKE_MEMORY = """
    SELECT set_config(name, greatest(setting::bigint, 512 * 1024) || 'kB', false) FROM pg_settings
    WHERE name = 'maintenance_work_mem'
"""
"""For building an index: 512 MB, or what the server is set to where that is more; how much it has is not known."""
_TRIES = 4
_ONLY_PARTS = "units.part IN ("


class _Vectors(NamedTuple):
    """Vectors by the number of their unit. A number belongs to one text for ever."""

    series: str
    embedder: int
    kept: RowCache
    """As the database has them, in two bytes a number: half of the memory, and nothing is lost."""


class DatabaseVectors:
    """The statements of `VectorTable`."""

    def __init__(self, database: Database, embedders: Embedders) -> None:
        self._database = database
        self._embedders = embedders
        self.shared = SharedEmbeddings(database)
        self._queries: Cache[str, QueryEncoder] = Cache(4)
        self._vectors: _Vectors | None = None
        self._parts: tuple[object, frozenset[str]] | None = None

    # Asking

    def serving(self, reading: DatabaseIndexReader) -> QueryEncoder | None:
        embedder = self._embedders.configured()
        return None if embedder is None else self._queries.get_or_make(embedder.name, lambda: QueryEncoder(embedder))

    def is_everything(self, reading: DatabaseIndexReader, condition: Condition) -> bool:
        """True if the condition surely lets every unit through. Only the counts of parts are compared: counting units
        costs more than checking a few hundred."""
        if not condition.sql.startswith(_ONLY_PARTS) or " AND " in condition.sql:
            return False
        state = reading.state()
        known = self._parts
        if known is None or known[0] != state:
            known = self._parts = state, frozenset(reading.parts())
        return known[1] <= set(condition.parameters)

    def is_empty(self, reading: DatabaseIndexReader, space: QueryEncoder) -> bool:
        return not reading.state()[2]

    def nearest(
        self, reading: DatabaseIndexReader, space: QueryEncoder, vector: "Vector", condition: Condition, depth: int
    ) -> Sequence[tuple[int, float]]:
        number = self.shared.known_number(reading, space.embedder.name)
        if number is None:
            return ()
        restrict = None if self.is_everything(reading, condition) else condition
        return self._nearest(reading, number, space.embedder.dimensions, vector, restrict, depth)

    def _nearest(
        self,
        reading: DatabaseIndexReader,
        embedder: int,
        dimensions: int,
        vector: "Vector",
        restrict: Condition | None,
        depth: int,
    ) -> list[tuple[int, float]]:
        """The nearest units of both spaces, each by the nearest of its vectors."""
        best: dict[int, float] = {}
        if reading.totals().units >= INDEXED_FROM:
            depth = min(depth, NEAREST_LOOKED_AT)
        wanted = dict.fromkeys(reading.embedded, depth)
        for _ in range(_TRIES):
            if not wanted:
                break
            rows = self._rows(reading, wanted, embedder, dimensions, vector, restrict)
            for _, number, score in rows:
                best[number] = max(score, best.get(number, score))
            numbers = {space: [number for own, number, _ in rows if own == space] for space in wanted}
            # A unit with many vectors near to the query takes the place of others.
            wanted = {
                space: 2 * limit
                for space, limit in wanted.items()
                if len(numbers[space]) >= limit and len(set(numbers[space])) < depth
            }
        return sorted(best.items(), key=lambda hit: (-hit[1], hit[0]))[:depth]

    def _rows(
        self,
        reading: DatabaseIndexReader,
        wanted: dict[int, int],
        embedder: int,
        dimensions: int,
        vector: "Vector",
        restrict: Condition | None,
    ) -> list[tuple[int, int, float]]:
        """The nearest vectors of each space, as space, unit and score, in one query."""
        if restrict is not None or max(wanted.values()) > NEAREST_LOOKED_AT:
            reading.connection.execute(GO_ON)
        if further := look_further(reading.totals().units):
            reading.connection.execute(further.encode())
        sql, values = ("true", ()) if restrict is None else reading.compiled(restrict)
        join = "" if restrict is None else "JOIN units ON units.number = vectors.number"
        kind = f"halfvec({dimensions:d})"
        # The parts of the statement that vary are Clew's own text and numbers; every value is a parameter. The limit is
        # a part of it: for one that it does not know, PostgreSQL makes a plan again each time.
        spaces = " UNION ALL ".join(
            f"""
            (SELECT {space:d} AS space, vectors.number, vectors.vector::{kind} <#> asked.vector AS distance
            FROM vectors_{space:d} AS vectors {join} WHERE vectors.embedder = {embedder:d} AND {sql}
            ORDER BY vectors.vector::{kind} <#> asked.vector LIMIT {limit:d})
            """  # noqa: S608
            for space, limit in wanted.items()
        )
        statement = f"""
            SELECT array_agg(space), array_agg(number), array_agg(-distance)
            FROM (SELECT %s::{kind} AS vector OFFSET 0) AS asked CROSS JOIN LATERAL ({spaces}) AS nearest
            """  # noqa: S608
        if restrict is None:
            (found,) = reading.ask(statement, (packed_vector(vector),))
            return list(zip(*(numbers_in(column).tolist() for column in found), strict=True))
        ((own, numbers, distances),) = reading.rows(statement, (vector_as_text(vector), *values * len(wanted)))
        return list(zip(own or (), numbers or (), distances or (), strict=True))

    def version(self, reading: DatabaseIndexReader, space: QueryEncoder) -> str:
        return str(reading.state()[2])

    def windows_of(
        self, reading: DatabaseIndexReader, space: QueryEncoder, numbers: Sequence[int]
    ) -> "Mapping[int, Vectors]":
        from clew.search.dense.window_vectors import unpacked

        find = "SELECT number, windows FROM vectors WHERE number = ANY(%s) AND embedder = %s AND windows IS NOT NULL"
        number = self.shared.known_number(reading, space.embedder.name)
        rows = reading.rows(find, (list(numbers), number))
        return {unit: unpacked(data, space.embedder.dimensions) for unit, data in rows}

    def vectors_of(
        self, reading: DatabaseIndexReader, space: QueryEncoder, numbers: Sequence[int]
    ) -> "dict[int, Vector]":
        import numpy as np

        number, dimensions = self.shared.known_number(reading, space.embedder.name), space.embedder.dimensions
        if number is None:
            return {}
        kept = self._kept_vectors(reading.writes()[0], number, dimensions)
        known, vectors = kept.get_many(numbers)
        if missing := set(numbers).difference(known):
            read, rows = self._read(reading, number, sorted(missing), dimensions)
            kept.put_many(read, rows)
            known, vectors = [*known, *read], np.concatenate((vectors, rows))
        # One conversion for all of them.
        return dict(zip(known, vectors.astype(np.float32), strict=True))

    def count(self, reading: DatabaseIndexReader, space: QueryEncoder) -> int:
        number = self.shared.known_number(reading, space.embedder.name)
        find = "SELECT count(*) FROM vectors WHERE space = ANY(%s) AND embedder = %s AND place = 0"
        ((units,),) = reading.rows(find, (reading.spaces, number))
        return int(units)

    def notes(self, reading: DatabaseIndexReader, space: QueryEncoder) -> tuple[str, ...]:
        return ()

    def _kept_vectors(self, series: str, embedder: int, dimensions: int) -> RowCache:
        """The cached vectors of this index and embedder; an empty cache after a change of either."""
        known = self._vectors
        if known is None or known[:2] != (series, embedder):
            rows = RowCache(VECTOR_BYTES // (2 * dimensions), dimensions, "f2")
            known = self._vectors = _Vectors(series, embedder, rows)
        return known.kept

    def _read(
        self, reading: DatabaseIndexReader, embedder: int, numbers: Sequence[int], dimensions: int
    ) -> "tuple[list[int], NDArray[np.float16]]":
        """The first vectors of units. Each is read once, because a number belongs to one text for ever."""
        import numpy as np

        # Spaces and embedder are numbers of Clew's own: the vectors of other work trees are not looked through.
        find = f"""
            SELECT array_agg(number), string_agg(halfvec_send(vector), '') FROM vectors
            WHERE space IN ({SHARED:d}, {reading.space:d}) AND embedder = {embedder:d} AND place = 0
                AND number = ANY(%s)
            """  # noqa: S608
        ((found, sent),) = reading.ask(find, (array(numbers),))
        units: list[int] = numbers_in(found).tolist()
        # Before each vector stand four bytes about it.
        joined = np.frombuffer(sent or b"", np.uint8).reshape(len(units), 4 + 2 * dimensions)[:, 4:]
        return units, np.ascontiguousarray(joined).view(">f2").astype(np.float16)

    # Making

    def make(self, embedder: Embedder, progress: Progress) -> VectorReport:
        number = self.shared.number_of(embedder.name, embedder.dimensions)
        done = encode_together(_TextsOfDatabase(self._database, number), self.shared, embedder, progress)
        self._build_indexes(number, embedder.dimensions, progress)
        note = None if done.is_complete else "Another server is making the vectors."
        return VectorReport(embedder=embedder.name, embedded=done.embedded, reused=done.reused, note=note)

    def _build_indexes(self, embedder: int, dimensions: int, progress: Progress) -> None:
        """Build an HNSW index for each large space without one. Others read and write at the same time."""
        for space in (SHARED, self._database.space):
            name = f"vectors_{space:d}_{embedder:d}"
            with self._database.connection() as connection:
                find = f"SELECT count(*), to_regclass(%s) IS NOT NULL FROM vectors_{space:d} WHERE embedder = %s"  # noqa: S608
                own = f'"{self._database.schema}".{name}'
                vectors, is_there = connection.execute(find, (own, embedder)).fetchone() or (0, True)
                if is_there or vectors < INDEXED_FROM:
                    continue
                progress(vectors, vectors, "Building the index of the vectors")
                self._build(connection, space, embedder, dimensions)

    def _build(self, connection: Any, space: int, embedder: int, dimensions: int) -> None:
        try:
            connection.execute("SET statement_timeout = 0")
            connection.execute(_TAKE_MEMORY)
            build = "SELECT index_space(%s, %s, %s)"
            try:
                _build_alone(connection, space, build, (space, embedder, dimensions))
            except (errors.DiskFull, errors.OutOfMemory):
                # Several processes build it in shared memory, of which a container may have little; one does not.
                connection.execute("SET max_parallel_maintenance_workers = 0")
                _build_alone(connection, space, build, (space, embedder, dimensions))
        finally:
            connection.execute("RESET maintenance_work_mem")
            connection.execute("RESET max_parallel_maintenance_workers")
            connection.execute(BOUNDED)


class _TextsOfDatabase:
    """Texts of an index in a database that have no vectors of an embedder."""

    def __init__(self, database: Database, embedder: int) -> None:
        self._database = database
        self._embedder = embedder

    def pending(self) -> dict[str, list[int]]:
        find = """
            SELECT number, text_hash FROM units WHERE space = ANY(%s) AND NOT part = ANY(%s)
                AND NOT EXISTS (
                    SELECT 1 FROM vectors WHERE vectors.number = units.number AND vectors.embedder = %s
                )
            ORDER BY NOT part = ANY(%s), characters, number
            """
        values = ([SHARED, self._database.space], sorted(WORDS_ONLY), self._embedder, sorted(FIRST))
        found: dict[str, list[int]] = {}
        with self._database.connection() as connection:
            for number, hash in connection.execute(find, values):
                found.setdefault(hash, []).append(number)
        return found

    def units_of(self, numbers: Iterable[int]) -> dict[int, Unit]:
        with self._database.connection() as connection:
            return DatabaseIndexReader(connection, self._database.space).units_of(numbers)

    def give(self, texts: Mapping[str, Sequence[int]], known: Mapping[str, Embedding]) -> int:
        """Store the vectors of units. Deleted units and units with vectors are skipped."""
        rows = [
            (self._embedder, place, vector_as_text(vector), each.windows if place == 0 else None, number, hash)
            for hash, numbers in texts.items()
            if (each := known.get(hash)) is not None
            for number in numbers
            for place, vector in enumerate(each.vectors)
        ]
        if not rows:
            return 0
        put = """
            INSERT INTO vectors (space, embedder, number, place, vector, windows)
            SELECT space, %s, number, %s, %s::halfvec, %s FROM units WHERE number = %s AND text_hash = %s
            """
        count = """
            UPDATE spaces SET vectors = vectors + 1
            WHERE number IN (SELECT space FROM units WHERE units.number = ANY(%s))
            """
        wanted = {row[4] for row in rows}
        find = "SELECT number FROM vectors WHERE number = ANY(%s) AND embedder = %s"
        with self._database.writing() as connection:
            wanted -= {number for (number,) in connection.execute(find, (sorted(wanted), self._embedder))}
            with connection.cursor() as cursor:
                cursor.executemany(put, [row for row in rows if row[4] in wanted])
            connection.execute(count, (sorted(wanted),))
        return len(wanted)


def _build_alone(connection: Any, space: int, build: str, values: tuple[int, ...]) -> None:
    """Build an index unless another process does. Only a writer may hold that lock."""
    with connection.transaction() as transaction:
        try:
            connection.execute(f"LOCK TABLE vectors_{space:d} IN SHARE UPDATE EXCLUSIVE MODE NOWAIT")
        except errors.LockNotAvailable:
            raise Rollback(transaction) from None
        connection.execute(build, values)
