"""Search by meaning: the units whose vectors are nearest to that of a query, among those that fulfil a condition.

Each engine has a `VectorTable` of its own statements. What is asked of them, and what becomes of an answer while an
encoder fails or vectors are damaged, is the same for both.

Vectors are kept by the numbers of units, and a number never stands for another text. Only the units that the index has
at this moment are let through, so that a deleted unit is gone at once.
"""

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from clew.errors import ClewError, StoreCorrupt
from clew.search.dense.indexing import Progress, VectorReport
from clew.search.dense.sharing import Sharing
from clew.search.dense.spaces import Embedders, QueryEncoder
from clew.search.embed.embedder import Embedder
from clew.search.question import IndexState
from clew.search.units import WORDS_ONLY
from clew.store.sql.conditions import Condition

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.search.reading import IndexReader

    Vector = NDArray[np.float32]
    Vectors = NDArray[np.float32]


log = logging.getLogger(__name__)

TOO_BUSY = "The encoder is too busy to answer in time: this answer uses keywords only. Ask again for semantic results."
_NOT_BUILT = "The semantic index is not built yet: this answer uses keywords only. `clew index` builds it."


class VectorRanking(msgspec.Struct, frozen=True):
    hits: tuple[tuple[int, float], ...] = ()
    note: str | None = None
    """Reason for an empty ranking, where it is not the query."""
    failed: bool = False
    """True if the next call may have more luck, with the same index."""


class VectorTable(Protocol):
    """Vectors in one engine. Each engine has its own type of `reading`; `space` is the result of `serving` for it."""

    def serving(self, reading: Any) -> QueryEncoder | None:
        """The embedder that makes the vectors of queries."""
        ...

    def is_everything(self, reading: Any, condition: Condition) -> bool:
        """True if the condition lets every unit through, so that single units need no check."""
        ...

    def is_empty(self, reading: Any, space: Any) -> bool: ...

    def nearest(
        self, reading: Any, space: Any, vector: "Vector", condition: Condition, depth: int
    ) -> Sequence[tuple[int, float]]: ...

    def version(self, reading: Any, space: Any) -> str:
        """A text that differs after every change of the vectors."""
        ...

    def windows_of(self, reading: Any, space: Any, numbers: Sequence[int]) -> "Mapping[int, Vectors]":
        """Vectors of the windows of units."""
        ...

    def vectors_of(self, reading: Any, space: Any, numbers: Sequence[int]) -> "dict[int, Vector]":
        """The first vector of each unit that has one."""
        ...

    def count(self, reading: Any, space: Any) -> int:
        """Number of units with a vector."""
        ...

    def notes(self, reading: Any, space: Any) -> tuple[str, ...]: ...

    def make(self, embedder: Embedder, progress: Progress) -> VectorReport:
        """Make the vectors that are missing."""
        ...


