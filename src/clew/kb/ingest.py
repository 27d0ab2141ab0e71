"""Bringing the store of documents and the search index in step with the files.

One document at a time, each as a whole: it is written to the store in one transaction and marked as not yet indexed,
then its units go into the search index, then it is marked as indexed. Whatever stops the work, between or inside these
steps, the next run goes on from there; nobody who searches meanwhile waits.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from clew.errors import Cancelled, ClewError, FormatError, NotFound, OutsideProject, StoreError
from clew.files import FileEntry, Selection, read_bytes, scan
from clew.kb.citing import Citations
from clew.kb.library import Known, Library
from clew.kb.preparing import VERSION, content_hash, prepare, unreadable
from clew.kb.units import PART, units_of
from clew.locking import locked
from clew.search.engine import SearchEngine
from clew.search.units import Unit
from clew.store.interface import Job, Store

JOB = "kb_index"
LOCK = "writer.lock"

Progress = Callable[[int, int, str], None]
"""Done, total, what is being done. May raise Cancelled, which ends the work where it is."""


class IndexReport(msgspec.Struct, frozen=True, kw_only=True):
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
    """Why nothing was done, if so."""


class Corpus(msgspec.Struct, frozen=True):
    """Which documents there are, and how they are read."""

    root: Path
    selection: Selection
    max_file_bytes: int
    citations: Citations
    grammar: str
    """Names the grammar of ids; another one finds other citations."""

    def reader(self) -> str:
        return hashlib.blake2b(f"{VERSION}/{self.grammar}".encode(), digest_size=8).hexdigest()


class Ingestion:
    def __init__(self, corpus: Corpus, library: Library, engine: SearchEngine) -> None:
        self._corpus = corpus
        self._library = library
        self._engine = engine

    def run(
        self,
        progress: Progress = lambda done, total, message: None,
        *,
        full: bool = False,
        again: Collection[str] = (),
    ) -> IndexReport:
        """Read what changed, and the paths of `again`; with `full`, everything. One process works at a time."""
        with (self._library.path.parent / LOCK).open("a+b") as file, locked(file, 0.0) as held:
            if not held:
                return IndexReport(note="Another process is reading the documents.")
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
        self._reader = corpus.reader()
        self._again = frozenset(again)
        self._counts: Counter[str] = Counter()
        self._problems: list[str] = []

    def run(self) -> IndexReport:
        tree = scan(self._corpus.root, self._corpus.selection)
        self._problems += [f"{path} cannot be read." for path in tree.unreadable]
        self._problems += [f"The folder {path} does not exist." for path in tree.missing]
        known = self._compared(self._library.known())
        present = {entry.path: entry for entry in tree.files}
        gone = {path: known[path].content_hash for path in known.keys() - present.keys()}
        waiting = [entry for entry in tree.files if self._is_due(entry, known.get(entry.path))]
        self._counts["unchanged"] = len(present) - len(waiting)
        total = len(waiting) + len(gone)
        for done, entry in enumerate(waiting):
            self._progress(done, total, entry.path)
            self._take(entry, known.get(entry.path), gone)
        for done, path in enumerate(sorted(gone), start=len(waiting)):
            self._progress(done, total, path)
            # The index first: were the work to stop in between, the document would still be known as gone.
            self._engine.delete(unit.id for unit in self._units(path))
            self._library.remove(path)
            self._counts["removed"] += 1
        self._progress(total, total, "")
        counts = self._counts
        return IndexReport(
            added=counts["added"],
            changed=counts["changed"],
            moved=counts["moved"],
            removed=counts["removed"],
            unchanged=counts["unchanged"],
            indexed_again=counts["indexed_again"],
            problems=tuple(self._problems),
        )

    def _compared(self, known: dict[str, Known]) -> dict[str, Known]:
        """What is known, with every document as not indexed of which the search index lacks a section: it may have been
        made anew, and an earlier run may have stopped halfway. What the index has too much goes."""
        with self._library.reading() as reading:
            sections = reading.count("sections")
            if sections == self._engine.state().parts.get(PART, 0) and all(each.indexed for each in known.values()):
                return known
            present = frozenset(reading.section_ids())
            indexed = self._engine.hashes(PART)
            missing = (reading.section(id) for id in present - indexed.keys())
            lacking = {section.document for section in missing if section is not None}
        self._engine.delete(id for id in indexed if id not in present)
        return {path: each._replace(indexed=each.indexed and path not in lacking) for path, each in known.items()}

    def _is_due(self, entry: FileEntry, known: Known | None) -> bool:
        if known is None or self._full or not known.indexed or entry.path in self._again:
            return True
        return known.reader != self._reader or (entry.size, entry.mtime_ns) != (known.size, known.mtime_ns)

    def _take(self, entry: FileEntry, known: Known | None, gone: dict[str, str]) -> None:
        try:
            data = read_bytes(self._corpus.root, entry.path, limit=self._corpus.max_file_bytes)
        except NotFound:
            # It was there a moment ago; the next run sees that it is gone.
            return
        except (FormatError, OutsideProject) as error:
            self._problems.append(str(error))
            self._write(entry, None, known, None)
            return
        if known is not None and not self._full and self._is_same(known, data):
            self._library.touch(entry)
            if known.indexed:
                self._counts["unchanged"] += 1
            else:
                self._index(entry.path, known.content_hash, ())
                self._counts["indexed_again"] += 1
            return
        moved_from = self._moved_from(data, gone) if known is None else None
        self._write(entry, data, known, moved_from)
        if moved_from is not None:
            del gone[moved_from]

    def _is_same(self, known: Known, data: bytes) -> bool:
        return known.reader == self._reader and known.content_hash == content_hash(data)

    @staticmethod
    def _moved_from(data: bytes, gone: Mapping[str, str]) -> str | None:
        """The document that is gone and had just this content."""
        own = content_hash(data)
        return next((path for path, hash in gone.items() if data and hash == own), None)

    def _write(self, entry: FileEntry, data: bytes | None, known: Known | None, moved_from: str | None) -> None:
        if data is None:
            prepared = unreadable(entry, self._problems[-1])
        else:
            prepared = prepare(data, entry, self._corpus.citations)
        changed = self._library.replace(prepared, reader=self._reader, moved_from=moved_from)
        self._index(entry.path, prepared.document.content_hash, changed.gone)
        self._counts["moved" if moved_from else "added" if known is None else "changed"] += 1

    def _index(self, path: str, content: str, gone: Iterable[str]) -> None:
        self._engine.delete(gone)
        self._engine.put(self._units(path))
        self._library.mark_indexed(path, content)

    def _units(self, path: str) -> list[Unit]:
        with self._library.reading() as reading:
            return list(units_of(reading, path))


def run_job(ingestion: Ingestion, store: Store | None, progress: Progress, *, full: bool = False) -> IndexReport:
    """Read the documents as a job that others can watch and cancel."""
    job: Job | None = None

    def report(done: int, total: int, message: str) -> None:
        nonlocal job
        progress(done, total, message)
        if store is None or not total:
            return
        # A store that is busy or gone costs the report, not the work.
        with suppress(StoreError):
            if job is None:
                job = store.start_job(JOB, total=total)
            store.advance_job(job.id, done=done, total=total, message=message)

    state = "failed"
    try:
        result = ingestion.run(report, full=full)
        state = "done"
    except Cancelled:
        state = "cancelled"
        raise
    finally:
        if store is not None and job is not None:
            with suppress(ClewError):
                store.finish_job(job.id, state=state)
    return result
