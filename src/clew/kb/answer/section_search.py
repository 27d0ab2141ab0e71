"""Finding sections by words, by meaning and along the edges between them, through the engine that all parts share.

A search follows the edges of many sections at once, by a few questions in all. A step leads to what a section links to
and to who links to it, to what is above, below and beside it, and to who else mentions what few mention. Of a
document it is the first section that counts. Whatever a section has too many of leads nowhere in particular and is left
out, so the work is bounded, however large the library is.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from clew.kb.answer.requests import Mode, Narrowing, SearchRequest
from clew.kb.boundary import EVERYTHING, Boundary
from clew.kb.ingest.library import Library
from clew.kb.ingest.records import ChunkRecord, DocumentRecord
from clew.kb.ingest.units import PART, narrowed
from clew.kb.queries import LibraryReader, LinkOf, in_json, spellings
from clew.kb.walk import batches
from clew.kb.walk.batches import SectionPlace
from clew.search.engine import SearchEngine
from clew.search.question import Hit, Question, Results
from clew.search.quote.definitions import definition_of
from clew.search.quote.evidence import PREVIEW_CHARS
from clew.search.quote.names import names_in, naming, term_weights
from clew.search.quote.windows import WeightedQuestion
from clew.search.rank.fuse import SignalScore
from clew.search.rank.ranking import TITLES_DECIDED
from clew.search.units import Filters, Scope
from clew.text.keywords import STOP_TERMS
from clew.text.sentences import is_heading
from clew.text.stem import stem
from clew.text.words import split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_NO_DOCUMENTS = "There are no documents. `[docs]` in clew.toml names their folders; `clew kb status` lists them."
_NONE_INSIDE = "No document lies inside of the scope."


class FoundSection(msgspec.Struct, frozen=True):
    section: ChunkRecord
    document: DocumentRecord
    text: str
    preview: str
    anchor: tuple[int, int] | None
    """The characters of the text that say most about the question."""
    score: float
    expanded: bool
    """True if only links led to it."""
    why: tuple[SignalScore, ...]
    below: tuple[str, ...] = ()
    """Of a heading with nothing but headings below it: those."""


class FoundSections(msgspec.Struct, frozen=True, kw_only=True):
    sections: tuple[FoundSection, ...]
    mode: Mode
    next_cursor: str | None
    notes: tuple[str, ...]
    reason: str | None
    """The reason why nothing was found, if it is known."""
    choice: str | None = None
    """The reason for the mode, if the documents decide it."""


JOINED_FROM = 0.2
"""Steps along the graph are taken where at least this share of the sections has somewhere to go: elsewhere only words
that texts happen to share lead from one to the other, and these find nothing that a search does not find."""
_SAMPLE = 400
_JOINED = """
    SELECT count(*), coalesce(sum(
        EXISTS (SELECT 1 FROM links WHERE links.section = one.number) OR EXISTS (
            SELECT 1 FROM sections AS other
            WHERE other.document = one.document AND other.place IN (one.place - 1, one.place + 1)
        )
    ), 0) FROM (
        SELECT sections.number, sections.document, sections.place FROM {origin}
        ORDER BY sections.hash, sections.id LIMIT ?
    ) AS one
