"""Making vectors in the background: one thread, woken when there may be something to do.

The work is a job in the store, so that any process can see how far it is and stop it. Where the project has no store
the work is done all the same.
"""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress

from clew.errors import Cancelled, ClewError, StoreError
from clew.search.engine import SearchEngine
from clew.search.indexing import Progress, VectorReport
from clew.store.interface import Job, Store

log = logging.getLogger(__name__)

JOB = "index"
PAUSE_SECONDS = 2.0


class IndexKeeper:
    def __init__(self, engine: Callable[[], SearchEngine | None], store: Store | None) -> None:
        """The engine is asked for anew each time: an index that was replaced is served by another one."""
        self._engine = engine
        self._store = store
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        """Let the thread look for units without vectors; returns at once."""
        with self._lock:
            engine = self._engine()
            if self._closing.is_set() or engine is None or not engine.wants_vectors:
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="clew-index", daemon=True)
                self._thread.start()
        self._wake.set()

    def close(self) -> None:
        """Stop after the batch that is under way; what is done is kept."""
        with self._lock:
            self._closing.set()
            thread = self._thread
        self._wake.set()
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        # Whoever starts a server asks it something first; loading the encoder meanwhile would make that slower.
        self._closing.wait(PAUSE_SECONDS)
        while True:
            self._wake.wait()
            self._wake.clear()
            if self._closing.is_set():
                return
            engine = self._engine()
            if engine is None:
                continue
            try:
                run_job(engine, self._store, self._stop)
                engine.warm()
            except Cancelled:
                log.info("Making vectors was cancelled.")
            except ClewError as error:
                log.warning("Vectors could not be made: %s", error)
            except Exception:
                log.exception("Vectors could not be made")

    def _stop(self, done: int, total: int, message: str) -> None:
        if self._closing.is_set():
            raise Cancelled("The project was closed.")


def run_job(engine: SearchEngine, store: Store | None, progress: Progress) -> VectorReport:
    """Make the vectors that are missing, as a job that others can watch and cancel once there is something to do."""
    job: Job | None = None

    def report(done: int, total: int, message: str) -> None:
        nonlocal job
        progress(done, total, message)
        if store is None:
            return
        # A store that is busy or gone costs the report, not the work.
        with suppress(StoreError):
            if job is None:
                job = store.start_job(JOB, total=total or None)
            store.advance_job(job.id, done=done, total=total or None, message=message)

    state = "failed"
    try:
        result = engine.index_vectors(report)
        state = "done"
    except Cancelled:
        state = "cancelled"
        raise
    finally:
        if store is not None and job is not None:
            with suppress(ClewError):
                store.finish_job(job.id, state=state)
    return result
