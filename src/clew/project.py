"""A project: the one place that wires configuration, graph, store and services together.

Opening a project reads its configuration and nothing else. The graph is built when somebody first needs it, once for
all who wait, and kept in step with the files after that.
"""

import logging
import secrets
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clew.config import Config, load
from clew.errors import Cancelled, StoreError
from clew.graph.graph import Graph
from clew.graph.lock import ReadWriteLock
from clew.trace.coverage import annotate

if TYPE_CHECKING:
    # What builds and answers is imported where it is first used: a server lists its tools before it needs any of it.
    from clew.graph.build import Builder, BuildReport, Progress
    from clew.paging import Cursors
    from clew.store.interface import Store
    from clew.trace.service import TraceService

log = logging.getLogger(__name__)

STATE_FOLDER = ".clew"
CHEAP_CHECK_SECONDS = 0.002
CHECK_SHARE = 4
"""A costly look for changed files is followed by this many times its cost without another."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a project is wired from once somebody needs it."""

    store: "Store | None"
    store_problem: StoreError | None
    builder: "Builder"
    trace: "TraceService"
    cursors: "Cursors"


class Project:
    def __init__(self, config: Config) -> None:
        self.config = config
        self.graph = Graph(annotate)
        self.lock = ReadWriteLock()
        self._wiring = threading.Lock()
        self._made: _Parts | None = None
        self._building = threading.Lock()
        self._built = False
        self._closing = False
        self._progress = (0, 0, "waiting")
        self._background: threading.Thread | None = None
        self._next_check = 0.0

    @classmethod
    def open(cls, folder: Path | str) -> "Project":
        """The project at or above a folder."""
        return cls(load(Path(folder)))

    # What is wired

    @property
    def store(self) -> "Store | None":
        """The project's store; None, with a note, where it cannot be used: reading the project works without."""
        return self._parts().store

    @property
    def builder(self) -> "Builder":
        return self._parts().builder

    @property
    def trace(self) -> "TraceService":
        return self._parts().trace

    @property
    def cursors(self) -> "Cursors":
        return self._parts().cursors

    def _parts(self) -> _Parts:
        """Everything is wired together, and once, whoever asks first: calls and the background build run in threads."""
        with self._wiring:
            if self._made is None:
                self._made = self._wire()
            return self._made

    def _wire(self) -> _Parts:
        from clew.formats.elspais.ids import IdGrammar
        from clew.graph.build import Builder
        from clew.graph.readers import readers_for
        from clew.paging import Cursors
        from clew.trace.service import TraceService

        config = self.config
        grammar = IdGrammar(config.elspais)
        store, problem = self._open_store()
        readers = readers_for(config, grammar)
        builder = Builder(config.root, readers, self.graph, store, self.lock, max_file_bytes=config.max_file_bytes)
        key = secrets.token_bytes(32)
        if store is not None:
            try:
                key = store.setting("cursor_key", key)
            except StoreError as error:
                problem = error
        return _Parts(store, problem, builder, TraceService(self.graph, builder, grammar, config), Cursors(key))

    def _open_store(self) -> "tuple[Store | None, StoreError | None]":
        from clew.store.sqlite import open_sqlite

        try:
            return open_sqlite(self.config.root / STATE_FOLDER / "clew.db"), None
        except StoreError as error:
            log.warning("%s", error)
            return None, error

    def notes(self) -> tuple[str, ...]:
        """What limits the answers of this project."""
        problem = self._parts().store_problem
        return (*self.config.notes, *((str(problem),) if problem is not None else ()))

    # Keeping the graph

    def ensure_graph(self, progress: "Progress | None" = None, *, current: bool = True) -> None:
        """Return once the graph is built and, with `current`, in step with the files.

        `progress` may raise to stop waiting; whoever waits next takes the build up again.
        """
        if not self._built:
            self._await_build(progress)
        elif current:
            self._catch_up(progress)
        else:
            self._look()

    def _await_build(self, progress: "Progress | None") -> None:
        while not self._building.acquire(timeout=0.05):
            if progress is not None:
                progress(*self._progress)
            if self._built:
                return
        try:
            if not self._built:
                self._refresh(full=False, progress=progress)
        finally:
            self._building.release()

    def _catch_up(self, progress: "Progress | None") -> None:
        self._look()
        if self.graph.state.is_stale and self.config.auto_refresh:
            self.refresh(progress=progress)

    def _look(self) -> None:
        """Notice changed files, spending only a bounded share of the time on it."""
        if time.monotonic() < self._next_check or self.graph.state.is_stale:
            return
        if not self._building.acquire(blocking=False):
            return
        try:
            started = time.perf_counter()
            if self.builder.is_stale():
                self.graph.mark_stale()
            cost = time.perf_counter() - started
            self._next_check = time.monotonic() + (CHECK_SHARE * cost if cost > CHEAP_CHECK_SECONDS else 0.0)
        finally:
            self._building.release()

    def refresh(self, *, full: bool = False, progress: "Progress | None" = None) -> "BuildReport":
        """Read what changed now."""
        with self._building:
            return self._refresh(full=full, progress=progress)

    def _refresh(self, *, full: bool, progress: "Progress | None") -> "BuildReport":
        def report(done: int, total: int, message: str) -> None:
            if self._closing:
                raise Cancelled("The project was closed.")
            self._progress = (done, total, message)
            if progress is not None:
                progress(done, total, message)

        result = self.builder.refresh(full=full, progress=report)
        self.trace.warm()
        self._built = True
        return result

    def build_in_background(self) -> None:
        """Begin building unless somebody did already."""
        if self._built or self._background is not None:
            return
        self._background = threading.Thread(target=self._build_quietly, name="clew-build", daemon=True)
        self._background.start()

    def _build_quietly(self) -> None:
        try:
            self.ensure_graph()
        except Cancelled:
            pass
        except Exception:
            # Whoever needs the graph meets the same error, in a call that can report it.
            log.warning("The graph could not be built in the background", exc_info=True)

    def close(self) -> None:
        """Stop what runs in the background and let go of the store. Nothing can be asked after that."""
        self._closing = True
        if self._background is not None:
            self._background.join()
        if self._made is not None and self._made.store is not None:
            self._made.store.close()
