"""A project: the one place that wires configuration, graph, store and services together.

Opening a project reads its configuration and nothing else. The graph is built when somebody first needs it, once for
all who wait, and kept in step with the files after that.
"""

import logging
import secrets
import threading
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from clew.config import Config, load
from clew.errors import StoreError
from clew.graph.graph import Graph
from clew.graph.lock import ReadWriteLock
from clew.trace.coverage import annotate

if TYPE_CHECKING:
    # What builds and answers is imported where it is first used: a server lists its tools before it needs any of it.
    from clew.formats.elspais.ids import IdGrammar
    from clew.graph.build import Builder, BuildReport, Progress
    from clew.paging import Cursors
    from clew.store.interface import Store
    from clew.trace.service import TraceService

log = logging.getLogger(__name__)

STATE_FOLDER = ".clew"
CHEAP_CHECK_SECONDS = 0.002
CHECK_SHARE = 4
"""A costly look for changed files is followed by this many times its cost without another."""


class Project:
    def __init__(self, config: Config) -> None:
        self.config = config
        self.graph = Graph(annotate)
        self.lock = ReadWriteLock()
        self._building = threading.Lock()
        self._built = False
        self._progress = (0, 0, "waiting")
        self._background: threading.Thread | None = None
        self._next_check = 0.0
        self._store_problem: StoreError | None = None

    @classmethod
    def open(cls, folder: Path | str) -> "Project":
        """The project at or above a folder."""
        return cls(load(Path(folder)))

    # What is wired

    @cached_property
    def grammar(self) -> "IdGrammar":
        from clew.formats.elspais.ids import IdGrammar

        return IdGrammar(self.config.elspais)

    @cached_property
    def store(self) -> "Store | None":
        """The project's store; None, with a note, where it cannot be used: reading the project works without."""
        from clew.store.sqlite import open_sqlite

        try:
            return open_sqlite(self.config.root / STATE_FOLDER / "clew.db")
        except StoreError as error:
            log.warning("%s", error)
            self._store_problem = error
            return None

    @cached_property
    def builder(self) -> "Builder":
        from clew.graph.build import Builder
        from clew.graph.readers import readers_for

        return Builder(
            self.config.root,
            readers_for(self.config, self.grammar),
            self.graph,
            self.store,
            self.lock,
            max_file_bytes=self.config.max_file_bytes,
        )

    @cached_property
    def trace(self) -> "TraceService":
        from clew.trace.service import TraceService

        return TraceService(self.graph, self.builder, self.grammar, self.config)

    @cached_property
    def cursors(self) -> "Cursors":
        from clew.paging import Cursors

        key = secrets.token_bytes(32)
        try:
            return Cursors(self.store.setting("cursor_key", key) if self.store else key)
        except StoreError as error:
            log.warning("%s", error)
            return Cursors(key)

    def notes(self) -> tuple[str, ...]:
        """What limits the answers of this project."""
        problem = (str(self._store_problem),) if self._store_problem is not None else ()
        return (*self.config.notes, *problem)

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
        except Exception:
            # Whoever needs the graph meets the same error, in a call that can report it.
            log.warning("The graph could not be built in the background", exc_info=True)

    def close(self) -> None:
        store = self.__dict__.get("store")
        if store is not None:
            store.close()
