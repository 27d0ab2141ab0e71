"""A process that writes and is killed where it is told to: `python -m tests.attack.killed_worker`.

Each line on standard input is a JSON object: what to do (`prepare`, `write`, `reopen`), with which writer, in which
folder, and at which moment to die (0 for never). A moment is the time before something becomes durable or visible: a
sync, a rename, a link, a removal, a new file or folder, or the time before or after a commit of a database. A child
does the work, so that this process has everything loaded for the next one. The answer says how the child ended, how
many moments it passed and what it logged.
"""

import json
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.attack.writers import WRITERS

from clew.store.sqlite.connections import SqliteConnection


class Moments:
    def __init__(self, last: int) -> None:
        self.passed = 0
        self._last = last

    def one(self) -> None:
        self.passed += 1
        if self.passed == self._last:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        os.fsync, os.link = self._before(os.fsync), self._before(os.link)
        for name in ("replace", "rename", "unlink", "rmdir", "mkdir"):
            setattr(Path, name, self._before(getattr(Path, name)))
        opening = Path.open

        def opened(place: Path, mode: str = "r", *args: Any, **options: Any) -> Any:
            if "x" in mode:
                self.one()
            return opening(place, mode, *args, **options)

        Path.open = opened  # type: ignore[method-assign, assignment]
        execute = SqliteConnection.execute

        def executed(connection: SqliteConnection, statement: str, *rest: Any) -> Any:
            is_commit = statement == "COMMIT"
            if is_commit:
                self.one()
            result = execute(connection, statement, *rest)
            if is_commit:
                self.one()
            return result

        SqliteConnection.execute = executed  # type: ignore[method-assign]

    def _before(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **options: Any) -> Any:
            self.one()
            return work(*args, **options)

        return watched


class Said(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def work(task: dict[str, Any]) -> dict[str, Any]:
    """In the child."""
    said = Said()
    logging.getLogger("clew").addHandler(said)
    moments = Moments(task["moment"])
    moments.watch()
    error = ""
    try:
        getattr(WRITERS[task["writer"]], task["step"])(Path(task["root"]))
    except BaseException as failure:
        error = repr(failure)
    return {"killed": False, "passed": moments.passed, "said": said.lines, "error": error}


def in_child(task: dict[str, Any]) -> dict[str, Any]:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        answer = work(task)
        sys.stdout.flush()
        os.write(writing, json.dumps(answer).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return {"killed": True}
    return json.loads(answer)  # type: ignore[no-any-return]


def main() -> None:
    answers = os.dup(1)
    # What commands print is nobody's answer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for writer in WRITERS.values():
        with tempfile.TemporaryDirectory() as folder:
            # Loads everything once.
            writer.prepare(Path(folder))
            writer.write(Path(folder))
            writer.reopen(Path(folder))
    for line in sys.stdin:
        os.write(answers, json.dumps(in_child(json.loads(line))).encode() + b"\n")


if __name__ == "__main__":
    main()
