"""The search index of a project: kept in step with the graph, served while its vectors are still being made.

The index lies in the project's own folder and is shared by all processes that work on it. What it holds was made from
the project, so it may be damaged or deleted at any time: it is then rebuilt. Whatever goes wrong with it costs the
ranking of an answer, never the answer.
"""

# Implements: REQ-d00200

import logging
import os
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from clew.context import Context
from clew.derived.file import throw_away
from clew.edit import below
from clew.edit.state_folder import make_folder_in
from clew.errors import (
    Cancelled,
    ClewError,
    ConfigError,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
)
from clew.graph.model import Node, NodeKind
from clew.search.dense.indexing import Progress, VectorReport
from clew.search.dense.keeper import IndexKeeper, run_job
from clew.search.dense.sharing import Sharing
from clew.search.engine import Backend, SearchEngine
from clew.search.lexical.query import is_searchable, parse_query
from clew.search.question import IndexState, Question, RankedUnit
from clew.search.rank.ranking import Rankings
from clew.search.unit_store import WriteCounts
from clew.search.units import Scope, Unit
from clew.trace.find.keywords import content
from clew.trace.find.search import Relevance

PART = "requirement"
MAX_BODY_CHARACTERS = 1_000_000
"""Text beyond this length is not searched by relevance; exact matches are found everywhere."""


def requirement_unit(node: Node) -> Unit:
    """A requirement as the search engine sees it."""
    body = content(node)
    level = node.get_field("level")
    return Unit(
        id=f"{PART}:{node.id}",
        part=PART,
        title=node.title,
        # The id comes last: it is a word to be found, but says nothing about the meaning.
        body=f"{body[:MAX_BODY_CHARACTERS]}\n\n{node.id}",
        document=node.source.path if node.source else None,
        tags=(level,) if level else (),
        path=node.source.path if node.source else None,
        status=node.get_field("status"),
        links=(node.id,),
    )


log = logging.getLogger(__name__)

FOLDER = "search"
_PREFIX = f"{PART}:"
MAX_RELATED = 50
RELATED_FROM = 0.3
"""The similarity of two texts that have something to do with each other, on the scale of the encoder that comes with
Clew, where unrelated ones stay around 0.1."""
RELATED_WORDS = 0.5
"""The share of a query's words that a text with the same words has to hold, whatever it means."""
_SPACE_FILE = "space"
_LONGEST_SPACE = 64
REST_SECONDS = 30.0
"""An index that could not be opened is tried again after so long."""

_PASSING = (StoreBusy, StoreFull, StoreReadOnly, StoreUnreachable)
"""Errors that pass and are no fault of the index, so that opening it again would not help."""

T = TypeVar("T")


