"""Vectors of units on disk: exact search by default, approximate where there are very many.

A space is a folder (vectors_files.py). Any number of processes may read while one writes. Every write is one step: it
is there as a whole once the call returns, and after a crash at any point either the whole of it or nothing is.
"""

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from clew.errors import InvalidArgument
from clew.search.dense import approximate as vectors_approximate
from clew.search.dense.approximate import ApproximateIndex
from clew.search.dense.entries import FURTHER, deleting, putting
from clew.search.dense.files import Approximate, translated
from clew.search.dense.lock import writing
from clew.search.dense.storage import Storage, write_anew
from clew.search.dense.view import View

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from clew.search.dense.rows import Numbers, Vectors

    Allowed: TypeAlias = NDArray[np.bool_] | NDArray[np.integer] | Sequence[int]

APPROXIMATE_FROM = 200_000
LARGEST_K = 10_000
PATIENCE = 30.0
_NEW_SHARE_BORNE = 0.2
_MANY, _SPARSE = 1000, 8
"""Looking many units up one by one takes longer than a mask, unless the mask has eight places for each unit."""
_CANDIDATES_PER_RESULT, _FEWEST_CANDIDATES = 4, 100


class VectorSpace:
    """The vectors of one embedder, by the number of their unit. A unit has one, or several."""

    def __init__(
        self,
        folder: Path,
        name: str,
        dimensions: int,
        *,
        approximate_from: int = APPROXIMATE_FROM,
        patience: float = PATIENCE,
    ) -> None:
        """`name` is the embedder's: a space made by another one is a Conflict, a damaged one StoreCorrupt.

        From `approximate_from` vectors on the approximate index is used, where it has been built. A writer waits
        `patience` seconds for another one.
        """
        _check_dimensions(dimensions)
        self.folder = folder
        self.name = name
        self.dimensions = dimensions
        self._approximate_from = approximate_from
        self._storage = Storage(folder, name, dimensions, patience)
        self._opening = threading.Lock()
        self._opened: tuple[Approximate, ApproximateIndex | None] | None = None

    @classmethod
    def rebuild(
        cls,
        folder: Path,
        name: str,
        dimensions: int,
        batches: "Iterable[tuple[ArrayLike, ArrayLike]]",
        *,
        approximate_from: int = APPROXIMATE_FROM,
        patience: float = PATIENCE,
    ) -> "VectorSpace":
        """Write the whole space anew from (numbers, vectors) as `put` takes them, whatever state it is in, and open it.

        Readers have the old one until the new one is complete; writers wait.
        """
        _check_dimensions(dimensions)
        checked = (
            (putting(units := _numbers(numbers)), _vectors(vectors, len(units), dimensions))
            for numbers, vectors in batches
        )
        with translated(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with writing(folder, patience):
                write_anew(folder, name, dimensions, checked)
        return cls(folder, name, dimensions, approximate_from=approximate_from, patience=patience)

    def __len__(self) -> int:
        return self._storage.view().units

    def numbers(self) -> "Numbers":
        """The units that have a vector, sorted."""
        return self._storage.view().distinct()

    @property
    def version(self) -> str:
        """Differs after every write."""
        manifest = self._storage.view().manifest
        return f"{manifest.generation}.{manifest.entries}"

    def get(self, numbers: "ArrayLike") -> "tuple[Numbers, Vectors]":
        """Those of the units that have a vector, in the given order, and the first vector of each."""
        view = self._storage.view()
        units = view.known(_numbers(numbers))
        rows = view.first_rows_of(units)
        view.rows.check(rows)
        return units, view.rows.vectors[rows]

    def put(self, numbers: "ArrayLike", vectors: "ArrayLike") -> None:
        """Set the vectors of units, new ones and known ones. A number that comes several times has several vectors, of
        which a search takes the one that is nearest."""
        units = _numbers(numbers)
        rows = _vectors(vectors, len(units), self.dimensions)
        with self._storage.writing():
            self._storage.append(putting(units), rows)

    def delete(self, numbers: "ArrayLike") -> int:
        """Remove units; how many of them were there."""
        units = np.unique(_numbers(numbers))
        with self._storage.writing():
            known = self._storage.view().known(units)
            self._storage.append(deleting(known), np.empty((0, self.dimensions), np.float32))
        return len(known)

    def compact(self) -> None:
        """Give back the space of dead rows. Happens by itself when a quarter of the rows is dead."""
        with self._storage.writing():
            self._storage.compact()

    def check(self) -> None:
        """Look at every block now instead of when it is first used. StoreCorrupt where one is damaged."""
        self._storage.view().rows.check()

    def search(self, query: "ArrayLike", k: int, allowed: "Allowed | None" = None) -> "tuple[Numbers, Vectors]":
        """The k units with the largest scalar product, and the products; equal ones by number.

        `allowed` narrows it to some units: a list of their numbers, or a mask in which the place of an allowed one is
        true.
        """
        vector = _vectors(np.asarray(query)[None], 1, self.dimensions)[0]
        if not 1 <= k <= LARGEST_K:
            raise InvalidArgument(f"k is {k}; it must be from 1 to {LARGEST_K:,}.", hint="Pass a number in this range.")
        view = self._storage.view()
        rows = _allowed_rows(view, allowed)
        if len(view.numbers) >= self._approximate_from and not view.is_few(rows):
            index = self._index(view)
            if index is not None:
                return _search_approximately(view, index, vector, k, rows)
        return view.search(vector, k, rows)

    @property
    def wants_approximate(self) -> bool:
        """Whether to call `build_approximate`: there are enough vectors, and many of them are in no index yet."""
        view = self._storage.view()
        covered = view.manifest.approximate.rows if view.manifest.approximate else 0
        return (
            len(view.numbers) >= self._approximate_from
            and view.manifest.rows - covered > covered * _NEW_SHARE_BORNE
            and vectors_approximate.library() is not None
        )

    def build_approximate(self) -> bool:
        """Index the present rows approximately; whether that was done. Takes about a minute for a million of them.

        Others may write meanwhile. Only if the rows are compacted in between is the work in vain.
        """
        faiss = vectors_approximate.library()
        view = self._storage.view()
        if faiss is None or not len(view.numbers):
            return False
        view.rows.check()
        generation, rows = view.manifest.generation, view.manifest.rows
        path = self.folder / f"approximate-{generation}-{rows}.index"
        with translated(self.folder):
            checksum = vectors_approximate.build(faiss, view.rows.vectors, np.sort(view.row_of), path)
        with self._storage.writing():
            if self._storage.view().manifest.generation != generation:
                path.unlink(missing_ok=True)
                return False
            self._storage.set_approximate(Approximate(path.name, rows, checksum))
        return True

    def notes(self) -> tuple[str, ...]:
        """What an administrator should know about the way searches are done."""
        view = self._storage.view()
        count = f"{len(view.numbers):,} vectors"
        if len(view.numbers) < self._approximate_from:
            return ()
        if vectors_approximate.library() is None:
            return (f"{count} are searched exactly; install {vectors_approximate.LIBRARY} to make it faster.",)
        if view.manifest.approximate is None:
            return (f"{count} are searched exactly until the approximate index is built.",)
        if self._index(view) is None:
            return (f"The approximate index of {count} is damaged; searches are exact until it is built anew.",)
        return ()

    def _index(self, view: View) -> ApproximateIndex | None:
        """The approximate index the manifest names; None where there is none, or it cannot be used."""
        described = view.manifest.approximate
        if described is None:
            return None
        with self._opening:
            if self._opened is None or self._opened[0] != described:
                path = self.folder / described.file
                self._opened = described, vectors_approximate.opened(path, described.rows, described.checksum)
            return self._opened[1]


def _search_approximately(
    view: View, index: ApproximateIndex, query: "Vectors", k: int, rows: "Numbers | None"
) -> "tuple[Numbers, Vectors]":
    eligible = view.eligible(rows)
    wanted = int(k * _CANDIDATES_PER_RESULT * len(view.numbers) / view.units)
    found = index.candidates(query, max(wanted, _FEWEST_CANDIDATES), eligible)
    newer = index.rows + np.flatnonzero(eligible[index.rows :])
    numbers, scores = view.among(np.concatenate([found, newer]), query, k)
    # A unit with many vectors near to the query takes the place of others.
    if len(numbers) < k and len(numbers) < view.units_in(rows):
        return view.search(query, k, rows)
    return numbers, scores


def _allowed_rows(view: View, allowed: "Allowed | None") -> "Numbers | None":
    if allowed is None:
        return None
    values = np.asarray(allowed)
    if values.dtype == np.bool_ and values.ndim == 1:
        return view.rows_allowed_by(values)
    units = _numbers(values)
    if len(units) > _MANY and units.max() < len(view.numbers) * _SPARSE:
        mask = np.zeros(int(units.max()) + 1, bool)
        mask[units] = True
        return view.rows_allowed_by(mask)
    return view.rows_of(np.unique(units))


def _check_dimensions(dimensions: int) -> None:
    if dimensions < 1:
        raise InvalidArgument(f"{dimensions} dimensions are too few.", hint="Pass at least 1.")


def _numbers(numbers: "ArrayLike") -> "Numbers":
    values = np.asarray(numbers)
    if values.size == 0:
        return np.empty(0, np.int64)
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise InvalidArgument("Units are named by a list of whole numbers.", hint="Pass a list of numbers.")
    low, high = int(values.min()), int(values.max())
    if low < 0 or high >= FURTHER:
        raise InvalidArgument(
            f"The number of a unit is from 0 to 2**62 - 1, not {low if low < 0 else high}.", hint="Correct the number."
        )
    return values.astype(np.int64)


def _vectors(vectors: "ArrayLike", count: int, dimensions: int) -> "Vectors":
    with np.errstate(over="ignore"):  # what is too large is found below
        values = np.ascontiguousarray(vectors, np.float32)
    if count == 0 and values.size == 0:
        return np.empty((0, dimensions), np.float32)
    if values.shape != (count, dimensions):
        raise InvalidArgument(
            f"{count} vectors of {dimensions} dimensions are expected, not an array of the shape {values.shape}.",
            hint="Pass one vector for each unit, from the embedder of this space.",
        )
    if not np.isfinite(values).all():
        raise InvalidArgument("A vector holds a number that is not finite.", hint="Pass finite numbers.")
    return values
