"""Keeps documents in step with the files while questions are answered.

The first call reads the documents: all of them when nothing is known yet, with progress; else what changed since the
last look. Later calls look for changed files, which costs one system call for each file, so with many files they look
less often. Reading runs in a thread of its own. Its first moment is waited for, which is
enough for an edited document; when much has changed, answers come from what is there and say so.
"""

import time
from collections.abc import Callable

from clew.errors import ClewError, StoreBusy, StoreReadOnly
from clew.kb.ingest.corpus import Corpus, IngestionReport
from clew.store.watched import Progress
from clew.workspace.follow import Follower
from clew.workspace.keeping import Keeper

PATIENCE_SECONDS = 1.0
"""Longest time that an answer waits for documents that changed."""

_STILL_READING = "Some documents changed and are still being read; this answer may not show them yet."
_NOT_WRITTEN = "Some documents changed, but cannot be taken in now ({code}); this answer does not show them yet."


class DocumentKeeper(Keeper):
    name = "clew-documents"
    failure = "The documents could not be read"

    def __init__(
        self,
        corpus: Corpus,
        index: Callable[[Progress], IngestionReport],
        is_empty: Callable[[], bool],
        *,
        stores: Callable[[], object] = lambda: None,
        follows_files: bool = True,
        patience: float | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(monotonic=monotonic)
        self._corpus = corpus
        self._index = index
        self._is_empty = is_empty
        self._stores = stores
        """Identity of the store that documents are read into: another value, once somebody deleted it or made it
        again."""
        self._follows_files = follows_files
        self._patience = PATIENCE_SECONDS if patience is None else patience
        self._follower: Follower | None = None
        """Follows the files since the documents were last read; None before."""
        self._filled: object = None
        """Identity of the store at that reading."""

    def ensure(self, progress: Progress = lambda done, total, message: None) -> str | None:
        """Read documents as far as that is worth waiting for, and return a note on what the answer may lack. `progress`
        may raise to stop waiting; the reading goes on."""
        run = self.begin(self._read, is_due=lambda: self._follower is None or not self._is_current(self._follower))
        if run is None:
            return None
        waits_for_all = self._is_empty()
        # In the middle of a long reading nobody waits again for what callers before him waited for in vain.
        if not self.wait(run, None if waits_for_all else run.began + self._patience, progress):
            return _STILL_READING
        if run.error is None:
            return run.note
        if waits_for_all or not isinstance(run.error, StoreBusy | StoreReadOnly):
            raise run.error
        # What was read before can still be shown.
        return _NOT_WRITTEN.format(code=run.error.code)

    def failed(self, error: ClewError) -> None:
        """The waiting caller reports the error."""

    def _is_current(self, follower: Follower) -> bool:
        if self._stores() != self._filled:
            return False
        return not self._follows_files or follower.is_probably_current()

    def _read(self) -> str | None:
        # Taken before the files are read: a change during the reading is noticed by the next look.
        follower, stores = self._corpus.follower(), self._stores()
        follower.note_all()
        result = self._index(self.reporting())
        # With a note another process reads just now: look again next time.
        self._follower, self._filled = follower if result.note is None else None, stores
        return result.note
