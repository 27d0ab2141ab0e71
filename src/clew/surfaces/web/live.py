"""Live updates of open pages: server-sent events that carry ids and nothing else.

There is no thread that watches. While a page is open it asks three times a second whether anything changed, and all
pages share one look. A page tells the state that it shows, so that one that was hidden, or that outlived the server,
hears at once whether it is outdated.
"""

# Implements: REQ-d00418

import hashlib
import logging
import threading
from collections import deque
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import suppress
from itertools import islice

import anyio
import anyio.to_thread

from clew.errors import ClewError
from clew.project import Project
from clew.workspace.files import time_of

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.3
BEAT_SECONDS = 15.0
EVERYTHING = "*"
CALLS = "calls"
"""Stands for the calls of agents, which change no file."""
MEMORY = "memory"
_MOST_IDS = 200
_MOST_KEPT = 1_000


class Live:
    def __init__(self, project: Project) -> None:
        self._project = project
        self._lock = threading.Lock()
        self._looking = anyio.Lock()
        self._looked = -LOOK_SECONDS
        self._noted: deque[tuple[int, str]] = deque(maxlen=_MOST_KEPT)
        """Numbered ids, in the order in which they changed."""
        self._count = 0
        self._parts: dict[str, str] = {}
        project.graph.watchers.append(self._note)

    def _note(self, ids: Collection[str]) -> None:
        with self._lock:
            for id in islice(ids, _MOST_IDS + 1):
                self._count += 1
                self._noted.append((self._count, id))

    def state(self) -> str:
        """Identifies the state that pages show: files, drafts and the memory."""
        parts = [self._project.graph.state.fingerprint, self._memory()]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def _memory(self) -> str:
        """Changes when somebody, in whatever process, writes to the memory."""
        memory = self._project.memory
        if not memory.exists:
            return ""
        place = memory.home.path
        found = []
        for file in (place, place.with_name(f"{place.name}-wal")):
            with suppress(OSError):
                entry = file.stat()
                found.append(f"{entry.st_mtime_ns}.{entry.st_size}")
        return " ".join(found)

    def _look(self) -> None:
        try:
            self._project.ensure_graph()
            parts = {MEMORY: self._memory(), CALLS: str(self._project.context.calls.count)}
        except ClewError as error:
            # The page itself reports the same error when it is loaded.
            log.warning("The project could not be looked at: %s", error.message)
            return
        changed = [name for name, value in parts.items() if self._parts and self._parts.get(name) != value]
        self._parts = parts
        if changed:
            self._note(changed)

    async def _look_together(self) -> None:
        async with self._looking:
            if anyio.current_time() - self._looked >= LOOK_SECONDS / 2:
                await anyio.to_thread.run_sync(self._look)
                self._looked = anyio.current_time()

    async def events(self, shown: str, files: Sequence[str]) -> AsyncIterator[str]:
        """The stream for one page that shows a state, and these files besides."""
        await self._look_together()
        last, times = self._count, self._times(files)
        yield "retry: 1000\n\n"
        if shown and shown != self.state():
            yield _event([EVERYTHING])
        beaten = anyio.current_time()
        while True:
            await anyio.sleep(LOOK_SECONDS)
            await self._look_together()
            ids, last = self._since(last)
            now = self._times(files)
            ids += [path for path, was, new in zip(files, times, now, strict=True) if was != new]
            times = now
            if ids:
                yield _event(ids)
                beaten = anyio.current_time()
            elif anyio.current_time() - beaten >= BEAT_SECONDS:
                yield ": still here\n\n"
                beaten = anyio.current_time()

    def _since(self, last: int) -> tuple[list[str], int]:
        with self._lock:
            if self._count == last:
                return [], last
            missed = self._noted and self._noted[0][0] > last + 1
            found = dict.fromkeys(id for number, id in self._noted if number > last)
            return ([EVERYTHING] if missed or len(found) > _MOST_IDS else list(found)), self._count

    def _times(self, files: Sequence[str]) -> list[int]:
        found = []
        for path in files:
            try:
                found.append(time_of(self._project.config.root, path))
            except ClewError:
                found.append(0)
        return found


def _event(ids: Sequence[str]) -> str:
    """One event. An id never holds a line end; should one, it must not begin a line of the stream."""
    return f"event: changed\ndata: {' '.join(id.replace(chr(10), ' ').replace(chr(13), ' ') for id in ids)}\n\n"
