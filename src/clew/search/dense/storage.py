"""Reading and writing the files of a vector space: the newest view, and the steps that lead to the next one."""

import threading
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from clew.errors import Conflict
from clew.search.dense import files as vectors_files
from clew.search.dense.entries import putting
from clew.search.dense.files import Approximate, Manifest, damaged, translated
from clew.search.dense.lock import writing
from clew.search.dense.rows import MappedRows, with_rows
from clew.search.dense.view import View

if TYPE_CHECKING:
    from clew.search.dense.rows import Numbers, Vectors

_DEAD_ROWS_BORNE, _DEAD_SHARE_BORNE = 1024, 0.25
_COPIED_AT_ONCE = 4096
_OPENING_ATTEMPTS = 20


class Storage:
    def __init__(self, folder: Path, name: str, dimensions: int, patience: float) -> None:
        self.folder = folder
        self._name = name
        self._dimensions = dimensions
        self._patience = patience
        # A writer may wait long for another process; a reader of this one must not wait for it.
        self._writing = threading.Lock()
        self._opening = threading.Lock()
        with translated(folder):
            folder.mkdir(parents=True, exist_ok=True)
        self._stamped = self._opened(None)

    def view(self) -> View:
        """The newest one, whichever process wrote it."""
        stamp, view = self._stamped
        if stamp == vectors_files.stamp(self.folder):
            return view
        with self._opening:
            self._stamped = self._opened(self._stamped[1])
            return self._stamped[1]

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Let nobody else write. The methods below need it."""
        with self._writing, translated(self.folder):
            # Another process may have taken the folder away with everything in it.
            self.folder.mkdir(parents=True, exist_ok=True)
            with writing(self.folder, self._patience):
                yield

    def append(self, entries: "Numbers", vectors: "Vectors") -> None:
        if not len(entries):
            return
        vectors_files.write_manifest(self.folder, appended(self.folder, self.view().manifest, entries, vectors))
        view = self.view()
        dead = view.manifest.rows - len(view.numbers)
        if dead > max(_DEAD_ROWS_BORNE, view.manifest.rows * _DEAD_SHARE_BORNE):
            self.compact()

    def set_approximate(self, approximate: Approximate) -> None:
        manifest = msgspec.structs.replace(self.view().manifest, approximate=approximate)
        vectors_files.write_manifest(self.folder, manifest)
        vectors_files.remove_all_but(self.folder, manifest)

    def compact(self) -> None:
        """Write the live rows anew, in the order of their numbers."""
        view = self.view()
        view.rows.check()
        entries = putting(view.numbers)
        parts = (slice(at, at + _COPIED_AT_ONCE) for at in range(0, len(entries), _COPIED_AT_ONCE))
        batches = ((entries[part], view.rows.vectors[view.row_of[part]]) for part in parts)
        write_anew(self.folder, self._name, self._dimensions, batches)

    def _opened(self, known: View | None) -> tuple[vectors_files.Stamp, View]:
        """The newest view. Another process may replace the files while they are being opened."""
        for _ in range(_OPENING_ATTEMPTS):
            stamp = vectors_files.stamp(self.folder)
            try:
                return stamp, self._view_of(self._manifest(), known)
            except FileNotFoundError as error:
                if stamp == vectors_files.stamp(self.folder):
                    raise damaged(self.folder, f"{error.filename} is missing") from error
        raise vectors_files.busy(self.folder)

    def _manifest(self) -> Manifest:
        manifest = vectors_files.read_manifest(self.folder)
        if manifest is None:
            generation = vectors_files.next_generation(self.folder)
            return Manifest(name=self._name, dimensions=self._dimensions, generation=generation)
        if (manifest.name, manifest.dimensions) != (self._name, self._dimensions):
            raise Conflict(
                f"The vectors in {self.folder} were made by '{manifest.name}' with {manifest.dimensions} dimensions, "
                f"not by '{self._name}' with {self._dimensions}.",
                hint="Index again with this embedder, or configure the other one.",
            )
        return manifest

    def _view_of(self, manifest: Manifest, known: View | None) -> View:
        """From a view of the same generation only what has been added since needs to be read."""
        if known is None or not manifest.continues(known.manifest):
            start = Manifest(name=manifest.name, dimensions=manifest.dimensions, generation=manifest.generation)
            path = self.folder / manifest.vectors_file
            known = View.empty(start, MappedRows(path, self._dimensions, np.empty(0, np.uint64), 0))
        checksums = np.frombuffer(manifest.block_checksums, np.uint64)
        rows = known.rows.grown(checksums, manifest.rows)
        return known.advanced(manifest, rows, self._journal(manifest, known.manifest))

    def _journal(self, manifest: Manifest, known: Manifest) -> "Numbers":
        if manifest.entries == known.entries:
            return np.empty(0, np.int64)
        with (self.folder / manifest.journal_file).open("rb") as file:
            file.seek(known.entries * 8)
            content = file.read((manifest.entries - known.entries) * 8)
        if zlib.crc32(content, known.journal_checksum) != manifest.journal_checksum:
            raise damaged(self.folder, f"{manifest.journal_file} does not match its checksum")
        return np.frombuffer(content, np.int64)


def appended(folder: Path, manifest: Manifest, entries: "Numbers", vectors: "Vectors") -> Manifest:
    """Write rows and journal entries behind those the manifest counts; the manifest that counts them too."""
    vectors_files.append(folder / manifest.vectors_file, manifest.rows * manifest.dimensions * 4, vectors.tobytes())
    journal = entries.tobytes()
    vectors_files.append(folder / manifest.journal_file, manifest.entries * 8, journal)
    checksums = with_rows(np.frombuffer(manifest.block_checksums, np.uint64), manifest.rows, vectors)
    return msgspec.structs.replace(
        manifest,
        # A folder that an earlier Clew made may have entries from now on that it does not know.
        format=vectors_files.FORMAT,
        rows=manifest.rows + len(vectors),
        entries=manifest.entries + len(entries),
        journal_checksum=zlib.crc32(journal, manifest.journal_checksum),
        block_checksums=checksums.tobytes(),
    )


def write_anew(folder: Path, name: str, dimensions: int, batches: "Iterable[tuple[Numbers, Vectors]]") -> None:
    """Replace whatever is there by the entries and vectors. The caller holds the writer's lock."""
    manifest = Manifest(name=name, dimensions=dimensions, generation=vectors_files.next_generation(folder))
    for entries, vectors in batches:
        manifest = appended(folder, manifest, entries, vectors)
    vectors_files.write_manifest(folder, manifest)
    vectors_files.remove_all_but(folder, manifest)
