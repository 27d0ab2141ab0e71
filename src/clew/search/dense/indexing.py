"""Making the vectors of units: work that takes minutes, may stop anywhere and goes on where it stopped.

What is left to do is always seen from the index itself: the units that have no vector yet. So nothing is lost when the
process dies, nothing is done twice, and it does not matter which process goes on. One works at a time; units whose text
was embedded before, under another id or before an edit was taken back, need no embedding again.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from clew.errors import StoreBusy, StoreCorrupt, StoreError
from clew.search.dense.pieces import embedded_texts
from clew.search.dense.spaces import Space, Spaces, unpacked
from clew.search.embed import Embedder
from clew.search.index import Text, UnitIndex, units_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Progress = Callable[[int, int, str], None]
"""Done, total, what is being done. May raise Cancelled, which ends the work where it is."""

TEXTS_AT_ONCE = 64
"""As much as is lost when the work is stopped, and as long as whoever stops it waits."""
_SURPLUS_BORNE = 1.25


class VectorReport(msgspec.Struct, frozen=True, kw_only=True):
    embedder: str | None = None
    embedded: int = 0
    """Texts that went through the embedder."""
    reused: int = 0
    """Texts whose vector was there already."""
    rebuilt: bool = False
    """Whether damaged vectors were written anew."""
    note: str | None = None
    """Why nothing was done, if so."""


def index_vectors(folder: Path, index: UnitIndex, spaces: Spaces, progress: Progress) -> VectorReport:
    """Give every unit its vector."""
    embedder = spaces.configured()
    if embedder is None:
        return VectorReport(note=spaces.problem or "The configuration asks for no embedder.")
    from clew.search.dense.lock import writing

    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as turn:
        try:
            turn.enter_context(writing(folder, 0.0))
        except StoreBusy:
            return VectorReport(embedder=embedder.name, note="Another process is making the vectors.")
        return _Work(index, spaces, embedder, progress).run()


class _Work:
    def __init__(self, index: UnitIndex, spaces: Spaces, embedder: Embedder, progress: Progress) -> None:
        self._index = index
        self._spaces = spaces
        self._embedder = embedder
        self._progress = progress
        self._embedded = 0
        self._reused = 0

    def run(self) -> VectorReport:
        with self._index.reading() as connection:
            known = self._spaces.made(connection).get(self._embedder.name)
        if known is None:
            self._spaces.register(self._embedder, complete=False)
        space, rebuilt = self._sound_space()
        # Units may come in while others are embedded: one more look, and the rest is for the next run.
        for _ in range(2):
            if pending := self._pending(space):
                self._reuse(space, pending)
                self._embed(space, self._pending(space))
        if self._embedded or self._reused or rebuilt or known is None or not known.complete:
            self._finish(space)
        # An index that is busy is tidied another time.
        with suppress(StoreError):
            self._index.tidy()
        return VectorReport(embedder=self._embedder.name, embedded=self._embedded, reused=self._reused, rebuilt=rebuilt)

    def _sound_space(self) -> tuple[Space, bool]:
        try:
            space = self._spaces.space(self._embedder)
            space.vectors.check()
        except StoreCorrupt:
            self._progress(0, 0, "The vectors are damaged; writing them anew")
            return self._spaces.rebuilt(self._embedder), True
        return space, False

    def _pending(self, space: Space) -> list[Text]:
        """The units without a vector, short texts first. Vectors of units that are gone go too."""
        import numpy as np

        texts = self._index.texts()
        have = space.vectors.numbers()
        wanted = np.fromiter((text.number for text in texts), np.int64, len(texts))
        gone = np.setdiff1d(have, wanted, assume_unique=True)
        if len(gone):
            space.vectors.delete(gone)
        missing = set(np.setdiff1d(wanted, have, assume_unique=True).tolist())
        return sorted((text for text in texts if text.number in missing), key=lambda text: text.characters)

    def _reuse(self, space: Space, pending: Sequence[Text]) -> None:
        find = "SELECT vectors FROM embeddings WHERE embedder = ? AND text_hash = ?"
        for start in range(0, len(pending), TEXTS_AT_ONCE):
            part = pending[start : start + TEXTS_AT_ONCE]
            with self._index.reading() as connection:
                rows = [
                    (text.number, row[0])
                    for text in part
                    if (row := connection.execute(find, (self._embedder.name, text.text_hash)).fetchone())
                ]
            if rows:
                space.vectors.put(*unpacked(rows, self._embedder.dimensions))
                self._reused += len(rows)

    def _embed(self, space: Space, pending: Sequence[Text]) -> None:
        total = len(pending)
        for start in range(0, total, TEXTS_AT_ONCE):
            self._progress(start, total, "Embedding")
            part = pending[start : start + TEXTS_AT_ONCE]
            with self._index.reading() as connection:
                units = units_of(connection, (text.number for text in part))
            # A unit that was taken out in the meantime needs no vector any more.
            present = [text for text in part if text.number in units]
            made_of = [embedded_texts(units[text.number], self._embedder) for text in present]
            for done, group in _groups([len(texts) for texts in made_of]):
                if done:
                    self._progress(start + done, total, "Embedding")
                self._embed_group(space, present[group], made_of[group])
        self._progress(total, total, "Embedding")

    def _embed_group(self, space: Space, texts: Sequence[Text], made_of: Sequence[Sequence[str]]) -> None:
        import numpy as np

        vectors = self._embedder.embed([each for some in made_of for each in some])
        counts = [len(some) for some in made_of]
        # The space refuses what is no vector before it is kept for good.
        space.vectors.put(np.repeat([text.number for text in texts], counts), vectors)
        self._keep(texts, np.split(vectors, np.cumsum(counts)[:-1]))
        self._embedded += len(texts)

    def _keep(self, texts: Sequence[Text], vectors: "Sequence[NDArray[np.float32]]") -> None:
        rows = [(self._embedder.name, text.text_hash, own.tobytes()) for text, own in zip(texts, vectors, strict=True)]
        with self._index.writing() as connection:
            connection.executemany("INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?)", rows)

    def _finish(self, space: Space) -> None:
        self._spaces.register(self._embedder, complete=True)
        self._spaces.drop_all_but(self._embedder.name)
        self._forget_old_texts()
        if space.vectors.wants_approximate:
            self._progress(0, 0, "Building the approximate index")
            space.vectors.build_approximate()

    def _forget_old_texts(self) -> None:
        """Drop what was made of texts that are gone, once it is a good part of all: it takes a look at every text."""
        with self._index.writing() as connection:
            (kept,) = connection.execute("SELECT count(*) FROM embeddings").fetchone()
            (units,) = connection.execute("SELECT count(*) FROM units").fetchone()
            if kept > units * _SURPLUS_BORNE + TEXTS_AT_ONCE:
                connection.execute("DELETE FROM embeddings WHERE text_hash NOT IN (SELECT text_hash FROM units)")


def _groups(sizes: Sequence[int]) -> Iterator[tuple[int, slice]]:
    """Where each group of units begins, and the group: as many as have TEXTS_AT_ONCE texts together, or one."""
    start = texts = 0
    for place, size in enumerate(sizes):
        if start < place and texts + size > TEXTS_AT_ONCE:
            yield start, slice(start, place)
            start, texts = place, 0
        texts += size
    if sizes:
        yield start, slice(start, len(sizes))
