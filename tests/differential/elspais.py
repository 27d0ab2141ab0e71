"""elspais itself, from the Python package index: what its tools answer, and what its checks find."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from tests.node import home_of, install_packages

LOCK = Path(__file__).with_name("elspais.lock")
PATIENCE_SECONDS = 120

HOME = home_of("elspais", LOCK)
COMMAND = (sys.executable, "-c", "from elspais.cli import main; raise SystemExit(main())")


def install() -> None:
    """Install it unless it is there."""
    advice = "Check that this machine reaches the Python package index, then run `make differential` again."
    install_packages("elspais", LOCK, "install elspais from the Python package index", advice)


class Explained(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question that both answer differently, and why it stays so."""

    item: str
    """The tool and its arguments."""
    explained: str
    """Words of docs/switching/elspais.md."""


class _AllExplained(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    disagreement: tuple[Explained, ...]


def of_elspais() -> tuple[Explained, ...]:
    text = (Path(__file__).parent / "disagreements_elspais.toml").read_bytes()
    return msgspec.toml.decode(text, type=_AllExplained).disagreement


class MissingKeys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Keys of an answer of elspais that Clew's has not, and why."""

    tool: str
    keys: tuple[str, ...]
    """Patterns of paths."""
    explained: str
    """Words of docs/switching/elspais.md."""


class _AllMissing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    missing: tuple[MissingKeys, ...] = ()


def explained_keys() -> tuple[MissingKeys, ...]:
    text = (Path(__file__).parent / "missing_keys.toml").read_bytes()
    return msgspec.toml.decode(text, type=_AllMissing).missing


class Elspais(msgspec.Struct, frozen=True):
    root: Path

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=self.root,
            env=_environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return done.stdout

    def failing(self) -> dict[str, str]:
        """The checks that fail, with what they say."""
        said = json.loads(self.run("checks", "--format", "json"))
        return {check["name"]: check["message"] for check in said["checks"] if not check["passed"]}

    @contextmanager
    def served(self) -> Iterator["Tools"]:
        """Its MCP server over standard input and output."""
        command = [*COMMAND, "mcp", "serve"]
        with subprocess.Popen(
            command,
            cwd=self.root,
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            try:
                yield Tools(process)
            finally:
                process.terminate()


class Tools:
    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._number = 0
        client = {"name": "differential", "version": "1"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __call__(self, tool: str, **arguments: Any) -> Any:
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            return {"error": result["content"][0]["text"]}
        structured = result.get("structuredContent")
        if structured is None:
            return json.loads(result["content"][0]["text"])
        return structured["result"] if list(structured) == ["result"] else structured

    def names(self) -> set[str]:
        return {tool["name"] for tool in self._ask("tools/list", {})["tools"]}

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == self._number:
                return message["result"]
        raise AssertionError(f"elspais ended before it answered {method}")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()


def _environment() -> dict[str, str]:
    author = {"GIT_AUTHOR_NAME": "Grace", "GIT_AUTHOR_EMAIL": "grace@example.org"}
    # Its packages come before those of Clew, whose environment it runs in.
    found = {"PYTHONPATH": os.fspath(HOME)}
    return {**os.environ, **author, **found, "ELSPAIS_CLIENT_PID": str(os.getpid()), "NO_COLOR": "1"}
