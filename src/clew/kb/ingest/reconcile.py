"""Files, store and search index compared, each difference named and, on request, mended.

Every file is read again, and what it contributes is compared with every row that the store holds of it; the units that
follow from it, with those of the index. Nothing that is kept is believed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum

import msgspec

from clew.derived.file import in_memory
from clew.errors import FormatError, NotFound, OutsideProject
from clew.kb.ingest.corpus import OTHERS_READ, Corpus, Ingestion
from clew.kb.ingest.library import KnownDocument, Library, insert_document
from clew.kb.ingest.library_file import SCHEMA, Rows, rows_of
from clew.kb.ingest.records import PreparedDocument
from clew.kb.ingest.units import PART, units_of
from clew.search.engine import SearchEngine
from clew.store.sqlite.connections import SqliteConnection
from clew.store.watched import Progress
from clew.workspace.files import FileEntry


class BlankLibrary:
    """The expected rows of a document, made by writing it into an empty library: a comparison with them needs no
    knowledge of the tables and overlooks no column."""

    def __init__(self, connection: SqliteConnection) -> None:
        self._connection = connection

    def rows_of(self, prepared: PreparedDocument) -> Rows:
        """The rows that a document would have."""
        self._connection.execute("BEGIN")
        try:
            insert_document(self._connection, prepared, "")
            return rows_of(self._connection, prepared.document.path)
        finally:
            self._connection.execute("ROLLBACK")


@contextmanager
def blank_library() -> Iterator[BlankLibrary]:
    """A store of documents in memory, with nothing in it."""
    connection = in_memory(SCHEMA.statements)
    try:
        yield BlankLibrary(connection)
    finally:
        connection.close()


MOST_SHOWN = 100


class DiscrepancyKind(StrEnum):
    NOT_READ = "file_not_read"
    CHANGED = "file_changed"
    NO_FILE = "document_without_file"
    DAMAGED = "document_damaged"
    ROWS = "rows_without_document"
    PENDING = "document_not_indexed"
    NOT_INDEXED = "section_not_indexed"
    OUTDATED = "section_outdated_in_index"
    STRAY = "indexed_without_section"


_OF_INDEX = frozenset({DiscrepancyKind.NOT_INDEXED, DiscrepancyKind.OUTDATED})
_READ_AGAIN = frozenset({DiscrepancyKind.NOT_READ, DiscrepancyKind.CHANGED, DiscrepancyKind.DAMAGED})


class Discrepancy(msgspec.Struct, frozen=True):
    kind: DiscrepancyKind
    id: str
    """The path of a file or document, the id of a section, or the table that holds rows of no document."""


class ReconcileReport(msgspec.Struct, frozen=True, kw_only=True):
    files: int
    documents: int
    sections: int
    differences: tuple[Discrepancy, ...]
    """The first of them."""
    counts: dict[str, int]
    repaired: bool
    left: int
    """Differences that are there after the repair; without one, all."""
    note: str | None = None
    """The reason if nothing was mended."""


class Reconciliation:
    def __init__(self, corpus: Corpus, library: Library, engine: SearchEngine) -> None:
        self._corpus = corpus
        self._library = library
        self._engine = engine

    def run(self, *, repair: bool, progress: Progress = lambda done, total, message: None) -> ReconcileReport:
        found = list(self._differences(progress))
        left, note = len(found), None
        if repair and found:
            ingestion = Ingestion(self._corpus, self._library, self._engine)
            with ingestion.alone() as alone:
                if alone:
                    self._repair(found, ingestion, progress)
                    left = sum(1 for _ in self._differences(progress))
                else:
                    note = OTHERS_READ
        with self._library.reading() as reading:
            documents, sections = reading.count("documents"), reading.count("sections")
        return ReconcileReport(
            files=len(self._corpus.scan().files),
            documents=documents,
            sections=sections,
            differences=tuple(found[:MOST_SHOWN]),
            counts=dict(Counter(each.kind.value for each in found)),
            repaired=repair and bool(found) and note is None,
            left=left,
            note=note,
        )

    def _differences(self, progress: Progress) -> Iterator[Discrepancy]:
        files = self._corpus.scan().files
        self._corpus = self._corpus.of(files)
        known = self._library.known()
        kept = self._library.section_ids()
        indexed = self._engine.units.hashes(PART)
        yield from (Discrepancy(DiscrepancyKind.ROWS, table) for table in self._library.strays())
        with blank_library() as blank:
            for done, entry in enumerate(files):
                progress(done, len(files), entry.path)
                yield from self._of_file(entry, known.pop(entry.path, None), kept, indexed, blank)
        for path in sorted(known):
            yield Discrepancy(DiscrepancyKind.NO_FILE, path)
            _forget(indexed, kept.get(path, ()))
        yield from (Discrepancy(DiscrepancyKind.STRAY, id) for id in sorted(indexed))
        progress(len(files), len(files), "documents")

    def _of_file(
        self,
        entry: FileEntry,
        known: KnownDocument | None,
        kept: dict[str, list[str]],
        indexed: dict[str, str],
        blank: BlankLibrary,
    ) -> Iterator[Discrepancy]:
        """The differences of one file. Index entries of removed sections are not among them."""
        prepared = self._prepared(entry)
        if prepared is None:
            return
        kind = self._state(prepared, known, blank)
        if kind is not None:
            yield Discrepancy(kind, entry.path)
        else:
            yield from self._of_index(entry.path, indexed)
        _forget(indexed, kept.get(entry.path, ()))
        _forget(indexed, (section.id for section in prepared.sections))

    def _prepared(self, entry: FileEntry) -> PreparedDocument | None:
        """The rows made from a file; None if it is gone by now."""
        try:
            return self._corpus.prepared(entry, self._corpus.read(entry.path))
        except NotFound:
            return None
        except (FormatError, OutsideProject) as error:
            return self._corpus.unreadable(entry, str(error))

    def _state(
        self, prepared: PreparedDocument, known: KnownDocument | None, blank: BlankLibrary
    ) -> DiscrepancyKind | None:
        if known is None:
            return DiscrepancyKind.NOT_READ
        if (known.file.content_hash, known.reader) != (prepared.document.content_hash, self._corpus.reader()):
            return DiscrepancyKind.CHANGED
        if self._library.rows_of(prepared.document.path) != blank.rows_of(prepared):
            return DiscrepancyKind.DAMAGED
        return None if known.indexed else DiscrepancyKind.PENDING

    def _of_index(self, path: str, indexed: dict[str, str]) -> Iterator[Discrepancy]:
        with self._library.reading() as reading:
            units = list(units_of(reading, path))
        for unit in units:
            hash = indexed.get(unit.id)
            if hash is None:
                yield Discrepancy(DiscrepancyKind.NOT_INDEXED, unit.id)
            elif hash != unit.content_hash():
                yield Discrepancy(DiscrepancyKind.OUTDATED, unit.id)

    def _repair(self, found: list[Discrepancy], ingestion: Ingestion, progress: Progress) -> None:
        self._engine.units.delete(each.id for each in found if each.kind is DiscrepancyKind.STRAY)
        self._library.remove_strays()
        ingestion.read(progress, again=[each.id for each in found if each.kind in _READ_AGAIN])
        missing = {each.id for each in found if each.kind in _OF_INDEX}
        with self._library.reading() as reading:
            sections = (reading.section(id) for id in missing)
            paths = sorted({section.document for section in sections if section is not None})
            units = [unit for path in paths for unit in units_of(reading, path) if unit.id in missing]
        self._engine.units.put(units)


def _forget(indexed: dict[str, str], ids: Iterable[str]) -> None:
    for id in ids:
        indexed.pop(id, None)
