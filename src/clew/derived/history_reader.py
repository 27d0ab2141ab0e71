"""Reads the history of a repository once, in the background, and what is new whenever HEAD moved; all of it again where
`.mailmap` or the replacements of commits changed.

A caller waits for a while and then goes on with what there is: the newest commits are read first. Nothing is
written to the repository.
"""

# Implements: REQ-d00362

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from clew.derived.history import CommitHistory, HistoryState
from clew.errors import ClewError, StoreError, Unavailable
from clew.workspace.git import api as git
from clew.workspace.git import history as git_history
from clew.workspace.keeping import Keeper, Run

DEADLINE_SECONDS = 2.0
"""Longest time that an answer waits for the history."""
_AT_ONCE = 2_000
_FIRST = 200
"""Commits of the first batch: an answer about something new needs no more."""


class HistoryProgress(msgspec.Struct, frozen=True):
    """Progress of reading the history."""

    head: str | None
    """None without git, and before the first commit."""
    notes: tuple[str, ...] = ()
    """Limits of the answers."""
    is_complete: bool = False
    """True if all commits that lead to HEAD are read."""


class HistoryReader(Keeper):
    name = "clew-history"
    failure = "The history cannot be read"
    expected = (ClewError, OSError)

    def __init__(self, root: Path, folder: Callable[[], Path]) -> None:
        super().__init__()
        self._root = root
        self._folder = folder
        self._opening = threading.Lock()
        self._history: CommitHistory | None = None

    @property
    def history(self) -> CommitHistory:
        with self._opening:
            if self._history is None:
                self._history = CommitHistory(self._folder())
            return self._history

    def ensure(self, seconds: float = DEADLINE_SECONDS) -> HistoryProgress:
        """Read everything up to HEAD, and wait at most so long for it."""
        head = git.head(self._root)
        if head is None:
            return HistoryProgress(None, (self._absence(),))
        try:
            state = self.history.state()
            if state.head != head or state.unread or self._is_renamed(state):
                state = self._wait(self.begin(self._read), head, seconds)
        except StoreError as error:
            return HistoryProgress(head, (f"The history cannot be kept: {error.message}",))
        return HistoryProgress(head, tuple(self._notes(state, head)), state.head == head and state.is_complete)

    def complete(self, progress: Callable[[int, int, str], None] = lambda done, total, message: None) -> HistoryState:
        """Read all of it now."""
        head = git.head(self._root)
        while head is not None:
            run = self.begin(self._read)
            state = self._wait(run, head, 1.0)
            progress(state.total - state.unread, state.total, "reading the history")
            if (state.head == head and not state.unread) or run is None or run.error is not None:
                break
        return self.history.state()

    def close(self, seconds: float | None = None) -> None:
        super().close(seconds)
        if self._history is not None:
            self._history.close()

    def _absence(self) -> str:
        if problem := git.problem(self._root):
            return f"Not known, because git cannot be asked: {problem}"
        if git.toplevel(self._root) is None:
            return "Not known: this folder is not in a git repository, so it has no history."
        return "Not known: nothing is committed yet."

    def _notes(self, state: HistoryState, head: str) -> list[str]:
        notes = []
        if self.run is not None and self.run.error is not None:
            notes.append(f"{self.failure}: {self.run.error.message}")
        elif state.back_to is not None:
            at = time.strftime("%Y-%m-%d", time.gmtime(state.back_to))
            number = f"{state.unread:,} " if state.head == head else ""
            notes.append(f"History read back to {at}; {number}older commits are still being read.")
        elif state.head != head or state.unread:
            notes.append("The history is still being read; ask again in a moment.")
        if git_history.is_shallow(self._root):
            notes.append("This clone is shallow: the history before its oldest commit is not here.")
        return notes

    def _wait(self, run: Run | None, head: str, seconds: float) -> HistoryState:
        def is_read() -> bool:
            state = self.history.state()
            return state.head == head and not state.unread and not self._is_renamed(state)

        if run is not None:
            self.wait(run, self._monotonic() + seconds, is_enough=is_read)
        return self.history.state()

    def _read(self) -> None:
        head = git.head(self._root)
        if head is not None:
            if self.history.state().head is None:
                self._begin(head)
            self._plan(head)
            self._fill()

    def _tell(self) -> None:
        if self.run is not None:
            self.run.tell()

    def _begin(self, head: str) -> None:
        """Read the newest commits before all of them are counted, which takes long where they are many."""
        ids = git_history.newest_ids(self._root, head, _FIRST)
        self.history.begin(ids)
        with suppress(Unavailable):
            compares = not git_history.is_partial(self._root)
            self.history.put(git_history.commits(self._root, ids, compares=compares), ids)
        self._tell()

    def _plan(self, head: str) -> None:
        history = self.history
        state, names = history.state(), git_history.renaming(self._root)
        before = state.head
        renamed = before is not None and state.names != names
        if before == head and not renamed:
            return
        known = set() if renamed else history.known()
        gone: list[str] = []
        if before is not None and not renamed:
            try:
                new = [id for id in git_history.commit_ids(self._root, head, [before]) if id not in known]
                gone = git_history.commit_ids(self._root, before, [head])
            except Unavailable:
                # The commit that was HEAD does not exist any more: read all commits that lead to the new one.
                new = git_history.commit_ids(self._root, head)
                gone = list(known - set(new))
                new = [id for id in new if id not in known]
        else:
            new = git_history.commit_ids(self._root, head)
            gone = list(known - set(new))
        history.plan(head, new, gone, names)

    def _is_renamed(self, state: HistoryState) -> bool:
        """True if git's names of authors or its replaced commits changed since all was read."""
        return state.names is not None and state.names != git_history.renaming(self._root)

    def _fill(self) -> None:
        history, compares = self.history, not git_history.is_partial(self._root)
        size = _FIRST
        while not self.is_closing and (ids := history.unread(size)):
            with suppress(Unavailable):
                history.put(git_history.commits(self._root, ids, compares=compares), ids)
                size = _AT_ONCE
                self._tell()
                continue
            if size == 1:
                # One commit that git cannot show must not keep the others from being read.
                history.put((), ids)
            size = max(1, size // 8)
