"""Building the graph from files, incrementally.

A *reader* knows a file format: which files, how to parse one into records, and what the records contribute. The builder
keeps parsed records in a cache by content hash, so that a file is parsed again only when its content changed, and an
unchanged one is not even opened.

No garbage is looked for meanwhile. Reading a project makes hundreds of thousands of objects that all stay and of which
none refers back to another. Python looks through them again and again for circles while they are made, which takes a
third of the time, and finds none.
"""

import functools
import gc
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar

import msgspec

from clew.derived.parse_cache import CachedFile, ParseCache
from clew.errors import FileChanged, NotFound, StoreError
from clew.formats.diagnostics import Diagnostic
from clew.graph.build.large_files import LargeFiles
from clew.graph.build.link import Contribution, FileKey, Linker, LinkReport
from clew.graph.build.reading import FilePass, Progress, Reader, cache_name, folder_diagnostics
from clew.graph.graph import Graph
from clew.graph.lock import ReadWriteLock
from clew.text.hashing import content_hash
from clew.workspace.files import entry_of, read_bytes
from clew.workspace.find import Selection
from clew.workspace.follow import Changes, FileState, Follower
from clew.workspace.paths import raw
from clew.workspace.regular import contents

P = ParamSpec("P")
R = TypeVar("R")

MANY_OBJECTS = 20_000
"""After so many new objects what is there now is left out of all later searches, too."""


def without_garbage_collection(work: Callable[P, R]) -> Callable[P, R]:
    """Make a function run without the search for garbage. What it makes has to be free of circles."""

    @functools.wraps(work)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if not gc.isenabled():
            return work(*args, **kwargs)
        gc.disable()
        try:
            return work(*args, **kwargs)
        finally:
            if gc.get_count()[0] > MANY_OBJECTS:
                gc.freeze()
            gc.enable()

    return run


log = logging.getLogger(__name__)


