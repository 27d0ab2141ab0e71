"""Building the graph from files, incrementally.

A *reader* knows a file format: which files, how to parse one into records, and what the records contribute. The builder
keeps parsed records in the store by content hash, so that a file is parsed again only when its content changed, and an
unchanged one is not even opened.
"""

import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import msgspec

from clew.errors import ClewError, StoreError
from clew.files import FileEntry, Selection, read_bytes, scan, time_of
from clew.formats.diagnostics import Diagnostic
from clew.graph.graph import Graph
from clew.graph.link import Contribution, FileKey, Linker, LinkReport
from clew.graph.lock import ReadWriteLock
from clew.store.interface import CachedFile, Store

RACY_NS = 2_000_000_000
"""A file younger than this when it was read may change again without its time changing; its time is not trusted."""

BINARY_PROBE = 8_192
"""A NUL among this many first bytes makes a file binary."""

Progress = Callable[[int, int, str], None]
"""Called with files done, files in all and a word on what is being done. May raise Cancelled."""


class Reader(Protocol):
    """One file format."""

    name: str
    """Also the first part of the name under which records are cached."""
    version: str
    """Changes whenever the same bytes would give other records: the reader's own version and its settings."""
    selection: Selection
    records_type: Any
    """The type of what `read` returns, for decoding it from the cache."""

    def read(self, data: bytes, path: str) -> Any: ...

    def contribute(self, records: Any, path: str) -> Contribution: ...

    def diagnose(self, records: Any) -> tuple[Diagnostic, ...]: ...


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


