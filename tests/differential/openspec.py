"""OpenSpec itself: what it says about a tree of specs, and what it makes of one."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import msgspec
from tests.node import ENVIRONMENT, Program

from clew.errors import Refused

HERE = Path(__file__).resolve().parent
PROGRAM = Program("openspec", HERE, "differential")
PATIENCE_SECONDS = 120
ALL = "CLEW_DIFFERENTIAL"
"""The environment variable that asks for the comparisons that take long too."""


class OpenSpec(msgspec.Struct, frozen=True):
    home: Path
    """Where it may keep settings of its own."""

    def verdicts(self, root: Path, *, strict: bool) -> dict[str, bool]:
        """Whether each spec and change is valid, by kind and id."""
        said = json.loads(self._run(root, "validate", "--all", "--json", *(["--strict"] if strict else [])))
        return {f"{item['type']} {item['id']}": item["valid"] for item in said["items"]}

    def requirement_counts(self, root: Path) -> dict[str, int]:
        said = json.loads(self._run(root, "list", "--specs", "--json"))
        return {item["id"]: item["requirementCount"] for item in said["specs"]}

    def asked(self, root: Path, *words: str) -> dict[str, Any]:
        """What it prints as JSON, without where it found the folder."""
        said: dict[str, Any] = json.loads(self._run(root, *words, "--json"))
        return {name: value for name, value in said.items() if name != "root"}

    def archive(self, root: Path, change_id: str) -> None:
        """Archive a change if it can be."""
        self._run(root, "archive", change_id, "--yes", "--json")

    def _run(self, root: Path, *arguments: str) -> str:
        program = PROGRAM.modules / "@fission-ai" / "openspec" / "bin" / "openspec.js"
        environment = {**ENVIRONMENT, "OPENSPEC_TELEMETRY": "0", "DO_NOT_TRACK": "1", "NO_COLOR": "1"}
        # Schemas of a user are those of the test.
        data = os.environ.get("XDG_DATA_HOME", str(self.home))
        environment |= {"HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home), "XDG_DATA_HOME": data}
        finished = subprocess.run(
            [str(PROGRAM.node), str(program), *arguments],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        # It ends with 1 where anything is invalid, and says so in its answer.
        if not finished.stdout.strip():
            raise Refused(f"OpenSpec said nothing to {arguments}: {finished.stderr[:500]}", hint=os.fspath(root))
        return finished.stdout


class Disagreement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    about: tuple[str, ...]
    """validate, strict or archive."""
    item: str
    openspec: str
    clew: str
    explained: str
    """Words of docs/switching/openspec.md that say why."""


class _Disagreements(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    disagreement: tuple[Disagreement, ...]


def disagreements() -> tuple[Disagreement, ...]:
    """Those that are known, each with what explains it."""
    text = (HERE / "disagreements.toml").read_bytes()
    return msgspec.toml.decode(text, type=_Disagreements).disagreement


def expected(about: str) -> dict[str, tuple[str, str]]:
    return {each.item: (each.openspec, each.clew) for each in disagreements() if about in each.about}


def found(theirs: dict[str, Any], ours: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Where the answers differ, what each says; None where one knows nothing of the item."""
    names = sorted(theirs.keys() | ours.keys())
    pairs = {name: (theirs.get(name), ours.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
