"""Runs hooks, each in a process of its own with something wrong in its world: `python -m tests.attack.hook_worker`.

Each line on standard input is a JSON object: a `Task`. A child makes its world, and then either becomes a new
interpreter, as a host starts one, or runs the hook with everything loaded that this process has loaded: ten thousand
interpreters would take ten minutes. The answer says how it ended and what it printed.
"""

import json
import os
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

import msgspec

SECONDS = 60
"""A hook ends after two; one that hangs is found after this time on any machine."""
_SIGNALS, _PAUSE_SECONDS = 9, 0.02


class Task(msgspec.Struct, frozen=True, kw_only=True):
    arguments: tuple[str, ...]
    given: str
    """The file that is its standard input."""
    folder: str
    environment: dict[str, str] = {}
    streams: dict[int, str] = {}
    """Where its streams lead: a file, or nowhere where the name is empty."""
    limits: dict[str, int] = {}
    is_removed: bool = False
    """Whether the folder is removed before it starts."""
    is_told_to_end: bool = False
    is_started: bool = False
    """Whether it is a new interpreter."""


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    code: int
    printed: bytes
    complaint: bytes
    in_time: bool


def main() -> None:
    # Loaded for all hooks.
    from clew.memory.hooks import client, offline  # noqa: F401

    answers = os.fdopen(os.dup(1), "wb")
    for line in sys.stdin.buffer:
        # Arguments hold halves of surrogate pairs, which only this module reads and writes.
        task = msgspec.convert(json.loads(line), Task, str_keys=True)
        answers.write(msgspec.json.encode(_ended(task)) + b"\n")
        answers.flush()


def _ended(task: Task) -> Ended:
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as complaint:
        child = os.fork()
        if not child:
            try:
                _begin(task, printed, complaint)
            finally:
                os._exit(1)
        late: list[int] = []

        def end(*_: object) -> None:
            late.append(child)
            os.kill(child, signal.SIGKILL)

        signal.signal(signal.SIGALRM, end)
        signal.alarm(SECONDS)
        _, status = os.waitpid(child, 0)
        signal.alarm(0)
        code = os.waitstatus_to_exitcode(status)
        return Ended(code=code, printed=_said(printed), complaint=_said(complaint), in_time=not late)


def _begin(task: Task, printed: IO[bytes], complaint: IO[bytes]) -> None:
    """In the child: make the world, and run the hook in it."""
    os.dup2(os.open(task.given, os.O_RDONLY), 0)
    os.dup2(printed.fileno(), 1)
    os.dup2(complaint.fileno(), 2)
    os.chdir(task.folder)
    if task.is_removed:
        Path(task.folder).rmdir()
    os.environ.update(task.environment)
    words = [sys.executable, "-m", "clew", "hook", *task.arguments]
    if task.is_told_to_end:
        # What becomes of an interpreter that starts is not the hook's business: until it takes over, signals are
        # ignored.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        _tell(os.getpid())
    for stream, place in task.streams.items():
        os.dup2(os.open(place, os.O_RDWR), stream) if place else os.close(stream)
    for name, most in task.limits.items():
        number = getattr(resource, name)
        resource.setrlimit(number, (most, most))
    if task.is_started:
        os.execv(sys.executable, words)  # noqa: S606 - it is this interpreter
    from clew.memory.hooks.client import run

    run(list(task.arguments))


def _tell(process: int) -> None:
    """Tell a process to end, again and again, as hosts do with what takes too long."""
    if os.fork():
        return
    try:
        for _ in range(_SIGNALS):
            os.kill(process, signal.SIGTERM)
            os.kill(process, signal.SIGINT)
            time.sleep(_PAUSE_SECONDS)
    finally:
        os._exit(0)


def _said(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


if __name__ == "__main__":
    main()