class BuildReport(msgspec.Struct, frozen=True):
    """Counts of one refresh."""

    files: int
    parsed: int
    """Files whose content was new."""
    from_cache: int
    """Files whose records came from the cache."""
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
        cache: ParseCache | None,
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
        self._cache = cache
        self._lock = lock
        self._max_file_bytes = max_file_bytes
        self.large_files = LargeFiles(root, max_file_bytes)
        self._linker = Linker(graph, self._reader_names)
        self._drafts: Drafts | None = None
        self.follower = Follower(root, _selections(readers), max_file_bytes=max_file_bytes)
        self._diagnostics: dict[FileKey, tuple[Diagnostic, ...]] = {}
        self._folders: dict[str, tuple[Diagnostic, ...]] = {}
        self._saving = threading.Lock()
        self._unsaved: dict[tuple[str, str], CachedFile | None] = {}
        """Changes of the cache that are not saved yet, by reader and path; None for an entry to delete."""

    @property
    def linker(self) -> Linker:
        """The present linker of the files; a full refresh makes another one."""
        return self._linker

    @property
    def readers(self) -> Sequence[Reader]:
        return self._readers

    def _reader_names(self) -> list[str]:
        return [reader.name for reader in self._readers]

    def readers_of(self, path: str) -> list[Reader]:
        """The readers of a file."""
        return [reader for reader in self._readers if (path, reader.name) in self.follower.states]

    def knows(self, path: str) -> bool:
        """True if a file was read."""
        return bool(self.readers_of(path))

    def attach(self, drafts: Drafts) -> None:
        """Have drafts keep up with the files."""
        self._drafts = drafts

    def original(self, path: str, kept: bytes | None = None) -> bytes:
        """The content of a file that the graph was built from. FileChanged where it has another one by now; NotFound
        for a file that was never read and does not exist. `kept` is what this said of the same graph before: a file
        whose size and time are unchanged is not opened again."""
        known = next((self.follower.states[path, reader.name] for reader in self.readers_of(path)), None)
        if known is not None:
            if kept is not None and known.matches(entry_of(self._root, path)):
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

    def _same_as(self, known: FileState, path: str) -> bytes | None:
        """Present content of a file, if it is the content that was read, wherever a link in its path leads by now; else
        None."""
        if entry_of(self._root, path).size != known.size:
            return None
        try:
            data = contents(self._root / raw(path), self._max_file_bytes)
        except OSError:
            return None
        return data if content_hash(data) == known.content_hash else None

    def diagnostics(self) -> list[tuple[str, Diagnostic]]:
        """Diagnostics of the readers, each with its path, sorted by place."""
        found = [(path, item) for (path, _), items in self._diagnostics.items() for item in items]
        found += [(path, item) for path, items in self._folders.items() for item in items]
        return sorted(found, key=lambda pair: (pair[0], pair[1].line, pair[1].code))

    def duplicate_ids(self) -> list[str]:
        return self._linker.duplicate_ids()

    # Noticing changes

    def is_stale(self) -> bool:
        """True if any file was added, removed or changed since the last refresh."""
        return not self.follower.is_current()

    # Catching up

    @without_garbage_collection
    def refresh(self, *, full: bool = False, progress: Progress | None = None) -> BuildReport:
        """Bring the graph in step with the files. `full` trusts nothing that was read before."""
        started = time.perf_counter()
        if self._drafts is not None:
            self._drafts.open()
        at = datetime.now(UTC).isoformat()
        self._take_readers()
        again = set(self._reader_names()) if full else self._outdated
        changes = self.follower.changes(again=again, walk=full)
        states = self.follower.states
        if again:
            states = {key: state for key, state in states.items() if key[1] not in again}
        reading = self._reading(states, changes.looked_ns, cached=not full)
        reading.run(self._readers, changes.entries, progress)
        contributions = dict.fromkeys(changes.gone) | reading.contributions
        with self._lock.writing():
            fingerprint = self._graph.state.fingerprint
            if full:
                self._start_over()
            with self._drafts_aside(contributions):
                links = self._update(contributions)
                self._adopt(reading, changes)
                # Without a change in the files, the state stays what it is with its drafts.
                self._graph.refreshed(at, self._fingerprint() if full or contributions else fingerprint)
        return BuildReport(
            files=len(self.follower.states),
            parsed=reading.parsed,
            from_cache=reading.from_cache,
            removed=len(changes.gone),
            links=links,
            seconds=time.perf_counter() - started,
        )

    def _reading(self, states: Mapping[FileKey, FileState], looked_ns: int, *, cached: bool) -> FilePass:
        return FilePass(
            *(self._root, self._cache, states, self._max_file_bytes, looked_ns, self.large_files), cached=cached
        )

    def _take_readers(self) -> None:
        """Take the readers that the project needs by now, and note whose records are no longer what they would read."""
        chosen = self._choose() if self._choose is not None else self._readers
        if chosen is self._readers:
            return
        before = {reader.name: cache_name(reader) for reader in self._readers}
        self._outdated |= {reader.name for reader in chosen if cache_name(reader) != before.get(reader.name)}
        self._readers = chosen
        self.follower.select(_selections(chosen))

    def read_again(self, paths: Sequence[str]) -> None:
        """Bring the graph in step with files of which it is known that they, and only they, changed."""
        at = datetime.now(UTC).isoformat()
        reading = self._reading(self.follower.states, time.time_ns(), cached=False)
        for path in paths:
            for reader in self.readers_of(path):
                reading.take(reader, path)
        with self._lock.writing(), self._drafts_aside(reading.contributions):
            self._update(reading.contributions)
            self._keep(reading)
            self._graph.refreshed(at, self._fingerprint())
        self.follower.wrote(paths)

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
            # Files are linked only into a graph without drafts; the next refresh builds a new one.
            self._start_over()
            raise
        yield
        self._drafts.replay()

    def _start_over(self) -> None:
        if self._drafts is not None:
            self._drafts.forget()
        self._graph.clear()
        self._linker = Linker(self._graph, self._reader_names)
        self.follower.forget(list(self.follower.states))
        self._diagnostics.clear()

    def _adopt(self, reading: FilePass, changes: Changes) -> None:
        self.follower.forget(changes.gone)
        for key in changes.gone:
            self._diagnostics.pop(key, None)
        self._outdated.clear()
        self._folders = folder_diagnostics(self.follower.trees())
        names = {reader.name: cache_name(reader) for reader in self._readers}
        with self._saving:
            self._unsaved.update({(names[name], path): None for path, name in changes.gone})
        self._keep(reading)

    def _keep(self, reading: FilePass) -> None:
        self.follower.note(reading.states)
        self._diagnostics.update(reading.diagnostics)
        with self._saving:
            self._unsaved.update({(file.reader, file.path): file for file in reading.fresh})

    def _fingerprint(self) -> str:
        states = self.follower.states
        lines = "".join([f"{key[0]}\0{key[1]}\0{states[key].content_hash}\n" for key in sorted(states)])
        return content_hash(lines.encode("utf-8", "surrogateescape"))

    def save(self) -> None:
        """Put what was parsed into the cache. A cache that cannot be written costs speed and nothing else."""
        with self._saving:
            unsaved, self._unsaved = self._unsaved, {}
            if self._cache is None or not unsaved:
                return
            fresh = [file for file in unsaved.values() if file is not None]
            forget = [key for key, file in unsaved.items() if file is None]
            try:
                self._cache.put(fresh, forget=forget, only=[cache_name(reader) for reader in self._readers])
            except StoreError as error:
                log.warning("The parse cache was not written: %s", error)


def _selections(readers: Sequence[Reader]) -> dict[str, Selection]:
    return {reader.name: reader.selection for reader in readers}
