"""Search by meaning in a database: pgvector keeps the vectors as 16-bit floats.

Few vectors are compared one by one. From some thousands on, an HNSW index of their space finds the nearest; where a
search may not see all units, it goes on until it has enough of those it may (`hnsw.iterative_scan`).
"""

import logging
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg import Rollback, errors

from clew.cache import Cache, Rows
from clew.errors import ClewError
from clew.search.database.connecting import BOUNDED, GO_ON, NEAREST_LOOKED_AT, Database, look_further
from clew.search.database.embeddings import SharedEmbeddings
from clew.search.database.reading import DatabaseReading
from clew.search.database.tables import SHARED
from clew.search.database.values import array, numbers_in, packed_vector, vector_as_text
from clew.search.dense.indexing import OTHERS_SECONDS, ROUNDS, TEXTS_AT_ONCE, Progress, VectorReport, encoded
from clew.search.dense.search import PATIENCE_SECONDS, TOO_BUSY, DenseRanking
from clew.search.dense.sharing import Embedding
from clew.search.dense.spaces import Embedders, Queries
from clew.search.embed.embedder import Embedder
from clew.search.question import IndexState
from clew.search.units import WORDS_ONLY, Condition

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

log = logging.getLogger(__name__)

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
_PENDING_AT_ONCE = 512
_ONLY_PARTS = "units.part IN ("


class _Vectors(NamedTuple):
    """Vectors by the number of their unit, which stands for one text for ever."""

    series: str
    embedder: int
    kept: Rows
    """As the database has them, in two bytes a number: half of the memory, and nothing is lost."""


