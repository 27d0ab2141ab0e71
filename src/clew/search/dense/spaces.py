"""The vector spaces of an index: one for each embedder that made vectors of its units.

Normally there is one. While another embedder is being introduced there are two: the old one, which is complete, serves
until the new one is, if it is the encoder that comes with Clew. A service that only the index names is never asked: the
index may have come with the project, and its author would choose where texts and keys go.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from clew.cache import Cache
from clew.config import EmbedSettings
from clew.edit import below
from clew.errors import ClewError, ConfigError, NotFound, Unavailable
from clew.search.embed.embedder import Embedder
from clew.search.embed.opening import open_embedder
from clew.search.index import UnitIndex
from clew.text.hashing import content_hash
from clew.workspace.find import paths_named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.search.dense.vectors import VectorSpace
    from clew.store.sqlite.connections import SqliteConnection

PATIENCE_SECONDS = 2.0
"""Longest wait of a search for the vector of its query. Words answer at once."""
REST_SECONDS = 30.0

_QUERIES_KEPT = 64
_ENCODED_AT_ONCE = 4


class RecordedEmbedder(msgspec.Struct, frozen=True):
    """An embedder that made vectors of this index."""

    name: str
    dimensions: int
    settings: EmbedSettings
    complete: bool
    """True if every unit had its vector when indexing ended last."""


class QueryEncoder:
    """Vectors of queries from one embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._queries: Cache[str, NDArray[np.float32]] = Cache(_QUERIES_KEPT)

    def vector(self, query: str, patience: float | None = None) -> "NDArray[np.float32]":
        """The vector of a query; the latest are cached, because a second page asks for the same. TimeoutError if it
        takes longer than so many seconds: it is cached once it arrives."""
        known = self._queries.get(query)
        if known is not None:
            return known
        if patience is None:
            return self._embed_query(query)
        coming = _waiting().submit(self._embed_query, query)
        try:
            return coming.result(patience)
        except TimeoutError:
            # A request that has not begun is dropped: on a busy machine the next one would wait for it too.
            coming.cancel()
            raise

    def _embed_query(self, query: str) -> "NDArray[np.float32]":
        """A service is given one short try, because a caller waits."""
        quick = getattr(self.embedder, "embed_query", None)
        vector: NDArray[np.float32] = quick(query) if quick is not None else self.embedder.embed([query])[0]
        self._queries.put(query, vector)
        return vector


class EmbeddingSpace(QueryEncoder):
    """An embedder and the vectors it made."""

    def __init__(self, embedder: Embedder, vectors: "VectorSpace") -> None:
        super().__init__(embedder)
        self.vectors = vectors


@cache
def _waiting() -> ThreadPoolExecutor:
    """Threads that encode for waiting callers: a few, because the processors are the limit."""
    return ThreadPoolExecutor(_ENCODED_AT_ONCE, thread_name_prefix="clew-query")


class Embedders:
    """The embedder of the settings, which is opened when it is first wanted and left alone while it fails."""

    def __init__(self, settings: EmbedSettings, patience: float | None = None) -> None:
        self.settings = settings
        self.patience = PATIENCE_SECONDS if patience is None else patience
        self._lock = threading.Lock()
        self._embedders: dict[EmbedSettings, Embedder] = {}
        self._being_opened: set[EmbedSettings] = set()
        self._rest_until = 0.0
        self.problem: str | None = None
        """The reason why there are no vectors though they are wanted."""

    @property
    def wanted(self) -> bool:
        return self.settings.kind != "none"

    def configured(self) -> Embedder | None:
        """The embedder of the settings; None, with a reason in `problem`, if it cannot be used."""
        if not self.wanted or time.monotonic() < self._rest_until:
            return None
        try:
            embedder = self._embedder(self.settings)
        except (ConfigError, Unavailable, NotFound) as error:
            self.back_off(str(error))
            return None
        except OSError as error:
            self.back_off(f"The embedder cannot be opened: {error}.")
            return None
        except ImportError as error:
            self.back_off(f"A package that the embedder needs is missing: {error}. Install Clew again.")
            return None
        self.problem = None
        return embedder

    def back_off(self, problem: str) -> None:
        """Pause the embedder for a while, so that not every search waits for a service that does not answer."""
        self.problem = problem
        self._rest_until = time.monotonic() + REST_SECONDS

    def _embedder(self, settings: EmbedSettings) -> Embedder | None:
        with self._lock:
            if settings in self._embedders:
                return self._embedders[settings]
            if settings in self._being_opened:
                raise Unavailable("The embedder is still being opened.", hint="Until then, words are searched.")
            self._being_opened.add(settings)
        # A service is asked for its dimensions here, which may take long: no other caller waits for it.
        try:
            opened = open_embedder(settings)
        finally:
            with self._lock:
                self._being_opened.discard(settings)
        if opened is not None:
            with self._lock:
                self._embedders[settings] = opened
        return opened


