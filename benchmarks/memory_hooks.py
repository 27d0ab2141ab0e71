"""A prompt's hook from start to end, with a server and without, beside an interpreter that does nothing, in turns."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import table
from benchmarks.figures import Figure, Result, milliseconds, over
from benchmarks.probes.stopwatch import Stopwatch
from benchmarks.workspace import CLEW, PATIENCE_SECONDS, BenchmarkFailed, Workspace, run, workspace

WITH_SERVER_MS, ALONE_MS = 120, 300
"""Limits for 19 of 20 hooks."""
MEMORIES = 200
_PROMPT = "how are requirements of {} counted in spec/alone-{}.md, and what was decided about them"


def report(rounds: int) -> None:
    with workspace() as space:
        print(table.render([measure(space, rounds)]))


def measure(space: Workspace, rounds: int) -> Result:
    root = space.generated
    _remember(root)
    bare_alone, alone = _turns(lambda number: _hook(root, f"alone {number}"), rounds)
    with _server(root):
        bare, served = _turns(lambda number: _hook(root, f"served {number}"), rounds)
    figures = (
        *_figures("with a server", served, bare, WITH_SERVER_MS),
        *_figures("without a server", alone, bare_alone, ALONE_MS),
    )
    return Result(f"A prompt's hook, {MEMORIES} memories", figures)


def _figures(name: str, hooks: Stopwatch, bare: Stopwatch, limit: float) -> tuple[Figure, ...]:
    passed, worked = milliseconds(hooks.seconds), milliseconds(hooks.cpu)
    interpreter = Figure("bare interpreter", "ms", milliseconds(bare.seconds), cpu=milliseconds(bare.cpu))
    hook = Figure(f"hook {name}", "ms", passed, cpu=worked)
    return (
        interpreter,
        hook,
        Figure("  19 of 20 take at most", "ms", (hook.slow,), limit),
        Figure(
            "  19 of 20 more than the interpreter", "ms", (Figure("", "ms", over(passed, interpreter.samples)).slow,)
        ),
        Figure("  19 of 20, processor time", "ms", (Figure("", "ms", worked).slow,), limit),
    )


def _turns(hook: Callable[[int], None], rounds: int) -> tuple[Stopwatch, Stopwatch]:
    """An interpreter that does nothing and a hook, in turns."""
    bare, hooks = Stopwatch(), Stopwatch()
    for number in range(-3, rounds):
        # The first rounds fill caches and, in a server, load what later prompts need.
        with (bare if number >= 0 else Stopwatch()).sample():
            _run([sys.executable, "-c", "pass"], b"")
        with (hooks if number >= 0 else Stopwatch()).sample():
            hook(number)
    return bare, hooks


def _hook(root: Path, session: str) -> None:
    prompt = _PROMPT.format(session, session.split()[-1])
    told = {"session_id": session, "cwd": str(root), "hook_event_name": "UserPromptSubmit", "prompt": prompt}
    _run([CLEW, "hook", "UserPromptSubmit", "--host", "claude-code"], json.dumps(told).encode(), root)


def _run(command: list[str | Path], given: bytes, folder: Path | None = None) -> None:
    # Installed programs are compiled before; so is this one after the first rounds, unless somebody forbids it.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        command, input=given, capture_output=True, check=False, cwd=folder, timeout=PATIENCE_SECONDS, env=environment
    )
    if done.returncode or done.stderr:
        raise BenchmarkFailed(f"a hook ended with {done.returncode}: {done.stderr.decode()}")


def _remember(root: Path) -> None:
    """Memories about the project, written by one process."""
    program = f"""
from pathlib import Path
from clew.memory.writing.requests import Note
from clew.memory.scope import Viewer
from clew.memory.service import MemoryView
from clew.project import Project

project = Project.open(Path({str(root)!r}))
view = MemoryView(project.memory, Viewer(folder=project.memory.home.inside))
for number in range({MEMORIES}):
    text = f"Requirements of part {{number}} are counted by rule {{number * 7}}."
    view.store(Note(content=text, rationale="For the benchmark"))
project.close()
"""
    run(sys.executable, "-c", program, patience=600)


@contextmanager
def _server(root: Path) -> Iterator[None]:
    """A server that answers hooks."""
    process = subprocess.Popen(
        [CLEW, "serve", str(root)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (root / ".clew" / "hooks.sock").exists():
            if time.monotonic() > deadline:
                raise BenchmarkFailed("the server does not listen for hooks")
            time.sleep(0.05)
        yield
    finally:
        process.communicate()
