"""A prompt's hook from start to end, with a server and without, beside an interpreter that does nothing, in turns."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import table
from benchmarks.figures import Figure, Result, milliseconds, over
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
    samples: dict[str, list[float]] = {"bare interpreter": [], "without a server": [], "with a server": []}
    steps: dict[str, Callable[[int], float]] = {
        "bare interpreter": lambda number: _seconds([sys.executable, "-c", "pass"], b""),
        "without a server": lambda number: _hook(root, f"alone {number}"),
    }
    _turns(samples, steps, rounds)
    bare_alone = samples.pop("bare interpreter")
    samples["bare interpreter"] = []
    steps["with a server"] = lambda number: _hook(root, f"served {number}")
    del steps["without a server"]
    with _server(root):
        _turns(samples, steps, rounds)
    alone, served = samples["without a server"], samples["with a server"]
    figures = (
        Figure("bare interpreter", "ms", milliseconds(samples["bare interpreter"])),
        _slow("hook with a server, 19 of 20", served, WITH_SERVER_MS),
        Figure("  its median", "ms", milliseconds(served)),
        Figure(
            "  more than the interpreter", "ms", over(milliseconds(served), milliseconds(samples["bare interpreter"]))
        ),
        _slow("hook without a server, 19 of 20", alone, ALONE_MS),
        Figure("  its median", "ms", milliseconds(alone)),
        Figure("  more than the interpreter", "ms", over(milliseconds(alone), milliseconds(bare_alone))),
    )
    return Result(f"A prompt's hook, {MEMORIES} memories", figures)


def _slow(name: str, samples: list[float], limit: float) -> Figure:
    return Figure(name, "ms", (Figure(name, "ms", milliseconds(samples)).slow,), limit)


def _turns(samples: dict[str, list[float]], steps: dict[str, Callable[[int], float]], rounds: int) -> None:
    for number in range(rounds + 3):
        for name, step in steps.items():
            seconds = step(number)
            # The first rounds fill caches and, in a server, load what later prompts need.
            if number >= 3:
                samples[name].append(seconds)


def _hook(root: Path, session: str) -> float:
    prompt = _PROMPT.format(session, session.split()[-1])
    told = {"session_id": session, "cwd": str(root), "hook_event_name": "UserPromptSubmit", "prompt": prompt}
    return _seconds([CLEW, "hook", "UserPromptSubmit", "--host", "claude-code"], json.dumps(told).encode(), root)


def _seconds(command: list[str | Path], given: bytes, folder: Path | None = None) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, input=given, capture_output=True, check=False, cwd=folder, timeout=PATIENCE_SECONDS)
    seconds = time.perf_counter() - began
    if done.returncode or done.stderr:
        raise BenchmarkFailed(f"a hook ended with {done.returncode}: {done.stderr.decode()}")
    return seconds


def _remember(root: Path) -> None:
    """Memories about the project, written by one process."""
    program = f"""
from pathlib import Path
from clew.memory.writing.admit import Note
from clew.memory.scope import Asker
from clew.memory.service import MemoryView
from clew.project import Project

project = Project.open(Path({str(root)!r}))
view = MemoryView(project.memory, Asker(folder=project.memory.home.inside))
for number in range({MEMORIES}):
    text = f"Requirements of part {{number}} are counted by rule {{number * 7}}."
    view.store(Note(text, "For the benchmark"))
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
