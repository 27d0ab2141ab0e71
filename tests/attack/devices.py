"""Attack: a project in which a file is a device, a pipe, a socket, a folder or endless, by itself or through a link.

Every command runs in a process of its own with little memory, and is ended when it waits. It may refuse the file; what
takes all the memory, waits, or ends as a fault of Clew, got through.
"""

import contextlib
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.attack.outcome import Outcome

MEMORY = 2 * 1024 * 1024 * 1024
SECONDS = 60
_DEMO = Path(__file__).parents[2] / "examples" / "demo"
_SPARSE = 40 * 1024**3


def _zero(place: Path, aside: Path) -> None:
    place.symlink_to("/dev/zero")


def _pipe(place: Path, aside: Path) -> None:
    os.mkfifo(place)


def _link_to_pipe(place: Path, aside: Path) -> None:
    os.mkfifo(aside)
    place.symlink_to(aside)


def _socket(place: Path, aside: Path) -> None:
    with contextlib.chdir(place.parent), contextlib.closing(socket.socket(socket.AF_UNIX)) as bound:
        bound.bind(place.name)


def _folder(place: Path, aside: Path) -> None:
    place.mkdir()


def _sparse(place: Path, aside: Path) -> None:
    with place.open("wb") as file:
        file.truncate(_SPARSE)


def _link_to_sparse(place: Path, aside: Path) -> None:
    _sparse(aside, aside)
    place.symlink_to(aside)


TRAPS: dict[str, Callable[[Path, Path], None]] = {
    "a link to a device": _zero,
    "a pipe": _pipe,
    "a link to a pipe": _link_to_pipe,
    "a socket": _socket,
    "a folder": _folder,
    "a sparse file": _sparse,
    "a link to a sparse file": _link_to_sparse,
}
INPUTS = (
    *("clew.toml", ".elspais.toml", ".elspais.local.toml", "project.req", "requirements/index.req", ".gitignore"),
    *(
        "spec/dev-tides.md",
        "docs/added.md",
        "src/added.py",
        "tests/test_added.py",
        "results/junit.xml",
        "coverage.json",
    ),
    *("openspec/config.yaml", "openspec/specs/added/spec.md", "openspec/changes/added/proposal.md", "README.md"),
    *(
        "pyproject.toml",
        "package.json",
        "AGENTS.md",
        "CLAUDE.md",
        ".mailmap",
        ".gitattributes",
        ".git-blame-ignore-revs",
    ),
    *(".git/info/exclude", ".git/packed-refs", ".git/HEAD", ".git/index", ".git/config", ".spox.toml", ".mcp.json"),
)
COMMANDS: tuple[tuple[str, ...], ...] = (
    *(
        ("status",),
        ("brief",),
        ("check",),
        ("why", "README.md:1"),
        ("req", "status"),
        ("req", "list"),
        ("req", "stale"),
    ),
    *(("kb", "search", "tide"), ("coverage",), ("specs",), ("recall", "tide"), ("init", "--dry-run"), ("doctor",)),
    *(("changed",), ("memory", "list"), ("req", "stale")),
)


def run(rounds: int) -> Outcome:
    """So many of all inputs, traps and commands, spread evenly."""
    every = [(name, trap, command) for name in INPUTS for trap in TRAPS for command in COMMANDS]
    number = min(rounds, len(every))
    return attempt([every[index * len(every) // number] for index in range(number)])


def attempt(cases: "list[tuple[str, str, tuple[str, ...]]]") -> Outcome:
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        root = _project(Path(folder))
        for name, trap, command in cases:
            with _trapped(root, name, TRAPS[trap], Path(folder, "aside")):
                if fault := _ended(root, command):
                    faults.append(f"{name} is {trap}: clew {' '.join(command)} {fault}")
    return Outcome(len(cases), tuple(faults))


def _project(folder: Path) -> Path:
    root = folder / "project"
    shutil.copytree(_DEMO, root, ignore=shutil.ignore_patterns(".clew", "__pycache__"))
    for command in (("init", "-q"), ("add", "-A"), ("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "a")):
        subprocess.run(["git", *command], cwd=root, check=True)
    return root


@contextlib.contextmanager
def _trapped(root: Path, name: str, make: Callable[[Path, Path], None], aside: Path) -> Iterator[None]:
    place, before = root / name, root.parent / "before"
    place.parent.mkdir(parents=True, exist_ok=True)
    existed = os.path.lexists(place)
    if existed:
        place.rename(before)
    make(place, aside)
    try:
        yield
    finally:
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()
        aside.unlink(missing_ok=True)
        if existed:
            before.rename(place)


def _ended(root: Path, command: tuple[str, ...]) -> str | None:
    """How a command ended that should not have ended so."""
    home = root.parent / "home"
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "clew", *command],
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=SECONDS,
            check=False,
            preexec_fn=_bounded,
        )
    except subprocess.TimeoutExpired:
        return f"waited for {SECONDS} seconds"
    said = done.stderr.decode(errors="replace").strip()
    return None if done.returncode in (0, 1, 2) else f"ended with {done.returncode}: {said[-400:]}"


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
