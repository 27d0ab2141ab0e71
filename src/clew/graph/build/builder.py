"""Building the graph from files, incrementally.

A *reader* knows a file format: which files, how to parse one into records, and what the records contribute. The builder
keeps parsed records in the store by content hash, so that a file is parsed again only when its content changed, and an
unchanged one is not even opened.
"""

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import msgspec

from clew.errors import ClewError, FileChanged, NotFound, StoreError
from clew.formats.diagnostics import Diagnostic
from clew.graph.build.collecting import without_collecting
from clew.graph.build.link import Contribution, FileKey, Linker, LinkReport
from clew.graph.build.reading import Known, Progress, Reader, Reading, Walked, cache_name, known_as
from clew.graph.graph import Graph
from clew.graph.lock import ReadWriteLock
from clew.store.interface import CachedFile, Store
from clew.text.hashing import content_hash
from clew.workspace.files import FileEntry, entry_of, is_settled, read_bytes, scan, time_of
from clew.workspace.paths import raw

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


class Drafts(Protocol):
    """Changes that are in the graph and in no file. They are no part of what files contribute, so they step aside
    while files are linked."""

    def open(self) -> None:
        """Get ready, before files are read."""

    def withdraw(self) -> None:
        """Take them out of the graph."""

    def forget(self) -> None:
        """Note that the graph they were in is gone."""

    def replay(self) -> None:
        """Put into the graph what of them still applies."""


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
        choose: Callable[[], Sequence[Reader]] | None = None,
    ) -> None:
        self._root = root
        self._readers = readers
        self._choose = choose
        """Says which readers the project needs by now, where that may change."""
        self._outdated: set[str] = set()
        """Readers whose records in the graph another one of the name would not read so."""
        self._graph = graph
        self._store = store
        self._lock = lock
        self._max_file_bytes = max_file_bytes
        self._linker = Linker(graph, self._reader_names)
        self._drafts: Drafts | None = None
        self._known: dict[FileKey, Known] = {}
        self._diagnostics: dict[FileKey, tuple[Diagnostic, ...]] = {}
        self._folders: dict[str, tuple[Diagnostic, ...]] = {}
        self._marks: dict[str, int] = {}
        self._settled = False
        """Whether every folder's time is old enough to prove that nothing was added since."""
        self._saving = threading.Lock()
        self._unsaved: dict[tuple[str, str], CachedFile | None] = {}
        """What the store's cache lacks, by reader and path; None for what it should forget."""

    @property
    def store(self) -> Store | None:
        """None where the project has none that can be used."""
        return self._store

    @property
    def linker(self) -> Linker:
        """What links the files now; a full refresh makes another one."""
        return self._linker

    @property
    def readers(self) -> Sequence[Reader]:
        return self._readers

    def _reader_names(self) -> list[str]:
        return [reader.name for reader in self._readers]

    def readers_of(self, path: str) -> list[Reader]:
        """Those that read a file."""
        return [reader for reader in self._readers if (path, reader.name) in self._known]

    def knows(self, path: str) -> bool:
        """Whether a file was read."""
        return bool(self.readers_of(path))

    def attach(self, drafts: Drafts) -> None:
        """Have drafts keep up with the files."""
        self._drafts = drafts

    def original(self, path: str, kept: bytes | None = None) -> bytes:
        """The content of a file that the graph was built from. FileChanged where it has another one by now; NotFound
        for a file that was never read and does not exist. `kept` is what this said of the same graph before: a file
        whose time shows that nobody wrote to it since is not opened again."""
        known = next((self._known[path, reader.name] for reader in self.readers_of(path)), None)
        if known is not None:
            if kept is not None and known.mtime_ns and time_of(self._root, path) == known.mtime_ns:
                return kept
            if (data := self._same_as(known, path)) is not None:
                return data
        try:
            # What cannot be read says why.
            read_bytes(self._root, path, limit=self._max_file_bytes)
        except NotFound:
            if known is None:
                raise
        raise FileChanged(
            f"'{path}' changed since it was read.", hint="refresh_graph reads it again.", data={"path": path}
        )

    def _same_as(self, known: Known, path: str) -> bytes | None:
        """What stands in a file, where it is what was read there. Then it does not matter where a link leads by now."""
        if entry_of(self._root, path).size != known.size:
            return None
        try:
            data = (self._root / raw(path)).read_bytes()
        except OSError:
            return None
        return data if content_hash(data) == known.content_hash else None

    def diagnostics(self) -> list[tuple[str, Diagnostic]]:
        """What readers reported, with the path, sorted by place."""
        found = [(path, item) for (path, _), items in self._diagnostics.items() for item in items]
        found += [(path, item) for path, items in self._folders.items() for item in items]
        return sorted(found, key=lambda pair: (pair[0], pair[1].line, pair[1].code))

    def duplicate_ids(self) -> list[str]:
        return self._linker.duplicate_ids()

    # Noticing changes

    @property
    def file_count(self) -> int:
        return len(self._known)

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
        looked_ns = time.time_ns()
        found = {
            (entry.path, reader.name) for reader in self._readers for entry in scan(self._root, reader.selection).files
        }
        same = found == self._known.keys()
        # Where files came or went without a mark, the next refresh has to walk the folders.
        self._settled = same and is_settled(max(self._marks.values(), default=0), looked_ns)
        return same

    def _unchanged(self, key: FileKey, known: Known) -> bool:
        if known.mtime_ns and known.content_hash:
            return time_of(self._root, key[0]) == known.mtime_ns
        entry = FileEntry(key[0], known.size, time_of(self._root, key[0]))
        read_ns = time.time_ns()
        try:
            digest = content_hash(read_bytes(self._root, entry.path, limit=self._max_file_bytes))
        except ClewError:
            return known.content_hash == ""
        if digest != known.content_hash:
            return False
        self._known[key] = known_as(entry, digest, read_ns)
        return True

    # Catching up

    @without_collecting
    def refresh(self, *, full: bool = False, progress: Progress | None = None) -> BuildReport:
        """Bring the graph in step with the files. `full` trusts nothing that was read before."""
        started = time.perf_counter()
        if self._drafts is not None:
            self._drafts.open()
        at = datetime.now(UTC).isoformat()
        self._take_readers()
        known = {} if full else self._known
        if self._outdated:
            known = {key: state for key, state in known.items() if key[1] not in self._outdated}
        reading = Reading(self._root, self._store, known, self._max_file_bytes, cached=not full)
        walked = Walked(self._marks, self._folders) if self._settled and not full else None
        reading.run(self._readers, progress, walked)
        gone = [key for key in self._known if key not in reading.present]
        contributions = dict.fromkeys(gone) | reading.contributions
        with self._lock.writing():
            fingerprint = self._graph.state.fingerprint
            if full:
                self._start_over()
            with self._drafts_aside(contributions):
                links = self._update(contributions)
                self._adopt(reading, gone)
                # Without a change in the files, the state stays what it is with its drafts.
                self._graph.refreshed(at, self._fingerprint() if full or contributions else fingerprint)
        return BuildReport(
            files=len(self._known),
            parsed=reading.parsed,
            from_cache=reading.from_cache,
            removed=len(gone),
            links=links,
            seconds=time.perf_counter() - started,
        )

    def _take_readers(self) -> None:
        """Take the readers that the project needs by now, and note whose records are no longer what they would read."""
        chosen = self._choose() if self._choose is not None else self._readers
        if chosen is self._readers:
            return
        before = {reader.name: cache_name(reader) for reader in self._readers}
        self._outdated |= {reader.name for reader in chosen if cache_name(reader) != before.get(reader.name)}
        # They may want other files, so the folders have to be walked.
        self._settled = False
        self._readers = chosen

    def read_again(self, paths: Sequence[str]) -> None:
        """Bring the graph in step with files of which it is known that they, and only they, changed."""
        at = datetime.now(UTC).isoformat()
        reading = Reading(self._root, self._store, self._known, self._max_file_bytes, cached=False)
        for path in paths:
            for reader in self.readers_of(path):
                reading.take(reader, path)
        with self._lock.writing(), self._drafts_aside(reading.contributions):
            self._update(reading.contributions)
            self._keep(reading)
            self._graph.refreshed(at, self._fingerprint())
        # Replacing a file leaves a mark on its folder. Whether others did as well is looked at more closely next time.
        self._settled = False
        for folder in {path.rpartition("/")[0] for path in paths} & self._marks.keys():
            self._marks[folder] = time_of(self._root, folder)

    def _update(self, contributions: Mapping[FileKey, Contribution | None]) -> LinkReport:
        try:
            return self._linker.update(contributions)
        except BaseException:
            # Half an update is no graph; the next refresh builds it from nothing.
            self._start_over()
            raise

    @contextmanager
    def _drafts_aside(self, contributions: Mapping[FileKey, Contribution | None]) -> Iterator[None]:
        """Files are linked without the drafts, which follow as far as they still apply."""
        first = not self._graph.state.last_refresh
        if self._drafts is None or not (contributions or first):
            yield
            return
        try:
            self._drafts.withdraw()
        except BaseException:
            # A graph that drafts cannot leave is none to link files into; the next refresh builds it from nothing.
            self._start_over()
            raise
        yield
        self._drafts.replay()

    def _start_over(self) -> None:
        if self._drafts is not None:
            self._drafts.forget()
        self._graph.clear()
        self._linker = Linker(self._graph, self._reader_names)
        self._known.clear()
        self._diagnostics.clear()
        # Nothing is known, so the folders have to be walked, though none of them changed.
        self._settled = False

    def _adopt(self, reading: Reading, gone: Sequence[FileKey]) -> None:
        for key in gone:
            self._known.pop(key, None)
            self._diagnostics.pop(key, None)
        self._outdated.clear()
        self._folders = reading.folders
        self._marks = reading.marks
        self._settled = is_settled(max(reading.marks.values(), default=0), reading.began_ns)
        names = {reader.name: cache_name(reader) for reader in self._readers}
        with self._saving:
            self._unsaved.update({(names[name], path): None for path, name in gone})
        self._keep(reading)

    def _keep(self, reading: Reading) -> None:
        self._known.update(reading.known)
        self._diagnostics.update(reading.diagnostics)
        with self._saving:
            self._unsaved.update({(file.reader, file.path): file for file in reading.fresh})

    def _fingerprint(self) -> str:
        known = self._known
        lines = "".join([f"{key[0]}\0{key[1]}\0{known[key].content_hash}\n" for key in sorted(known)])
        return hashlib.blake2b(lines.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()

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