"""
# The same sample of either: an index leads to it, unless most of what the index leads to is outside of the boundary.
_OF_MANY = _JOINED.format(origin="sections")
_OF_FEW = _JOINED.format(origin="documents CROSS JOIN sections ON sections.document = documents.number")
_ARE_FEW = "SELECT 10 * (SELECT count(*) FROM documents) < (SELECT count(*) FROM main.documents)"


class _SearchMode(NamedTuple):
    """The mode and the recipe of a search."""

    mode: Mode
    recipe: str
    choice: str | None = None


class Finder:
    def __init__(self, library: Library, engine: SearchEngine, boundary: Boundary = EVERYTHING) -> None:
        self._library = library
        self._engine = engine
        self._boundary = boundary
        """Holds for every search that asks for no other."""

    def find(
        self,
        request: SearchRequest,
        *,
        boundary: Boundary | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> FoundSections:
        """The sections that answer a question best, at most so many of one document, and all inside the boundary."""
        boundary = boundary or self._boundary
        mode = self._search_mode(request.mode, boundary)
        expands = mode.mode is Mode.HYBRID_LOCAL
        question = Question(
            text=request.query,
            scope=Scope(parts=(PART,)),
            filters=self._filters(request.narrowing, boundary),
            recipe=mode.recipe,
            by_windows=True,
            limit=request.top_k,
            max_per_document=request.max_per_document,
        )
        answer = self._engine.search(
            question, adjacency=partial(self.neighbours, boundary=boundary) if expands else None, check=check
        )
        return self._described(answer, mode, boundary)

    def _search_mode(self, mode: Mode, boundary: Boundary) -> _SearchMode:
        if mode is not Mode.AUTO:
            return _SearchMode(mode, "linked" if mode is Mode.HYBRID_LOCAL else "default")
        share = self._joined_share(boundary)
        choice = f"{share:.0%} of the sections link to another or are next to a linked one in their document."
        if share >= JOINED_FROM:
            return _SearchMode(Mode.HYBRID_LOCAL, "linked", choice)
        # Titles may still be mentioned in other texts, which the engine finds out and notes.
        return _SearchMode(Mode.VECTOR_ONLY, "auto", choice)

    def _joined_share(self, boundary: Boundary) -> float:
        """The share of the sections that a link or their document leads to another, by a sample that the ids decide:
        the same files have the same share."""
        opening = self._library.opening
        with self._library.reading(boundary) as reading:
            key = (opening, reading.state(), boundary)
            known = self._library.joined_shares.get(key)
            if known is None:
                [(are_few,)] = reading.rows(_ARE_FEW)
                [(sections, joined)] = reading.rows(_OF_FEW if are_few else _OF_MANY, _SAMPLE)
                known = joined / max(1, sections)
                self._library.joined_shares.put(key, known)
        return known

    def _described(self, answer: Results, mode: _SearchMode, boundary: Boundary) -> FoundSections:
        found = []
        with self._library.reading(boundary) as reading:
            for result in answer.results:
                # What the index still holds of a document that just changed is no result.
                section = reading.section(result.id)
                document = reading.document(section.document) if section is not None else None
                text = reading.text(result.id)
                if section is not None and document is not None and text is not None:
                    below = _titles_below(reading, section) if is_heading(text) else ()
                    found.append(_found(section, document, text, result, below))
            is_empty = not found and reading.is_empty()
        # How something is ranked says nothing where there is nothing.
        decided = [note for note in answer.notes if mode.recipe == "auto" and note.endswith(TITLES_DECIDED)]
        others = [note for note in answer.notes if note not in decided]
        notes = self._library.notes if is_empty else (*others, *self._library.notes)
        reason = (_NO_DOCUMENTS if boundary.is_everything else _NONE_INSIDE) if is_empty else answer.reason
        return FoundSections(
            sections=tuple(found),
            mode=mode.mode,
            next_cursor=answer.next_cursor,
            notes=notes,
            reason=reason,
            choice=" ".join((mode.choice, *decided)) if mode.choice and not is_empty else None,
        )

    def asked(self, question: str) -> WeightedQuestion:
        """A question with facts about its words."""
        words, compounds = split(question)
        terms = [term for term in dict.fromkeys((*map(stem, words), *compounds)) if term not in STOP_TERMS]
        known = self._engine.word_vectors()
        rarities = term_weights(question, self._engine.rarities(terms), known)
        is_calibrated = self._engine.spaces.settings.kind == "minilm"
        return WeightedQuestion(
            question,
            rarities,
            known,
            is_calibrated,
            naming(question, rarities, known),
            definition=definition_of(question),
        )

    def likeness(self, question: str, ids: Sequence[str]) -> "Mapping[str, NDArray[np.float32]]":
        """Similarity between a question and the windows of some sections, for those that have embeddings."""
        return self._engine.window_likeness(question, ids)

    def unmentioned(
        self, question: str, narrowing: Narrowing | None = None, boundary: Boundary | None = None
    ) -> tuple[str, ...]:
        """Names, identifiers and uncommon words of a question that are in no document. The documents cannot answer a
        question about them."""
        names = names_in(question, self._engine.word_vectors())
        return self._engine.missing_names(
            names, Scope(parts=(PART,)), self._filters(narrowing, boundary or self._boundary)
        )

    def lacks_word_pairs(
        self, question: str, narrowing: Narrowing | None = None, boundary: Boundary | None = None
    ) -> bool:
        """True if none of the word pairs in a question, its words beside names, is in the documents."""
        filters = self._filters(narrowing, boundary or self._boundary)
        return self._engine.lacks_word_pairs(question, Scope(parts=(PART,)), filters)

    def _filters(self, narrowing: Narrowing | None, boundary: Boundary) -> Filters:
        narrowing = narrowing or Narrowing()
        return narrowed(boundary, Filters(path=narrowing.path, after=narrowing.updated_after), narrowing.tags)

    def neighbours(self, ids: Sequence[str], boundary: Boundary = EVERYTHING) -> dict[str, list[tuple[str, float]]]:
        """The sections one step from each of some sections."""
        with self._library.reading(boundary) as reading:
            return nearby(reading, ids)


NO_TEXT = "No text of its own."


def contents(text: str, titles: Sequence[str], most: int) -> str:
    """A line with the subsections of a heading that has no text of its own; empty if it has a text."""
    line = f"Sections below: {', '.join(titles)}" if titles else NO_TEXT if is_heading(text) else ""
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _titles_below(reading: LibraryReader, section: ChunkRecord) -> tuple[str, ...]:
    siblings = reading.sections_of(section.document)
    return tuple(dict.fromkeys(each.title for each in siblings if each.parent == section.place))


def _found(
    section: ChunkRecord, document: DocumentRecord, text: str, result: Hit, below: tuple[str, ...]
) -> FoundSection:
    best = result.preview.anchor
    signals = {each.signal for each in result.why}
    return FoundSection(
        section=section,
        document=document,
        text=text,
        preview=contents(text, below, PREVIEW_CHARS) or result.preview.text,
        anchor=(best.start, best.end) if best is not None else None,
        score=result.score,
        expanded=not signals & {"lexical", "dense"},
        why=result.why,
        below=below,
    )


LINK, BESIDE, SHARED = 1.0, 0.5, 0.5
"""Weights of the steps; a shared entity weighs less the more sections share it."""
MOST_SHARING = 12
MOST_LINKING = 20
MOST_ASKED = 120
"""Of those who mention an entity, the first so many are asked whether they may be seen."""
REACH = 64
"""The distance behind a section within which its subsections are looked for."""

_BESIDE = """
    SELECT own.id, other.id FROM json_each(?) AS wanted
    CROSS JOIN sections AS own ON own.number = wanted.value
    CROSS JOIN sections AS other ON other.document = own.document
        AND other.place IN (own.place - 1, own.place + 1, max(own.parent, 0))
    WHERE other.number <> own.number
