"""Bringing the store of documents and the search index in step with the files.

One document at a time, each as a whole: it is written to the store in one transaction and marked as not yet indexed,
then its units go into the search index, together with those of others where they are few, then it is marked as indexed.
Whatever stops the work, between or inside these steps, the next run goes on from there; nobody who searches meanwhile
waits. A document that cannot be read or kept is a problem that is reported, and keeps no other one away.

A document that is at another path than before is moved, not read again.
"""

import logging
import os
import posixpath
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from clew.edit import below
from clew.edit.locking import locked
from clew.edit.state_folder import make_folder_in
from clew.errors import Conflict, FormatError, NotFound, OutsideProject
from clew.kb.ingest.citations import Citations
from clew.kb.ingest.library import KnownDocument, Library
from clew.kb.ingest.prepare import VERSION, dividing_folder, prepare, unreadable
from clew.kb.ingest.records import ANYWHERE, CorpusDefaults, PreparedDocument
from clew.kb.ingest.units import PART, prepared_units, units_of
from clew.search.engine import SearchEngine
from clew.search.units import Unit
from clew.store.interface import Store
from clew.store.watched import Progress, watched
from clew.text.hashing import content_hash
from clew.workspace import worker
from clew.workspace.files import FileEntry, read_bytes
from clew.workspace.find import Selection, Tree, scan
from clew.workspace.follow import FileState, Follower

ALIKE = 0.5
"""The share of its sections that a document has in common with the one it was before it was moved and edited."""


class MovedDocuments:
    """The documents whose files are gone. One is taken out when a document with its content appears at another path."""

    def __init__(self, library: Library, gone: Mapping[str, KnownDocument]) -> None:
        self._library = library
        self._left = set(gone)
        self._by_content: dict[str, list[str]] = {}
        for path in sorted(gone):
            self._by_content.setdefault(gone[path].file.content_hash, []).append(path)
        self._by_section: dict[str, list[str]] | None = None
        """From the version of a section to the documents that have it; read when it is first needed."""
        self._sizes: Counter[str] = Counter()

    def paths(self) -> list[str]:
        return sorted(self._left)

    def same(self, path: str, content_hash: str) -> str | None:
        """The document with just this content, of several the one with the same name."""
        candidates = [each for each in self._by_content.get(content_hash, ()) if each in self._left]
        name = posixpath.basename(path)
        return min(candidates, key=lambda each: (posixpath.basename(each) != name, each), default=None)

    def alike(self, versions: Mapping[str, str]) -> str | None:
        """The document that has most sections in common with these, given by their ids and versions."""
        if not self._left or not versions:
            return None
        shared: Counter[str] = Counter()
        known = self._sections()
        for version in set(versions.values()):
            shared.update(path for path in known.get(version, ()) if path in self._left)
        best = min(shared, key=lambda path: (-shared[path], path), default=None)
        if best is None or shared[best] < ALIKE * max(len(versions), self._sizes[best]):
            return None
        return best

    def found(self, path: str) -> None:
        """It is known now where a document went."""
        self._left.discard(path)

    def _sections(self) -> Mapping[str, list[str]]:
        if self._by_section is None:
            self._by_section = {}
            with self._library.reading() as reading:
                for path in sorted(self._left):
                    sections = reading.sections_of(path)
                    self._sizes[path] = len(sections)
                    for version in {section.version for section in sections}:
                        self._by_section.setdefault(version, []).append(path)
        return self._by_section


log = logging.getLogger(__name__)

JOB = "kb_index"
LOCK = "writer.lock"
OTHERS_READ = "Another process is reading the documents."

_AT_ONCE = 500
"""Sections that go into the search index together."""
_NOTHING = content_hash(b"")
_READ_LARGE = "clew.kb.ingest.corpus:read_large"


class IngestionReport(msgspec.Struct, frozen=True, kw_only=True):
    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    indexed_again: int = 0
    """Documents that were known, but missing in the search index."""
    problems: tuple[str, ...] = ()
    """Documents that could not be read, and folders that are not there."""
    note: str | None = None
    """The reason if nothing was done."""