class VectorSearch:
    def __init__(self, table: VectorTable, embedders: Embedders, sharing: Sharing | None = None) -> None:
        self.embedders = embedders
        self.damaged = False
        """True after damaged vectors were met, until `make` wrote them again."""
        self._table = table
        self._sharing = sharing
        self._lock = threading.Lock()
        self._described: tuple[tuple[object, ...], IndexState] | None = None

    def make(self, progress: Progress) -> VectorReport:
        """Make the vectors that are missing."""
        embedder = self.embedders.configured()
        if embedder is None:
            return VectorReport(note=self.embedders.problem or "The configuration asks for no embedder.")
        report = self._table.make(embedder, progress)
        if report.note is None:
            self.damaged = False
        return report

    def forget(self, hashes: Sequence[str]) -> None:
        """Delete the embeddings of some texts on all servers."""
        if self._sharing is not None and hashes:
            self._sharing.forget(hashes)

    def is_everything(self, reading: "IndexReader", condition: Condition) -> bool:
        """True if the condition lets every unit through, so that single units need no check."""
        return self._table.is_everything(reading, condition)

    def rank(
        self, reading: "IndexReader", query: str, condition: Condition, depth: int, vector: "Vector | None" = None
    ) -> VectorRanking:
        """The units nearest to a query, or to its vector where that is known."""
        space, note = self._serving(reading)
        if space is None:
            return VectorRanking(note=note)
        try:
            if self._table.is_empty(reading, space):
                return VectorRanking(note=_NOT_BUILT)
            vector = space.vector(query, self.embedders.patience) if vector is None else vector
            hits = self._table.nearest(reading, space, vector, condition, depth)
        except TimeoutError:
            return VectorRanking(note=TOO_BUSY, failed=True)
        except StoreCorrupt as error:
            return VectorRanking(note=self._noticed(error), failed=True)
        except Exception as error:
            # Whatever an embedder or a file does wrong costs the ranking by meaning, never the answer.
            log.warning("Semantic search failed: %s", error)
            self.embedders.back_off(str(error))
            note = f"This answer uses keywords only: {getattr(error, 'message', error)}"
            return VectorRanking(note=note, failed=True)
        self.damaged = False
        return VectorRanking(tuple(hits))

    def version(self, reading: "IndexReader") -> str:
        """A text that differs after every change of the vectors that answer."""
        space, _ = self._serving(reading)
        return self._version_of(reading, space)

    def _version_of(self, reading: "IndexReader", space: QueryEncoder | None) -> str:
        if space is None:
            return ""
        try:
            version = self._table.version(reading, space)
        except (ClewError, OSError) as error:
            self._noticed(error)
            version = "damaged"
        return f"{space.embedder.name}/{version}"

    def embed_query(self, reading: "IndexReader", query: str, *, patiently: bool = True) -> "Vector | None":
        """The vector of a query. Errors of its encoder are raised. TimeoutError where the encoder is too busy and the
        caller does not wait patiently."""
        space, _ = self._serving(reading)
        return None if space is None else space.vector(query, None if patiently else self.embedders.patience)

    def window_likeness(self, reading: "IndexReader", query: str, numbers: Sequence[int]) -> "dict[int, Vector]":
        """Nearness of each window of some units to a query, of the windows that have vectors."""
        space, _ = self._serving(reading)
        if space is None:
            return {}
        try:
            vector = space.vector(query, self.embedders.patience)
            windows = self._table.windows_of(reading, space, numbers)
            return {number: own @ vector for number, own in windows.items()}
        except TimeoutError:
            # Quotes are then chosen by words; the search before has reported that.
            return {}
        except Exception as error:
            # Quotes are then chosen by words; the search before reported that the encoder failed.
            log.warning("The windows could not be compared: %s", error)
            return {}

    def vectors_of(self, reading: "IndexReader", numbers: Sequence[int]) -> "dict[int, Vector]":
        """The first vector of each unit that has one."""
        space, _ = self._serving(reading)
        if space is None or not numbers:
            return {}
        try:
            return self._table.vectors_of(reading, space, numbers)
        except (ClewError, OSError):
            return {}

    def state(self, reading: "IndexReader") -> IndexState:
        """State of the index; counted once for each version of it."""
        space, note = self._serving(reading)
        key = (reading.writes(), self._version_of(reading, space), note, self.damaged)
        with self._lock:
            known = self._described
        if known is None or known[0] != key:
            described = self._describe(reading, space, note)
            known = (*key[:-1], self.damaged), described
            with self._lock:
                self._described = known
        return known[1]

    def _describe(self, reading: "IndexReader", space: QueryEncoder | None, note: str | None) -> IndexState:
        parts = reading.parts()
        # What is found by its words alone would never be complete.
        units = sum(number for part, number in parts.items() if part not in WORDS_ONLY)
        notes: tuple[str, ...] = (note,) if note else ()
        if space is None:
            state = "damaged" if self.damaged else "words_only"
            return IndexState(units=units, embedded=0, embedder=None, state=state, parts=parts, notes=notes)
        embedded = self._embedded(reading, space)
        configured = self.embedders.configured()
        if configured is None or configured.name != space.embedder.name:
            state = "changing_embedder"
            other = configured.name if configured is not None else f"one that cannot be used ({self.embedders.problem})"
            notes += (f"The embedder changed to {other}; until its vectors are made, the old ones answer.",)
        elif self.damaged:
            state = "damaged"
        else:
            state = "complete" if embedded >= units else "indexing"
            notes += self._table.notes(reading, space)
        return IndexState(
            units=units, embedded=embedded, embedder=space.embedder.name, state=state, parts=parts, notes=notes
        )

    def _embedded(self, reading: "IndexReader", space: QueryEncoder) -> int:
        try:
            return self._table.count(reading, space)
        except (ClewError, OSError) as error:
            self._noticed(error)
            return 0

    def _serving(self, reading: "IndexReader") -> tuple[QueryEncoder | None, str | None]:
        """The embedder that makes the vectors of queries, or the reason why there is none."""
        try:
            space = self._table.serving(reading)
        except (StoreCorrupt, OSError) as error:
            return None, self._noticed(error)
        except ClewError as error:
            return None, f"Search uses keywords only: {error.message}"
        if space is None and self.embedders.problem:
            return None, f"Search uses keywords only: {self.embedders.problem}"
        return space, None

    def _noticed(self, error: Exception) -> str:
        if not self.damaged:
            log.warning("%s", error)
        self.damaged = True
        return "The vectors are damaged; this answer uses keywords only."
