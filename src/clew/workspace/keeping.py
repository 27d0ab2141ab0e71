"""Keeping something in step with the files behind the answers of a server.

A keeper has a turn, which one thread at a time holds, and runs, each in a thread of its own. An answer waits for a run
as long as its patience lasts and goes on with what there is. Closing a keeper ends its work at the next report.
"""

import logging
import threading
import time
from collections.abc import Callable

from clew.errors import Cancelled, ClewError

log = logging.getLogger(__name__)

WAIT_SECONDS = 0.05
"""The interval at which a waiting caller reports progress and may be cancelled."""

Progress = Callable[[int, int, str], None]
"""Done, total (0 where unknown), current step. May raise Cancelled to stop waiting."""


def start_thread(name: str, work: Callable[[], object]) -> threading.Thread:
    """Start a thread that keeps no process alive."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    return thread


class Run:
    """One run of work in the background, and its outcome."""

    def __init__(self, began: float) -> None:
        self.began = began
        self.note: str | None = None
        """Limits of answers from this run, in words."""
        self.error: ClewError | None = None
        self._has_ended = False
        self._news = threading.Condition()

    @property
    def has_ended(self) -> bool:
        return self._has_ended

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end or for news, at most so long; True after the end."""
        with self._news:
            if not self._has_ended:
                self._news.wait(seconds)
            return self._has_ended

    def tell(self) -> None:
        """Wake those who wait, because an answer may have enough already."""
        with self._news:
            self._news.notify_all()

    def end(self) -> None:
        with self._news:
            self._has_ended = True
            self._news.notify_all()


class Keeper:
    """Base of everything that catches up with the files in the background."""

    name = "clew-background"
    """Name of its threads."""
    failure = "Work in the background failed"
    expected: tuple[type[Exception], ...] = (ClewError,)
    """Errors that need no traceback in the log."""

    def __init__(self, name: str | None = None, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.name = name or self.name
        self._monotonic = monotonic
        self._turn = threading.Lock()
        """Held by the thread that looks for changes and reads them."""
        self._starting = threading.Lock()
        self._closing = threading.Event()
        self._threads: list[threading.Thread] = []
        self._progress = (0, 0, "waiting")
        self.run: Run | None = None
        """The latest run, under way or ended."""

    # The turn

    def take_turn(self, progress: Progress | None = None, *, seconds: float | None = None) -> bool:
        """Take the turn, which the caller releases; False where it was not free in time."""
        # Mostly it is free, and then no time is looked at.
        if self._turn.acquire(blocking=False):
            return True
        until = None if seconds is None else self._monotonic() + seconds
        while not self._turn.acquire(timeout=WAIT_SECONDS if until is None else min(WAIT_SECONDS, self._left(until))):
            if progress is not None:
                progress(*self._progress)
            if until is not None and not self._left(until):
                return False
        return True

    def release_turn(self) -> None:
        self._turn.release()

    # Runs

    def begin(self, work: Callable[[], str | None], *, is_due: Callable[[], bool] = lambda: True) -> Run | None:
        """The run under way, or a new one if one is due. `work` returns its note. None if there is nothing to wait for,
        also after closing."""
        with self._starting:
            if self.run is not None and not self.run.has_ended:
                return self.run
            if self._closing.is_set() or not is_due():
                return None
            run = self.run = Run(self._monotonic())
            self._progress = (0, 0, "waiting")
            self._start(lambda: self._carry_out(run, work))
            return run

    def aside(self, work: Callable[[], object]) -> None:
        """Do something in a thread beside the runs; only closing waits for it."""
        with self._starting:
            if not self._closing.is_set():
                self._start(work)

    def wait(
        self,
        run: Run,
        until: float | None,
        progress: Progress | None = None,
        *,
        is_enough: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Wait for the end of a run, or until an answer has enough; False where it takes longer than `until`."""
        while not run.wait(WAIT_SECONDS if until is None else min(WAIT_SECONDS, self._left(until))):
            if is_enough():
                return True
            if progress is not None:
                progress(*self._progress)
            if until is not None and not self._left(until):
                return False
        return True

    def reporting(self, progress: Progress | None = None) -> Progress:
        """The progress callback of the work. Waiting callers get its reports too, and it raises Cancelled after
        closing."""

        def report(done: int, total: int, message: str) -> None:
            self.check_open()
            self._progress = (done, total, message)
            if progress is not None:
                progress(done, total, message)

        return report

    def failed(self, error: ClewError) -> None:
        """Told of an error that ended a run. Later calls report the same error."""
        log.warning("%s: %s", self.failure, error)

    # The end

    @property
    def is_closing(self) -> bool:
        return self._closing.is_set()

    def check_open(self) -> None:
        if self._closing.is_set():
            raise Cancelled("The project was closed.")

    def stop(self) -> None:
        """Begin nothing any more and end the work at its next report; returns at once."""
        with self._starting:
            self._closing.set()

    def close(self, seconds: float | None = None) -> None:
        """Stop, and wait for the threads, at most so long for each."""
        self.stop()
        for thread in self._threads:
            thread.join(seconds)

    def _left(self, until: float) -> float:
        return max(0.0, until - self._monotonic())

    def _start(self, work: Callable[[], object]) -> None:
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        self._threads.append(start_thread(self.name, work))

    def _carry_out(self, run: Run, work: Callable[[], str | None]) -> None:
        try:
            run.note = work()
        except self.expected as error:
            run.error = error if isinstance(error, ClewError) else ClewError(str(error))
            if not isinstance(error, Cancelled):
                self.failed(run.error)
        except Exception as error:
            log.exception("%s", self.failure)
            run.error = ClewError(f"{self.failure}: {type(error).__name__}.")
        finally:
            run.end()
