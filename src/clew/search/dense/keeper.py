"""Making vectors in the background: one thread, woken when there may be something to do.

The work is a job in the store, so that any process can see how far it is and stop it. Without a store the work
is still done.
"""

import logging
import threading
from collections.abc import Callable

from clew.errors import Cancelled, ClewError
from clew.search.dense.indexing import Progress, VectorReport
from clew.search.engine import SearchEngine
from clew.store.interface import Store
from clew.store.watched import watched
from clew.workspace.keeping import Keeper

log = logging.getLogger(__name__)

JOB = "index"
PAUSE_SECONDS = 2.0
AGAIN_SECONDS = 60.0
"""After how long work that could not be done is tried again: an embedder may come back, and another process that does
the work may end before it is done."""
CLOSING_SECONDS = 10.0
"""Longest time that closing waits for a batch. A service that does not answer must not keep a process alive."""


class IndexKeeper(Keeper):
    name = "clew-index"
    failure = "Vectors could not be made"

    def __init__(
        self,
        engine: Callable[[], SearchEngine | None],
        store: Store | None,
        *,
        pause: float = PAUSE_SECONDS,
        again: float = AGAIN_SECONDS,
        patience: float = CLOSING_SECONDS,
    ) -> None:
        """The engine is asked for again each time: an index that was replaced is served by another one."""
        super().__init__()
        self._engine = engine
        self._store = store
        self._pause = pause
        self._again = again
        self._patience = patience
        self._wake = threading.Event()

    def wake(self) -> None:
        """Let the thread look for units without vectors; returns at once."""
        if self._is_wanted() and self.begin(self._work) is not None:
            self._wake.set()

    def close(self, seconds: float | None = None) -> None:
        """Stop after the present batch, unless that takes too long; finished vectors are kept."""
        self.stop()
        self._wake.set()
        super().close(self._patience if seconds is None else seconds)

    def _is_wanted(self) -> bool:
        engine = self._engine()
        return engine is not None and engine.spaces.wanted

    def _work(self) -> None:
        # A new server gets its first question at once; loading the encoder meanwhile would slow the answer.
        self._closing.wait(self._pause)
        done = True
        while not self._closing.is_set():
            self._wake.wait(None if done else self._again)
            self._wake.clear()
            if not self._closing.is_set():
                done = self._made_vectors()

    def _made_vectors(self) -> bool:
        """True if every unit has its vector now, or the work was stopped."""
        engine = self._engine()
        if engine is None:
            return False
        try:
            report = run_job(engine, self._store, lambda *_: self._stop(engine))
            engine.warm()
        except Cancelled:
            log.info("Making vectors was cancelled.")
            return True
        except ClewError as error:
            self.failed(error)
            return False
        except Exception:
            log.exception("%s", self.failure)
            return False
        return report.note is None

    def _stop(self, engine: SearchEngine) -> None:
        """End the work if it is pointless or no longer wanted: the configured embedder may change during it."""
        self.check_open()
        if self._engine() is not engine:
            self._wake.set()
            raise Cancelled("The index was reopened.")


def run_job(engine: SearchEngine, store: Store | None, progress: Progress) -> VectorReport:
    """Make missing vectors, as a job that others can watch and cancel once there is something to do."""
    return watched(store, JOB, engine.index_vectors, progress)
