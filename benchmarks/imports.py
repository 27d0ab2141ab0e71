"""What starting the command line costs over starting Python."""

import sys
import time
from pathlib import Path

from benchmarks.figures import Figure, Result, over, paired
from benchmarks.workspace import CLEW, Workspace, run

LIMIT_MS = 150.0

EVERY_COMMAND = """
from importlib import import_module
from clew.operation.listing import MODULES
from clew.surfaces.cli.main import COMMANDS
for name in (*MODULES, *(f"clew.surfaces.cli.commands.{name}" for name in COMMANDS)):
    import_module(name)
"""

COMMANDS: dict[str, tuple[str | Path, ...]] = {
    "bare": (sys.executable, "-c", "pass"),
    "main": (sys.executable, "-c", "import clew.surfaces.cli.main"),
    "every": (sys.executable, "-c", EVERY_COMMAND),
    "help": (CLEW, "--help"),
}


def measure(space: Workspace, *, quick: bool) -> Result:
    samples: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(1 + (7 if quick else 21)):
        for name, command in COMMANDS.items():
            started = time.perf_counter()
            run(*command)
            seconds = time.perf_counter() - started
            if number:
                samples[name].append(seconds * 1_000)
    bare, main, every, shown = (tuple(samples[name]) for name in COMMANDS)
    return Result(
        "Importing the command line",
        (
            Figure("bare interpreter", "ms", bare),
            Figure("import clew.surfaces.cli.main, over the bare interpreter", "ms", over(main, bare), LIMIT_MS),
            Figure("  and every command's module", "ms", over(every, bare)),
            Figure("clew --help", "ms", shown),
            Figure("  against the bare interpreter", "x", paired(shown, bare)),
        ),
    )
