"""From a clone to the first useful answer: keystrokes and seconds, on three projects that nobody set up.

A new user types `clew`, reads the brief, and types the first command that it proposes. That is repeated on a fresh
clone each time, so nothing is indexed or cached. The time of the interpreter's start stands beside it.
"""

import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.figures import Figure, Result, milliseconds
from benchmarks.first_projects import PROJECTS
from benchmarks.workspace import CLEW, BenchmarkFailed, Workspace

NOTHING = re.compile(r"^(?:Nothing|In the graph: nothing|No )", re.MULTILINE)
_SIZE = 60


def measure(space: Workspace, *, quick: bool) -> Result:
    rounds = 3 if quick else 7
    figures = [Figure("interpreter's start", "ms", milliseconds(_interpreter(rounds)))]
    folder = space.demo.parent / "first"
    for name, make in PROJECTS.items():
        origin = make(folder / name.replace(" ", "-"), _SIZE)
        briefs: list[float] = []
        answers: list[float] = []
        typed = ""
        for number in range(rounds):
            clone = folder / f"clone-{number}"
            shutil.copytree(origin, clone)
            spent, brief = _timed(clone, [])
            command = proposed(brief)[0]
            further, answer = _timed(clone, command)
            if NOTHING.match(answer):
                raise BenchmarkFailed(f"{name}: {' '.join(command)} answers {answer!r}")
            briefs.append(spent)
            answers.append(spent + further)
            typed = "clew\n" + "clew " + " ".join(command) + "\n"
            shutil.rmtree(clone)
        figures.append(Figure(f"{name}: brief", "ms", milliseconds(tuple(briefs))))
        figures.append(
            Figure(f"{name}: first answer after {len(typed)} keystrokes", "ms", milliseconds(tuple(answers)))
        )
    return Result("The first minutes", tuple(figures))


def proposed(brief: str) -> list[list[str]]:
    """The commands that the brief ends with, as words after `clew`."""
    lines = brief.partition("\nTry\n")[2].splitlines()
    return [shlex.split(line.strip().split("  ")[0])[1:] for line in lines if line.startswith("  clew ")]


def _timed(folder: Path, words: list[str]) -> tuple[float, str]:
    began = time.perf_counter()
    done = subprocess.run([str(CLEW), *words], cwd=folder, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise BenchmarkFailed(f"clew {' '.join(words)} ended with {done.returncode}: {done.stderr}")
    return time.perf_counter() - began, done.stdout


def _interpreter(rounds: int) -> tuple[float, ...]:
    spent: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        spent.append(time.perf_counter() - began)
    return tuple(spent)