class Corpus(msgspec.Struct, frozen=True):
    """The selection of documents, and the settings for reading them."""

    root: Path
    selection: Selection
    max_file_bytes: int
    citations: Citations
    grammar: str
    """Names the grammar of ids; another one finds other citations."""
    origin: CorpusDefaults = ANYWHERE
    tag_folder: int | None = None
    """The folder of a path that gives the tag, counted from 1; None for the first by which the documents differ."""

    def of(self, files: Sequence[FileEntry]) -> "Corpus":
        """The same corpus with the folder that gives the tags of these files."""
        folder = self.tag_folder or dividing_folder(entry.path for entry in files)
        return msgspec.structs.replace(self, origin=msgspec.structs.replace(self.origin, tag_folder=folder))

    def reader(self) -> str:
        return content_hash(f"{VERSION}/{self.grammar}/{self.origin}".encode(), size=8)

    def scan(self) -> Tree:
        return scan(self.root, self.selection)

    def follower(self) -> Follower:
        """Follows the files and says which documents are new, changed or gone."""
        return Follower(self.root, {PART: self.selection}, max_file_bytes=self.max_file_bytes)

    def read(self, path: str) -> bytes:
        """The content of a file. NotFound where it is gone, FormatError or OutsideProject where it is not read."""
        return read_bytes(self.root, path, limit=self.max_file_bytes)

    def prepared(self, entry: FileEntry, data: bytes) -> PreparedDocument:
        """The rows made from a file with this content. A large file is read in a process of its own."""
        if len(data) > worker.LARGE_BYTES and (found := self._prepared_apart(entry, data)) is not None:
            return found
        try:
            return prepare(data, entry, self.citations, self.origin)
        except Exception as error:
            # A fault in a reader may cost one document, never all.
            log.exception("The document %s could not be read", entry.path)
            problem = f"'{entry.path}' cannot be read: a fault in Clew ({type(error).__name__})."
            return unreadable(entry, problem, self.origin, data)

    def _prepared_apart(self, entry: FileEntry, data: bytes) -> PreparedDocument | None:
        """The rows, made by another process; None if no process can be started, or if anything unusual happens."""
        request = LargeDocument(str(self.root), entry, self.origin, self.max_file_bytes)
        try:
            answer = worker.answer_apart(_READ_LARGE, msgspec.msgpack.encode(request))
            if answer is None:
                return unreadable(entry, worker.SET_ASIDE, self.origin, data)
            found = msgspec.msgpack.decode(answer, type=PreparedDocument | None)
        except (OSError, ValueError):
            return None
        return found if found is not None and found.document.content_hash == content_hash(data) else None

    def unreadable(self, entry: FileEntry, problem: str) -> PreparedDocument:
        return unreadable(entry, problem, self.origin)


class LargeDocument(msgspec.Struct, frozen=True):
    """The task of a process that reads one document and ends."""

    root: str
    entry: FileEntry
    origin: CorpusDefaults
    max_file_bytes: int


def read_large(message: bytes) -> bytes:
    """One document, for `clew.workspace.worker`; None if anything unusual happens."""
    from clew.config import load
    from clew.formats.elspais.ids.grammar import IdGrammar

    request = msgspec.msgpack.decode(message, type=LargeDocument)
    root, entry = Path(request.root), request.entry
    citations = Citations(IdGrammar(load(root).elspais))
    try:
        found = prepare(read_bytes(root, entry.path, limit=request.max_file_bytes), entry, citations, request.origin)
    except Exception:
        return msgspec.msgpack.encode(None)
    return msgspec.msgpack.encode(found)


