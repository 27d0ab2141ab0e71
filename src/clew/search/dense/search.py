"""Search by meaning: the units whose vectors lie nearest to that of a query, among those that a condition lets through.

Vectors are kept under the numbers of units, and a number never stands for another text. So whatever the vectors hold,
only what the units themselves allow at this moment is looked at, and a deleted unit is gone at once.
"""

import logging
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from clew.errors import ClewError, StoreCorrupt
from clew.search import index
from clew.search.dense.spaces import Space, Spaces
from clew.search.question import IndexState
from clew.search.units import Condition
from clew.search.visible import EVERYTHING, Visibility

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.store.sqlite.connections import Connection

log = logging.getLogger(__name__)


class DenseRanking(msgspec.Struct, frozen=True):
    hits: tuple[tuple[int, float], ...] = ()
    note: str | None = None
    """Why there are none, where that is not the query's doing."""


class DenseSearch:
    def __init__(self, spaces: Spaces) -> None:
        self._spaces = spaces
        self._lock = threading.Lock()
        self.visible = Visibility()
        self._described: tuple[tuple[object, ...], IndexState] | None = None
        self.damaged = False
        """Whether vectors turned out to be damaged; they are until `index_vectors` wrote them anew."""

    def rank(self, connection: "Connection", query: str, condition: Condition, depth: int) -> DenseRanking:
        space, note = self._serving(connection)
        if space is None:
            return DenseRanking(note=note)
        try:
            if not len(space.vectors):
                return DenseRanking(note="No vectors have been made yet.")
            numbers, scores = self._nearest(connection, space, space.vector(query), condition, depth)
        except StoreCorrupt as error:
            return DenseRanking(note=self._noticed(error))
        except Exception as error:
            # Whatever an embedder or a file does wrong costs the ranking by meaning, never the answer.
            log.warning("The search by meaning failed: %s", error)
            self._spaces.rest(str(error))
            return DenseRanking(note=f"This answer ranks by words alone: {getattr(error, 'message', error)}")
        self.damaged = False
        return DenseRanking(tuple(zip(numbers.tolist(), scores.tolist(), strict=True)))

    def version(self, connection: "Connection") -> str:
        """Differs after every change of the vectors that answer."""
        space, _ = self._serving(connection)
        return "" if space is None else f"{space.embedder.name}/{self._version_of(space)}"

    def _version_of(self, space: Space) -> str:
        try:
            return space.vectors.version
        except (ClewError, OSError) as error:
            self._noticed(error)
            return "damaged"

    def embed_query(self, connection: "Connection", query: str) -> None:
        space, _ = self._serving(connection)
        if space is not None:
            space.vector(query)

    def vectors_of(self, connection: "Connection", numbers: Sequence[int]) -> "dict[int, NDArray[np.float32]]":
        """The vectors of those of the units that have one."""
        space, _ = self._serving(connection)
        if space is None:
            return {}
        try:
            known, vectors = space.vectors.get(numbers)
        except (ClewError, OSError):
            return {}
        return dict(zip(known.tolist(), vectors, strict=True))

    def state(self, connection: "Connection") -> IndexState:
        """How much is indexed; counted once for each state of the index."""
        space, note = self._serving(connection)
        key = (index.version(connection), space and space.embedder.name, space and self._version_of(space), note)
        with self._lock:
            known = self._described
        if known is None or known[0] != (*key, self.damaged):
            described = self._describe(connection, space, note)
            known = ((*key, self.damaged), described)
            with self._lock:
                self._described = known
        return known[1]

    def _describe(self, connection: "Connection", space: Space | None, note: str | None) -> IndexState:
        parts = dict(connection.execute("SELECT part, count(*) FROM units GROUP BY part ORDER BY part").fetchall())
        units = sum(parts.values())
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
            notes += space.vectors.notes()
        return IndexState(
            units=units, embedded=embedded, embedder=space.embedder.name, state=state, parts=parts, notes=notes
        )

    def _serving(self, connection: "Connection") -> tuple[Space | None, str | None]:
        try:
            space = self._spaces.serving(connection)
        except (StoreCorrupt, OSError) as error:
            return None, self._noticed(error)
        except ClewError as error:
            return None, f"There are no vectors: {error.message}"
        if space is None and self._spaces.problem:
            return None, f"There are no vectors: {self._spaces.problem}"
        return space, None

    def _noticed(self, error: Exception) -> str:
        if not self.damaged:
            log.warning("%s", error)
        self.damaged = True
        return "The vectors are damaged; this answer ranks by words alone."

    def _nearest(
        self, connection: "Connection", space: Space, vector: "NDArray[np.float32]", condition: Condition, depth: int
    ) -> "tuple[NDArray[np.int64], NDArray[np.float32]]":
        import numpy as np

        from clew.search.dense.vectors import LARGEST_K

        if not self.visible.is_everything(connection, condition):
            return space.vectors.search(vector, depth, self.visible.numbers(connection, condition))
        everything = self.visible.numbers(connection, EVERYTHING)
        # No mask is needed where all units are allowed, only room for vectors whose unit is gone.
        surplus = max(0, len(space.vectors) - len(everything)) + 16
        if depth + surplus > LARGEST_K:
            return space.vectors.search(vector, depth, everything)
        numbers, scores = space.vectors.search(vector, depth + surplus)
        present = np.isin(numbers, everything)
        if np.count_nonzero(present) < min(depth, len(everything)):
            return space.vectors.search(vector, depth, everything)
        return numbers[present][:depth], scores[present][:depth]

    def _embedded(self, connection: "Connection", space: Space) -> int:
        import numpy as np

        try:
            have = space.vectors.numbers()
        except (ClewError, OSError) as error:
            self._noticed(error)
            return 0
        return int(np.count_nonzero(np.isin(have, self.visible.numbers(connection, EVERYTHING), assume_unique=True)))
