"""Where the benchmarks run: copies in a temporary folder, so that nothing in the repository is written to."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.generate import SETTLED_SECONDS, Shape, generate

REPOSITORY = Path(__file__).resolve().parent.parent
CLEW = Path(sys.executable).parent / "clew"
PATIENCE_SECONDS = 120

GIT_IDENTITY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "Benchmark",
    "GIT_AUTHOR_EMAIL": "benchmark@example.invalid",
    "GIT_COMMITTER_NAME": "Benchmark",
    "GIT_COMMITTER_EMAIL": "benchmark@example.invalid",
}


class BenchmarkFailed(Exception):
    """A benchmark gave no figure."""


@dataclass(frozen=True, slots=True)
class Workspace:
    shape: Shape
    generated: Path
    """The generated project in a git work tree, with one file that differs from the last commit."""
    demo: Path

    def forget_cache(self) -> None:
        shutil.rmtree(self.generated / ".clew", ignore_errors=True)


@contextmanager
def workspace() -> Iterator[Workspace]:
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        shape = Shape()
        generated, demo = Path(folder, "generated"), Path(folder, "demo")
        written = generate(generated, shape)
        run("git", "init", "--quiet", "--initial-branch=main", cwd=generated)
        run("git", "add", "--all", cwd=generated)
        run("git", "commit", "--quiet", "--message=Generated", cwd=generated)
        _edit(written.files[-1])
        shutil.copytree(REPOSITORY / "examples" / "demo", demo, ignore=shutil.ignore_patterns(".clew", "__pycache__"))
        yield Workspace(shape, generated, demo)


def _edit(path: Path) -> None:
    """A change that nobody committed, as there is while somebody works; older than the clock's grain."""
    path.write_bytes(path.read_bytes().replace(b" SHALL ", b" SHALL always ", 1))
    os.utime(path, (SETTLED_SECONDS, SETTLED_SECONDS))


def run(*command: str | Path, cwd: Path = REPOSITORY, patience: float = PATIENCE_SECONDS) -> str:
    """Standard output of a command that has to succeed."""
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env={**os.environ, **GIT_IDENTITY},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=patience,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BenchmarkFailed(f"{_shown(command)}: {error}") from error
    if done.returncode:
        raise BenchmarkFailed(f"{_shown(command)} ended with {done.returncode}:\n{done.stderr.strip()}")
    return done.stdout


def _shown(command: tuple[str | Path, ...]) -> str:
    """The program by its name alone, and what it was asked to do in one line."""
    return " ".join((Path(command[0]).name, *(" ".join(str(part).split()) for part in command[1:])))
