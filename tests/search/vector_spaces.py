"""Vector spaces for tests: an index with units, and a space over it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from clew.search.dense.vectors import VectorSpace
from clew.search.dense.view import View
from clew.search.index import UnitIndex
from clew.search.units import Unit

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

NAME = "embedder"
FILE = "vectors.f32"


class Space:
    """A space as one process has it open, with an index whose units have the numbers from 1 on."""

    def __init__(self, folder: Path, dimensions: int, units: int = 0, *, approximate_from: int = 200_000) -> None:
        self.folder = folder
        self.index = UnitIndex(folder / "index.db")
        self.index.put(Unit(id=f"u{number}", part="rule", title="", body="") for number in range(1, units + 1))
        self.vectors = VectorSpace(self.index, folder / FILE, NAME, dimensions, approximate_from=approximate_from)

    def close(self) -> None:
        self.index.close()

    def put(self, numbers: "ArrayLike", vectors: "ArrayLike") -> None:
        self.vectors.put(numbers, vectors)

    def delete(self, *numbers: int) -> None:
        self.index.delete(f"u{number}" for number in numbers)

    def allowed(self) -> np.ndarray:
        """A mask of the units that are there."""
        with self.index.reading() as connection:
            numbers = [number for (number,) in connection.execute("SELECT number FROM indexed_units")]
        return mask(numbers)

    def search(self, query: "ArrayLike", k: int, allowed: np.ndarray | None = None) -> tuple[list[int], np.ndarray]:
        with self.index.reading() as connection:
            numbers, scores = self.vectors.search(connection, query, k, allowed)
        return numbers.tolist(), scores

    def get(self, numbers: "ArrayLike") -> tuple[list[int], np.ndarray]:
        with self.index.reading() as connection:
            found, vectors = self.vectors.get(connection, numbers)
        return found.tolist(), vectors

    def view(self) -> View:
        with self.index.reading() as connection:
            return self.vectors.view(connection)

    def units(self) -> list[int]:
        """The units that have a vector and are still there."""
        allowed = self.allowed()
        return [number for number in self.view().units.tolist() if number < len(allowed) and allowed[number]]


def mask(numbers: "ArrayLike") -> np.ndarray:
    values = np.asarray(numbers, np.int64)
    result = np.zeros(values.max(initial=0) + 1, bool)
    result[values] = True
    return result


@contextmanager
def opened(folder: Path, dimensions: int, units: int = 0, **more: int) -> Iterator[Space]:
    space = Space(folder, dimensions, units, **more)
    try:
        yield space
    finally:
        space.close()
