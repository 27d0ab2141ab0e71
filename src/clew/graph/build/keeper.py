"""Keeping the graph: built once for all who need it, and in step with the files after that.

Calls come from many threads. The first that finds work does it; the others wait, with progress, and can give up.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from clew.graph.build.builder import Builder, BuildReport
from clew.graph.build.reading import Progress
from clew.graph.graph import Graph
from clew.workspace.keeping import Keeper

PATIENCE_SECONDS = 1.0
"""Time that an answer of a server waits for a large file."""


class GraphKeeper(Keeper):
    failure = "The graph could not be built in the background"

    def __init__(self, graph: Graph, builder: Builder, warm: Callable[[], None], *, auto_refresh: bool) -> None:
        super().__init__()
        self._graph = graph
        self._builder = builder
        self._warm = warm
        self._auto_refresh = auto_refresh
        self._built = False
        self._looked_at = 0.0
        """When the last look for changed files began."""

    def ensure(self, progress: Progress | None = None, *, current: bool = True) -> None:
        """Return once the graph is built and, with `current`, holds every change made before this call.

        Without `current` a changed file is only noted. `progress` may raise to stop waiting; the next call
        continues the work.
        """
        called = time.monotonic()
        self.take_turn(progress)
        try:
            self._bring_in_step(called, progress, current=current, look=True)
        finally:
            self.release_turn()

    @contextmanager
    def turn(
        self, progress: Progress | None = None, *, current: bool = False, look: bool | None = None
    ) -> Iterator[None]:
        """The built graph for the block alone: no other thread reads files or changes it. With `current` it holds
        every change made before this call; `look` says whether changed files are looked for, by default with
        `current` only."""
        called = time.monotonic()
        self.take_turn(progress)
        try:
            self._bring_in_step(called, progress, current=current, look=current if look is None else look)
            yield
        finally:
            self.release_turn()

    def _bring_in_step(self, called: float, progress: Progress | None, *, current: bool, look: bool) -> None:
        if not self._built:
            self._refresh(full=False, progress=progress)
            return
        if look:
            self._look(called)
        if current and self._auto_refresh and self._graph.state.is_stale:
            self._refresh(full=False, progress=progress)

    @property
    def is_built(self) -> bool:
        """True once the graph was built."""
        return self._built

    @property
    def follows_files(self) -> bool:
        """True where changed files are read without being asked for."""
        return self._auto_refresh

    def catch_up(self, progress: Progress | None = None) -> None:
        """Read what changed now, inside a turn."""
        self._refresh(full=False, progress=progress)

    def read_again(self, paths: Sequence[str]) -> None:
        """Read files of which it is known that they, and only they, changed, inside a turn."""
        self._builder.read_again(paths)
        self.aside(self._builder.save)

    def refresh(self, *, full: bool = False, progress: Progress | None = None) -> BuildReport:
        """Read what changed now."""
        self.take_turn(progress)
        try:
            return self._refresh(full=full, progress=progress)
        finally:
            self.release_turn()

    def start(self) -> None:
        """Begin building in the background unless that has begun already."""
        self._builder.large_files.patience = PATIENCE_SECONDS
        self.begin(self._build, is_due=lambda: not self._built)

    def close(self, seconds: float | None = None) -> None:
        """End the work in the background: reading stops at the next file, what was read is saved."""
        super().close(seconds)
        self._builder.save()

    def _look(self, called: float) -> None:
        """Notice changed files. A look that began after the call did is as good as one of its own."""
        began = time.monotonic()
        if self._graph.state.is_stale or self._looked_at > called:
            return
        # With many files, not looked at more often than pays.
        if not self._builder.follower.is_probably_current():
            self._graph.mark_stale()
        self._looked_at = began

    def _refresh(self, *, full: bool, progress: Progress | None) -> BuildReport:
        began = time.monotonic()
        result = self._builder.refresh(full=full, progress=self.reporting(progress))
        self._looked_at = began
        self._warm()
        self._built = True
        # No call waits for the cache to be written: another process may hold the store for long.
        self.aside(self._builder.save)
        return result

    def _build(self) -> None:
        self.ensure(current=False)
