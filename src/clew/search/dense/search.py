"""Search by meaning: the units whose vectors lie nearest to that of a query, among those that a condition lets through.

Vectors are kept by the numbers of units, and a number never stands for another text. Only the units that the index has
at this moment are let through, so that a deleted unit is gone at once.
"""

import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from clew.cache import Cache
from clew.errors import ClewError, StoreCorrupt
from clew.search import index
from clew.search.dense.indexing import Progress, VectorReport, index_vectors
from clew.search.dense.sharing import Sharing
from clew.search.dense.spaces import Space, Spaces
from clew.search.index import UnitIndex
from clew.search.lexical import tables as lexical_tables
from clew.search.question import IndexState
from clew.search.units import WORDS_ONLY, Condition

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.search.embedded import EmbeddedReading
    from clew.store.sqlite.connections import Connection

    Mask = NDArray[np.bool_]


log = logging.getLogger(__name__)

PATIENCE_SECONDS = 2.0
"""How long a search waits for the vector of its query. Words answer at once."""
TOO_BUSY = "The encoder is too busy to answer in time: this answer uses keywords only. Ask again for one by meaning."


class DenseRanking(msgspec.Struct, frozen=True):
    hits: tuple[tuple[int, float], ...] = ()
    note: str | None = None
    """Why there are none, where that is not the query's doing."""
    failed: bool = False
    """Whether the next to ask may have more luck, with the same index."""


