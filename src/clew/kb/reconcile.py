"""Files, store and search index compared, each difference named and, on request, mended."""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

import msgspec

from clew.errors import ClewError
from clew.files import read_bytes, scan
from clew.kb.ingest import Corpus, Ingestion, Progress
from clew.kb.library import Library
from clew.kb.preparing import content_hash
from clew.kb.units import PART, units_of
from clew.search.engine import SearchEngine

MOST_SHOWN = 100


class DifferenceKind(StrEnum):
    NOT_READ = "file_not_read"
    CHANGED = "file_changed"
    NO_FILE = "document_without_file"
    PENDING = "document_not_indexed"
    NOT_INDEXED = "section_not_indexed"
    OUTDATED = "section_outdated_in_index"
    STRAY = "indexed_without_section"


_OF_FILES = frozenset({DifferenceKind.NOT_READ, DifferenceKind.CHANGED, DifferenceKind.NO_FILE, DifferenceKind.PENDING})


class Difference(msgspec.Struct, frozen=True):
    kind: DifferenceKind
    id: str
    """The path of a file or document, the id of a section."""


class ReconcileReport(msgspec.Struct, frozen=True, kw_only=True):
    files: int
    documents: int
    sections: int
    differences: tuple[Difference, ...]
    """The first of them."""
    counts: dict[str, int]
    repaired: bool
    left: int
    """Differences that are there after the repair; without one, all."""


class Reconciliation:
    def __init__(self, corpus: Corpus, library: Library, engine: SearchEngine) -> None:
        self._corpus = corpus
        self._library = library
        self._engine = engine

    def run(self, *, repair: bool, progress: Progress = lambda done, total, message: None) -> ReconcileReport:
        found = list(self._differences(progress))
        left = len(found)
        if repair and found:
            self._repair(found, progress)
            left = sum(1 for _ in self._differences(progress))
        with self._library.reading() as reading:
            documents, sections = reading.count("documents"), reading.count("sections")
        return ReconcileReport(
            files=len(scan(self._corpus.root, self._corpus.selection).files),
            documents=documents,
            sections=sections,
            differences=tuple(found[:MOST_SHOWN]),
            counts=dict(Counter(each.kind.value for each in found)),
            repaired=repair and bool(found),
            left=left,
        )

    def _differences(self, progress: Progress) -> Iterator[Difference]:
        files = scan(self._corpus.root, self._corpus.selection).files
        known = self._library.known()
        for done, entry in enumerate(files):
            progress(done, len(files), entry.path)
            own = known.pop(entry.path, None)
            if own is None:
                yield Difference(DifferenceKind.NOT_READ, entry.path)
            elif own.content_hash != self._hash(entry.path):
                yield Difference(DifferenceKind.CHANGED, entry.path)
            elif not own.indexed:
                yield Difference(DifferenceKind.PENDING, entry.path)
        yield from (Difference(DifferenceKind.NO_FILE, path) for path in sorted(known))
        yield from self._of_index()

    def _hash(self, path: str) -> str:
        try:
            return content_hash(read_bytes(self._corpus.root, path, limit=self._corpus.max_file_bytes))
        except ClewError:
            # A document that cannot be read is kept without content.
            return content_hash(b"")

    def _of_index(self) -> Iterator[Difference]:
        indexed = self._engine.hashes(PART)
        with self._library.reading() as reading:
            paths = [document.path for document in reading.documents()]
        for path in paths:
            with self._library.reading() as reading:
                units = list(units_of(reading, path))
            for unit in units:
                hash = indexed.pop(unit.id, None)
                if hash is None:
                    yield Difference(DifferenceKind.NOT_INDEXED, unit.id)
                elif hash != unit.content_hash():
                    yield Difference(DifferenceKind.OUTDATED, unit.id)
        yield from (Difference(DifferenceKind.STRAY, id) for id in sorted(indexed))

    def _repair(self, found: list[Difference], progress: Progress) -> None:
        again = [each.id for each in found if each.kind in _OF_FILES]
        stray = [each.id for each in found if each.kind is DifferenceKind.STRAY]
        missing = {each.id for each in found if each.kind in (DifferenceKind.NOT_INDEXED, DifferenceKind.OUTDATED)}
        self._engine.delete(stray)
        if again:
            Ingestion(self._corpus, self._library, self._engine).run(progress, again=again)
        with self._library.reading() as reading:
            sections = (reading.section(id) for id in missing)
            paths = sorted({section.document for section in sections if section is not None})
            units = [unit for path in paths for unit in units_of(reading, path) if unit.id in missing]
        self._engine.put(units)