class ProjectIndex:
    def __init__(self, context: Context) -> None:
        self._folder = context.derived_folder / FOLDER
        self._context = context
        self._graph = context.graph
        self._store = context.store
        self._cursors = context.cursors
        self._settings = context.live.embedder()
        self._rankings = Rankings()
        """They outlive an index that is rebuilt, so that page two is page two."""
        self._lock = threading.RLock()
        self._seen: dict[str, Node] = {}
        self._hashes: dict[str, str] = {}
        """Of these nodes' units."""
        self._there: dict[str, str] = {}
        """The hashes of the requirements in the index, by id, as long as no other process writes."""
        self._files: str | None = None
        """The state of the files that the index was brought in step with."""
        self._writes: tuple[str, int] | None = None
        self._in_background = False
        self._closed = False
        self._rest_until = 0.0
        self.problem: str | None = None
        """The reason for which there is no index; None where there is one."""
        self._engine: SearchEngine | None = self._opened()
        self._keeper = IndexKeeper(lambda: self.engine, self._store)

    def close(self) -> None:
        self._keeper.close()
        with self._lock:
            self._closed = True
            if self._engine is not None:
                self._engine.close()

    @property
    def engine(self) -> SearchEngine | None:
        """The engine; None, with the reason in `problem`, if it cannot be opened. It is tried again once in a while, by
        one thread at a time, and nobody else waits for that."""
        if self._engine is None and time.monotonic() >= self._rest_until and self._lock.acquire(blocking=False):
            try:
                if self._engine is None and not self._closed:
                    self._engine = self._opened()
            finally:
                self._lock.release()
        if self._engine is not None and self._is_outdated(self._engine):
            with self._lock:
                if not self._closed and self._engine is not None and self._is_outdated(self._engine):
                    self._settings = self._context.live.embedder()
                    return self._reopened(discard=False)
        return self._engine

    def _is_outdated(self, engine: SearchEngine) -> bool:
        """True if another process replaced its files, or another embedder is configured now."""
        return engine.is_replaced or self._settings != self._context.live.embedder()

    # Keeping it

    def sync(self, check: Callable[[], None] = lambda: None) -> WriteCounts:
        """Bring the units in step with the files, as the graph has read them. Cheap if none changed. Unsaved drafts
        stay out, because the index is shared: a drafted node is indexed as its file has it."""
        with self._lock:
            engine = self.engine
            return WriteCounts() if engine is None else self._sync(engine, check)

    def _sync(self, engine: SearchEngine, check: Callable[[], None]) -> WriteCounts:
        with self._lock:
            files, writes = self._graph.state.files, engine.writes()
            if (files, writes) == (self._files, self._writes):
                return WriteCounts()
            if writes != self._writes:
                # Another process wrote, or this one has not yet.
                self._there = {_requirement(id): hash for id, hash in engine.units.hashes(PART).items()}
            self._writes = None
            written, own_writes = self._put(engine, check)
            self._files = files
            # Where others wrote beside, the next call looks at what is there.
            if engine.writes() == (writes[0], writes[1] + own_writes):
                self._writes = engine.writes()
        if written.any and self._in_background:
            self._keeper.wake()
        return written

    def rebuild(self) -> WriteCounts:
        """Make the index again from the graph, whatever state it is in. Units of other parts are copied if they can be
        read; those parts fill the rest by themselves."""
        with self._lock:
            others: list[Unit] = []
            if self._engine is not None:
                with suppress(StoreError):
                    others = self._engine.units.units_of_others(PART)
            engine = self._reopened(discard=True)
            engine.units.put(others)
        return self.sync()

    def make_vectors(self, progress: Progress) -> VectorReport:
        """Make missing vectors now."""
        engine = self.engine
        if engine is None:
            return VectorReport(note=self.problem)
        return run_job(engine, self._store, progress)

    def make_vectors_in_background(self) -> None:
        """Make missing vectors from now on whenever units change; returns at once."""
        self._in_background = True
        self._keeper.wake()

    # Asking it

    def state(self) -> IndexState | None:
        return self._asked(lambda engine: engine.state())[0]

    def ranking_state(self, query: str) -> str:
        """Names the ranking that a further page of this search belongs to."""
        return self._asked(lambda engine: engine.ranking_state(_question(query)))[0] or ""

    def rank_requirements(self, query: str, check: Callable[[], None], *, again: bool = False) -> Relevance:
        """Requirements ranked by the index; without an index only a note. With `again`, the ranking of the first page
        is used again."""

        def rank(engine: SearchEngine) -> Relevance:
            late = self._synced(engine, check)
            ranking = engine.rank(_question(query), again=again, check=check)
            # Where all signals give nothing, everything is as good as anything.
            best = (ranking.units[0].score if ranking.units else 0.0) or 1.0
            scores = {_requirement(unit.id): unit.score / best for unit in ranking.units}
            asked = len({clause.text for clause in parse_query(query).clauses if is_searchable(clause)})
            related = tuple(
                _requirement(unit.id)
                for unit in ranking.units[:MAX_RELATED]
                if _is_related(unit, len(ranking.matched.get(unit.id, ())) / max(1, asked))
            )
            return Relevance(scores, related, (*ranking.notes, *late), ranking.indexed)

        found, problem = self._asked(rank)
        engine = self._engine
        if engine is not None and engine.is_damaged and self._in_background:
            self._keeper.wake()
        return found or Relevance({}, (), (problem,) if problem else (), None)

    def _synced(self, engine: SearchEngine, check: Callable[[], None]) -> tuple[str, ...]:
        """Bring the units in step; if that is impossible now, the present units answer, and the note says so."""
        try:
            self._sync(engine, check)
        except _PASSING as error:
            return (f"The search index is behind the files: {error.message}",)
        return ()

    def _asked(self, question: Callable[[SearchEngine], T]) -> tuple[T | None, str | None]:
        """The answer of the engine, or None and the reason. An index that is damaged, removed or replaced is opened
        again first."""
        engine = self.engine
        if engine is None:
            return None, self.problem
        try:
            answer = self._persistently(engine, question)
        except Cancelled:
            raise
        except Exception as error:
            self.problem = problem = f"The search index could not be asked: {getattr(error, 'message', error)}"
            # What is no error of Clew's own tree is a fault in Clew: the log needs to say where.
            log.warning("%s", problem, exc_info=None if isinstance(error, ClewError) else error)
            return None, problem
        self.problem = None
        return answer, None

    def persistently(self, question: Callable[[SearchEngine], T]) -> T | None:
        """The answer of the engine, or of the index opened again; None, with the reason in `problem`, where there is no
        index. StoreCorrupt where it is damaged: who holds the graph's lock cannot fill a new one."""
        engine = self.engine
        if engine is None:
            return None
        try:
            return question(engine)
        except (*_PASSING, StoreCorrupt):
            raise
        except StoreError as error:
            return question(self._successor(engine, error, discard=False))

    # Implements: REQ-d00200-A
    def renewed_after(self, error: StoreCorrupt) -> bool:
        """True if the error came from the index, which is an empty one now. Each part fills in its texts at the next
        question. The first caller that meets the damage deletes the index."""
        damaged = error.data.get("index")
        if damaged is None:
            return False
        with self._lock:
            if self._closed or self._engine is None:
                return False
            if getattr(self._engine.units, "series", None) == damaged:
                log.warning("Rebuilding the search index: %s", error)
                self._reopened(discard=True)
        if self._in_background:
            self._keeper.wake()
        return True

    def _persistently(self, engine: SearchEngine, question: Callable[[SearchEngine], T]) -> T:
        """The answer of the engine, of the index opened again, or of one that is rebuilt."""
        for discard in (False, True):
            try:
                return question(engine)
            except _PASSING:
                raise
            except StoreError as error:
                engine = self._successor(engine, error, discard=discard or isinstance(error, StoreCorrupt))
        return question(engine)

    def _successor(self, failed: SearchEngine, error: StoreError, *, discard: bool) -> SearchEngine:
        """The engine to use in place of one that failed. The first caller that meets the failure opens the index again,
        and the others use that one."""
        with self._lock:
            if self._closed:
                raise Cancelled("The project was closed.") from error
            if self._engine is not None and self._engine is not failed:
                return self._engine
            log.warning("Reopening the search index: %s", error)
            engine = self._reopened(discard=discard)
        if self._in_background:
            self._keeper.wake()
        return engine

    def _opened(self) -> SearchEngine | None:
        try:
            engine = self._open()
        except (StoreError, OSError) as error:
            self.problem = f"There is no search index: {error}"
            self._rest_until = time.monotonic() + REST_SECONDS
            log.warning("%s", self.problem)
            return None
        self.problem = None
        return engine

    def _open(self) -> SearchEngine:
        try:
            return self._new_engine()
        except _PASSING:
            raise
        except StoreError as error:
            # What cannot even be opened is worth nothing, whatever the system says of it.
            log.warning("Rebuilding the search index: %s", error)
            throw_away(self._folder)
            return self._new_engine()

    def _new_engine(self) -> SearchEngine:
        backend = sharing = None
        if self._context.config.store is not None:
            backend, sharing = self._of_team()
        return SearchEngine(
            self._folder,
            cursors=self._cursors,
            embed=self._settings,
            rankings=self._rankings,
            backend=backend,
            sharing=sharing,
            patience=self._context.config.search.patience_seconds,
        )

    def _of_team(self) -> tuple[Backend | None, Sharing | None]:
        """The index in the team's database, if the configuration asks for it; else the shared embeddings for an index
        in files."""
        from clew.store.team import search_schema

        config = self._context.config
        assert config.store is not None  # noqa: S101
        try:
            from clew.search.database.opening import in_database, keeps_vectors, shared_embeddings

            schema = search_schema(config, inside=self._context.inside)
        except ConfigError as error:
            # Which project it is is not known, or there is no driver: then nothing is shared, and the store says so.
            log.warning("%s", error)
            return None, None
        # What a reader's files hold cannot be written into the database, so their index is on this machine.
        if config.search.engine == "database" and getattr(self._context.shared, "may_write", True):
            if not keeps_vectors(config.store):
                log.warning(
                    "The database %s has no pgvector: the search index is kept in files on this machine.", config.store
                )
                return None, None
            patience = config.search.patience_seconds
            return in_database(config.store, schema, self._space(), self._settings, patience), None
        return None, shared_embeddings(config.store, schema)

    def _space(self) -> str:
        """The name of this work tree in the database, drawn once."""
        file = self._folder / _SPACE_FILE
        try:
            return below.read(file, _LONGEST_SPACE).decode("ascii")
        except FileNotFoundError:
            make_folder_in(self._folder)
            with suppress(FileExistsError):
                descriptor = below.open_file(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
                with os.fdopen(descriptor, "wb") as new:
                    new.write(uuid.uuid4().hex.encode())
            return below.read(file, _LONGEST_SPACE).decode("ascii")

    def _reopened(self, *, discard: bool) -> SearchEngine:
        """The engine, opened again; with `discard`, on an empty folder. The old one is let go of by its last user."""
        if self._engine is not None:
            self._engine.close()
        if discard:
            throw_away(self._folder)
        self._seen, self._hashes = {}, {}
        self._files = self._writes = None
        self._engine = self._opened()
        if self._engine is None:
            raise StoreError(self.problem or "There is no search index.", hint="Make .clew/ writable.")
        return self._engine

    def _put(self, engine: SearchEngine, check: Callable[[], None]) -> tuple[WriteCounts, int]:
        """Bring the requirements in the index in step: the counts of written texts and of writes."""
        nodes = self._filed()
        hashes = {id: self._hash(node) for id, node in nodes.items()}
        there = self._there
        check()
        put = engine.units.put(requirement_unit(nodes[id]) for id, hash in hashes.items() if there.get(id) != hash)
        check()
        deleted = engine.units.delete(_PREFIX + id for id in there if id not in nodes)
        self._seen = nodes
        self._hashes = self._there = hashes
        return put + deleted, put.any + deleted.any

    def _filed(self) -> dict[str, Node]:
        """The requirements as the files have them."""
        nodes = {node.id: node for node in self._graph.nodes_by_kind(NodeKind.REQUIREMENT)}
        for id, node in self._context.parts.drafted_nodes().items():
            nodes.pop(id, None)
            if node is not None and node.kind is NodeKind.REQUIREMENT:
                nodes[id] = node
        return nodes

    def _hash(self, node: Node) -> str:
        """The hash of a requirement's text, computed again only when its node changed."""
        if self._seen.get(node.id) is node:
            return self._hashes[node.id]
        return requirement_unit(node).content_hash()


def _question(query: str) -> Question:
    return Question(text=query, scope=Scope(parts=(PART,)))


def _is_related(unit: RankedUnit, matched: float) -> bool:
    """True if the text has enough words of the query, or is near enough in meaning."""
    similarity = unit.signal("dense")
    return matched >= RELATED_WORDS or (similarity is not None and similarity >= RELATED_FROM)


def _requirement(unit: str) -> str:
    return unit.removeprefix(_PREFIX)
