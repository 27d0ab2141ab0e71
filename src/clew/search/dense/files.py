"""Vectors of an index in a file: one mapped file for each embedder, and the rows of the index that came since."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from clew.search.dense.indexing import Progress, VectorReport, index_vectors
from clew.search.dense.sharing import Sharing
from clew.search.dense.spaces import EmbeddingSpace, Spaces
from clew.search.dense.visibility import EVERYTHING, Visibility
from clew.search.embed.embedder import Embedder
from clew.search.index import UnitIndex
from clew.store.sql.conditions import Condition

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.search.embedded import EmbeddedIndexReader

    Vector = NDArray[np.float32]
    Vectors = NDArray[np.float32]


class FileVectors:
    """The statements of `VectorTable`."""

    def __init__(self, folder: Path, units: UnitIndex, spaces: Spaces, sharing: Sharing | None = None) -> None:
        self._folder = folder
        self._units = units
        self._spaces = spaces
        self._sharing = sharing
        self._visible = Visibility()

    def serving(self, reading: "EmbeddedIndexReader") -> EmbeddingSpace | None:
        return self._spaces.serving(reading.connection)

    def is_everything(self, reading: "EmbeddedIndexReader", condition: Condition) -> bool:
        return self._visible.is_everything(reading, condition)

    def is_empty(self, reading: "EmbeddedIndexReader", space: EmbeddingSpace) -> bool:
        return not len(space.vectors.view(reading.connection).numbers)

    def nearest(
        self, reading: "EmbeddedIndexReader", space: EmbeddingSpace, vector: "Vector", condition: Condition, depth: int
    ) -> Sequence[tuple[int, float]]:
        allowed = self._visible.mask(reading, condition)
        numbers, scores = space.vectors.search(reading.connection, vector, depth, allowed)
        return tuple(zip(numbers.tolist(), scores.tolist(), strict=True))

    def version(self, reading: "EmbeddedIndexReader", space: EmbeddingSpace) -> str:
        return str(space.vectors.view(reading.connection).last_row)

    def windows_of(
        self, reading: "EmbeddedIndexReader", space: EmbeddingSpace, numbers: Sequence[int]
    ) -> "Mapping[int, Vectors]":
        """Vectors of windows; for units without window vectors, that of the first window."""
        from clew.search.dense.window_vectors import unpacked

        find = """
            SELECT number, windows FROM json_each(?) CROSS JOIN embeddings ON embedder = ? AND number = value
            WHERE windows IS NOT NULL
            """
        wanted = msgspec.json.encode(list(numbers)).decode()
        rows = reading.connection.execute(find, (wanted, space.embedder.name)).fetchall()
        found = {number: unpacked(data, space.embedder.dimensions) for number, data in rows}
        others, first = space.vectors.get(reading.connection, [number for number in numbers if number not in found])
        return found | {number: first[row : row + 1] for row, number in enumerate(others.tolist())}

    def vectors_of(
        self, reading: "EmbeddedIndexReader", space: EmbeddingSpace, numbers: Sequence[int]
    ) -> "dict[int, Vector]":
        known, vectors = space.vectors.get(reading.connection, numbers)
        return dict(zip(known.tolist(), vectors, strict=True))

    def count(self, reading: "EmbeddedIndexReader", space: EmbeddingSpace) -> int:
        import numpy as np

        have = space.vectors.view(reading.connection).units
        present = self._visible.mask(reading, EVERYTHING)
        return int(np.count_nonzero(present[have[have < len(present)]]))

    def notes(self, reading: "EmbeddedIndexReader", space: EmbeddingSpace) -> tuple[str, ...]:
        return space.vectors.notes(reading.connection)

    def make(self, embedder: Embedder, progress: Progress) -> VectorReport:
        return index_vectors(self._folder, self._units, self._spaces, embedder, progress, self._sharing)
