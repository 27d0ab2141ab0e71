"""A project: the one place that wires configuration, graph, store and services together.

Opening a project reads its configuration and nothing else. The graph is built when somebody first needs it, once for
all who wait, and kept in step with the files after that.
"""

import logging
import secrets
import threading
from contextlib import suppress
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
    from clew.graph.build import Builder, BuildReport
    from clew.graph.keeper import GraphKeeper
    from clew.graph.reading import Progress
    from clew.paging import Cursors
    from clew.store.interface import Store
    from clew.trace.service import TraceService

log = logging.getLogger(__name__)

STATE_FOLDER = ".clew"
STORE_PATIENCE_SECONDS = 10.0
"""How long another process may hold the store before a write gives up."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a project is wired from once somebody needs it."""

    store: "Store | None"
    store_problem: StoreError | None
    builder: "Builder"
    keeper: "GraphKeeper"
    trace: "TraceService"
    cursors: "Cursors"


class Project:
    def __init__(self, config: Config) -> None:
        self.config = config
        self.graph = Graph(annotate)
        self.lock = ReadWriteLock()
        self._wiring = threading.Lock()
        self._made: _Parts | None = None
        self._started = False
        self._closed = False

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
            if self._closed:
                raise Cancelled("The project was closed.")
            if self._made is None:
                self._made = self._wire()
            return self._made

    def _wire(self) -> _Parts:
        from clew.formats.elspais.ids import IdGrammar
        from clew.graph.build import Builder
        from clew.graph.keeper import GraphKeeper
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
        trace = TraceService(self.graph, builder, grammar, config)
        keeper = GraphKeeper(self.graph, builder, trace.warm, auto_refresh=config.auto_refresh)
        return _Parts(store, problem, builder, keeper, trace, Cursors(key))

    def _open_store(self) -> "tuple[Store | None, StoreError | None]":
        from clew.store.sqlite import open_sqlite

        folder = self.config.root / STATE_FOLDER
        try:
            is_new = not folder.exists()
            store = open_sqlite(folder / "clew.db", busy_timeout=STORE_PATIENCE_SECONDS)
            if is_new:
                # Whoever looks at a project with Clew should not find it in `git status`.
                (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        except StoreError as error:
            log.warning("%s", error)
            return None, error
        return store, None

    def notes(self) -> tuple[str, ...]:
        """What limits the answers of this project."""
        problem = self._parts().store_problem
        return (*self.config.notes, *((str(problem),) if problem is not None else ()))

    # Keeping the graph

    def ensure_graph(self, progress: "Progress | None" = None, *, current: bool = True) -> None:
        """Return once the graph is built and, with `current`, holds every change made before this call."""
        self._parts().keeper.ensure(progress, current=current)

    def refresh(self, *, full: bool = False, progress: "Progress | None" = None) -> "BuildReport":
        """Read what changed now."""
        return self._parts().keeper.refresh(full=full, progress=progress)

    def build_in_background(self) -> None:
        """Begin building unless somebody did already; returns at once."""
        if not self._started:
            self._started = True
            threading.Thread(target=self._start, name="clew-start", daemon=True).start()

    def _start(self) -> None:
        with suppress(Cancelled):
            self._parts().keeper.start()

    def close(self) -> None:
        """Stop what runs in the background and let go of the store. Nothing can be asked after that."""
        with self._wiring:
            self._closed = True
            made = self._made
        if made is not None:
            made.keeper.close()
            if made.store is not None:
                made.store.close()
