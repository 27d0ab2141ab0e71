"""Stores of one engine at addresses of their own, for this process and for others."""

import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path

from tests import forked
from tests.store.engines import ENGINES

from clew.store.interface import Store

Process = subprocess.Popen[bytes]


class Worker:
    """Another process at work on the store: `tests/store/worker.py` says on what."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self._requests = process.stdin
        self._answers = process.stdout

    def send(self, line: str = "go") -> None:
        self._requests.write(line.encode() + b"\n")
        self._requests.flush()

    def line(self) -> str:
        return self._answers.readline().decode().rstrip("\n")

    def finish(self) -> str:
        """Its whole answer, once it has ended well."""
        answer, _ = self.process.communicate()
        assert self.process.returncode == 0, answer
        return answer.decode()


class StoreFactory:
    """One store of one engine, opened as often as a test likes."""

    def __init__(self, engine: str, folder: Path, root: Path, cleanup: ExitStack) -> None:
        self.engine = engine
        self._folder = folder
        self._root = root
        self._cleanup = cleanup
        self._fresh = 0
        self.location = self.fresh_location()

    def fresh_location(self) -> str:
        self._fresh += 1
        folder = self._folder / str(self._fresh)
        folder.mkdir()
        return ENGINES[self.engine].new_location(folder)

    def open(self, location: str | None = None) -> Store:
        return self._cleanup.enter_context(closing(ENGINES[self.engine].open(location or self.location)))

    def files(self) -> list[Path]:
        return ENGINES[self.engine].files(self.location)

    def refuse_bad(self) -> None:
        ENGINES[self.engine].refuse_bad(self.location)

    def worker(self, task: str, *arguments: str, start: type[Process] = forked.Process) -> Worker:
        """A process that does the task; it starts on `send()` where the task says so."""
        process = start(
            [sys.executable, "-m", "tests.store.worker", task, self.engine, self.location, *arguments],
            cwd=self._root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._cleanup.enter_context(process)
        self._cleanup.callback(process.kill)
        return Worker(process)
