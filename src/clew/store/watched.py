"""Work as a job in the store: any process can see how far it is, and stop it.

A job is a lease: on another machine it counts as ended when nothing was heard of it for a while. So what takes long
between two reports is renewed meanwhile.
"""

# Implements: REQ-d00493

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TypeVar

from clew.errors import Cancelled, ClewError, StoreError
from clew.store import processes
from clew.store.interface import Job, Store
from clew.workspace.keeping import start_thread

Progress = Callable[[int, int, str], None]
"""Done, total (0 where unknown), what is being done. May raise Cancelled, which ends the work where it is."""

REPORTS = 100
"""At most about so many go into the store: each is a write, and ten thousand steps are not worth ten thousand."""

T = TypeVar("T")


def watched(store: Store | None, kind: str, work: Callable[[Progress], T], progress: Progress) -> T:
    """Do the work, as a job once it reports that there is something to do. Without a store the work is done as well."""
    if store is None:
        return work(progress)
    reporting = _Reporting(store, kind, progress)
    state = "failed"
    try:
        result = work(reporting.report)
        state = "done"
    except Cancelled:
        state = "cancelled"
        raise
    finally:
        reporting.finish(state)
    return result


@contextmanager
def renewed(store: Store, id: str) -> Iterator[None]:
    """Keep the job alive during the block, even if it reports nothing."""
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(processes.RENEWED_SECONDS):
            # A store that is busy or gone costs this renewal: the next one comes before the lease is over.
            with suppress(ClewError):
                store.renew_job(id)

    thread = start_thread("clew-lease", renew)
    try:
        yield
    finally:
        ended.set()
        thread.join()


class _Reporting:
    def __init__(self, store: Store, kind: str, progress: Progress) -> None:
        self._store = store
        self._kind = kind
        self._progress = progress
        self._job: Job | None = None
        self._kept: tuple[int, int, str] | None = None
        """The progress that was reported last and is not in the store yet."""
        self._written = -1
        self._lease = ExitStack()

    def report(self, done: int, total: int, message: str) -> None:
        self._progress(done, total, message)
        self._kept = (done, total, message)
        part = done * REPORTS // total if total else -1
        if part < 0 or part != self._written:
            self._write()
            self._written = part

    def finish(self, state: str) -> None:
        self._lease.close()
        # Not as progress: a request to cancel work that has just ended has nothing left to stop.
        with suppress(ClewError):
            done, total, message = self._kept or (None, None, "")
            if self._job is None and self._kept is not None:
                self._job = self._store.start_job(self._kind, total=total or None)
            if self._job is not None:
                self._store.finish_job(self._job.id, state=state, message=message, done=done)

    def _write(self) -> None:
        if self._kept is None:
            return
        done, total, message = self._kept
        # A store that is busy or gone costs the report, not the work.
        with suppress(StoreError):
            if self._job is None:
                self._job = self._store.start_job(self._kind, total=total or None)
                self._lease.enter_context(renewed(self._store, self._job.id))
            self._job = self._store.advance_job(self._job.id, done=done, total=total or None, message=message)
        self._kept = None