class _Known(msgspec.Struct, frozen=True, gc=False):
    """The state in which a file was last seen."""

    size: int
    mtime_ns: int
    """0 where the file was so young that its time proves nothing."""
    content_hash: str
    """Empty where the file could not be read."""

    def matches(self, entry: FileEntry) -> bool:
        return self.size == entry.size and self.mtime_ns == entry.mtime_ns


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
        self._known: dict[FileKey, _Known] = {}
        self._diagnostics: dict[FileKey, tuple[Diagnostic, ...]] = {}
        self._marks: dict[str, int] = {}
        self._settled = False
        """Whether every folder's time is old enough to prove that nothing was added since."""

    def diagnostics(self) -> list[tuple[str, Diagnostic]]:
        """What readers reported, with the path, sorted by place."""
        found = [(path, item) for (path, _), items in self._diagnostics.items() for item in items]
        return sorted(found, key=lambda pair: (pair[0], pair[1].line, pair[1].code))

    def duplicate_ids(self) -> list[str]:
        return self._linker.duplicate_ids()

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

    def _unchanged(self, key: FileKey, known: _Known) -> bool:
        if known.mtime_ns:
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

    def _fingerprint(self) -> str:
        digest = hashlib.blake2b(digest_size=16)
        for key in sorted(self._known):
            digest.update(f"{key[0]}\0{key[1]}\0{self._known[key].content_hash}\n".encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def refresh(self, *, full: bool = False, progress: Progress | None = None) -> BuildReport:
        """Bring the graph in step with the files. `full` trusts no cache and parses every file."""
        started = time.perf_counter()
        at = datetime.now(UTC).isoformat()
        work = _Pass(self._root, self._store, {} if full else self._known, self._max_file_bytes, full, progress)
        for reader in self._readers:
            work.read(reader)
        gone = [key for key in self._known if key not in work.present]
        with self._lock.writing():
            links = self._linker.update(dict.fromkeys(gone) | work.contributions)
            for key in gone:
                del self._known[key]
                self._diagnostics.pop(key, None)
            self._known.update(work.known)
            self._marks, self._settled = work.marks, False
            self._diagnostics.update(work.diagnostics)
            self._graph.refreshed(at, self._fingerprint())
        work.keep(gone)
        return BuildReport(
            files=len(self._known),
            parsed=work.parsed,
            from_cache=work.from_cache,
            removed=len(gone),
            links=links,
            seconds=time.perf_counter() - started,
        )


class _Pass:
    """One pass over the files: what is new is read, from the cache where possible."""

    def __init__(
        self,
        root: Path,
        store: Store | None,
        known: Mapping[FileKey, _Known],
        max_file_bytes: int,
        full: bool,
        progress: Progress | None,
    ) -> None:
        self._root = root
        self._store = store
        self._trusted = known
        self._max_file_bytes = max_file_bytes
        self._full = full
        self._progress = progress
        self._fresh: list[CachedFile] = []
        self._cached_under: dict[str, str] = {}
        self.marks: dict[str, int] = {}
        self.present: set[FileKey] = set()
        self.known: dict[FileKey, _Known] = {}
        self.contributions: dict[FileKey, Contribution | None] = {}
        self.diagnostics: dict[FileKey, tuple[Diagnostic, ...]] = {}
        self.parsed = 0
        self.from_cache = 0

    def read(self, reader: Reader) -> None:
        tree = scan(self._root, reader.selection)
        self.marks.update(tree.marks)
        changed: list[FileEntry] = []
        for entry in tree.files:
            key = (entry.path, reader.name)
            self.present.add(key)
            known = self._trusted.get(key)
            if known is None or not known.matches(entry):
                changed.append(entry)
        cache_name = f"{reader.name}/{reader.version}"
        self._cached_under[reader.name] = cache_name
        cached = self._store.cached_files(cache_name) if changed and self._store and not self._full else {}
        for done, entry in enumerate(changed):
            if self._progress is not None:
                self._progress(done, len(changed), f"reading {reader.name} files")
            self._read_file(reader, cache_name, entry, cached.get(entry.path))

    def _read_file(self, reader: Reader, cache_name: str, entry: FileEntry, cached: CachedFile | None) -> None:
        key = (entry.path, reader.name)
        if cached is not None and (cached.size, cached.mtime_ns) == (entry.size, entry.mtime_ns):
            self.known[key] = _Known(entry.size, entry.mtime_ns, cached.content_hash)
            self._take_cached(reader, key, cached)
            return
        try:
            data = read_bytes(self._root, entry.path, limit=self._max_file_bytes)
        except ClewError as error:
            self._leave_out(key, entry, Diagnostic("file.unreadable", "error", str(error), 0))
            return
        if b"\0" in data[:BINARY_PROBE]:
            self._leave_out(key, entry, Diagnostic("file.binary", "warning", "The file is binary; it was not read.", 0))
            return
        digest = content_hash(data)
        self.known[key] = known = seen_now(entry, digest)
        trusted = self._trusted.get(key)
        if trusted is not None and trusted.content_hash == digest:
            return
        if cached is not None and cached.content_hash == digest:
            self._take_cached(reader, key, cached)
            payload = cached.payload
        else:
            records = reader.read(data, entry.path)
            payload = msgspec.msgpack.encode(records)
            self.parsed += 1
            self._take(reader, key, records)
        self._fresh.append(CachedFile(entry.path, cache_name, known.size, known.mtime_ns, digest, payload))

    def _take_cached(self, reader: Reader, key: FileKey, cached: CachedFile) -> None:
        self.from_cache += 1
        self._take(reader, key, msgspec.msgpack.decode(cached.payload, type=reader.records_type))

    def _take(self, reader: Reader, key: FileKey, records: Any) -> None:
        self.contributions[key] = reader.contribute(records, key[0])
        self.diagnostics[key] = reader.diagnose(records)

    def _leave_out(self, key: FileKey, entry: FileEntry, reason: Diagnostic) -> None:
        """A file that cannot be read contributes nothing but the reason."""
        self.known[key] = _Known(entry.size, entry.mtime_ns, "")
        self.contributions[key] = None
        self.diagnostics[key] = (reason,)

    def keep(self, gone: Iterable[FileKey]) -> None:
        """Put what was parsed into the cache. A store that cannot be written costs speed, not the build."""
        forget = [(self._cached_under[name], path) for path, name in gone]
        if self._store is None or not (self._fresh or forget):
            return
        try:
            self._store.cache_files(self._fresh, forget=forget)
        except StoreError as error:
            logging.getLogger(__name__).warning("The parse cache was not written: %s", error)


def content_hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def seen_now(entry: FileEntry, digest: str) -> _Known:
    """A file changed within the clock's grain of now may change again under the same time, so its time is dropped."""
    settled = time.time_ns() - entry.mtime_ns > RACY_NS
    return _Known(entry.size, entry.mtime_ns if settled else 0, digest)
