"""The search engine: units go in, ranked, explained and bounded results with evidence come out.

One engine serves every part of Clew. It owns a place: a folder with the units and their lexical index in one file and
the vectors beside it, or tables of a database (`reading.py`). Units are found by their words as soon as they are put;
their vectors are made by `index_vectors`, which may run in any thread or process and never holds up a search.

A search compiles its scope into a condition first; each signal sees only the units that fulfil it. The recipe says how
the rankings become one. All reads of one search see one state of the index.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from clew.cache import RowCache
from clew.config import EmbedSettings
from clew.errors import InvalidCursor
from clew.operation.budget import trim
from clew.operation.paging import Cursors, Pages
from clew.search.dense.files import FileVectors
from clew.search.dense.indexing import Progress, VectorReport
from clew.search.dense.search import VectorSearch
from clew.search.dense.sharing import Sharing
from clew.search.dense.spaces import Embedders, Spaces
from clew.search.embed.opening import open_word_vectors
from clew.search.index import UnitIndex
from clew.search.lexical.plan import rarity
from clew.search.lexical.query import parse_query
from clew.search.lexical.ranking import Streams
from clew.search.question import Hit, IndexState, Question, RankedUnit, Ranking, Results
from clew.search.quote import evidence
from clew.search.quote.names import word_pairs
from clew.search.rank.fuse import Fused, at_most_per_document, spread
from clew.search.rank.neighbourhood import Adjacency
from clew.search.rank.ranking import KeptRanking, Rankings, key_of, meaning, rank
from clew.search.rank.recipes import BUILT_IN, Recipe, Recipes
from clew.search.reading import IndexReader
from clew.search.unit_store import UnitStore
from clew.search.units import Filters, Scope, compile_condition
from clew.text.display import one_line
from clew.text.keywords import keywords
from clew.text.words import storable, terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.search.embed.embedder import Vectors
    from clew.search.embed.word_vectors import WordVectors

log = logging.getLogger(__name__)

INDEX_FILE = "index.db"

_TOOL = "search"
_SPREAD_OVER = 50
"""Results among which variety is looked for."""
_IDS_KEPT = 200_000
_PREVIEWED_CHARACTERS = 200_000
_LONGEST_TITLE = 300
_TOO_SMALL = "The budget is too small for one result; allow more tokens or bytes."


class Backend(NamedTuple):
    """Units with their words and vectors, in files or in a database."""

    units: UnitStore
    vectors: VectorSearch


def _in_files(folder: Path, embed: EmbedSettings, sharing: Sharing | None, patience: float | None) -> Backend:
    units = UnitIndex(folder / INDEX_FILE)
    spaces = Spaces(folder, units, embed, patience)
    return Backend(units, VectorSearch(FileVectors(folder, units, spaces, sharing), spaces, sharing))


class SearchEngine:
    def __init__(
        self,
        folder: Path,
        *,
        cursors: Cursors,
        embed: EmbedSettings | None = None,
        recipes: Recipes = BUILT_IN,
        rankings: Rankings | None = None,
        backend: Backend | None = None,
        sharing: Sharing | None = None,
        patience: float | None = None,
    ) -> None:
        """`rankings` are those of an engine on the same folder before, whose further pages this one goes on with.
        Without a `backend`, units and vectors are kept in files in the folder; `sharing` are the embeddings that
        several servers have together. `patience` is the longest wait of a search for the vector of its query."""
        self.folder = folder
        self.recipes = recipes
        self._cursors = cursors
        backend = backend or _in_files(folder, embed or EmbedSettings(), sharing, patience)
        self._sharing = sharing
        self.units: UnitStore = backend.units
        """The units that can be found: by their words when `put` returns, and by no signal once `delete` does."""
        self.spaces: Embedders = backend.vectors.embedders
        self._vectors = backend.vectors
        self._known: _Known | None = None
        self._rankings = rankings if rankings is not None else Rankings()

    def close(self) -> None:
        self.units.close()
        if self._sharing is not None:
            self._sharing.close()

    @property
    def is_replaced(self) -> bool:
        """True if the index was deleted, or rebuilt by another process; it has to be opened again then."""
        return self.units.is_replaced

    # Words

    def rarities(self, terms: Iterable[str]) -> dict[str, float]:
        """The weight of each term: the fewer units have it, the higher."""
        with self.units.asked() as reading:
            held, units = reading.units_with(terms), reading.totals().units
        return {term: rarity(held.get(term, 0), units) for term in terms}

    def rarest_words(self, text: str, count: int) -> str:
        """The rarest words of a text: those that the fewest units have, and at least one."""
        words = {term: word for word in keywords(text) for term in terms(word)[:1]}
        with self.units.asked() as reading:
            held = reading.units_with(words)
        rarest = sorted(held, key=lambda term: (held[term], term))[:count]
        return " ".join(words[term] for term in rarest)

    def word_vectors(self) -> "WordVectors | None":
        """Vectors of words, for comparing words; None if search by meaning is off, or the encoder that comes with Clew
        is missing."""
        return open_word_vectors() if self.spaces.wanted else None

    def window_likeness(self, query: str, ids: Sequence[str]) -> "dict[str, NDArray[np.float32]]":
        """Similarity in meaning between a query and each window of some units (`dense.indexing.window_spans`); only for
        units whose windows have vectors."""
        with self.units.asked() as reading:
            numbers = reading.numbers_of(ids)
            asked = meaning(parse_query(storable(query)), storable(query))
            found = self._vectors.window_likeness(reading, asked, [*numbers.values()])
        return {id: found[number] for id, number in numbers.items() if number in found}

    def missing_names(self, names: Iterable[str], scope: Scope, filters: Filters) -> tuple[str, ...]:
        """The names that are in no visible unit."""
        condition = compile_condition(scope, filters)
        with self.units.asked() as reading:
            restrict = None if self._vectors.is_everything(reading, condition) else condition
            return tuple(name for name in names if not reading.has_name(name, restrict))

    def lacks_word_pairs(self, question: str, scope: Scope, filters: Filters) -> bool:
        """True if none of the question's word pairs is in a visible unit (`word_pairs`: its words beside names)."""
        pairs = word_pairs(question, self.word_vectors())
        return bool(pairs) and len(self.missing_names(pairs, scope, filters)) == len(pairs)

    def writes(self) -> tuple[str, int]:
        """Identifies the index and the number of writes that changed its units, by any process: one for each call with
        up to 500 of them."""
        with self.units.asked() as reading:
            return reading.writes()

    # Vectors

    def index_vectors(self, progress: Progress = lambda done, total, message: None) -> VectorReport:
        """Make missing vectors, and write damaged ones again. `progress` may raise Cancelled: finished vectors are
        kept, and the next call continues."""
        return self._vectors.make(progress)

    def forget(self, ids: Iterable[str], *, for_all: bool = True, text_hashes: Iterable[str] = ()) -> list[str]:
        """Remove units, and `for_all` servers the embeddings of their texts and of those with `text_hashes`. Bytes in
        files are left to `purging.purge_units`. Returns the hashes of the texts."""
        wanted = list(ids)
        with self.units.asked() as reading:
            units = reading.units_of(reading.numbers_of(wanted).values())
        self.units.delete(wanted)
        hashes = [unit.text_hash() for unit in units.values()]
        if for_all:
            self._vectors.forget([*hashes, *text_hashes])
        return hashes

    @property
    def is_damaged(self) -> bool:
        """True if a search met damaged vectors; `index_vectors` writes them again."""
        return self._vectors.damaged

    def state(self) -> IndexState:
        with self.units.asked() as reading:
            state = self._vectors.state(reading)
        return msgspec.structs.replace(state, notes=(*state.notes, *self.units.notes))

    def version(self) -> str:
        """Changes whenever the results of a search could change."""
        with self.units.asked() as reading:
            return self._state(reading)

    def _state(self, reading: IndexReader) -> str:
        series, number = reading.writes()
        return f"{series}-{number}/{self._vectors.version(reading)}"

    # Searching

    def search(
        self, question: Question, *, adjacency: Adjacency | None = None, check: Callable[[], None] = lambda: None
    ) -> Results:
        """One page of results. A recipe with expansion follows the links of `adjacency`; without it, mentions of titles
        in texts. `check` is called now and then and may raise to end the search."""
        question = _storable(question)
        recipe = self.recipes.get(question.recipe)
        identity = _identity(question, recipe)
        key = key_of(identity, has_links=adjacency is not None)
        pages = Pages(self._cursors, _TOOL, identity, question.cursor)
        with self.units.asked() as reading:
            offset, kept = self._resumed(pages, self._rankings.get(key), self._state(reading))
            if kept is None or (question.cursor is None and not self._still_answers(reading, kept, adjacency)):
                kept = self._ranked(reading, question, recipe, adjacency, check)
                self._rankings.put(key, kept)
            page = self._page(reading, question, kept, offset)
            total = self._total(reading, question, kept)
            described = self._vectors.state(reading)
        # A budget too small for one result would lead to the same page for ever.
        more = offset < page.end < len(kept.units)
        return Results(
            results=page.items,
            total=total,
            next_cursor=pages.cursor_to(page.end, kept.state) if more else None,
            recipe=f"{recipe.name}/{recipe.version}",
            truncated=page.end < len(kept.units),
            limit_reason=page.limit_reason,
            corrections=kept.corrections,
            reason=_TOO_SMALL if page.end == offset < len(kept.units) else kept.reason,
            notes=_once(kept.notes, described.notes, self.units.notes),
            indexed=described.describe(),
        )

    def rank(
        self,
        question: Question,
        *,
        adjacency: Adjacency | None = None,
        again: bool = False,
        check: Callable[[], None] = lambda: None,
    ) -> Ranking:
        """Everything that the signals rank, by id, without texts and pages. `again` takes the earlier ranking of this
        question, if it is still cached, whatever was written since."""
        question = _storable(question)
        recipe = self.recipes.get(question.recipe)
        key = key_of(_identity(question, recipe), has_links=adjacency is not None)
        with self.units.asked() as reading:
            kept = self._rankings.current(key, lambda kept: again or self._still_answers(reading, kept, adjacency))
            if kept is None:
                kept = self._ranked(reading, question, recipe, adjacency, check)
                self._rankings.put(key, kept)
            described = self._vectors.state(reading)
        return Ranking(
            units=kept.units,
            matched=kept.matched,
            reason=kept.reason,
            notes=_once(kept.notes, described.notes, self.units.notes),
            indexed=described.describe(),
        )

    def ranking_state(self, question: Question) -> str:
        """The state of the index from which `rank` with `again` would answer now."""
        question = _storable(question)
        kept = self._rankings.get(key_of(_identity(question, self.recipes.get(question.recipe))))
        return kept.state if kept is not None else self.version()

    def embed_query(self, text: str) -> None:
        """Make the vector of a query before the search, to measure the two apart."""
        with self.units.asked() as reading:
            self._vectors.embed_query(reading, meaning(parse_query(text), text))

    def vectors_of(self, ids: Iterable[str]) -> "dict[str, Vectors]":
        """The vectors of the units that have one."""
        with self.units.asked() as reading:
            numbers = reading.numbers_of(list(ids))
            known = self._vectors.vectors_of(reading, list(numbers.values()))
        return {id: known[number] for id, number in numbers.items() if number in known}

    def likeness(self, query: str, ids: Iterable[str]) -> dict[str, float]:
        """Likeness in meaning between some units and a query that was just searched for; only for units that have a
        vector."""
        asked = meaning(parse_query(storable(query)), storable(query))
        with self.units.asked() as reading:
            numbers = reading.numbers_of(list(ids))
            known = self._vectors.vectors_of(reading, list(numbers.values()))
            vector = self._vector_of(reading, asked) if known else None
        if vector is None:
            return {}
        return {id: float(known[number] @ vector) for id, number in numbers.items() if number in known}

    def _vector_of(self, reading: IndexReader, asked: str) -> "NDArray[np.float32] | None":
        try:
            return self._vectors.embed_query(reading, asked, patiently=False)
        except TimeoutError:
            # The search before has reported that, and that an encoder failed.
            return None
        except Exception as error:
            log.warning("Units could not be compared with a query: %s", error)
            return None

    def warm(self) -> None:
        """Load everything for a search by meaning, so that the first one does not wait for it."""
        with self.units.asked() as reading:
            self._vectors.embed_query(reading, "")
        self.word_vectors()

    def _ranked(
        self,
        reading: IndexReader,
        question: Question,
        recipe: Recipe,
        adjacency: Adjacency | None,
        check: Callable[[], None],
    ) -> KeptRanking:
        known = self._known_of(reading)
        state = self._state(reading)
        ranked = rank(reading, known.streams, self._vectors, question, recipe, adjacency, check)
        fused = self._varied(reading, ranked.fused, recipe, question)
        ids = known.ids_of(reading, [result.id for result in fused])
        return KeptRanking(
            state=state,
            units=tuple(RankedUnit(ids[result.id], result.score, result.contributions) for result in fused),
            matched={ids[number]: words for number, words in ranked.matched.items() if number in ids},
            corrections=ranked.corrections,
            reason=ranked.reason,
            notes=ranked.notes,
            # An encoder may have begun to answer, or ceased to, meanwhile.
            lasts=adjacency is None and not ranked.failed and state == self._state(reading),
        )

    def _known_of(self, reading: IndexReader) -> "_Known":
        """The cache of this index; an empty one if the index was replaced."""
        series, _ = reading.writes()
        known = self._known
        if known is None or known.series != series:
            known = self._known = _Known(series, reading.streams_kept)
        return known

    # Steps

    def _resumed(self, pages: Pages, kept: KeptRanking | None, now: str) -> tuple[int, KeptRanking | None]:
        """The offset of the page, and its ranking if that is still cached."""
        if kept is not None and kept.state == now:
            return pages.start(now), kept
        if kept is not None and not pages.is_first:
            # The index moved on since page one, but its ranking is still here.
            with suppress(InvalidCursor):
                return pages.start(kept.state), kept
        return pages.start(now), None

    def _still_answers(self, reading: IndexReader, kept: KeptRanking, adjacency: Adjacency | None) -> bool:
        """True if a new ranking would be the same: no text and no vector changed since this one was made."""
        return adjacency is None and kept.lasts and kept.state == self._state(reading)

    def _page(self, reading: IndexReader, question: Question, kept: KeptRanking, offset: int) -> "_Page":
        """Whole results from `offset` on, as many as the limits allow. Units that were deleted or left the scope since
        the ranking was made are skipped."""
        condition = compile_condition(question.scope, question.filters)
        places: list[int] = []
        found: list[Hit] = []
        end = offset
        while end < len(kept.units) and len(found) < question.limit:
            ranked = kept.units[end]
            numbers = list(reading.numbers_of([ranked.id]).values())
            for number in reading.allowed(condition, numbers):
                places.append(end)
                unit = reading.units_of([number])[number]
                found.append(
                    Hit(
                        id=unit.id,
                        part=unit.part,
                        title=one_line(unit.title, _LONGEST_TITLE),
                        document=unit.document,
                        path=unit.path,
                        links=unit.links,
                        score=round(ranked.score, 6),
                        preview=evidence.preview(question.text, unit.body[:_PREVIEWED_CHARACTERS]),
                        matched=kept.matched.get(ranked.id, ()),
                        why=ranked.why,
                    )
                )
            end += 1
        shown = trim(
            found,
            lambda hit: f"{hit.id} {hit.title}\n{hit.preview.text}\n",
            max_tokens=question.max_tokens,
            max_bytes=question.max_bytes,
        )
        if shown.truncated:
            end = places[len(shown.items)]
        return _Page(shown.items, end, shown.limit_reason.value)

    def _total(self, reading: IndexReader, question: Question, kept: KeptRanking) -> int:
        """The number of results of a ranking that are still there."""
        if kept.state == self._state(reading):
            return len(kept.units)
        numbers = reading.numbers_of(ranked.id for ranked in kept.units)
        return len(reading.allowed(compile_condition(question.scope, question.filters), [*numbers.values()]))

    def _varied(
        self, reading: IndexReader, fused: tuple[Fused[int], ...], recipe: Recipe, question: Question
    ) -> tuple[Fused[int], ...]:
        """The ranking with as much of one document, and as much of the same, as recipe and question allow."""
        limits = [limit for limit in (recipe.diversity.max_per_document, question.max_per_document) if limit]
        if limits and fused:
            documents = reading.documents_of(result.id for result in fused)
            # What is no piece of a document is a document of its own.
            fused = at_most_per_document(fused, lambda result: documents.get(result.id) or result.id, min(limits))
        if recipe.diversity.novelty > 0 and len(fused) > 1:
            fused = self._spread(reading, fused, recipe.diversity.novelty)
        return fused

    def _spread(self, reading: IndexReader, fused: Sequence[Fused[int]], novelty: float) -> tuple[Fused[int], ...]:
        head, tail = fused[:_SPREAD_OVER], fused[_SPREAD_OVER:]
        vectors = self._vectors.vectors_of(reading, [result.id for result in head])
        best = head[0].score or 1.0

        def similarity(one: Fused[int], other: Fused[int]) -> float:
            if one.id not in vectors or other.id not in vectors:
                return 0.0
            return max(0.0, float(vectors[one.id] @ vectors[other.id]))

        varied = spread(head, lambda result: result.score / best, similarity, novelty=novelty, limit=len(head))
        return (*varied, *tail)


