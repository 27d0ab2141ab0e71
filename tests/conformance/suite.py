"""The official suite, run against a URL."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import msgspec
from tests.node import ENVIRONMENT, Program, run

HERE = Path(__file__).resolve().parent
PROGRAM = Program("suite", HERE, "conformance")

SUITE_SECONDS = 240
SCENARIO_MILLISECONDS = 20_000

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
        return msgspec.json.decode(run(command, self.package, purpose, DAMAGED), type=Requirements)

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


def installed() -> Suite:
    """The suite of the present locks, installed when it is not there yet."""
    PROGRAM.install()
    return Suite(node=PROGRAM.node, package=PROGRAM.modules / "@modelcontextprotocol" / "conformance")


def _scenario(folder: Path) -> str:
    """`server-tools-list-2026-07-28T10-00-00-000Z` holds the result of `tools-list`."""
    return folder.name.removeprefix("server-").rsplit("-", 6)[0]


def _checks(folder: Path) -> tuple[Check, ...]:
    return msgspec.json.decode((folder / "checks.json").read_bytes(), type=tuple[Check, ...])
