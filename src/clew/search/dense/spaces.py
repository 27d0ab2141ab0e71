"""The vector spaces of an index: one for each embedder that made vectors of its units.

Normally there is one. While another embedder is being introduced there are two: the old one, which is complete, serves
until the new one is. A space whose files are damaged is written anew from the vectors that the index keeps by text.
"""

import hashlib
import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from clew.errors import ClewError, ConfigError, NotFound, Unavailable
from clew.search.embed import Embedder, EmbedSettings, open_embedder
from clew.search.index import UnitIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.search.dense.vectors import VectorSpace
    from clew.store.sqlite.connections import Connection

REST_SECONDS = 30.0

_QUERIES_KEPT = 64
_ROWS_AT_ONCE = 2_000


class Made(msgspec.Struct, frozen=True):
    """An embedder that vectors of this index were made by."""

    name: str
    dimensions: int
    settings: EmbedSettings
    complete: bool
    """Whether every unit had its vector when indexing ended last."""


class Space:
    """An embedder and the vectors it made."""

    def __init__(self, embedder: Embedder, vectors: "VectorSpace") -> None:
        self.embedder = embedder
        self.vectors = vectors
        self._lock = threading.Lock()
        self._queries: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def vector(self, query: str) -> "NDArray[np.float32]":
        """The vector of a query; the last few are remembered, since a second page asks the same."""
        with self._lock:
            known = self._queries.get(query)
        if known is None:
            known = self._embed_query(query)
            with self._lock:
                self._queries[query] = known
                while len(self._queries) > _QUERIES_KEPT:
                    self._queries.popitem(last=False)
        return known

    def _embed_query(self, query: str) -> "NDArray[np.float32]":
        """A service is given one short try: somebody waits."""
        quick = getattr(self.embedder, "embed_query", None)
        vector: NDArray[np.float32] = quick(query) if quick is not None else self.embedder.embed([query])[0]
        return vector


