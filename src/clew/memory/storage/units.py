"""Memories in the search index: their units, and keeping them in step with the store."""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

import msgspec

from clew.context import Context
from clew.errors import StoreCorrupt, StoreError, StoreUnreachable
from clew.memory.model import LONGEST_QUERY, MEMORIES, Memory, MemoryKind
from clew.memory.scope import PERSON, Viewer
from clew.memory.storage.home import Home
from clew.memory.storage.vectors_in_step import VectorsInStep
from clew.search.units import Filters, Scope, Unit
from clew.store.interface import Damaged, Record

if TYPE_CHECKING:
    from pathlib import Path

    from clew.search.embed.embedder import Vectors
    from clew.search.engine import SearchEngine
    from clew.search.purging import PurgedText
    from clew.search.question import Question, RankedUnit

log = logging.getLogger(__name__)

T = TypeVar("T")

PART = "memory"
EPISODES = "episode"
"""Another part than the memories: episodes are many, and would take the places of what is worth finding."""
RECIPE = "default"
_PAGE = 1_000
_TELLING = 12
"""Words by which memories like a text are looked for."""
_PREFIX = f"{PART}:"
_NOT_RANKED = "The search index cannot be asked now, so memories are not compared."
_WITHOUT_INDEX = "The search index is not available now: all memories were searched, by keywords only."
_EVERYBODY = ""
"""Stands in a unit for the agent whose memory it is, where all may see it."""


class RankedMemory(msgspec.Struct, frozen=True, gc=False):
    """A memory that was ranked. Many are, and of most nobody asks why."""

    id: str
    unit: "RankedUnit | None" = None
    """As the engine ranked it; None where something else brought it up."""

    @property
    def score(self) -> float:
        return 0.0 if self.unit is None else self.unit.score

    @property
    def lexical(self) -> float | None:
        return None if self.unit is None else self.unit.signal("lexical")

    @property
    def dense(self) -> float | None:
        """The cosine of the two vectors; None if the memory is not among the nearest or has no vector yet."""
        return None if self.unit is None else self.unit.signal("dense")