class Ingestion:
    def __init__(self, corpus: Corpus, library: Library, engine: SearchEngine) -> None:
        self._corpus = corpus
        self._library = library
        self._engine = engine

    def run(self, progress: Progress = lambda done, total, message: None, *, full: bool = False) -> IngestionReport:
        """Read what changed; with `full`, everything. One process works at a time."""
        with self.alone() as alone:
            return self.read(progress, full=full) if alone else IngestionReport(note=OTHERS_READ)

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Take the lock on reading documents for the whole block; yields False if another process has it."""
        folder = self._library.path.parent
        make_folder_in(folder)
        with (
            os.fdopen(below.open_file(folder / LOCK, os.O_RDWR | os.O_CREAT), "r+b") as file,
            locked(file, 0.0) as held,
        ):
            yield held

    def read(self, progress: Progress, *, full: bool = False, again: Collection[str] = ()) -> IngestionReport:
        """Read changed documents, and those of `again` in any case. The caller holds the lock of `alone`."""
        return _Run(self._corpus, self._library, self._engine, progress, full, again).run()


class _Run:
    def __init__(
        self,
        corpus: Corpus,
        library: Library,
        engine: SearchEngine,
        progress: Progress,
        full: bool,
        again: Collection[str],
    ) -> None:
        self._corpus = corpus
        self._library = library
        self._engine = engine
        self._progress = progress
        self._full = full
        self._reader = ""
        self._again = frozenset(again)
        self._counts: Counter[str] = Counter()
        self._problems: list[str] = []
        self._stored: list[tuple[str, str]] = []
        """Documents, with the hash of their content, that go into the search index with the next ones."""
        self._unsettled: list[str] = []
        self._units: list[Unit] = []
        self._outdated: list[str] = []

    def run(self) -> IngestionReport:
        tree = self._corpus.scan()
        self._corpus = self._corpus.of(tree.files)
        self._reader = self._corpus.reader()
        self._problems += [f"{path} cannot be read." for path in tree.unreadable]
        self._problems += [f"The folder {path} does not exist." for path in tree.missing]
        self._problems += [f"{path} leads out of the project and is not read." for path in tree.outside]
        known = self._compared(self._library.known())
        present = {entry.path for entry in tree.files}
        gone = MovedDocuments(self._library, {path: known[path] for path in known.keys() - present})
        waiting = [entry for entry in tree.files if self._is_due(entry, known.get(entry.path))]
        self._counts["unchanged"] = len(present) - len(waiting)
        try:
            self._take_all(waiting, known, gone)
        finally:
            # What is stored is found, whatever ended the work.
            self._index()
        self._library.tidy()
        self._engine.units.tidy()
        counts: dict[str, Any] = dict(self._counts)
        return IngestionReport(**counts, problems=tuple(self._problems))

    def _take_all(self, waiting: list[FileEntry], known: dict[str, KnownDocument], gone: MovedDocuments) -> None:
        total = len(waiting) + len(gone.paths())
        # Nobody waits for a large document who asks for another one.
        waiting = sorted(waiting, key=lambda entry: entry.size > worker.LARGE_BYTES)
        for done, entry in enumerate(waiting):
            if entry.size > worker.LARGE_BYTES:
                self._index()
            self._progress(done, total, entry.path)
            self._take(entry, known.get(entry.path), gone)
        for done, path in enumerate(left := gone.paths(), start=total - len(left)):
            self._progress(done, total, path)
            self._drop(path)
        if total:
            self._progress(total, total, "documents")

    def _compared(self, known: dict[str, KnownDocument]) -> dict[str, KnownDocument]:
        """The known documents; a document is marked as not indexed if the search index lacks one of its sections: the
        index may have been rebuilt, and an earlier run may have stopped halfway. Index entries that no longer have a
        section are deleted."""
        with self._library.reading() as reading:
            sections = reading.count("sections")
            if sections == self._engine.state().parts.get(PART, 0) and all(each.indexed for each in known.values()):
                return known
            present = frozenset(reading.section_ids())
            indexed = self._engine.units.hashes(PART)
            missing = (reading.section(id) for id in present - indexed.keys())
            lacking = {section.document for section in missing if section is not None}
        self._engine.units.delete(id for id in indexed if id not in present)
        return {path: each._replace(indexed=each.indexed and path not in lacking) for path, each in known.items()}

    def _is_due(self, entry: FileEntry, known: KnownDocument | None) -> bool:
        if known is None or self._full or not known.indexed or entry.path in self._again or _is_unread(known):
            return True
        return known.reader != self._reader or not known.file.matches(entry)

    def _take(self, entry: FileEntry, known: KnownDocument | None, gone: MovedDocuments) -> None:
        read_ns = time.time_ns()
        try:
            data = self._corpus.read(entry.path)
        except NotFound:
            # It was there a moment ago; the next run sees that it is gone.
            return
        except (FormatError, OutsideProject) as error:
            self._problems.append(str(error))
            unread = self._corpus.unreadable(entry, str(error))
            if self._is_known_unreadable(unread):
                self._counts["unchanged"] += 1
            else:
                self._write(unread, known, None)
            return
        if known is not None and self._is_same(entry, known, data):
            self._note_time(entry, known, read_ns)
            if known.indexed:
                self._counts["unchanged"] += 1
            else:
                self._index_again(entry.path, known.file.content_hash)
            return
        prepared = self._corpus.prepared(entry, data)
        if not FileState.at_reading(entry, prepared.document.content_hash, read_ns).matches(entry):
            self._unsettled.append(entry.path)
        moved_from = self._moved_from(prepared, gone) if known is None else None
        if self._write(prepared, known, moved_from) and moved_from is not None:
            gone.found(moved_from)

    def _note_time(self, entry: FileEntry, known: KnownDocument, read_ns: int) -> None:
        """Note the time of a file whose content is known."""
        now = FileState.at_reading(entry, known.file.content_hash, read_ns)
        if now != known.file:
            self._library.touch(entry.path, now.size, now.mtime_ns)

    def _is_known_unreadable(self, unread: PreparedDocument) -> bool:
        """True if it is already recorded that a document cannot be read, for the same reason."""
        with self._library.reading() as reading:
            return reading.document(unread.document.path) == unread.document

    def _is_same(self, entry: FileEntry, known: KnownDocument, data: bytes) -> bool:
        if self._full or entry.path in self._again:
            return False
        return known.reader == self._reader and known.file.content_hash == content_hash(data)

    @staticmethod
    def _moved_from(prepared: PreparedDocument, gone: MovedDocuments) -> str | None:
        if not prepared.sections:
            return None
        document = prepared.document
        versions = {section.id: section.version for section in prepared.sections}
        return gone.same(document.path, document.content_hash) or gone.alike(versions)

    def _write(self, prepared: PreparedDocument, known: KnownDocument | None, moved_from: str | None) -> bool:
        """Put a document into the store; False if a row in the store conflicts with it."""
        document = prepared.document
        try:
            changed = self._library.replace(prepared, reader=self._reader, moved_from=moved_from)
        except Conflict as error:
            self._problems.append(str(error))
            return False
        self._counts["moved" if moved_from else "added" if known is None else "changed"] += 1
        self._outdated += changed.gone
        self._stored.append((document.path, document.content_hash))
        self._units += prepared_units(prepared)
        if len(self._units) + len(self._stored) >= _AT_ONCE:
            self._index()
        return True

    def _index_again(self, path: str, content: str) -> None:
        with self._library.reading() as reading:
            self._units += units_of(reading, path)
        self._stored.append((path, content))
        self._counts["indexed_again"] += 1
        if len(self._units) + len(self._stored) >= _AT_ONCE:
            self._index()

    def _index(self) -> None:
        """Put pending documents into the search index."""
        self._engine.units.delete(self._outdated)
        self._engine.units.put(self._units)
        if self._stored:
            self._library.mark_indexed(self._stored, unsettled=self._unsettled)
        self._outdated, self._units, self._stored, self._unsettled = [], [], [], []

    def _drop(self, path: str) -> None:
        with self._library.reading() as reading:
            sections = [section.id for section in reading.sections_of(path)]
        # The index first: were the work to stop in between, the document would still be known as gone.
        self._engine.units.delete(sections)
        self._library.remove(path)
        self._counts["removed"] += 1


def _is_unread(known: KnownDocument) -> bool:
    """True if a file could not be read. Its time does not show that it can be read now: a limit is raised, a right is
    given."""
    return known.file.size > 0 and known.file.content_hash == _NOTHING


def run_job(ingestion: Ingestion, store: Store | None, progress: Progress, *, full: bool = False) -> IngestionReport:
    """Read the documents as a job that others can watch and cancel."""
    return watched(store, JOB, lambda report: ingestion.run(report, full=full), progress)
