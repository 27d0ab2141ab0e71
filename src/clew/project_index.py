"""The search index of a project: kept in step with the graph, served while its vectors are still being made.

The index lies in the project's own folder and is shared by all processes that work on it. What it holds was made from
the project, so it may be damaged or deleted at any time: it is then made anew. Whatever goes wrong with it costs the
ranking of an answer, never the answer.
"""

import logging
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from clew.embedding import EmbedSettings
from clew.errors import Cancelled, StoreBusy, StoreCorrupt, StoreError
from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind
from clew.paging import Cursors
from clew.search.engine import SearchEngine
from clew.search.index import Written
from clew.search.indexing import Progress, VectorReport
from clew.search.keeper import IndexKeeper, run_job
from clew.search.question import IndexState, Question, RankedUnit
from clew.search.units import Scope
from clew.store.interface import Store
from clew.trace.search import Relevance
from clew.trace.units import PART, requirement_unit

log = logging.getLogger(__name__)

FOLDER = "search"
MAX_RELATED = 50
RELATED_FROM = 0.3
"""The similarity of two texts that have something to do with each other, on the scale of the encoder that comes with
Clew, where unrelated ones stay around 0.1."""

T = TypeVar("T")


class ProjectIndex:
    def __init__(
        self, folder: Path, graph: Graph, store: Store | None, cursors: Cursors, settings: EmbedSettings
    ) -> None:
        self._folder = folder / FOLDER
        self._graph = graph
        self._store = store
        self._cursors = cursors
        self._settings = settings
        self._lock = threading.RLock()
        self._seen: dict[str, Node] = {}
        self._fingerprint: str | None = None
        self._in_background = False
        self.problem: str | None = None
        """Why there is no index, if so."""
        self.engine: SearchEngine | None = self._opened()
        self._keeper = IndexKeeper(lambda: self.engine, store)

    def close(self) -> None:
        self._keeper.close()
        if self.engine is not None:
            self.engine.close()

    # Keeping it

    def sync(self, check: Callable[[], None] = lambda: None) -> Written:
        """Bring the units in step with the graph. Cheap when nothing changed."""
        with self._lock:
            state = self._graph.state
            if self.engine is None or state.fingerprint == self._fingerprint:
                return Written()
            if state.is_edited and self._fingerprint is not None:
                # What was changed here and not saved is nobody else's, and the index is everybody's.
                return Written()
            written = self._put(self.engine, check)
            self._fingerprint = state.fingerprint
        if written.any and self._in_background:
            self._keeper.wake()
        return written

    def rebuild(self) -> Written:
        """Make the index anew from the graph, whatever state it is in. Units of other parts are taken over where they
        can still be read; those parts fill up the rest by themselves."""
        with self._lock:
            if self.engine is None:
                raise StoreError(self.problem or "There is no search index.", hint="Make .clew/ writable.")
            try:
                others = self.engine.units_of_others(PART)
            except StoreError:
                others = []
            engine = self._reopened(discard=True)
            engine.put(others)
        return self.sync()

    def make_vectors(self, progress: Progress) -> VectorReport:
        """Make the vectors that are missing, now."""
        if self.engine is None:
            return VectorReport(note=self.problem)
        return run_job(self.engine, self._store, progress)

    def make_vectors_in_background(self) -> None:
        """Make missing vectors from now on whenever units change; returns at once."""
        self._in_background = True
        self._keeper.wake()

    # Asking it

    def state(self) -> IndexState | None:
        return self._asked(lambda engine: engine.state())

    def ranking_state(self, query: str) -> str:
        """Names the ranking that a further page of this search belongs to."""
        return self._asked(lambda engine: engine.ranking_state(_question(query))) or ""

    def rank_requirements(self, query: str, check: Callable[[], None], *, again: bool = False) -> Relevance:
        """What the index says about the requirements; nothing but a note where it cannot be asked. With `again`, what
        it said before, for a further page."""

        def rank(engine: SearchEngine) -> Relevance:
            self.sync(check)
            ranking = engine.rank(_question(query), again=again, check=check)
            # Where all signals give nothing, everything is as good as anything.
            best = (ranking.units[0].score if ranking.units else 0.0) or 1.0
            scores = {_requirement(unit.id): unit.score / best for unit in ranking.units}
            related = tuple(_requirement(unit.id) for unit in ranking.units[:MAX_RELATED] if _is_related(unit))
            return Relevance(scores, related, ranking.notes, ranking.indexed)

        found = self._asked(rank)
        if self.engine is not None and self.engine.is_damaged and self._in_background:
            self._keeper.wake()
        return found or Relevance({}, (), (self.problem,) if self.problem else (), None)

    def _asked(self, question: Callable[[SearchEngine], T]) -> T | None:
        """The answer of the engine; None, with the reason in `problem`, where it gives none. An index that is damaged,
        or was taken away or replaced by another process, is opened anew first."""
        if self.engine is None:
            return None
        try:
            try:
                answer = question(self.engine)
            except StoreBusy:
                raise
            except StoreError as error:
                log.warning("The search index is opened anew: %s", error)
                with self._lock:
                    engine = self._reopened(discard=isinstance(error, StoreCorrupt))
                answer = question(engine)
        except Cancelled:
            raise
        except Exception as error:
            self.problem = f"The search index could not be asked: {getattr(error, 'message', error)}"
            log.warning("%s", self.problem)
            return None
        self.problem = None
        return answer

    def _opened(self) -> SearchEngine | None:
        try:
            engine = SearchEngine(self._folder, cursors=self._cursors, embed=self._settings)
        except (StoreError, OSError) as error:
            self.problem = f"There is no search index: {error}"
            log.warning("%s", self.problem)
            return None
        self.problem = None
        return engine

    def _reopened(self, *, discard: bool) -> SearchEngine:
        """The engine, opened again; with `discard`, on an empty folder. The old one is let go of by its last user."""
        if self.engine is not None:
            self.engine.close()
        if discard:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._seen = {}
        self._fingerprint = None
        self.engine = self._opened()
        if self.engine is None:
            raise StoreError(self.problem or "There is no search index.", hint="Make .clew/ writable.")
        return self.engine

    def _put(self, engine: SearchEngine, check: Callable[[], None]) -> Written:
        nodes = {node.id: node for node in self._graph.nodes_by_kind(NodeKind.REQUIREMENT)}
        changed = [node for id, node in nodes.items() if self._seen.get(id) is not node]
        known = engine.hashes(PART) if not self._seen else None
        units = (requirement_unit(node) for node in changed)
        if known is not None:
            units = (unit for unit in units if known.get(unit.id) != unit.content_hash())
        written = engine.put(units)
        there = known if known is not None else {f"{PART}:{id}" for id in self._seen}
        check()
        written += engine.delete(id for id in there if _requirement(id) not in nodes)
        self._seen = nodes
        return written


def _question(query: str) -> Question:
    return Question(text=query, scope=Scope(parts=(PART,)))


def _is_related(unit: RankedUnit) -> bool:
    """Whether the unit shares words with the query, or is near enough in meaning to be worth a look."""
    similarity = unit.signal("dense")
    return unit.signal("lexical") is not None or (similarity is not None and similarity >= RELATED_FROM)


def _requirement(unit: str) -> str:
    return unit.removeprefix(f"{PART}:")