class DatabaseMeanings:
    def __init__(self, database: Database, embedders: Embedders) -> None:
        self._database = database
        self._embedders = embedders
        self._shared = SharedEmbeddings(database)
        self._queries: Cache[str, Queries] = Cache(4)
        self._vectors: _Vectors | None = None
        self._lock = threading.Lock()
        self._described: tuple[tuple[object, ...], IndexState] | None = None
        self._parts: tuple[object, frozenset[str]] | None = None
        self.damaged = False

    # Asking

    def is_everything(self, reading: DatabaseReading, condition: Condition) -> bool:
        """Only what the counts of the parts tell: to count units costs more than to check a few hundred."""
        if not condition.sql.startswith(_ONLY_PARTS) or " AND " in condition.sql:
            return False
        state = reading.state()
        known = self._parts
        if known is None or known[0] != state:
            known = self._parts = state, frozenset(reading.parts())
        return known[1] <= set(condition.parameters)

    def rank(
        self,
        reading: DatabaseReading,
        query: str,
        condition: Condition,
        depth: int,
        vector: "Vector | None" = None,
    ) -> DenseRanking:
        embedder, note = self._embedder()
        if embedder is None:
            return DenseRanking(note=note)
        try:
            vector = self._queries_of(embedder).vector(query, PATIENCE_SECONDS) if vector is None else vector
            number = self._shared.known_number(reading, embedder.name)
            restrict = None if self.is_everything(reading, condition) else condition
            hits: list[tuple[int, float]] = []
            if number is not None:
                hits = self._nearest(reading, number, embedder.dimensions, vector, restrict, depth)
        except TimeoutError:
            return DenseRanking(note=TOO_BUSY, failed=True)
        except Exception as error:
            # Whatever an embedder does wrong costs the ranking by meaning, never the answer.
            log.warning("The search by meaning failed: %s", error)
            self._embedders.rest(str(error))
            note = f"This answer uses keywords only: {getattr(error, 'message', error)}"
            return DenseRanking(note=note, failed=True)
        if not hits and not reading.state()[2]:
            return DenseRanking(note="The semantic index is not built yet: this answer uses keywords only.")
        return DenseRanking(tuple(hits))

    def _nearest(
        self,
        reading: DatabaseReading,
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
        reading: DatabaseReading,
        wanted: dict[int, int],
        embedder: int,
        dimensions: int,
        vector: "Vector",
        restrict: Condition | None,
    ) -> list[tuple[int, int, float]]:
        """So many of the nearest vectors of each space, as space, unit and score, in one question."""
        if restrict is not None or max(wanted.values()) > NEAREST_LOOKED_AT:
            reading.connection.execute(GO_ON)
        if further := look_further(reading.totals().units):
            reading.connection.execute(further.encode())
        sql, values = ("true", ()) if restrict is None else reading.compiled(restrict)
        join = "" if restrict is None else "JOIN units ON units.number = vectors.number"
        kind = f"halfvec({dimensions:d})"
        # The parts of the statement that vary are Clew's own text and numbers; every value is a parameter. The limit is
        # a part of it: for one that it does not know, PostgreSQL makes a plan anew each time.
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

    def version(self, reading: DatabaseReading) -> str:
        embedder, _ = self._embedder()
        return "" if embedder is None else f"{embedder.name}/{reading.state()[2]}"

    def embed_query(self, reading: DatabaseReading, query: str, *, patiently: bool = True) -> "Vector | None":
        embedder, _ = self._embedder()
        patience = None if patiently else PATIENCE_SECONDS
        return None if embedder is None else self._queries_of(embedder).vector(query, patience)

    def window_likeness(self, reading: DatabaseReading, query: str, numbers: Sequence[int]) -> "dict[int, Vector]":
        from clew.search.dense.window_vectors import unpacked as unpacked_windows

        embedder, _ = self._embedder()
        if embedder is None:
            return {}
        find = "SELECT number, windows FROM vectors WHERE number = ANY(%s) AND embedder = %s AND windows IS NOT NULL"
        try:
            number = self._shared.known_number(reading, embedder.name)
            vector = self._queries_of(embedder).vector(query, PATIENCE_SECONDS)
            rows = reading.rows(find, (list(numbers), number))
            return {unit: unpacked_windows(data, embedder.dimensions) @ vector for unit, data in rows}
        except TimeoutError:
            # The search before has reported that.
            return {}
        except Exception as error:
            log.warning("The windows could not be compared: %s", error)
            return {}

    def vectors_of(self, reading: DatabaseReading, numbers: Sequence[int]) -> "dict[int, Vector]":
        import numpy as np

        embedder, _ = self._embedder()
        if embedder is None or not numbers:
            return {}
        number = self._shared.known_number(reading, embedder.name)
        if number is None:
            return {}
        kept = self._kept_vectors(reading.writes()[0], number, embedder.dimensions)
        known, vectors = kept.get_many(numbers)
        if missing := set(numbers).difference(known):
            read, rows = self._read(reading, number, sorted(missing), embedder.dimensions)
            kept.put_many(read, rows)
            known, vectors = [*known, *read], np.concatenate((vectors, rows))
        # One conversion for all of them.
        return dict(zip(known, vectors.astype(np.float32), strict=True))

    def _kept_vectors(self, series: str, embedder: int, dimensions: int) -> Rows:
        """What is known of the vectors of this very index and embedder: of others in their place, nothing."""
        known = self._vectors
        if known is None or known[:2] != (series, embedder):
            rows = Rows(VECTOR_BYTES // (2 * dimensions), dimensions, "f2")
            known = self._vectors = _Vectors(series, embedder, rows)
        return known.kept

    def _read(
        self, reading: DatabaseReading, embedder: int, numbers: Sequence[int], dimensions: int
    ) -> "tuple[list[int], NDArray[np.float16]]":
        """The first vectors of units. A number stands for one text for ever: each is asked for once."""
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

    def state(self, reading: DatabaseReading) -> IndexState:
        """How much is indexed; counted once for each state of the index."""
        embedder, note = self._embedder()
        key = (reading.state(), embedder and embedder.name, note)
        known = self._described
        if known is None or known[0] != key:
            known = key, self._describe(reading, embedder, note)
            self._described = known
        return known[1]

    def _describe(self, reading: DatabaseReading, embedder: Embedder | None, note: str | None) -> IndexState:
        parts = reading.parts()
        units = sum(number for part, number in parts.items() if part not in WORDS_ONLY)
        notes = (note,) if note else ()
        if embedder is None:
            return IndexState(units=units, embedded=0, embedder=None, state="words_only", parts=parts, notes=notes)
        number = self._shared.known_number(reading, embedder.name)
        find = "SELECT count(*) FROM vectors WHERE space = ANY(%s) AND embedder = %s AND place = 0"
        ((embedded,),) = reading.rows(find, (reading.spaces, number))
        state = "complete" if embedded >= units else "indexing"
        return IndexState(units=units, embedded=embedded, embedder=embedder.name, state=state, parts=parts, notes=notes)

    def _embedder(self) -> tuple[Embedder | None, str | None]:
        try:
            embedder = self._embedders.configured()
        except ClewError as error:
            return None, f"Search uses keywords only: {error.message}"
        if embedder is None and self._embedders.wanted and self._embedders.problem:
            return None, f"Search uses keywords only: {self._embedders.problem}"
        return embedder, None

    def _queries_of(self, embedder: Embedder) -> Queries:
        known = self._queries.get(embedder.name)
        if known is None:
            known = Queries(embedder)
            self._queries.put(embedder.name, known)
        return known

    # Making

    def forget(self, hashes: Sequence[str]) -> None:
        self._shared.forget(hashes)

    def make(self, progress: Progress) -> VectorReport:
        embedder = self._embedders.configured()
        if embedder is None:
            return VectorReport(note=self._embedders.problem or "The configuration asks for no embedder.")
        number = self._shared.number_of(embedder.name, embedder.dimensions)
        embedded = reused = waited = 0
        note = None
        while pending := self._pending(number):
            progress(embedded + reused, embedded + reused + len(pending), "Embedding")
            known = self._shared.get(number, [hash for _, _, hash in pending])
            before = embedded + reused
            reused += self._give(number, pending, known)
            left = [each for each in pending if each[2] not in known]
            for start in range(0, len(left), TEXTS_AT_ONCE):
                progress(embedded + reused, embedded + reused + len(left) - start, "Embedding")
                made, by_others = self._encode(embedder, number, left[start : start + TEXTS_AT_ONCE])
                embedded += made
                reused += by_others
            if before == embedded + reused:
                # Another server is encoding all that is left.
                waited += 1
                if waited > ROUNDS:
                    note = "Another server is making the vectors."
                    break
                time.sleep(OTHERS_SECONDS)
        self._build_indexes(number, embedder.dimensions, progress)
        return VectorReport(embedder=embedder.name, embedded=embedded, reused=reused, note=note)

    def _pending(self, embedder: int) -> list[tuple[int, int, str]]:
        """Space, number and text of units without a vector, short texts first."""
        find = """
            SELECT space, number, text_hash FROM units WHERE space = ANY(%s) AND NOT part = ANY(%s)
                AND NOT EXISTS (
                    SELECT 1 FROM vectors WHERE vectors.number = units.number AND vectors.embedder = %s
                )
            ORDER BY characters, number LIMIT %s
            """
        values = ([SHARED, self._database.space], sorted(WORDS_ONLY), embedder, _PENDING_AT_ONCE)
        with self._database.connection() as connection:
            return connection.execute(find, values).fetchall()

    def _encode(self, embedder: Embedder, number: int, some: Sequence[tuple[int, int, str]]) -> tuple[int, int]:
        """Encode those of the texts that nobody else does; how many, and how many others had made in the meantime."""
        own_space = self._database.space
        with self._database.connection() as connection:
            units = DatabaseReading(connection, own_space).units_of(unit for _, unit, _ in some)
        by_hash = {hash: units[unit] for _, unit, hash in some if unit in units}
        with self._shared.claimed(number, list(by_hash)) as (claim, own):
            made = dict(encoded(embedder, {hash: by_hash[hash] for hash in own}))
            claim.put(made)
            known = {**claim.known, **made}
        self._give(number, some, known)
        return len(made), len(known) - len(made)

    def _give(self, embedder: int, pending: Sequence[tuple[int, int, str]], known: "dict[str, Embedding]") -> int:
        """Give units the vectors of their texts, where those are known; units that are gone are passed over."""
        rows = [
            (space, embedder, place, vector_as_text(vector), each.windows if place == 0 else None, number, hash)
            for space, number, hash in pending
            if (each := known.get(hash)) is not None
            for place, vector in enumerate(each.vectors)
        ]
        if not rows:
            return 0
        put = """
            INSERT INTO vectors (space, embedder, number, place, vector, windows)
            SELECT %s, %s, units.number, %s, %s::halfvec, %s FROM units WHERE number = %s AND text_hash = %s
            """
        with self._database.writing() as connection:
            there = {
                number
                for (number,) in connection.execute(
                    "SELECT number FROM vectors WHERE number = ANY(%s) AND embedder = %s",
                    (sorted({row[5] for row in rows}), embedder),
                )
            }
            fresh = [row for row in rows if row[5] not in there]
            with connection.cursor() as cursor:
                cursor.executemany(put, fresh)
            connection.execute(
                "UPDATE spaces SET vectors = vectors + 1 WHERE number = ANY(%s)", (sorted({row[0] for row in fresh}),)
            )
        return len({row[5] for row in fresh})

    def _build_indexes(self, embedder: int, dimensions: int, progress: Progress) -> None:
        """An HNSW index for each space with many vectors and none yet. Others read and write meanwhile."""
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


def _build_alone(connection: Any, space: int, build: str, values: tuple[int, ...]) -> None:
    """Build an index unless another process does, whose lock only a writer may hold."""
    with connection.transaction() as transaction:
        try:
            connection.execute(f"LOCK TABLE vectors_{space:d} IN SHARE UPDATE EXCLUSIVE MODE NOWAIT")
        except errors.LockNotAvailable:
            raise Rollback(transaction) from None
        connection.execute(build, values)