"""
_BELOW = """
    SELECT own.id, other.id FROM json_each(?) AS wanted
    CROSS JOIN sections AS own ON own.number = wanted.value
    CROSS JOIN sections AS other ON other.document = own.document AND other.parent = own.place
        AND other.place <= own.place + ?
"""
_SHARED = """
    SELECT few.id, other.id, few.others FROM (
        SELECT own.id AS id, own.number AS number, said.entity AS entity, (
            SELECT count(*) FROM (
                SELECT 1 FROM (
                    SELECT section FROM main.mentions AS held WHERE held.entity = said.entity ORDER BY section LIMIT ?3
                ) AS first
                CROSS JOIN sections AS holder ON holder.number = first.section AND holder.number <> own.number LIMIT ?2
            )
        ) AS others
        FROM json_each(?1) AS wanted
        CROSS JOIN sections AS own ON own.number = wanted.value
        CROSS JOIN main.mentions AS said ON said.section = own.number
    ) AS few
    CROSS JOIN main.mentions AS shared ON shared.entity = few.entity AND shared.section <> few.number
        AND shared.section < coalesce((
            SELECT section FROM main.mentions AS held WHERE held.entity = few.entity ORDER BY section LIMIT 1 OFFSET ?3
        ), 9223372036854775807)
    CROSS JOIN sections AS other ON other.number = shared.section
    WHERE few.others < ?2
"""
"""Sections that share an entity are sought among the first that mention it, visible or not: where few of very many are
visible, checking each of them takes long."""


def nearby(reading: LibraryReader, wanted: Sequence[str]) -> dict[str, list[tuple[str, float]]]:
    """For each of the sections that is there, the sections one step from it, with weights."""
    places = batches.places(reading, wanted)
    found: dict[str, dict[str, float]] = {place.id: {} for place in places}
    for own, other, weight in _steps(reading, places):
        if own in found and own != other:
            found[own][other] = max(weight, found[own].get(other, 0.0))
    return {own: list(others.items()) for own, others in found.items()}


def _steps(reading: LibraryReader, places: Sequence[SectionPlace]) -> Iterator[tuple[str, str, float]]:
    numbers = [place.number for place in places]
    wanted = in_json(numbers)
    for own, other in (*reading.rows(_BESIDE, wanted), *reading.rows(_BELOW, wanted, REACH)):
        yield own, other, BESIDE
    for own, other, others in reading.rows(_SHARED, wanted, MOST_SHARING, MOST_ASKED):
        yield own, other, SHARED / others
    paths = {place.id: place.path for place in places}
    named = batches.labels(reading, numbers)
    ways = dict.fromkeys((path, label) for id, label in named for path in (*spellings(paths[id]), ""))
    known: dict[LinkOf, str | None] = {}
    for link in batches.links_of(reading, numbers):
        target = _target(reading, link, known)
        if target is not None:
            yield link.section, target, LINK
    for link in batches.linking(reading, ways, MOST_LINKING * len(places)):
        target = _target(reading, link, known)
        if target is not None:
            yield target, link.section, LINK


def _target(reading: LibraryReader, link: LinkOf, known: dict[LinkOf, str | None]) -> str | None:
    key = link._replace(section="")
    if key not in known:
        found = reading.target_of(link)
        known[key] = None if found is None else reading.id_at(found[0], found[1] or 0)
    return known[key]