class MemoryUnits:
    def __init__(self, context: Context, home: Home) -> None:
        self._context = context
        self._home = home
        self._lock = threading.Lock()
        self._vectors = VectorsInStep(context)

    def engine(self) -> "SearchEngine | None":
        """The search engine, with every memory in it; None if there is none. Answers name the damaged memories."""
        return self._in_step(self._home.damage)

    def _engine_if_reached(self) -> "SearchEngine | None":
        """The same; None also where it is in a database that does not answer."""
        try:
            return self.engine()
        except StoreUnreachable as error:
            log.debug("The search index cannot be asked: %s", error)
            return None

    def _in_step(self, damage: Damaged) -> "SearchEngine | None":
        engine = self._context.parts.engine()
        if engine is None:
            return None
        # The index belongs to one work tree; what it has seen of the shared memory is noted under its own name.
        name = engine.writes()[0]
        with self._lock:
            index = self._home.index
            known, lacking = index.mark(name), index.lacking(name)
            seq, written = index.written_since(known)
            there = dict.fromkeys((*lacking, *(id for id, gone in written if not gone)))
            if there:
                damaged = self._put(engine, there, damage)
                if damaged != lacking:
                    index.set_lacking(name, damaged)
            if written:
                engine.units.delete(unit_id(id) for id, gone in written if gone)
            if seq != known:
                index.set_mark(name, seq)
            self._take_out_purged(engine, name)
        if written:
            self._vectors.written()
            self._context.parts.make_vectors()
        return engine

    # Implements: REQ-d00247-H
    def _put(self, engine: "SearchEngine", ids: Iterable[str], damage: Damaged) -> frozenset[str]:
        """Put memories into the index; returns the damaged ones, which follow once they can be read again."""
        damaged: Damaged = {}
        wanted = frozenset(ids)
        engine.units.put(self._units(wanted, damaged))
        found = {id: error for id, error in damaged.items() if id in wanted}
        damage.update(found)
        return frozenset(found)

    def follow(self) -> tuple[str, ...]:
        """Bring the index in step after a write. The write is kept even if this fails; returns the reason why it cannot
        be found yet."""
        for is_last in (False, True):
            try:
                self._in_step({})
                break
            except StoreError as error:
                if is_last or not (isinstance(error, StoreCorrupt) and self._context.parts.renewed_after(error)):
                    log.warning("The search index is behind the memory: %s", error)
                    return (f"It is stored, and found as soon as the search index can be written: {error.message}",)
        return ()

    # Implements: REQ-d00492-B
    def _take_out_purged(self, engine: "SearchEngine", name: str) -> None:
        """Remove memories that the store does not have, with their bytes: a purge by another server leaves no event for
        each memory."""
        from clew.search.purging import purge_units

        mark, purged = f"purges in {name}", self._home.index.purged()
        if purged <= self._home.index.mark(mark):
            return
        there = self._home.index.there()
        indexed = (id.removeprefix(_PREFIX) for part in (PART, EPISODES) for id in engine.units.hashes(part))
        if gone := [unit_id(id) for id in indexed if id not in there]:
            # The purge took out what all share, and somebody who only reads may not take it out.
            purge_units(engine.folder, gone, text_hashes=engine.forget(gone, for_all=False))
        self._home.index.set_mark(mark, purged)

    def forget(self, ids: Iterable[str], text_hashes: Iterable[str]) -> "Path | None":
        """Remove memories from the index, and the shared embeddings of all their texts, former ones included. Returns
        the folder whose files may still have bytes of them."""
        engine = self._context.parts.engine()
        if engine is None:
            return None
        engine.forget(map(unit_id, ids), text_hashes=text_hashes)
        return engine.folder

    def forget_held(self, sought: "PurgedText") -> None:
        """Remove purged text from an index in a database, unless a file of the project says it now."""
        from clew.search.purging import held_beyond_files

        engine = self._context.parts.engine()
        if engine is not None:
            engine.forget(held_beyond_files(engine.units, sought))

    def _units(self, wanted: frozenset[str], damaged: Damaged) -> Iterator[Unit]:
        records: Iterable[Record] = self._scanned(wanted, damaged)
        if len(wanted) <= _PAGE:
            records = self._home.store.get_many(MEMORIES, wanted, damaged=damaged).values()
        return (unit_of(msgspec.convert(record.data, Memory)) for record in records)

    def _scanned(self, wanted: frozenset[str], damaged: Damaged) -> Iterator[Record]:
        """Many records: a new index is filled with all of them."""
        return (record for page in self._pages(damaged) for record in page if record.id in wanted)

    def _pages(self, damaged: Damaged) -> Iterator[Sequence[Record]]:
        """All records, some at a time."""
        store = self._home.store
        page = store.scan(MEMORIES, limit=_PAGE, damaged=damaged)
        while page:
            yield page
            page = store.scan(MEMORIES, after=page[-1].id, limit=_PAGE, damaged=damaged)

    def rank(
        self,
        text: str,
        viewer: Viewer,
        *,
        tags: tuple[str, ...] | None = None,
        parts: tuple[str, ...] = (PART,),
        recipe: str = RECIPE,
        check: Callable[[], None] = lambda: None,
    ) -> tuple[list[RankedMemory], tuple[str, ...]]:
        """The memories nearest to a text, best first, and a note on the limits of the answer. The caller checks which
        of them may be seen; agents are filtered here already, so that others' private memories take no places."""
        return self._ranked(self._engine_if_reached(), text, viewer, tags=tags, parts=parts, recipe=recipe, check=check)

    def alike(self, text: str, viewer: Viewer, id: str | None = None) -> tuple[list[RankedMemory], tuple[str, ...]]:
        """The memories nearest to a text that is not a query: signs in it mean nothing, and only its rarest words are
        searched for. `id` is the memory with this text, if there is one."""
        engine = self._engine_if_reached()
        words = self._answered(engine, lambda engine: engine.rarest_words(text[:LONGEST_QUERY], _TELLING)) or ""
        return self._ranked(engine, text, viewer, recipe="alike", words=words, like=None if id is None else unit_id(id))

    def _ranked(
        self,
        engine: "SearchEngine | None",
        text: str,
        viewer: Viewer,
        *,
        tags: tuple[str, ...] | None = None,
        parts: tuple[str, ...] = (PART,),
        recipe: str = RECIPE,
        words: str | None = None,
        like: str | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> tuple[list[RankedMemory], tuple[str, ...]]:
        from clew.search.question import Question

        agents = None if viewer.is_owner else (_EVERYBODY, *((viewer.agent,) if viewer.agent else ()))
        question = Question(
            text=text,
            words=words,
            like=like,
            scope=Scope(parts=parts, agents=agents),
            filters=Filters(tags=tags),
            recipe=recipe,
        )
        behind = self._answered(engine, self._vectors.catch_up) or ()
        found = self._answered(engine, lambda engine: _ranked_by(engine, question, check))
        if found is None and words is not None:
            # Who looks for what is like a text does so for many of them, and has no time to look through all.
            return [], (_NOT_RANKED,)
        units, notes = found or (self._by_words(question, check), (_WITHOUT_INDEX,))
        return [RankedMemory(unit.id.removeprefix(_PREFIX), unit) for unit in units], (*notes, *behind)

    def _answered(self, engine: "SearchEngine | None", ask: "Callable[[SearchEngine], T]") -> "T | None":
        """The answer of the engine; None if there is no engine, or it is in a database that does not answer."""
        try:
            return None if engine is None else ask(engine)
        except StoreUnreachable as error:
            log.debug("The search index cannot be asked: %s", error)
            return None

    # Implements: REQ-d00492-C
    def _by_words(self, question: "Question", check: Callable[[], None]) -> "Sequence[RankedUnit]":
        """The memories of the store with words of a question, by reading all of them."""
        from clew.memory.storage.scan import WordScan

        scan = WordScan(question)
        for page in self._pages(self._home.damage):
            check()
            scan.look_at(unit_of(msgspec.convert(record.data, Memory)) for record in page)
        return scan.ranked()

    def likeness(self, query: str, ids: Iterable[str]) -> dict[str, float]:
        """The similarity in meaning of some memories to a query, for those that have a vector."""
        wanted = [*map(unit_id, ids)]
        found = self._answered(self._context.parts.engine(), lambda engine: engine.likeness(query, wanted)) or {}
        return {id.removeprefix(_PREFIX): cosine for id, cosine in found.items()}

    def rarities(self, terms: Iterable[str]) -> dict[str, float]:
        wanted = dict.fromkeys(terms, 1.0)
        return self._answered(self._context.parts.engine(), lambda engine: engine.rarities(wanted)) or wanted

    def vectors_of(self, ids: Iterable[str]) -> "dict[str, Vectors]":
        """The vectors of the memories that have one."""
        wanted = [*map(unit_id, ids)]
        known = self._answered(self._engine_if_reached(), lambda engine: engine.vectors_of(wanted)) or {}
        return {id.removeprefix(_PREFIX): vector for id, vector in known.items()}

    def vectors(self, texts: Sequence[str]) -> "Vectors | None":
        """The vectors of some texts; None without an encoder."""
        engine = self._context.parts.engine()
        embedder = engine.spaces.configured() if engine is not None else None
        return None if embedder is None or not texts else embedder.embed(texts)

    def cosine_of(self, one: str, other: str) -> float | None:
        """The similarity in meaning of two short texts; None without an encoder."""
        vectors = self.vectors((one, other))
        return None if vectors is None else float(vectors[0] @ vectors[1])


def _ranked_by(
    engine: "SearchEngine", question: "Question", check: Callable[[], None]
) -> "tuple[Sequence[RankedUnit], tuple[str, ...]]":
    ranking = engine.rank(question, check=check)
    return ranking.units, ranking.notes


def unit_id(id: str) -> str:
    """The id of a memory in the search index."""
    return _PREFIX + id


def _place(memory: Memory) -> int:
    """The position of a memory in its session: its time of recording in microseconds."""
    return int(datetime.fromisoformat(memory.recorded_at).timestamp() * 1_000_000)


def unit_of(memory: Memory) -> Unit:
    """A memory as the search engine sees it."""
    is_private = memory.scope.visibility == "private"
    return Unit(
        id=unit_id(memory.id),
        part=EPISODES if memory.kind is MemoryKind.EPISODE else PART,
        title=memory.own_title,
        body=memory.text,
        tags=memory.tags,
        session=memory.origin.session,
        agent=(memory.scope.agent or PERSON) if is_private else _EVERYBODY,
        time=memory.recorded_at,
        place=_place(memory),
        links=tuple(cite.node for cite in memory.cites),
    )
