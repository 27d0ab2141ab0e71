"""Finding sections by words, by meaning and along the edges between them, through the engine that all parts share."""

from collections.abc import Callable, Iterator
from enum import StrEnum

import msgspec

from clew.graph.model import EdgeKind
from clew.kb import edges
from clew.kb.library import Library
from clew.kb.queries import Reading
from clew.kb.records import DocumentRecord, SectionRecord
from clew.kb.units import PART, tag_filter
from clew.search.engine import SearchEngine
from clew.search.fuse import Contribution
from clew.search.question import Found, Question, Results
from clew.search.units import Filters, Scope

MOST_SECTIONS_OF_ENTITY = 12
"""An entity in more sections than this leads nowhere in particular."""

_WEIGHTS = {EdgeKind.REFERENCES: 1.0, EdgeKind.STRUCTURES: 0.5, EdgeKind.NEXT: 0.5, EdgeKind.MENTIONS: 0.5}


class Mode(StrEnum):
    AUTO = "auto"
    VECTOR_ONLY = "vector_only"
    """Words and meaning, without a step along the graph."""
    HYBRID_LOCAL = "hybrid_local"
    """Also what lies one step from the best sections."""


class Narrowing(msgspec.Struct, frozen=True, kw_only=True):
    """Where a search may look. Empty asks for nothing."""

    tags: tuple[str, ...] = ()
    path: str | None = None
    updated_after: str | None = None
    """ISO 8601, UTC."""


class FoundSection(msgspec.Struct, frozen=True):
    section: SectionRecord
    document: DocumentRecord
    text: str
    preview: str
    anchor: tuple[int, int] | None
    """The characters of the text that say most about the question."""
    score: float
    expanded: bool
    """Whether it was reached along the graph alone."""
    why: tuple[Contribution, ...]


class FoundSections(msgspec.Struct, frozen=True, kw_only=True):
    sections: tuple[FoundSection, ...]
    mode: Mode
    next_cursor: str | None
    notes: tuple[str, ...]
    reason: str | None
    """Why nothing was found, where that can be said."""


class Finder:
    def __init__(self, library: Library, engine: SearchEngine) -> None:
        self._library = library
        self._engine = engine

    def find(
        self,
        query: str,
        *,
        limit: int = 5,
        mode: Mode = Mode.AUTO,
        narrowing: Narrowing | None = None,
        max_per_document: int | None = 1,
        cursor: str | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> FoundSections:
        """The sections that answer a question best, at most so many of one document."""
        used = Mode.HYBRID_LOCAL if mode is Mode.AUTO else mode
        expands = used is Mode.HYBRID_LOCAL
        question = _question(query, narrowing or Narrowing(), limit, max_per_document, cursor, linked=expands)
        answer = self._engine.search(question, adjacency=self.neighbours if expands else None, check=check)
        return self._described(answer, used)

    def _described(self, answer: Results, mode: Mode) -> FoundSections:
        found = []
        with self._library.reading() as reading:
            for result in answer.results:
                # What the index still holds of a document that just changed is no result.
                section = reading.section(result.id)
                document = reading.document(section.document) if section is not None else None
                text = reading.text(result.id)
                if section is not None and document is not None and text is not None:
                    found.append(_found(section, document, text, result))
        notes = (*answer.notes, *self._library.notes)
        return FoundSections(
            sections=tuple(found), mode=mode, next_cursor=answer.next_cursor, notes=notes, reason=answer.reason
        )

    def neighbours(self, id: str) -> Iterator[tuple[str, float]]:
        """The sections one step from a section: what it links to and who links to it, what stands above, below and
        beside it, and who else mentions what few mention. A document is its first section."""
        with self._library.reading() as reading:
            section = reading.section(id)
            if section is None:
                return
            for edge in (*edges.around(reading, section), *edges.said(reading, section)):
                if edge.kind is EdgeKind.MENTIONS:
                    yield from _mentioning(reading, edge.target, id)
                    continue
                target = _entrance(reading, edge.target)
                if target is not None and target != id:
                    yield target, _WEIGHTS[edge.kind]
            for edge in edges.into_section(reading, section):
                yield edge.source, _WEIGHTS[edge.kind]


def _entrance(reading: Reading, id: str) -> str | None:
    """A section itself, or the first one of a document that has any."""
    document = reading.document_by_id(id)
    if document is None:
        return id
    first = reading.section_at(document.path, 0)
    return first.id if first is not None else None


def _mentioning(reading: Reading, entity: str, id: str) -> Iterator[tuple[str, float]]:
    others = [other for other in reading.few_mentioning(entity, MOST_SECTIONS_OF_ENTITY) if other != id]
    for other in others:
        yield other, _WEIGHTS[EdgeKind.MENTIONS] / len(others)


def _question(
    query: str, narrowing: Narrowing, limit: int, max_per_document: int | None, cursor: str | None, *, linked: bool
) -> Question:
    filters = Filters(
        tags=tuple(tag_filter(tag) for tag in narrowing.tags) or None,
        path=narrowing.path,
        after=narrowing.updated_after,
    )
    return Question(
        text=query,
        scope=Scope(parts=(PART,)),
        filters=filters,
        recipe="linked" if linked else "default",
        limit=limit,
        max_per_document=max_per_document,
        cursor=cursor,
    )


def _found(section: SectionRecord, document: DocumentRecord, text: str, result: Found) -> FoundSection:
    best = result.preview.anchor
    signals = {each.signal for each in result.why}
    return FoundSection(
        section=section,
        document=document,
        text=text,
        preview=result.preview.text,
        anchor=(best.start, best.end) if best is not None else None,
        score=result.score,
        expanded=not signals & {"lexical", "dense"},
        why=result.why,
    )
