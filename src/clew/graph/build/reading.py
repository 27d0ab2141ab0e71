"""One pass over the files of a project: what is new is read, from the cache where possible."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from clew.derived.parse_cache import CachedFile, ParseCache
from clew.errors import ClewError, StoreError
from clew.formats.diagnostics import Diagnostic
from clew.graph.build.large_files import LargeFiles, MissingRecords, Outcome
from clew.graph.build.link import Contribution, FileKey
from clew.text.hashing import content_hash
from clew.workspace import worker
from clew.workspace.files import FileEntry, entry_of, read_bytes
from clew.workspace.find import Selection, Tree
from clew.workspace.follow import FileState

if TYPE_CHECKING:
    from clew.graph.build.parallel_parse import ParallelParse

log = logging.getLogger(__name__)

FEW_FILES = 5
"""So few changed files are parsed sooner than the cache is searched for them."""

SET_ASIDE = b"\xc1"
"""Cached in place of the records of a file that is set aside: no record begins with this byte."""

BINARY_PROBE = 8_192
"""A NUL among this many first bytes makes a file binary."""

_SET_ASIDE = Diagnostic("file.set_aside", "error", worker.SET_ASIDE, 0)

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


def cache_name(reader: Reader) -> str:
    return f"{reader.name}/{reader.version}"


class FilePass:
    """The outcome of a pass, collected reader by reader and file by file."""

    def __init__(
        self,
        root: Path,
        cache: ParseCache | None,
        states: Mapping[FileKey, FileState],
        max_file_bytes: int,
        looked_ns: int,
        large: LargeFiles,
        *,
        cached: bool,
    ) -> None:
        self._root = root
        self._cache = cache
        self._states_before = states
        self._max_file_bytes = max_file_bytes
        self._looked_ns = looked_ns
        self._use_cache = cached
        self._large = large
        self._waiting: list[tuple[Reader, FileEntry, str]] = []
        """Large files that are being read, each with the hash of its content."""
        self.states: dict[FileKey, FileState] = {}
        self.contributions: dict[FileKey, Contribution | None] = {}
        self.diagnostics: dict[FileKey, tuple[Diagnostic, ...]] = {}
        self.fresh: list[CachedFile] = []
        """Files to save in the cache for the next start."""
        self.parsed = 0
        self.from_cache = 0

    def run(self, readers: Sequence[Reader], entries: Mapping[FileKey, FileEntry], progress: Progress | None) -> None:
        """Read files that are new or changed. All are known beforehand, so that progress counts towards one total."""
        waiting: dict[str, list[FileEntry]] = {reader.name: [] for reader in readers}
        for (_, name), entry in entries.items():
            waiting[name].append(entry)
        changed = [(reader, waiting[reader.name]) for reader in readers]
        # A few files are parsed sooner than all that the cache keeps is looked at.
        few = FEW_FILES if self._states_before else 0
        cached = {reader.name: self._cached(reader) for reader, own in changed if len(own) > few}
        total, done = len(entries), 0
        later: list[tuple[Reader, FileEntry]] = []
        with self._shared(changed, cached) as sharing:
            for reader, own in changed:
                kept = cached.get(reader.name, {})
                message = f"reading {reader.name} files"
                for entry in own:
                    if progress is not None:
                        progress(done, total, message)
                    row = kept.get(entry.path)
                    shares = row is None and sharing is not None and not _is_large(entry)
                    if shares and sharing is not None and not sharing.claim((entry.path, reader.name)):
                        later.append((reader, entry))
                        continue
                    self._read(reader, entry, row)
                    done += 1
            parsed = sharing.finish() if sharing is not None else {}
        for reader, entry in later:
            found = parsed.get((entry.path, reader.name))
            if found is None or not self._take_parsed(reader, entry, found.content_hash, found.payload):
                self._read(reader, entry, None)
        self._take_large(lambda: progress(done, total, "reading a large file") if progress is not None else None)
        # Others may have parsed some of the files, but the order is that of the files.
        self.contributions = {key: self.contributions[key] for key in entries if key in self.contributions}

    @contextmanager
    def _shared(
        self, changed: list[tuple[Reader, list[FileEntry]]], cached: Mapping[str, Mapping[str, CachedFile]]
    ) -> "Iterator[ParallelParse | None]":
        """Share the work with other processes where there is enough of it."""
        unknown = [
            (reader, entry)
            for reader, entries in changed
            for entry in entries
            if entry.path not in cached.get(reader.name, {}) and not _is_large(entry)
        ]
        if not unknown:
            yield None
            return
        from clew.graph.build import parallel_parse

        if (
            sum(entry.size for _, entry in unknown) < parallel_parse.WORTHWHILE_BYTES
            or not parallel_parse.other_cores()
        ):
            yield None
            return
        from clew.graph.build.parse_messages import ParseTask

        tasks = {(entry.path, reader.name): ParseTask(cache_name(reader), entry.path) for reader, entry in unknown}
        with parallel_parse.shared(self._root, tasks, self._max_file_bytes) as sharing:
            yield sharing

    def _take_parsed(self, reader: Reader, entry: FileEntry, digest: str, payload: bytes) -> bool:
        """Take what another process parsed; returns whether that could be used."""
        key = (entry.path, reader.name)
        known = self._states_before.get(key)
        if known is None or known.content_hash != digest:
            if not self._take_records(reader, key, payload):
                return False
            self.parsed += 1
        self.states[key] = FileState.at_reading(entry, digest, self._looked_ns)
        if key in self.contributions:
            self._keep(reader, key, payload)
        return True

    def take(self, reader: Reader, path: str) -> None:
        """Read a single file."""
        # Clew itself wrote it.
        self._read(reader, entry_of(self._root, path), None, apart=False)

    def _cached(self, reader: Reader) -> dict[str, CachedFile]:
        if self._cache is None or not self._use_cache:
            return {}
        try:
            return self._cache.files(cache_name(reader))
        except StoreError as error:
            log.warning("The parse cache was not read: %s", error)
            return {}

    def _read(self, reader: Reader, entry: FileEntry, cached: CachedFile | None, *, apart: bool = True) -> None:
        """With `apart`, a large file is read in another process."""
        key = (entry.path, reader.name)
        if cached is not None and (cached.size, cached.mtime_ns) == (entry.size, entry.mtime_ns):
            if self._take_cached(reader, key, cached):
                self.states[key] = FileState(entry.size, entry.mtime_ns, cached.content_hash)
                return
            cached = None
        try:
            data = read_bytes(self._root, entry.path, limit=self._max_file_bytes)
        except ClewError as error:
            self._leave_out(key, entry, "", Diagnostic("file.unreadable", "error", str(error), 0))
            return
        digest = content_hash(data)
        known = self._states_before.get(key)
        if known is not None and known.content_hash == digest:
            self.states[key] = FileState.at_reading(entry, digest, self._looked_ns)
            return
        if b"\0" in data[:BINARY_PROBE]:
            reason = Diagnostic("file.binary", "warning", "The file is binary; it was not read.", 0)
            self._leave_out(key, entry, digest, reason)
            return
        self.states[key] = FileState.at_reading(entry, digest, self._looked_ns)
        if cached is not None and cached.content_hash == digest and self._take_cached(reader, key, cached):
            self._keep(reader, key, cached.payload)
        elif apart and _is_large(entry):
            self._large.begin(cache_name(reader), entry.path, digest)
            self._waiting.append((reader, entry, digest))
        else:
            self._parse(reader, key, entry, data)

    def _take_large(self, waiting: Callable[[], None]) -> None:
        """Take what became of the large files, after everything else was read."""
        waited, self._waiting = self._waiting, []
        for reader, entry, digest in waited:
            self._take_outcome(
                reader, entry, digest, self._large.outcome(cache_name(reader), entry.path, digest, waiting)
            )

    def _take_outcome(self, reader: Reader, entry: FileEntry, digest: str, outcome: Outcome | None) -> None:
        key = (entry.path, reader.name)
        if outcome is None:
            message = "The file is large and still being read; answers lack it until then."
            self._leave_out(key, entry, digest, Diagnostic("file.being_read", "warning", message, 0))
            # Without a state it counts as new, so the next look finds it.
            del self.states[key]
        elif outcome is MissingRecords.SET_ASIDE:
            self._leave_out(key, entry, digest, _SET_ASIDE)
            self._keep(reader, key, SET_ASIDE)
        elif outcome is MissingRecords.READ_HERE or not self._take_parsed(
            reader, entry, outcome.content_hash, outcome.payload
        ):
            self._read(reader, entry, None, apart=False)

    def _parse(self, reader: Reader, key: FileKey, entry: FileEntry, data: bytes) -> None:
        try:
            records = reader.read(data, entry.path)
            self._take(reader, key, records)
        except Exception as error:
            # A fault in a reader costs one file, never the graph.
            log.exception("The %s reader failed", reader.name)
            message = f"The {reader.name} reader failed with {type(error).__name__}; please report it."
            self._leave_out(key, entry, content_hash(data), Diagnostic("file.reader_failed", "error", message, 0))
            return
        self.parsed += 1
        self._keep(reader, key, msgspec.msgpack.encode(records))

    def _take_cached(self, reader: Reader, key: FileKey, cached: CachedFile) -> bool:
        """Use the cached records of a file; False if they cannot be used."""
        if cached.payload == SET_ASIDE:
            self.contributions[key], self.diagnostics[key] = None, (_SET_ASIDE,)
            return True
        if not self._take_records(reader, key, cached.payload):
            return False
        self.from_cache += 1
        return True

    # Implements: REQ-d00645-B
    def _take_records(self, reader: Reader, key: FileKey, payload: bytes) -> bool:
        """Use records that were made elsewhere; False if they cannot be used. Records of another version may not
        decode, or may not be what the reader would make: then the file is read again."""
        try:
            self._take(reader, key, msgspec.msgpack.decode(payload, type=reader.records_type))
        except Exception as error:
            # Whatever it is: the file itself is there.
            log.info("Records of %s cannot be used: %r", key[0], error)
            self.contributions.pop(key, None)
            self.diagnostics.pop(key, None)
            return False
        return True

    def _take(self, reader: Reader, key: FileKey, records: Any) -> None:
        self.contributions[key] = reader.contribute(records, key[0])
        self.diagnostics[key] = reader.diagnose(records)

    def _keep(self, reader: Reader, key: FileKey, payload: bytes) -> None:
        known = self.states[key]
        self.fresh.append(
            CachedFile(key[0], cache_name(reader), known.size, known.mtime_ns, known.content_hash, payload)
        )

    def _leave_out(self, key: FileKey, entry: FileEntry, digest: str, reason: Diagnostic) -> None:
        """A file that cannot be read contributes nothing but the reason."""
        self.states[key] = FileState.at_reading(entry, digest, self._looked_ns)
        self.contributions[key] = None
        self.diagnostics[key] = (reason,)


def _is_large(entry: FileEntry) -> bool:
    return entry.size > worker.LARGE_BYTES


def folder_diagnostics(trees: Iterable[Tree]) -> dict[str, tuple[Diagnostic, ...]]:
    """Diagnostics for folders that could not be read, by path."""
    found: dict[str, tuple[Diagnostic, ...]] = {}
    for tree in trees:
        for path in tree.unreadable:
            message = "It may not be read. Check the permissions."
            found[path] = (Diagnostic("file.unreadable", "error", message, 0),)
        for path in tree.outside:
            message = "It leads outside the project and was not read. Name what lies below the project's own folder."
            found[path] = (Diagnostic("file.outside", "warning", message, 0),)
        for path in tree.missing:
            message = "The configuration names this folder, but it does not exist. Correct the name, or create it."
            found[path] = (Diagnostic("file.missing", "warning", message, 0),)
    return found