class DenseSearch:
    def __init__(self, folder: Path, units: UnitIndex, spaces: Spaces, sharing: Sharing | None = None) -> None:
        self._sharing = sharing
        self._folder = folder
        self._units = units
        self._spaces = spaces
        self._lock = threading.Lock()
        self.visible = Visibility()
        self._described: tuple[tuple[object, ...], IndexState] | None = None
        self.damaged = False
        """Whether vectors turned out to be damaged; they are until `index_vectors` wrote them anew."""

    def make(self, progress: Progress) -> VectorReport:
        report = index_vectors(self._folder, self._units, self._spaces, progress, self._sharing)
        if report.note is None:
            self.damaged = False
        return report

    def forget(self, hashes: Sequence[str]) -> None:
        if self._sharing is not None and hashes:
            self._sharing.forget(hashes)

    def is_everything(self, reading: "EmbeddedReading", condition: Condition) -> bool:
        return self.visible.is_everything(reading.connection, condition)

    def rank(
        self,
        reading: "EmbeddedReading",
        query: str,
        condition: Condition,
        depth: int,
        vector: "NDArray[np.float32] | None" = None,
    ) -> DenseRanking:
        connection = reading.connection
        space, note = self._serving(connection)
        if space is None:
            return DenseRanking(note=note)
        try:
            if not len(space.vectors.view(connection).numbers):
                return DenseRanking(note="The semantic index is not built yet: this answer uses keywords only.")
            allowed = self.visible.mask(connection, condition)
            vector = space.vector(query, PATIENCE_SECONDS) if vector is None else vector
            numbers, scores = space.vectors.search(connection, vector, depth, allowed)
        except TimeoutError:
            return DenseRanking(note=TOO_BUSY, failed=True)
        except StoreCorrupt as error:
            return DenseRanking(note=self._noticed(error), failed=True)
        except Exception as error:
            # Whatever an embedder or a file does wrong costs the ranking by meaning, never the answer.
            log.warning("The search by meaning failed: %s", error)
            self._spaces.rest(str(error))
            note = f"This answer uses keywords only: {getattr(error, 'message', error)}"
            return DenseRanking(note=note, failed=True)
        self.damaged = False
        return DenseRanking(tuple(zip(numbers.tolist(), scores.tolist(), strict=True)))

    def version(self, reading: "EmbeddedReading") -> str:
        """Differs after every change of the vectors that answer."""
        connection = reading.connection
        space, _ = self._serving(connection)
        return "" if space is None else f"{space.embedder.name}/{self._version_of(connection, space)}"

    def _version_of(self, connection: "Connection", space: Space) -> str:
        try:
            return str(space.vectors.view(connection).last_row)
        except (ClewError, OSError) as error:
            self._noticed(error)
            return "damaged"

    def embed_query(
        self, reading: "EmbeddedReading", query: str, *, patiently: bool = True
    ) -> "NDArray[np.float32] | None":
        space, _ = self._serving(reading.connection)
        return None if space is None else space.vector(query, None if patiently else PATIENCE_SECONDS)

    def window_likeness(
        self, reading: "EmbeddedReading", query: str, numbers: Sequence[int]
    ) -> "dict[int, NDArray[np.float32]]":
        """How near in meaning to a query each window of some units is; of units whose windows have no vectors yet, the
        first one."""
        from clew.search.dense.window_vectors import unpacked

        connection = reading.connection
        space, _ = self._serving(connection)
        if space is None:
            return {}
        find = """
            SELECT number, windows FROM json_each(?) CROSS JOIN embeddings ON embedder = ? AND number = value
            WHERE windows IS NOT NULL
            """
        wanted = msgspec.json.encode(list(numbers)).decode()
        try:
            vector = space.vector(query, PATIENCE_SECONDS)
            rows = connection.execute(find, (wanted, space.embedder.name)).fetchall()
            found = {number: unpacked(data, space.embedder.dimensions) @ vector for number, data in rows}
            begun, first = space.vectors.get(connection, [number for number in numbers if number not in found])
            return found | {number: first[row : row + 1] @ vector for row, number in enumerate(begun.tolist())}
        except TimeoutError:
            # Quotes are then chosen by words; the search before has reported that.
            return {}
        except Exception as error:
            # Quotes are then chosen by words; the search before reported that the encoder failed.
            log.warning("The windows could not be compared: %s", error)
            return {}

    def vectors_of(self, reading: "EmbeddedReading", numbers: Sequence[int]) -> "dict[int, NDArray[np.float32]]":
        """The vectors of those of the units that have one."""
        connection = reading.connection
        space, _ = self._serving(connection)
        if space is None:
            return {}
        try:
            known, vectors = space.vectors.get(connection, numbers)
        except (ClewError, OSError):
            return {}
        return dict(zip(known.tolist(), vectors, strict=True))

    def state(self, reading: "EmbeddedReading") -> IndexState:
        """How much is indexed; counted once for each state of the index."""
        connection = reading.connection
        space, note = self._serving(connection)
        vectors = space and (space.embedder.name, self._version_of(connection, space))
        key = (index.version(connection), vectors, note)
        with self._lock:
            known = self._described
        if known is None or known[0] != (*key, self.damaged):
            described = self._describe(connection, space, note)
            known = ((*key, self.damaged), described)
            with self._lock:
                self._described = known
        return known[1]

    def _describe(self, connection: "Connection", space: Space | None, note: str | None) -> IndexState:
        parts = index.parts(connection)
        # What is found by its words alone would never be complete.
        units = sum(number for part, number in parts.items() if part not in WORDS_ONLY)
        notes: tuple[str, ...] = (note,) if note else ()
        if space is None:
            state = "damaged" if self.damaged else "words_only"
            return IndexState(units=units, embedded=0, embedder=None, state=state, parts=parts, notes=notes)
        embedded = self._embedded(connection, space)
        configured = self._spaces.configured()
        if configured is None or configured.name != space.embedder.name:
            state = "changing_embedder"
            other = configured.name if configured is not None else f"one that cannot be used ({self._spaces.problem})"
            notes += (f"The embedder changed to {other}; until its vectors are made, the old ones answer.",)
        elif self.damaged:
            state = "damaged"
        else:
            state = "complete" if embedded >= units else "indexing"
            notes += space.vectors.notes(connection)
        return IndexState(
            units=units, embedded=embedded, embedder=space.embedder.name, state=state, parts=parts, notes=notes
        )

    def _serving(self, connection: "Connection") -> tuple[Space | None, str | None]:
        try:
            space = self._spaces.serving(connection)
        except (StoreCorrupt, OSError) as error:
            return None, self._noticed(error)
        except ClewError as error:
            return None, f"Search uses keywords only: {error.message}"
        if space is None and self._spaces.problem:
            return None, f"Search uses keywords only: {self._spaces.problem}"
        return space, None

    def _noticed(self, error: Exception) -> str:
        if not self.damaged:
            log.warning("%s", error)
        self.damaged = True
        return "The vectors are damaged; this answer uses keywords only."

    def _embedded(self, connection: "Connection", space: Space) -> int:
        """How many units have a vector."""
        import numpy as np

        try:
            have = space.vectors.view(connection).units
        except (ClewError, OSError) as error:
            self._noticed(error)
            return 0
        present = self.visible.mask(connection, EVERYTHING)
        return int(np.count_nonzero(present[have[have < len(present)]]))


