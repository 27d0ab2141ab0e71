"""The vectors of one embedder, by the number of their unit: exact search by default, approximate where there are many.

They are rows of the table `embeddings`. A mapped file (derived/vector_file.py) holds a copy that is fast to search;
rows that the table got since are read from it and searched beside. `fold` writes the file again with all of them. Any
number of threads and processes may read and write meanwhile.
"""

import logging
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from clew.derived import vector_file
from clew.derived.vector_file import VectorFile, VectorFileHeader, damaged, open_vector_file, stamp_of
from clew.edit.replacing import put_in_place, sweep
from clew.errors import InvalidArgument
from clew.search.dense import approximate as faiss_index
from clew.search.dense.approximate import ApproximateIndex
from clew.search.dense.view import VectorRows, View
from clew.search.index import UnitIndex

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from clew.derived.vector_file import Numbers, Vectors
    from clew.store.sqlite.connections import SqliteConnection

log = logging.getLogger(__name__)

APPROXIMATE_FROM = 200_000
LARGEST_K = 10_000
FOLD_FROM, MOST_UNFOLDED = 1_024, 50_000
"""Newer rows that are worth a new file: an eighth of those in the file, but between these."""
_ROWS_AT_ONCE = 2_000
_CANDIDATES_PER_RESULT, _FEWEST_CANDIDATES = 4, 100