class _Known:
    """Cache of values read from the units of an index. A number belongs to one unit for ever, so each is read once."""

    def __init__(self, series: str, streams_kept: int) -> None:
        self.series = series
        self.streams = Streams(streams_kept)
        self._ids = RowCache(_IDS_KEPT, 1, "O")

    def ids_of(self, reading: IndexReader, numbers: Sequence[int]) -> dict[int, str]:
        import numpy as np

        known, rows = self._ids.get_many(numbers)
        ids: dict[int, str] = dict(zip(known, rows[:, 0].tolist(), strict=True))
        if missing := [number for number in numbers if number not in ids]:
            read = reading.ids_of(missing)
            self._ids.put_many([*read], np.array([*read.values()], "O")[:, None])
            ids |= read
        return ids


class _Page(msgspec.Struct, frozen=True):
    items: tuple[Hit, ...]
    end: int
    """The place at which the next page begins."""
    limit_reason: str


def _storable(question: Question) -> Question:
    """The question without halves of characters, as a broken terminal yields them."""
    text = storable(question.text)
    return question if text is question.text else msgspec.structs.replace(question, text=text)


def _once(*notes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for some in notes for note in some))


def _identity(question: Question, recipe: Recipe) -> dict[str, Any]:
    return {"question": question.identity(), "recipe": recipe.fingerprint}
