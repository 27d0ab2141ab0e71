"""Work as a job in the store: any process can see how far it is, and stop it.

A job is a lease: on another machine it counts as ended when nothing was heard of it for a while. So what takes long
between two reports is renewed meanwhile.
"""

# Implements: REQ-d00493

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from clew.errors import Cancelled, ClewError, StoreError
from clew.store import processes
from clew.store.interface import Job, Store

Progress = Callable[[int, int, str], None]
"""Done, total (0 where unknown), what is being done. May raise Cancelled, which ends the work where it is."""

REPORTS = 100
"""At most about so many go into the store: each is a write, and ten thousand steps are not worth ten thousand."""

T = TypeVar("T")


def watched(store: Store | None, kind: str, work: Callable[[Progress], T], progress: Progress) -> T:
    """Do the work, as a job once it reports that there is something to do. Without a store it is done all the same."""
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


class _Reporting:
    def __init__(self, store: Store, kind: str, progress: Progress) -> None:
        self._store = store
        self._kind = kind
        self._progress = progress
        self._job: Job | None = None
        self._kept: tuple[int, int, str] | None = None
        """What was reported last and is not in the store yet."""
        self._written = -1
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._renewing: threading.Thread | None = None

    def report(self, done: int, total: int, message: str) -> None:
        self._progress(done, total, message)
        self._kept = (done, total, message)
        part = done * REPORTS // total if total else -1
        if part < 0 or part != self._written:
            self._write()
            self._written = part

    def finish(self, state: str) -> None:
        self._ended.set()
        if self._renewing is not None:
            self._renewing.join()
        # A request to cancel work that has just ended has nothing left to stop.
        with suppress(Cancelled):
            self._write()
        if self._job is not None:
            with suppress(ClewError):
                self._store.finish_job(self._job.id, state=state)

    def _write(self) -> None:
        if self._kept is None:
            return
        done, total, message = self._kept
        # A store that is busy or gone costs the report, not the work.
        with self._lock, suppress(StoreError):
            if self._job is None:
                self._job = self._store.start_job(self._kind, total=total or None)
            self._job = self._store.advance_job(self._job.id, done=done, total=total or None, message=message)
        self._kept = None
        if self._job is not None and self._renewing is None:
            self._renewing = threading.Thread(target=self._renew, name="clew-lease", daemon=True)
            self._renewing.start()

    def _renew(self) -> None:
        while not self._ended.wait(processes.RENEWED_SECONDS):
            # A request to stop is met by the next report.
            with self._lock, suppress(ClewError):
                if self._job is not None and not self._ended.is_set():
                    self._job = self._store.advance_job(self._job.id, done=self._job.done)
