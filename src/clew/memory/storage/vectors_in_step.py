"""Embeddings before the search that needs them: what was stored a moment ago is compared by meaning as well.

Embeddings are made in the background. A short session may end before that, so that a search first makes the few that
wait. Where there are more than fit into its patience, the answer says how many wait, and how they are compared.
"""

import logging
import time
from typing import TYPE_CHECKING

from clew.context import Context
from clew.errors import Cancelled, ClewError
from clew.search.units import FIRST
from clew.text.display import counted

if TYPE_CHECKING:
    from clew.search.engine import SearchEngine

log = logging.getLogger(__name__)

FEW = 64
PATIENCE_SECONDS = 1.0
"""Longest time that a search spends on embeddings of others."""
_POLL_SECONDS = 0.02


class VectorsInStep:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._behind = True
        """True if there may be memories without embeddings."""

    def written(self) -> None:
        self._behind = True

    def catch_up(self, engine: "SearchEngine") -> tuple[str, ...]:
        """Make the embeddings that wait, as far as patience lasts; returns a note on those that are left."""
        search = self._context.config.search
        if not self._behind or not search.background or not engine.spaces.wanted:
            return ()
        patience = PATIENCE_SECONDS if search.patience_seconds is None else search.patience_seconds
        until = time.monotonic() + min(patience, PATIENCE_SECONDS)
        waiting = _waiting(engine)
        try:
            # Many are left to the background: every search would wait for some of them. Of a project that was never
            # indexed all texts wait, and the few memories among them come first.
            while (0 < waiting <= FEW or 0 < _memories_waiting(engine, waiting) <= FEW) and time.monotonic() < until:
                if not _made(engine, until, one_batch=waiting > FEW):
                    # The background, or another process, is making them now.
                    time.sleep(_POLL_SECONDS)
                waiting = _waiting(engine)
            waiting = _memories_waiting(engine, waiting)
        except ClewError as error:
            log.info("No embeddings can be made: %s", error)
            return ()
        self._behind = waiting > 0
        if not waiting:
            return ()
        return (
            f"{counted(waiting, 'memory', 'memories')} still without an embedding: of these, `similarity` is the share"
            " of the words of the question. Ask again in a moment.",
        )


def _waiting(engine: "SearchEngine") -> int:
    state = engine.state()
    # Before the first embedding only words are searched.
    return max(state.units - state.embedded, 0) if state.state in ("indexing", "words_only") else 0


def _memories_waiting(engine: "SearchEngine", waiting: int) -> int:
    """Number of memories without an embedding, if any texts are without one."""
    if not waiting:
        return 0
    ids = [id for part in FIRST for id in engine.units.hashes(part)]
    return len(ids) - len(engine.vectors_of(ids))


def _made(engine: "SearchEngine", until: float, *, one_batch: bool) -> bool:
    """True if this call made embeddings; False where somebody else does."""

    def check(done: int, total: int, message: str) -> None:
        if time.monotonic() >= until or (one_batch and done > 0):
            raise Cancelled("A search does not wait for all embeddings.")

    try:
        return engine.index_vectors(check).note is None
    except Cancelled:
        return True
