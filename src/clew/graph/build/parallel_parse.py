"""Parsing on more than one core.

Python parses on one core at a time, so a large project that was never read is shared with other processes: they take
files from the end of the list, while this one works from its front. A process that cannot be started, dies or answers
nothing useful costs no file: whatever it did not deliver is parsed here.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from clew.graph.build.link import FileKey
from clew.graph.build.parse_messages import Answer, ParsedFile, ParseTask, Request, receive, send
from clew.workspace.keeping import start_thread

FILES_AT_ONCE = 40
WORTHWHILE_BYTES = 3_000_000
"""Less than that is parsed here before another process could help."""
MOST_PROCESSES = 3


class ParallelParse:
    """The files of one pass, and who parses which."""

    def __init__(self, root: Path, tasks: Mapping[FileKey, ParseTask], max_file_bytes: int) -> None:
        self._root = root
        self._open = dict(tasks)
        self._max_file_bytes = max_file_bytes
        self._parsed: dict[FileKey, ParsedFile] = {}
        self._stopped = False
        self._threads = [start_thread("clew-parsing", self._employ) for _ in range(other_cores())]

    def claim(self, key: FileKey) -> bool:
        """Claim a file for the calling thread: True if it has to parse the file, False if another thread does so
        already."""
        return self._open.pop(key, None) is not None

    def finish(self) -> dict[FileKey, ParsedFile]:
        """Wait for the other threads, and return the files that they parsed."""
        for thread in self._threads:
            thread.join()
        return self._parsed

    def stop(self) -> None:
        """End the others, whatever they are doing."""
        self._stopped = True
        self._open.clear()

    def _employ(self) -> None:
        """Keep one other process busy until nothing is left to do."""
        command = (sys.executable, "-P", "-m", "clew.graph.readers.parse_worker", str(self._root))
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError:
            return
        # A process that died leaves a pipe that cannot be emptied when it is closed.
        with suppress(OSError), process:
            while tasks := self._next_tasks():
                answer = self._ask(process, tuple(tasks.values()))
                if answer is None or self._stopped:
                    process.kill()
                    return
                self._parsed.update(
                    (key, parsed) for key, parsed in zip(tasks, answer, strict=True) if parsed is not None
                )

    def _next_tasks(self) -> dict[FileKey, ParseTask]:
        tasks: dict[FileKey, ParseTask] = {}
        while self._open and len(tasks) < FILES_AT_ONCE:
            try:
                key, task = self._open.popitem()
            except KeyError:  # another thread took the last one meanwhile
                break
            tasks[key] = task
        return tasks

    def _ask(self, process: "subprocess.Popen[bytes]", tasks: tuple[ParseTask, ...]) -> Answer | None:
        if process.stdin is None or process.stdout is None:
            return None
        try:
            send(process.stdin, Request(tasks, self._max_file_bytes))
            message = receive(process.stdout)
            answer = msgspec.msgpack.decode(message, type=Answer) if message is not None else None
        except (OSError, msgspec.DecodeError):
            return None
        return answer if answer is not None and len(answer) == len(tasks) else None


@contextmanager
def shared(root: Path, tasks: Mapping[FileKey, ParseTask], max_file_bytes: int) -> Iterator[ParallelParse]:
    """Let other processes parse some of these files. They end with the block, also where it fails."""
    sharing = ParallelParse(root, tasks, max_file_bytes)
    try:
        yield sharing
    finally:
        sharing.stop()


def other_cores() -> int:
    """Number of processes that can run beside this one at the same time."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MOST_PROCESSES, cores - 1)
