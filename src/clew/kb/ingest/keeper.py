"""Keeping the documents in step with the files, for those who ask while files change.

The first who asks has the documents read: all of them when nothing is known yet, with progress; else what changed since
they were last looked at. Whoever asks later looks for changed files, which costs a question to the system for each, and
with many files not more often than pays. Reading runs in a thread of its own. Its first moment is waited for, which is
enough for an edited document; when much has changed, answers come from what is there and say so.
"""

import logging
import threading
import time
from collections.abc import Callable

import msgspec

from clew.errors import Cancelled, ClewError, StoreBusy, StoreReadOnly
from clew.kb.ingest.corpus import Corpus, IndexReport
from clew.kb.ingest.preparing import content_hash
from clew.store.watched import Progress
from clew.workspace.files import is_settled, time_of
from clew.workspace.resting import Rest

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


class _Seen:
    """The files as a look found them. What had changed moments before is compared by content at the next looks, as its
    time may stay the same when it changes again."""

    def __init__(self, corpus: Corpus) -> None:
        began_ns = time.time_ns()
        self._corpus = corpus
        self._tree = corpus.scan()
        self._are_folders_settled = self._has_settled_folders(began_ns)
        self._contents = {
            entry.path: self._content(entry.path)
            for entry in self._tree.files
            if not is_settled(entry.mtime_ns, began_ns)
        }
        """Hashes of the files that are not settled."""

    @property
    def count(self) -> int:
        return len(self._tree.files)

    def is_current(self) -> bool:
        root = self._corpus.root
        return (
            all(time_of(root, path) == mark for path, mark in self._tree.marks.items())
            and all(time_of(root, entry.path) == entry.mtime_ns for entry in self._tree.files)
            and self._has_same_files()
            and self._has_same_contents()
        )

    def _has_same_files(self) -> bool:
        if self._are_folders_settled:
            return True
        began_ns = time.time_ns()
        found = self._corpus.scan()
        self._are_folders_settled = self._has_settled_folders(began_ns)
        return [entry.path for entry in found.files] == [entry.path for entry in self._tree.files]

    def _has_settled_folders(self, looked_ns: int) -> bool:
        return is_settled(max(self._tree.marks.values(), default=0), looked_ns)

    def _has_same_contents(self) -> bool:
        for path, content in list(self._contents.items()):
            mtime_ns, read_ns = time_of(self._corpus.root, path), time.time_ns()
            if self._content(path) != content:
                return False
            if is_settled(mtime_ns, read_ns):
                del self._contents[path]
        return True

    def _content(self, path: str) -> str:
        """The hash of a file's content; empty for a file that cannot be read."""
        try:
            return content_hash(self._corpus.read(path))
        except ClewError:
            return ""


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
        self._seen: _Seen | None = None
        """What there was when the documents were last read; None before."""
        self._filled: object = None
        """What they were read into."""
        self._run: _Run | None = None
        self._thread: threading.Thread | None = None
        self._rest = Rest()
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
        # What was read before can still be told.
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
            if self._closing or (self._seen is not None and self._is_current(self._seen)):
                return None
            self._run = _Run(threading.Event(), self._monotonic())
            self._thread = threading.Thread(target=self._read, args=(self._run,), name="clew-documents", daemon=True)
            self._thread.start()
            return self._run

    def _is_current(self, seen: _Seen) -> bool:
        if self._stores() != self._filled:
            return False
        if not self._follows_files or not self._rest.is_over:
            return True
        began = time.monotonic()
        is_current = seen.is_current()
        self._rest.begin(began, seen.count)
        return is_current

    def _left(self, until: float) -> float:
        return max(0.0, until - self._monotonic())

    def _read(self, run: _Run) -> None:
        def report(done: int, total: int, message: str) -> None:
            if self._closing:
                raise Cancelled("The project was closed.")
            run.progress = (done, total, message)

        try:
            # Taken before the files are read: what changes meanwhile is noticed by the next look.
            seen, stores = _Seen(self._corpus), self._stores()
            result = self._index(report)
            run.note = result.note
            # Another process reads just now: look again next time.
            self._seen, self._filled = seen if result.note is None else None, stores
        except ClewError as error:
            run.error = error
        except Exception as error:
            log.exception("The documents could not be read")
            run.error = ClewError(f"The documents could not be read: {type(error).__name__}.")
        finally:
            run.done.set()