class Spaces(Embedders):
    def __init__(self, folder: Path, index: UnitIndex, settings: EmbedSettings, patience: float | None = None) -> None:
        super().__init__(settings, patience)
        self._folder = folder
        self._index = index
        self._open: dict[str, EmbeddingSpace] = {}

    def serving(self, connection: "SqliteConnection") -> EmbeddingSpace | None:
        """The space that answers queries now: that of the configured embedder once it is complete; until then one that
        the encoder of Clew completed, where its vectors can still be used."""
        if not self.wanted:
            return None
        embedder = self.configured()
        made = self.recorded(connection)
        own = made.get(embedder.name) if embedder is not None else None
        if own is None or not own.complete:
            for other in made.values():
                if other.complete and other is not own and (space := self._earlier(other)) is not None:
                    return space
        return None if embedder is None else self.space(embedder)

    def space(self, embedder: Embedder) -> EmbeddingSpace:
        """The space of an embedder."""
        from clew.search.dense.vectors import VectorSpace

        with self._lock:
            space = self._open.get(embedder.name)
            if space is None:
                path = self.file_of(embedder.name)
                vectors = VectorSpace(self._index, path, embedder.name, embedder.dimensions)
                space = self._open[embedder.name] = EmbeddingSpace(embedder, vectors)
            return space

    def file_of(self, name: str) -> Path:
        """The mapped file of an embedder's vectors."""
        # The numbers of units mean nothing in another index, so neither do the vectors under them.
        key = f"{name}/{self._index.series}"
        return self._folder / f"vectors-{content_hash(key.encode(), size=6)}.f32"

    # What the index knows about its embedders

    def recorded(self, connection: "SqliteConnection") -> dict[str, RecordedEmbedder]:
        rows = connection.execute("SELECT name, dimensions, settings, complete FROM embedders").fetchall()
        return {
            name: RecordedEmbedder(name, dimensions, msgspec.json.decode(settings, type=EmbedSettings), bool(complete))
            for name, dimensions, settings, complete in rows
        }

    def register(self, embedder: Embedder, *, complete: bool) -> None:
        with self._index.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO embedders (name, dimensions, settings, complete) VALUES (?, ?, ?, ?)",
                (embedder.name, embedder.dimensions, msgspec.json.encode(self.settings).decode(), complete),
            )

    def drop_all_but(self, name: str) -> None:
        """Delete the vectors of all other embedders."""
        with self._index.writing() as connection:
            connection.execute("DELETE FROM embedders WHERE name <> ?", (name,))
            connection.execute("DELETE FROM embeddings WHERE embedder <> ?", (name,))
        kept = self.file_of(name)
        with self._lock:
            self._open = {of: space for of, space in self._open.items() if of == name}
        for path in paths_named(self._folder, "vectors-*"):
            if path.is_dir():
                # Earlier versions of Clew kept vectors in folders.
                below.remove_folder(path)
            elif path != kept and not path.name.startswith(f"{kept.stem}-"):
                below.remove(path)

    # Implements: REQ-d00261-G
    def _earlier(self, made: RecordedEmbedder) -> EmbeddingSpace | None:
        if made.settings.kind != EmbedSettings().kind:
            return None
        try:
            # Of what the index says about it, only its name counts.
            embedder = self._embedder(EmbedSettings(threads=self.settings.threads))
            return self.space(embedder) if embedder is not None and embedder.name == made.name else None
        except (ClewError, ImportError):
            # It was replaced, perhaps because it is gone. The new one is on its way.
            return None
