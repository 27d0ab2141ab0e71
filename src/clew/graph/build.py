"""Building the graph from files, incrementally.

A *reader* knows a file format: which files, how to parse one into records, and what the records contribute. The builder
keeps parsed records in the store by content hash, so that a file is parsed again only when its content changed, and an
unchanged one is not even opened.
"""

import hashlib
import logging
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from clew.errors import ClewError, StoreError
from clew.files import FileEntry, read_bytes, scan, time_of
from clew.formats.diagnostics import Diagnostic
from clew.graph.graph import Graph
from clew.graph.link import FileKey, Linker, LinkReport
from clew.graph.lock import ReadWriteLock
from clew.graph.reading import RACY_NS, Known, Progress, Reader, Reading, cache_name, content_hash, seen_now
from clew.store.interface import CachedFile, Store

log = logging.getLogger(__name__)


class BuildReport(msgspec.Struct, frozen=True):
    """What a refresh did."""

    files: int
    parsed: int
    """Files whose content was new."""
    from_cache: int
    """Files whose records came from the store."""
    removed: int
    links: LinkReport
    seconds: float


class Builder:
    """Keeps one graph in step with the files of one project."""

    def __init__(
        self,
        root: Path,
        readers: Sequence[Reader],
        graph: Graph,
        store: Store | None,
        lock: ReadWriteLock,
        *,
        max_file_bytes: int,
    ) -> None:
        self._root = root
        self._readers = readers
        self._graph = graph
        self._store = store
        self._lock = lock
        self._max_file_bytes = max_file_bytes
        self._linker = Linker(graph)
        self._known: dict[FileKey, Known] = {}
        self._diagnostics: dict[FileKey, tuple[Diagnostic, ...]] = {}
        self._folders: dict[str, tuple[Diagnostic, ...]] = {}
        self._marks: dict[str, int] = {}
        self._settled = False
        """Whether every folder's time is old enough to prove that nothing was added since."""
        self._saving = threading.Lock()
        self._unsaved: dict[tuple[str, str], CachedFile | None] = {}
        """What the store's cache lacks, by reader and path; None for what it should forget."""

    def diagnostics(self) -> list[tuple[str, Diagnostic]]:
        """What readers reported, with the path, sorted by place."""
        found = [(path, item) for (path, _), items in self._diagnostics.items() for item in items]
        found += [(path, item) for path, items in self._folders.items() for item in items]
        return sorted(found, key=lambda pair: (pair[0], pair[1].line, pair[1].code))

    def duplicate_ids(self) -> list[str]:
        return self._linker.duplicate_ids()

    # Noticing changes

    def is_stale(self) -> bool:
        """Whether any file was added, removed or changed since the last refresh: one `stat` for each file and folder.

        A file or folder that was touched moments before the refresh is looked at more closely: its time may not have
        moved although its content did.
        """
        if any(time_of(self._root, path) != mark for path, mark in self._marks.items()):
            return True
        if not self._settled and not self._same_files():
            return True
        return any(not self._unchanged(key, known) for key, known in list(self._known.items()))

    def _same_files(self) -> bool:
        self._settled = time.time_ns() - max(self._marks.values(), default=0) > RACY_NS
        found = {
            (entry.path, reader.name) for reader in self._readers for entry in scan(self._root, reader.selection).files
        }
        return found == self._known.keys()

    def _unchanged(self, key: FileKey, known: Known) -> bool:
        if known.mtime_ns and known.content_hash:
            return time_of(self._root, key[0]) == known.mtime_ns
        entry = FileEntry(key[0], known.size, time_of(self._root, key[0]))
        try:
            digest = content_hash(read_bytes(self._root, entry.path, limit=self._max_file_bytes))
        except ClewError:
            return known.content_hash == ""
        if digest != known.content_hash:
            return False
        self._known[key] = seen_now(entry, digest)
        return True

    # Catching up

    def refresh(self, *, full: bool = False, progress: Progress | None = None) -> BuildReport:
        """Bring the graph in step with the files. `full` trusts nothing that was read before."""
        started = time.perf_counter()
        at = datetime.now(UTC).isoformat()
        known = {} if full else self._known
        reading = Reading(self._root, self._store, known, self._max_file_bytes, cached=not full)
        reading.run(self._readers, progress)
        gone = [key for key in self._known if key not in reading.present]
        with self._lock.writing():
            if full:
                self._start_over()
            try:
                links = self._linker.update(dict.fromkeys(gone) | reading.contributions)
            except BaseException:
                # Half an update is no graph; the next refresh builds it from nothing.
                self._start_over()
                raise
            self._adopt(reading, gone)
            self._graph.refreshed(at, self._fingerprint())
        return BuildReport(
            files=len(self._known),
            parsed=reading.parsed,
            from_cache=reading.from_cache,
            removed=len(gone),
            links=links,
            seconds=time.perf_counter() - started,
        )

    def _start_over(self) -> None:
        self._graph.clear()
        self._linker = Linker(self._graph)
        self._known.clear()
        self._diagnostics.clear()

    def _adopt(self, reading: Reading, gone: Sequence[FileKey]) -> None:
        for key in gone:
            self._known.pop(key, None)
            self._diagnostics.pop(key, None)
        self._known.update(reading.known)
        self._diagnostics.update(reading.diagnostics)
        self._folders = reading.folders
        self._marks, self._settled = reading.marks, False
        names = {reader.name: cache_name(reader) for reader in self._readers}
        with self._saving:
            self._unsaved.update({(names[name], path): None for path, name in gone})
            self._unsaved.update({(file.reader, file.path): file for file in reading.fresh})

    def _fingerprint(self) -> str:
        digest = hashlib.blake2b(digest_size=16)
        for key in sorted(self._known):
            digest.update(f"{key[0]}\0{key[1]}\0{self._known[key].content_hash}\n".encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def save(self) -> None:
        """Put what was parsed into the store's cache. A store that cannot be written costs speed and nothing else."""
        with self._saving:
            unsaved, self._unsaved = self._unsaved, {}
            if self._store is None or not unsaved:
                return
            fresh = [file for file in unsaved.values() if file is not None]
            forget = [key for key, file in unsaved.items() if file is None]
            try:
                self._store.cache_files(fresh, forget=forget, only=[cache_name(reader) for reader in self._readers])
            except StoreError as error:
                log.warning("The parse cache was not written: %s", error)
