"""Large files of the graph, each read in a process of its own, so that none of them keeps an answer waiting.

A reader begins with the large files and asks for their records last. A command waits until each is read or set aside;
a server waits a moment, answers without what is not there yet, and the next call finds it.
"""

import threading
from collections.abc import Callable
from enum import Enum, auto
from pathlib import Path

import msgspec

from clew.graph.build.parse_messages import LargeFile, ParsedFile
from clew.workspace import worker
from clew.workspace.keeping import WAIT_SECONDS, start_thread

_AT_ONCE = 2
_FUNCTION = "clew.graph.readers.parse_worker:read_large"


class MissingRecords(Enum):
    """Reason why a file has no records."""

    SET_ASIDE = auto()
    """The process that read it was ended."""
    READ_HERE = auto()
    """Something about it is out of the ordinary, or no process can be started; it can be read as any other."""


Outcome = ParsedFile | MissingRecords


class _Run:
    def __init__(self) -> None:
        self.done = threading.Event()
        self.outcome: Outcome = MissingRecords.READ_HERE


class LargeFiles:
    def __init__(self, root: Path, max_file_bytes: int) -> None:
        self._root = root
        self._max_file_bytes = max_file_bytes
        self._runs: dict[tuple[str, str, str], _Run] = {}
        """By reader, path and hash of the content."""
        self._free = threading.Semaphore(_AT_ONCE)
        self.patience: float | None = None
        """Seconds that an answer waits for a file; None for as long as it takes."""

    def begin(self, reader: str, path: str, digest: str) -> None:
        """Have a file read, unless that goes on already. `reader` is the name under which records are cached."""
        key = (reader, path, digest)
        if key in self._runs:
            return
        # The earlier content of a file that changed again is not needed.
        for other in [each for each in self._runs if each[:2] == key[:2]]:
            del self._runs[other]
        self._runs[key] = run = _Run()
        start_thread("clew-large-file", lambda: self._read(reader, path, run))

    def outcome(self, reader: str, path: str, digest: str, waiting: Callable[[], None]) -> Outcome | None:
        """Outcome of reading a file; None while it is still being read. `waiting` is called meanwhile and may raise."""
        key = (reader, path, digest)
        run, waited = self._runs[key], 0.0
        while not run.done.wait(WAIT_SECONDS):
            waiting()
            waited += WAIT_SECONDS
            if self.patience is not None and waited >= self.patience:
                return None
        return self._runs.pop(key).outcome

    def _read(self, reader: str, path: str, run: _Run) -> None:
        try:
            with self._free:
                request = LargeFile(str(self._root), reader, path, self._max_file_bytes)
                answer = worker.answer_apart(_FUNCTION, msgspec.msgpack.encode(request))
            if answer is None:
                run.outcome = MissingRecords.SET_ASIDE
            elif (parsed := msgspec.msgpack.decode(answer, type=ParsedFile | None)) is not None:
                run.outcome = parsed
        except (OSError, ValueError):  # no process, or a path or answer that no message can hold
            run.outcome = MissingRecords.READ_HERE
        finally:
            run.done.set()