_CONDITIONS_KEPT = 16

EVERYTHING = Condition("1", ())

_TOUCHED_AT_MOST = 2_000
"""Units that are looked at again; where more changed, all are."""


class _Known(msgspec.Struct, frozen=True):
    """Which units fulfilled a condition after a write."""

    series: str
    version: int
    mask: "Mask"


class Visibility:
    """Which units fulfil a condition. What is known of one state of the index is brought up to the next by what changed
    in between: writing one unit must not cost a look at all of them."""

    def __init__(self) -> None:
        self._counts: Cache[tuple[str, Condition], int] = Cache(_CONDITIONS_KEPT)
        self._masks: Cache[Condition, _Known] = Cache(_CONDITIONS_KEPT)
        self._lock = threading.Lock()

    def is_everything(self, connection: "Connection", condition: Condition) -> bool:
        """Whether the condition lets every unit through: then it need not be asked for each."""
        if self._masks.get(condition) is not None:
            count = int(self.mask(connection, condition).sum())
        else:
            key = (index.version(connection), condition)
            count = self._counts.made(key, lambda: _count(connection, condition))
        return count == lexical_tables.totals(connection).units

    def mask(self, connection: "Connection", condition: Condition) -> "Mask":
        """For each number of a unit, whether it fulfils the condition."""
        state = index.writes(connection)
        known = self._masks.get(condition)
        if known is None or (known.series, known.version) != state:
            # One looks, and the others wait for what it finds.
            with self._lock:
                known = self._masks.get(condition)
                if known is None or (known.series, known.version) != state:
                    known = _Known(*state, _renewed(connection, condition, known))
                    self._masks.put(condition, known)
        return known.mask


def _renewed(connection: "Connection", condition: Condition, known: _Known | None) -> "Mask":
    """An earlier mask with what changed since, or a new one."""
    import numpy as np

    series, _ = index.writes(connection)
    touched = None
    if known is not None and known.series == series:
        touched = index.touched_since(connection, known.version, _TOUCHED_AT_MOST)
    if known is None or touched is None:
        return _mask(connection, condition)
    mask = np.zeros(max(len(known.mask), max(touched, default=0) + 1), bool)
    mask[: len(known.mask)] = known.mask
    mask[touched] = False
    mask[index.allowed(connection, condition, touched)] = True
    return mask


def _count(connection: "Connection", condition: Condition) -> int:
    # The condition is Clew's own text; every value is a parameter.
    statement = f"SELECT count(*) FROM ({_numbers(condition)})"  # noqa: S608
    (count,) = connection.execute(statement, condition.parameters).fetchone()
    return int(count)


def _numbers(condition: Condition) -> str:
    """The units that fulfil a condition. With a limit, SQLite answers this by itself, and leaves the paths of the units
    out where the condition needs none; as part of a sum it would read them."""
    return f"SELECT number FROM indexed_units AS units WHERE {condition.sql} LIMIT -1"  # noqa: S608


def _mask(connection: "Connection", condition: Condition) -> "Mask":
    import numpy as np

    # All numbers in one row: each row that is fetched has to wait for Python's lock, which other threads want as well.
    statement = f"SELECT group_concat(number), max(number) FROM ({_numbers(condition)})"  # noqa: S608
    numbers, last = connection.execute(statement, condition.parameters).fetchone()
    if numbers is None:
        return np.zeros(0, bool)
    mask = np.zeros(last + 1, bool)
    mask[np.fromstring(str(numbers), np.int64, sep=",")] = True
    return mask
