"""The knowledge base of a project: its documents, kept in step with the files, searched and walked.

Opening it reads nothing. The store of documents is opened when somebody first asks for a document, and never by a call
that asks for something else.
"""

import logging
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from clew.context import Context
from clew.derived.file import PATIENCE_SECONDS
from clew.errors import StoreBusy, StoreCorrupt, StoreError
from clew.kb.answer.passages import DocumentState, Passages
from clew.kb.answer.scratch import ScratchLimits, ScratchStore
from clew.kb.boundary import Boundary, ScopeRequest, boundary_of
from clew.kb.ingest.citations import Citations
from clew.kb.ingest.corpus import OTHERS_READ, Corpus, Ingestion, IngestionReport, run_job
from clew.kb.ingest.keeper import DocumentKeeper
from clew.kb.ingest.library import Library
from clew.kb.ingest.records import CorpusDefaults, DocumentRecord
from clew.kb.walk.cross_references import CrossReferences
from clew.kb.walk.deliveries import Deliveries
from clew.kb.walk.region import DocumentRegion
from clew.kb.walk.traversal import GraphSnapshot
from clew.once import close_parts, lazy
from clew.store.watched import Progress
from clew.workspace.files import entry_of

if TYPE_CHECKING:
    # The search engine imports numpy; most questions to the service need neither.
    from clew.kb.answer.answering import Quoting
    from clew.kb.answer.section_search import Finder
    from clew.kb.answer.shortlist import Shortlist
    from clew.kb.ingest.reconcile import ReconcileReport
    from clew.search.engine import SearchEngine

log = logging.getLogger(__name__)

FOLDER = "kb"
LIBRARY_FILE = "documents.db"
MEGABYTE = 1024 * 1024
FIRST_READING_SECONDS = 60.0
"""Longest time that a command waits for documents that another process reads for the first time."""
_LOOK_AGAIN_SECONDS = 0.1

T = TypeVar("T")


class KbProblem(msgspec.Struct, frozen=True):
    path: str
    line: int
    severity: str
    code: str
    message: str


class KbStatus(msgspec.Struct, frozen=True, kw_only=True):
    documents: int
    sections: int
    entities: int
    edges: int
    """Mentions, citations and links as they are kept; those that follow from the order of sections come on top."""
    formats: dict[str, int]
    tags: dict[str, int]
    pending: int
    """Documents that the search index does not hold yet."""
    indexed: str
    """A sentence about the state of the index."""
    problems: tuple[KbProblem, ...]
    notes: tuple[str, ...]


def corpus_of(context: Context) -> Corpus:
    """The documents that the configuration selects, and how they are read."""
    config = context.config
    origin = CorpusDefaults(config.kb.environment or "dev", config.kb.repository or config.name)
    citations = Citations(context.grammar)
    return Corpus(
        config.root,
        config.documents,
        config.max_file_bytes,
        citations,
        repr(config.elspais),
        origin,
        config.kb.tag_folder,
    )


