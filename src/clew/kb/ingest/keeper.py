"""Keeping the documents in step with the files, for those who ask while files change.

The first call reads the documents: all of them when nothing is known yet, with progress; else what changed since the
last look. Later calls look for changed files, which costs one system call for each file, so with many files they look
less often. Reading runs in a thread of its own. Its first moment is waited for, which is
enough for an edited document; when much has changed, answers come from what is there and say so.
"""

import logging
import threading
import time
from collections.abc import Callable

import msgspec

from clew.errors import Cancelled, ClewError, StoreBusy, StoreReadOnly
from clew.kb.ingest.corpus import Corpus, IndexReport
from clew.store.watched import Progress
from clew.workspace.follow import Follower

log = logging.getLogger(__name__)

WAIT_SECONDS = 0.05
"""How often somebody who waits reports progress and may be cancelled."""
PATIENCE_SECONDS = 1.0
"""How long an answer waits for documents that changed."""

_STILL_READING = "Some documents changed and are still being read; this answer may not show them yet."
_NOT_WRITTEN = "Some documents changed, but cannot be taken in now ({code}); this answer does not show them yet."


class _Run(msgspec.Struct):
    """One reading of the documents."""

    done: threading.Event
    began: float
    progress: tuple[int, int, str] = (0, 0, "waiting")
    error: ClewError | None = None
    note: str | None = None


class DocumentKeeper:
    def __init__(
        self,
        corpus: Corpus,
        index: Callable[[Progress], IndexReport],
        is_empty: Callable[[], bool],
        *,
        stores: Callable[[], object] = lambda: None,
        follows_files: bool = True,
        patience: float | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._corpus = corpus
        self._index = index
        self._is_empty = is_empty
        self._stores = stores
        """What documents are read into: another value, once somebody deleted that or made it anew."""
        self._follows_files = follows_files
        self._patience = PATIENCE_SECONDS if patience is None else patience
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._follower: Follower | None = None
        """Follows the files since the documents were last read; None before."""
        self._filled: object = None
        """What they were read into."""
        self._run: _Run | None = None
        self._thread: threading.Thread | None = None
        self._closing = False

    def ensure(self, progress: Progress = lambda done, total, message: None) -> str | None:
        """Have the documents read as far as that is worth waiting for; says what the answer may lack. `progress` may
        raise to stop waiting, not the reading."""
        run = self._due()
        if run is None:
            return None
        waits_for_all = self._is_empty()
        # Who asks in the middle of a long reading need not wait for what those before him waited for in vain.
        until = run.began + self._patience
        while not run.done.wait(WAIT_SECONDS if waits_for_all else min(WAIT_SECONDS, self._left(until))):
            progress(*run.progress)
            if not waits_for_all and not self._left(until):
                return _STILL_READING
        if run.error is None:
            return run.note
        if waits_for_all or not isinstance(run.error, StoreBusy | StoreReadOnly):
            raise run.error
        # What was read before can still be shown.
        return _NOT_WRITTEN.format(code=run.error.code)

    def close(self) -> None:
        """Stop reading at the next document; what was read is kept."""
        with self._lock:
            self._closing = True
            thread = self._thread
        if thread is not None:
            thread.join()

    def _due(self) -> _Run | None:
        """The reading that is under way, or one that begins because something changed."""
        with self._lock:
            if self._run is not None and not self._run.done.is_set():
                return self._run
            if self._closing or (self._follower is not None and self._is_current(self._follower)):
                return None
            self._run = _Run(threading.Event(), self._monotonic())
            self._thread = threading.Thread(target=self._read, args=(self._run,), name="clew-documents", daemon=True)
            self._thread.start()
            return self._run

    def _is_current(self, follower: Follower) -> bool:
        if self._stores() != self._filled:
            return False
        return not self._follows_files or follower.is_probably_current()

    def _left(self, until: float) -> float:
        return max(0.0, until - self._monotonic())

    def _read(self, run: _Run) -> None:
        def report(done: int, total: int, message: str) -> None:
            if self._closing:
                raise Cancelled("The project was closed.")
            run.progress = (done, total, message)

        try:
            # Taken before the files are read: what changes meanwhile is noticed by the next look.
            follower, stores = self._corpus.follower(), self._stores()
            follower.note_all()
            result = self._index(report)
            run.note = result.note
            # Another process reads just now: look again next time.
            self._follower, self._filled = follower if result.note is None else None, stores
        except ClewError as error:
            run.error = error
        except Exception as error:
            log.exception("The documents could not be read")
            run.error = ClewError(f"The documents could not be read: {type(error).__name__}.")
        finally:
            run.done.set()
