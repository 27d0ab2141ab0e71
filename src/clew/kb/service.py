"""The knowledge base of a project: its documents, kept in step with the files, searched and walked.

Opening it reads nothing. The store of documents is opened when somebody first asks for a document, and never by a call
that asks for something else.
"""

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

from clew.errors import StoreError
from clew.graph.graph import Graph
from clew.kb.crossing import Crossing
from clew.kb.finding import Finder
from clew.kb.ingest import Corpus, IndexReport, Ingestion, Progress, run_job
from clew.kb.library import Library
from clew.kb.reconcile import ReconcileReport, Reconciliation
from clew.kb.region import DocumentRegion
from clew.search.engine import SearchEngine
from clew.store.interface import Store

FOLDER = "kb"
LIBRARY_FILE = "documents.db"


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
    """How much of everything can be found, by which signals."""
    problems: tuple[KbProblem, ...]
    notes: tuple[str, ...]


class KnowledgeBase:
    def __init__(
        self,
        folder: Path,
        corpus: Corpus,
        graph: Graph,
        store: Store | None,
        engine: Callable[[], SearchEngine | None],
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self._path = folder / FOLDER / LIBRARY_FILE
        self._corpus = corpus
        self._store = store
        self._engine = engine
        self._wake = wake
        """Has vectors made for new units, behind everybody's back."""
        self._opening = threading.Lock()
        self._library: Library | None = None
        self.region = DocumentRegion(lambda: self.library, Crossing(graph, corpus.root))
        """The documents as a part of the graph."""

    @property
    def library(self) -> Library:
        with self._opening:
            if self._library is None:
                self._library = Library(self._path)
            return self._library

    @property
    def is_open(self) -> bool:
        return self._library is not None

    @property
    def finder(self) -> Finder:
        return Finder(self.library, self._searched())

    def index(self, progress: Progress = lambda done, total, message: None, *, full: bool = False) -> IndexReport:
        """Read the documents that changed; with `full`, all of them."""
        report = run_job(Ingestion(self._corpus, self.library, self._searched()), self._store, progress, full=full)
        if report.added + report.changed + report.moved + report.indexed_again:
            self._wake()
        return report

    def reconcile(
        self, progress: Progress = lambda done, total, message: None, *, repair: bool = True
    ) -> ReconcileReport:
        """Compare files, store and index with each other, down to their contents, and mend what differs."""
        return Reconciliation(self._corpus, self.library, self._searched()).run(repair=repair, progress=progress)

    def status(self) -> KbStatus:
        library = self.library
        with library.reading() as reading:
            counts = reading.counts()
            documents = list(reading.documents())
            pending = reading.pending()
        return KbStatus(
            documents=counts["documents"],
            sections=counts["sections"],
            entities=counts["entities"],
            edges=counts["mentions"] + counts["cites"] + counts["links"],
            formats=dict(Counter(document.format for document in documents)),
            tags=dict(Counter(document.tag for document in documents)),
            pending=len(pending),
            indexed=self._searched().state().describe(),
            problems=tuple(
                KbProblem(document.path, each.line, each.severity, each.code, each.message)
                for document in documents
                for each in document.problems
            ),
            notes=library.notes,
        )

    def close(self) -> None:
        with self._opening:
            if self._library is not None:
                self._library.close()

    def _searched(self) -> SearchEngine:
        engine = self._engine()
        if engine is None:
            raise StoreError("There is no search index.", hint="Make the folder .clew of the project writable.")
        return engine