class KnowledgeBase:
    def __init__(self, context: Context) -> None:
        settings, corpus = context.config.kb, corpus_of(context)
        scratch_seconds = settings.scratch_minutes * 60.0
        self._context = context
        self._corpus = corpus
        self._settings = settings
        self.scratch = ScratchStore(
            ScratchLimits(
                ttl_seconds=scratch_seconds,
                total_bytes=settings.scratch_mb * MEGABYTE,
                session_bytes=settings.session_scratch_mb * MEGABYTE,
            )
        )
        """Texts that answers point to."""
        self.passages = Passages(self.scratch, self._state_of)
        self.keeper = DocumentKeeper(
            corpus,
            self.index,
            self._is_empty,
            stores=self._stores,
            follows_files=context.config.auto_refresh,
            patience=context.config.search.patience_seconds,
        )
        self.deliveries = Deliveries()
        self._graph = context.graph
        self._cross_references = CrossReferences(context.graph, corpus.root)
        self.region = DocumentRegion(lambda: self.library, self._cross_references, self.boundary())
        """The documents as a part of the graph."""

    @lazy
    def shortlist(self) -> "Shortlist":
        from clew.kb.answer.shortlist import Shortlist

        return Shortlist(self, graph=self._settings.graph, idle_seconds=self._settings.scratch_minutes * 60.0)

    @lazy
    def quoting(self) -> "Quoting":
        from clew.kb.answer.answering import Quoting

        return Quoting(self, graph=self._settings.graph, idle_seconds=self._settings.scratch_minutes * 60.0)

    @property
    def _path(self) -> Path:
        return self._context.derived_folder / FOLDER / LIBRARY_FILE

    @lazy
    def library(self) -> Library:
        return Library(self._path, patience=PATIENCE_SECONDS)

    @property
    def was_read(self) -> bool:
        """True if the documents were read before, in this process or another."""
        return self._path.exists()

    @property
    def missing_notes(self) -> tuple[str, ...]:
        """Reasons why documents are missing that were read before; empty once they are read again."""
        return self.library.notes if self.was_read and self._is_empty() else ()

    def boundary(self, asked: ScopeRequest | None = None) -> Boundary:
        """The documents that may be seen here; with a request, those that the caller of the request may see."""
        return boundary_of(self._settings, asked)

    @contextmanager
    def snapshot(self, boundary: Boundary, check: Callable[[], None] = lambda: None) -> Iterator[GraphSnapshot]:
        """One state of the documents and of the graph around them, for a walk. Hold the project's lock: the graph must
        not change."""
        with self.library.reading(boundary) as reading:
            yield GraphSnapshot(reading, self._graph, self._cross_references, check)

    @property
    def finder(self) -> "Finder":
        from clew.kb.answer.section_search import Finder

        return Finder(self.library, self._searched(), self.boundary())

    def index(self, progress: Progress = lambda done, total, message: None, *, full: bool = False) -> IngestionReport:
        """Read the documents that changed; with `full`, all of them."""
        report = self._mended(
            lambda: run_job(
                Ingestion(self._corpus, self.library, self._searched()), self._context.store, progress, full=full
            )
        )
        if report.added + report.changed + report.moved + report.indexed_again:
            self._context.parts.make_vectors()
        return report

    def refresh(self, progress: Progress = lambda done, total, message: None, *, wait: bool = False) -> tuple[str, ...]:
        """Read changed documents, and return notes on what an answer may lack. With `wait`, all of them are read."""
        if not wait:
            note = self.keeper.ensure(progress)
            return (note,) if note else ()
        try:
            note = self.index(progress).note
            if note == OTHERS_READ and self._is_empty():
                note = self._first_read_by_others(progress)
        except StoreBusy as error:
            note = error.message
        return (f"{note} The answer may lack the latest changes.",) if note else ()

    def _first_read_by_others(self, progress: Progress) -> str | None:
        """Wait for another process that reads the documents for the first time: until then no answer is possible."""
        until = time.monotonic() + FIRST_READING_SECONDS
        note: str | None = OTHERS_READ
        while note == OTHERS_READ and time.monotonic() < until:
            progress(0, 0, "waiting for the documents, which another process reads for the first time")
            time.sleep(_LOOK_AGAIN_SECONDS)
            note = self.index(progress).note
        return note

    def session_name(self, session: str | None, credential: str = "") -> str:
        """The name of a connection in answers; a new one for each call if the transport has no sessions."""
        return secrets.token_urlsafe(16) if session is None else self.scratch.session(session, credential)

    def reconcile(
        self, progress: Progress = lambda done, total, message: None, *, repair: bool = True
    ) -> "ReconcileReport":
        """Compare files, store and index down to their contents, and repair differences."""
        from clew.kb.ingest.reconcile import Reconciliation

        def compared() -> "ReconcileReport":
            return Reconciliation(self._corpus, self.library, self._searched()).run(repair=repair, progress=progress)

        return self._mended(compared) if repair else compared()

    def status(self) -> KbStatus:
        library = self.library
        with library.reading() as reading:
            counts = reading.counts()
            documents = list(reading.documents())
            pending = reading.pending()
        state = self._searched().state()
        return KbStatus(
            documents=counts["documents"],
            sections=counts["sections"],
            entities=counts["entities"],
            edges=counts["mentions"] + counts["cites"] + counts["links"],
            formats=dict(Counter(document.format for document in documents)),
            tags=dict(Counter(document.tag for document in documents)),
            pending=len(pending),
            indexed=state.describe(),
            problems=tuple(
                KbProblem(document.path, each.line, each.severity, each.code, each.message)
                for document in documents
                for each in document.problems
            ),
            notes=(*library.notes, *state.notes),
        )

    def _state_of(self, document: DocumentRecord) -> DocumentState:
        """The state of a document since it was read. Looks at one file only, as a rule."""
        known = self.library.file_state(document.path)
        entry = entry_of(self._corpus.root, document.path)
        if known is not None and known.content_hash == document.content_hash and known.matches(entry):
            return DocumentState.SAME
        with suppress(StoreError):
            self.keeper.ensure()
        with self.library.reading() as reading:
            now = reading.document(document.path)
        if now is None:
            return DocumentState.DELETED
        return DocumentState.SAME if now.content_hash == document.content_hash else DocumentState.CHANGED

    def _stores(self) -> object:
        """Identifies the files of the library; it changes when one of them is replaced."""
        return self.library.opening, self._context.parts.engine()

    def _is_empty(self) -> bool:
        with self.library.reading() as reading:
            return reading.count("documents") == 0

    def close(self) -> None:
        self.keeper.close()
        close_parts(self)

    def _mended(self, work: Callable[[], T]) -> T:
        """Run the work; if the store or the index is damaged, rebuild it and run the work again."""
        try:
            return work()
        except StoreCorrupt as error:
            log.warning("%s It is rebuilt from the files.", error.message)
            if error.data.get("path") == str(self._path):
                self.library.renew()
            else:
                self._context.parts.rebuild_index()
            return work()

    def _searched(self) -> "SearchEngine":
        engine = self._context.parts.engine()
        if engine is None:
            raise StoreError("There is no search index.", hint="Make the folder .clew of the project writable.")
        return engine