class VectorSpace:
    def __init__(
        self,
        index: UnitIndex,
        path: Path,
        name: str,
        dimensions: int,
        *,
        approximate_from: int = APPROXIMATE_FROM,
    ) -> None:
        """`name` is the embedder's; `path` is where the mapped file is. From `approximate_from` vectors on the
        approximate index is used, where it has been built."""
        if dimensions < 1:
            raise InvalidArgument(f"{dimensions} dimensions are too few.", hint="Pass at least 1.")
        self.path = path
        self.name = name
        self.dimensions = dimensions
        self._index = index
        self._key = f"{index.series}/{name}"
        self._approximate_from = approximate_from
        self._opening = threading.Lock()
        self._view: View | None = None
        self._approximate: tuple[object, ApproximateIndex | None] | None = None

    def view(self, connection: "SqliteConnection") -> View:
        """All vectors for the state of the index that `connection` reads; perhaps also later vectors, of units that
        this state does not have. StoreCorrupt if the mapped file is damaged."""
        seen = _last_row(connection)
        known = self._view
        if known is None or known.seen < seen:
            with self._opening:
                known = self._view
                if known is None or known.seen < seen:
                    known = self._view = self._advanced(connection, known, seen)
        return known

    def get(self, connection: "SqliteConnection", numbers: "ArrayLike") -> "tuple[Numbers, Vectors]":
        """The units that have a vector, in the given order, and the first vector of each."""
        view = self.view(connection)
        view.check()
        units, rows = view.first_rows_of(_numbers(numbers))
        return units, view.vectors_of(rows)

    def search(
        self, connection: "SqliteConnection", query: "ArrayLike", k: int, allowed: "NDArray[np.bool_] | None" = None
    ) -> "tuple[Numbers, Vectors]":
        """The k units with the largest scalar product, and the products; equal ones by number. `allowed` is a mask in
        which the place of a unit that may be found is true."""
        vector = _vectors(np.asarray(query)[None], 1, self.dimensions)[0]
        if not 1 <= k <= LARGEST_K:
            raise InvalidArgument(f"k is {k}; it must be from 1 to {LARGEST_K:,}.", hint="Pass a number in this range.")
        view = self.view(connection)
        eligible = view.eligible(allowed)
        if len(view.numbers) >= self._approximate_from and not view.is_few(eligible):
            index = self._approximate_index(view)
            if index is not None:
                return _search_approximately(view, index, vector, k, eligible)
        return view.search(vector, k, eligible)

    # Writing

    def put(self, numbers: "ArrayLike", vectors: "ArrayLike", windows: Sequence[bytes] | None = None) -> None:
        """Set the vectors of units; deleted units are skipped. A number that occurs several times has several vectors,
        of which a search takes the nearest. `windows` are the packed vectors of the windows of each unit."""
        units = _numbers(numbers)
        rows = _vectors(vectors, len(units), self.dimensions)
        order = np.argsort(units, kind="stable")
        distinct, start = np.unique(units[order], return_index=True)
        parts = np.split(rows[order], start[1:])
        with self._index.writing() as connection:
            connection.executemany(
                """
                INSERT OR REPLACE INTO embeddings (embedder, number, text_hash, vectors, windows)
                SELECT ?1, number, text_hash, ?3, ?4 FROM indexed_units WHERE number = ?2
                """,
                [
                    (self.name, number, own.tobytes(), None if windows is None else windows[order[place]])
                    for place, (number, own) in enumerate(zip(distinct.tolist(), parts, strict=len(distinct) > 0))
                ],
            )

    def drop_malformed(self) -> None:
        """Delete rows that hold no valid vector of this space; their units count as not embedded."""
        with self._index.writing() as connection:
            connection.execute(
                "DELETE FROM embeddings WHERE embedder = ? AND (length(vectors) = 0 OR length(vectors) % ? <> 0)",
                (self.name, self.dimensions * 4),
            )

    def wants_folding(self, connection: "SqliteConnection") -> bool:
        view = self.view(connection)
        return len(view.newer.numbers) >= min(max(FOLD_FROM, view.filed // 8), MOST_UNFOLDED)

    def fold(self) -> None:
        """Write the mapped file again from the table. One process at a time may do it. If the disk is full, searches go
        on with the present file."""
        try:
            with self._index.reading() as connection:
                (last,) = connection.execute(
                    "SELECT max(row) FROM embeddings WHERE embedder = ?", (self.name,)
                ).fetchone()
                header = VectorFileHeader(key=self._key, dimensions=self.dimensions, last_row=last or 0)
                temporary = vector_file.write_beside(self.path, header, self._table(connection))
            # What the file holds must be in the table for good: after a loss of power, numbers of lost units are given
            # to others.
            with self._index.writing(durable=True) as connection:
                connection.execute("UPDATE embedders SET folded = ? WHERE name = ?", (last or 0, self.name))
            put_in_place(temporary, self.path)
        except OSError as error:
            log.warning("The vectors in %s could not be rewritten: %s", self.path, error)
            sweep(self.path)
        with self._opening:
            self._view = None

    # The approximate index

    def wants_approximate(self, view: View) -> bool:
        """True if `build_approximate` should be called: there are enough vectors, and the file has no index of them."""
        return (
            view.filed >= self._approximate_from
            and faiss_index.library() is not None
            and self._approximate_index(view) is None
        )

    def build_approximate(self, view: View) -> bool:
        """Build an approximate index of the mapped file; returns whether that was done. Takes about a minute for a
        million rows. The index becomes useless when the file is rewritten."""
        faiss = faiss_index.library()
        if faiss is None or view.file is None:
            return False
        view.check()
        try:
            faiss_index.build(faiss, view.file, self.path)
        except OSError as error:
            log.warning("The approximate index of %s could not be written: %s", self.path, error)
            return False
        return True

    def notes(self, connection: "SqliteConnection") -> tuple[str, ...]:
        """Notes for an administrator about the speed of searches."""
        view = self.view(connection)
        if len(view.numbers) < self._approximate_from:
            return ()
        count = f"{len(view.numbers):,} vectors"
        if faiss_index.library() is None:
            return (f"{count} are searched exactly; install {faiss_index.LIBRARY} to make it faster.",)
        if view.file is None or faiss_index.file_of(view.file, self.path) is None:
            return (f"{count} are searched exactly until the approximate index is built.",)
        if self._approximate_index(view) is None:
            return (f"The approximate index of {count} is damaged; searches are exact until it is rebuilt.",)
        return ()

    def _approximate_index(self, view: View) -> ApproximateIndex | None:
        """The approximate index of the mapped file; None if it is missing or unusable."""
        path = None if view.file is None else faiss_index.file_of(view.file, self.path)
        if path is None:
            return None
        named = path, stamp_of(path)
        with self._opening:
            if self._approximate is None or self._approximate[0] != named:
                self._approximate = named, faiss_index.opened(path, view.filed)
            return self._approximate[1]

    # Reading the table

    def _advanced(self, connection: "SqliteConnection", known: View | None, seen: int) -> View:
        """The view after the rows that came since; of the file that is there now, where that is another one."""
        file = self._mapped(known)
        none = VectorRows(np.empty(0, np.int64), np.empty((0, self.dimensions), np.float32))
        goes_on = known is not None and known.file is file
        newer, last = (known.newer, known.last_row) if known is not None and goes_on else (none, 0)
        if not goes_on and file is not None:
            last = file.header.last_row
        rows = connection.execute(
            "SELECT number, vectors, row FROM embeddings WHERE row > ? AND embedder = ? ORDER BY row",
            (known.seen if known is not None and goes_on else last, self.name),
        ).fetchall()
        if rows:
            newer, last = newer.replaced_by(self._unpacked([row[:2] for row in rows])), rows[-1][2]
        return View(file, newer, last_row=last, seen=seen)

    def _mapped(self, known: View | None) -> VectorFile | None:
        if known is not None and known.file is not None and known.file.stamp == stamp_of(self.path):
            return known.file
        return open_vector_file(self.path, self._key, self.dimensions)

    def _table(self, connection: "SqliteConnection") -> Iterator[VectorRows]:
        rows = connection.execute(
            "SELECT number, vectors FROM embeddings WHERE embedder = ? ORDER BY number", (self.name,)
        )
        while batch := rows.fetchmany(_ROWS_AT_ONCE):
            yield self._unpacked(batch)

    def _unpacked(self, rows: Sequence[tuple[int, bytes]]) -> VectorRows:
        """The number of a unit comes as often as it has vectors."""
        size = self.dimensions * 4
        for number, own in rows:
            if not own or len(own) % size:
                raise damaged(self.path, f"the unit {number} has {len(own)} bytes of vectors of {size} bytes each")
        numbers = np.fromiter((number for number, _ in rows), np.int64, len(rows))
        counts = np.fromiter((len(own) // size for _, own in rows), np.int64, len(rows))
        vectors = np.frombuffer(b"".join(own for _, own in rows), np.float32).reshape(-1, self.dimensions)
        return VectorRows(np.repeat(numbers, counts), vectors)


def _last_row(connection: "SqliteConnection") -> int:
    """The last row that the table ever had."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'embeddings'").fetchone()
    return int(row[0]) if row else 0


def _search_approximately(
    view: View, index: ApproximateIndex, query: "Vectors", k: int, eligible: "NDArray[np.bool_]"
) -> "tuple[Numbers, Vectors]":
    view.check()
    wanted = int(k * _CANDIDATES_PER_RESULT * len(view.numbers) / len(view.units))
    found = index.candidates(query, max(wanted, _FEWEST_CANDIDATES), eligible)
    newer = view.filed + np.flatnonzero(eligible[view.filed :])
    numbers, scores = view.among(np.concatenate([found, newer]), query, k)
    # A unit with many vectors near to the query takes the place of others.
    if len(numbers) < k and len(numbers) < len(np.unique(view.numbers[eligible])):
        return view.search(query, k, eligible)
    return numbers, scores


def _numbers(numbers: "ArrayLike") -> "Numbers":
    values = np.asarray(numbers)
    if values.size == 0:
        return np.empty(0, np.int64)
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise InvalidArgument("Units are named by a list of whole numbers.", hint="Pass a list of numbers.")
    if int(values.min()) < 0 or int(values.max()) >= 2**62:
        raise InvalidArgument(
            f"The number of a unit is from 0 to 2**62 - 1, not {int(values.min())} to {int(values.max())}.",
            hint="Correct the number.",
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
