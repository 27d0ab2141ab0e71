"""Shared meaning: how near the passages of two sides lie in the space of an embedder."""

import json
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from clew.derived.file import DerivedFile, FileSchema
from clew.errors import ClewError
from clew.search.embed.embedder import Embedder
from clew.text.hashing import content_hash

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

_TEXTS_AT_ONCE = 32
"""So many are encoded in about a second, after which the work can be stopped."""
_FILE = "passages.db"
_SCHEMA = FileSchema(
    name="The store of passages",
    version=1,
    statements=(
        """
        CREATE TABLE passages (
            embedder TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (embedder, text_hash)
        )
        """,
    ),
    remedy="it is rebuilt",
)

Progress = Callable[[int, int, str], None]


class Vectors:
    """The vectors of passages, stored on disk under the hash of their text, so that a text is embedded once."""

    def __init__(self, embedder: Embedder, folder: Path | None = None) -> None:
        self._embedder = embedder
        self._folder = folder
        self._opened: DerivedFile | None = None
        self._known: dict[str, NDArray[np.float32]] = {}

    def missing(self, texts: Sequence[str]) -> list[str]:
        """The texts that have no stored vectors yet."""
        self._recall(texts)
        return [text for text in dict.fromkeys(texts) if text not in self._known]

    def of(self, texts: Sequence[str], progress: Progress | None = None) -> "Matrix":
        """One row for each text."""
        missing = self.missing(texts)
        for start in range(0, len(missing), _TEXTS_AT_ONCE):
            if progress is not None:
                progress(start, len(missing), "computing embeddings")
            batch = missing[start : start + _TEXTS_AT_ONCE]
            made = self._embedder.embed(batch)
            self._known.update(zip(batch, made, strict=True))
            self._keep(batch, made)
        if not texts:
            return np.zeros((0, self._embedder.dimensions), np.float32)
        return np.stack([self._known[text] for text in texts])

    def _recall(self, texts: Sequence[str]) -> None:
        unknown = {_hash(text): text for text in texts if text not in self._known}
        file = self._file() if unknown else None
        if file is None:
            return
        find = """
            SELECT text_hash, vector FROM json_each(?) CROSS JOIN passages ON embedder = ? AND text_hash = value
            """
        try:
            with file.reading() as connection:
                found = connection.execute(find, (json.dumps(list(unknown)), self._embedder.name)).fetchall()
        except ClewError:
            # What is kept here can be made again.
            return
        whole = self._embedder.dimensions * 4
        self._known.update(
            {unknown[hash]: np.frombuffer(vector, np.float32) for hash, vector in found if len(vector) == whole}
        )

    def _keep(self, texts: Sequence[str], vectors: "Matrix") -> None:
        file = self._file()
        if file is None:
            return
        rows = [
            (self._embedder.name, _hash(text), np.ascontiguousarray(vector, np.float32).tobytes())
            for text, vector in zip(texts, vectors, strict=True)
        ]
        try:
            with file.writing() as connection:
                connection.executemany("INSERT OR REPLACE INTO passages VALUES (?, ?, ?)", rows)
        except ClewError:
            self._folder = None

    def _file(self) -> DerivedFile | None:
        if self._folder is None:
            return None
        try:
            if self._opened is None:
                self._opened = DerivedFile(self._folder / _FILE, _SCHEMA)
                weakref.finalize(self, self._opened.close)
            self._opened.follow()
        except ClewError:
            self._folder = None
        return self._opened if self._folder is not None else None


def _hash(text: str) -> str:
    return content_hash(text.encode("utf-8", "replace"))


class VectorSource(Protocol):
    """A source of vectors for texts."""

    def of(self, texts: Sequence[str], progress: Progress | None = None) -> "Matrix":
        """One row for each text."""
        ...


class MeaningIndex:
    """The candidates of one side, by the vectors of their passages."""

    def __init__(
        self, vectors: VectorSource, candidates: Sequence[Sequence[str]], progress: Progress | None = None
    ) -> None:
        self._vectors = vectors
        self._openings = vectors.of([passages[0] for passages in candidates], progress)
        self._passages = vectors.of([text for passages in candidates for text in passages], progress)
        self._starts = _starts(candidates)

    def cosines(self, texts: Sequence[Sequence[str]], progress: Progress | None = None) -> "Matrix":
        """The mean of two views: how the beginnings compare, and the best match of one side's beginning with any
        passage of the other. One row for each text, one column for each candidate."""
        found = np.zeros((len(texts), len(self._openings)), np.float32)
        if not len(self._openings):
            return found
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            block = texts[start : start + _TEXTS_AT_ONCE]
            openings = self._vectors.of([passages[0] for passages in block], progress)
            passages = self._vectors.of([text for passages in block for text in passages], progress)
            there = np.maximum.reduceat(openings @ self._passages.T, self._starts, axis=1)
            here = np.maximum.reduceat(passages @ self._openings.T, _starts(block), axis=0)
            found[start : start + len(block)] = (openings @ self._openings.T + np.maximum(there, here)) / 2
        return found


class StatementIndex:
    """The candidates of one side by the vectors of their parts, where one side makes statements and the other has to
    meet them: the mean over the statements of the part that is nearest to each."""

    def __init__(
        self,
        vectors: VectorSource,
        candidates: Sequence[Sequence[str]],
        *,
        state: bool,
        best: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        """`state` tells if the candidates are the side that makes statements, and `best` the number of statements of
        each that count: the best matched ones; None counts all."""
        self._vectors = vectors
        self._parts = vectors.of([text for parts in candidates for text in parts], progress)
        self._starts = _starts(candidates)
        self._state = state
        self._best = best

    def means(self, texts: Sequence[Sequence[str]], progress: Progress | None = None) -> "Matrix":
        """One row for each text, one column for each candidate."""
        found = np.zeros((len(texts), len(self._starts)), np.float32)
        for start in range(0, len(texts) if len(self._starts) else 0, _TEXTS_AT_ONCE):
            block = texts[start : start + _TEXTS_AT_ONCE]
            near = self._vectors.of([text for parts in block for text in parts], progress) @ self._parts.T
            rows = _starts(block)
            if self._state:
                met = np.maximum.reduceat(near, rows, axis=0)
                found[start : start + len(block)] = mean_of_best(met.T, self._starts, self._best).T
            else:
                met = np.maximum.reduceat(near, self._starts, axis=1)
                found[start : start + len(block)] = mean_of_best(met, rows, self._best)
        return found


def mean_of_best(met: "Matrix", starts: "NDArray[np.intp]", best: int | None) -> "Matrix":
    """The mean over the rows of each group, or over so many of its highest in each column."""
    counts = np.diff(starts, append=len(met))
    if best is None or counts.max(initial=0) <= best:
        return np.asarray(np.add.reduceat(met, starts, axis=0) / counts[:, None], np.float32)
    found = [
        np.partition(met[start : start + count], count - min(best, count), axis=0)[-best:].mean(axis=0)
        for start, count in zip(starts, counts, strict=True)
    ]
    return np.asarray(found, np.float32)


def _starts(texts: Sequence[Sequence[str]]) -> "NDArray[np.intp]":
    """The index of each text's first passage among all passages."""
    counts = [len(passages) for passages in texts]
    return np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.intp) if counts else np.zeros(0, np.intp)