class Spaces:
    def __init__(self, folder: Path, index: UnitIndex, settings: EmbedSettings) -> None:
        self._folder = folder
        self._index = index
        self.settings = settings
        self._lock = threading.Lock()
        self._open: dict[str, Space] = {}
        self._embedders: dict[EmbedSettings, Embedder] = {}
        self._being_opened: set[EmbedSettings] = set()
        self._rest_until = 0.0
        self.problem: str | None = None
        """Why there are no vectors though they are wanted."""

    @property
    def wanted(self) -> bool:
        return self.settings.kind != "none"

    def configured(self) -> Embedder | None:
        """The embedder of the settings; None, with a reason in `problem`, where it cannot be had."""
        if not self.wanted or time.monotonic() < self._rest_until:
            return None
        try:
            embedder = self._embedder(self.settings)
        except (ConfigError, Unavailable, NotFound) as error:
            self.rest(str(error))
            return None
        except OSError as error:
            self.rest(f"The embedder cannot be opened: {error}.")
            return None
        except ImportError as error:
            self.rest(f"A package that the embedder needs is missing: {error}. Install Clew again.")
            return None
        self.problem = None
        return embedder

    def rest(self, problem: str) -> None:
        """Leave the embedder alone for a while, so that not every search waits for what does not answer."""
        self.problem = problem
        self._rest_until = time.monotonic() + REST_SECONDS

    def serving(self, connection: "Connection") -> Space | None:
        """The space that answers queries now: that of the configured embedder once it is complete; until then one that
        an earlier embedder completed, where both its vectors and the embedder can still be used."""
        if not self.wanted:
            return None
        embedder = self.configured()
        made = self.made(connection)
        own = made.get(embedder.name) if embedder is not None else None
        if own is None or not own.complete:
            for other in made.values():
                if other.complete and other is not own and (space := self._earlier(other)) is not None:
                    return space
        return None if embedder is None else self.space(embedder)

    def space(self, embedder: Embedder) -> Space:
        """The space of an embedder. StoreCorrupt where its files are damaged."""
        from clew.search.dense.vectors import VectorSpace

        with self._lock:
            space = self._open.get(embedder.name)
            if space is None or not space.vectors.folder.exists():
                vectors = VectorSpace(self.folder_of(embedder.name), embedder.name, embedder.dimensions)
                space = self._open[embedder.name] = Space(embedder, vectors)
            return space

    def rebuilt(self, embedder: Embedder) -> Space:
        """The space, written anew from the vectors the index keeps."""
        from clew.search.dense.vectors import VectorSpace

        vectors = VectorSpace.rebuild(
            self.folder_of(embedder.name),
            embedder.name,
            embedder.dimensions,
            self._kept(embedder),
        )
        with self._lock:
            space = self._open[embedder.name] = Space(embedder, vectors)
            return space

    def folder_of(self, name: str) -> Path:
        # The numbers of units mean nothing in another file, so neither do the vectors under them.
        key = f"{name}/{self._index.series}"
        return self._folder / f"vectors-{hashlib.blake2b(key.encode(), digest_size=6).hexdigest()}"

    # What the index knows of its embedders

    def made(self, connection: "Connection") -> dict[str, Made]:
        rows = connection.execute("SELECT name, dimensions, settings, complete FROM embedders").fetchall()
        return {
            name: Made(name, dimensions, msgspec.json.decode(settings, type=EmbedSettings), bool(complete))
            for name, dimensions, settings, complete in rows
        }

    def register(self, embedder: Embedder, *, complete: bool) -> None:
        with self._index.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO embedders VALUES (?, ?, ?, ?)",
                (embedder.name, embedder.dimensions, msgspec.json.encode(self.settings).decode(), complete),
            )

    def drop_all_but(self, name: str) -> None:
        """Forget what other embedders made."""
        with self._index.writing() as connection:
            connection.execute("DELETE FROM embedders WHERE name <> ?", (name,))
            connection.execute("DELETE FROM embeddings WHERE embedder <> ?", (name,))
        kept = self.folder_of(name)
        with self._lock:
            self._open = {of: space for of, space in self._open.items() if of == name}
        for folder in self._folder.glob("vectors-*"):
            if folder != kept:
                shutil.rmtree(folder, ignore_errors=True)

    def _earlier(self, made: Made) -> Space | None:
        try:
            embedder = self._embedder(made.settings)
            return self.space(embedder) if embedder is not None and embedder.name == made.name else None
        except (ClewError, ImportError):
            # It was replaced, perhaps because it is gone. The new one is on its way.
            return None

    def _embedder(self, settings: EmbedSettings) -> Embedder | None:
        with self._lock:
            if settings in self._embedders:
                return self._embedders[settings]
            if settings in self._being_opened:
                raise Unavailable("The embedder is still being opened.", hint="Until then, words are searched.")
            self._being_opened.add(settings)
        # A service is asked for its dimensions here, which may take long: nobody else waits for it.
        try:
            opened = open_embedder(settings)
        finally:
            with self._lock:
                self._being_opened.discard(settings)
        if opened is not None:
            with self._lock:
                self._embedders[settings] = opened
        return opened

    def _kept(self, embedder: Embedder) -> "Iterator[tuple[list[int], NDArray[np.float32]]]":
        statement = """
            SELECT units.number, embeddings.vectors FROM units
            JOIN embeddings ON embeddings.embedder = ? AND embeddings.text_hash = units.text_hash
            ORDER BY units.number
            """
        with self._index.reading() as connection:
            rows = connection.execute(statement, (embedder.name,))
            while batch := rows.fetchmany(_ROWS_AT_ONCE):
                yield unpacked(batch, embedder.dimensions)


def unpacked(kept: Sequence[tuple[int, bytes]], dimensions: int) -> "tuple[list[int], NDArray[np.float32]]":
    """Units and vectors as a space takes them, from units with what is kept of their texts: the number of a unit comes
    as often as it has vectors."""
    import numpy as np

    numbers = [number for number, vectors in kept for _ in range(len(vectors) // (4 * dimensions))]
    return numbers, np.frombuffer(b"".join(vectors for _, vectors in kept), np.float32).reshape(-1, dimensions)
