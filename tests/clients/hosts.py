"""Programs of the npm registry: the Inspector, which lists and calls, and the hosts, which check and install the files
that are made for them. Each gets a home of its own, and none needs an account."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.clients.libraries import ANSWER, SECONDS, problem_with
from tests.clients.model_stub import ModelStub, serving
from tests.node import ENVIRONMENT, Program
from tests.packaging.bundle import write_bundle
from tests.packaging.tools import PROJECT

PROGRAM = Program("hosts", Path(__file__).with_name("hosts"), "clients")

_LAUNCHERS = {"claude": "@anthropic-ai/claude-code/cli-wrapper.cjs"}
"""Programs whose own command is made by a script of their installation, which is not run."""


class Hosts:
    def __init__(self, home: Path) -> None:
        self._home = self.home = home
        PROGRAM.install()

    def run(self, script: str, *words: str | Path, folder: Path | None = None, **variables: str) -> str:
        """What a program prints; its complaint is an error."""
        command = self._command(script)
        node = str(PROGRAM.node.parent)
        environment = {
            **ENVIRONMENT,
            "HOME": str(self._home),
            "CODEX_HOME": str(self._home / ".codex"),
            "PATH": os.pathsep.join((node, os.environ["PATH"])),
            "CI": "1",
            **variables,
        }
        (self._home / ".codex").mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [*command, *map(str, words)],
            cwd=folder or self._home,
            env=environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
        if done.returncode:
            raise AssertionError((done.stderr or done.stdout).strip()[-600:])
        return done.stdout + done.stderr

    def _command(self, script: str) -> list[str]:
        """By the Node of the lock, or by itself where it is no script."""
        path = PROGRAM.modules / _LAUNCHERS[script] if script in _LAUNCHERS else PROGRAM.modules / ".bin" / script
        path = path.resolve()
        return [str(PROGRAM.node), str(path)] if path.suffix in (".js", ".mjs", ".cjs") else [str(path)]

    def inspector(self, kind: str, *words: str) -> str:
        """Lists and calls; returns what is wrong."""
        server = [words[0], "--transport", "http"] if kind == "http" else list(words)
        listed = json.loads(self.run("mcp-inspector", "--cli", *server, "--method", "tools/list"))
        asked = ("--method", "tools/call", "--tool-name", "get_requirement", "--tool-arg", "req_id=REQ-d00001")
        answer = self.run("mcp-inspector", "--cli", *server, *asked)
        return problem_with({"names": [tool["name"] for tool in listed["tools"]], "answer": answer})


def checks() -> dict[str, Callable[[Hosts, Path], None]]:
    """What each host does with its files, by what is said of it."""
    return {
        "mcpb checks the bundle": _bundle,
        "Claude Code checks and installs the plugin": _claude_code,
        "Claude Code shows its model what must stay true at an edit": _edit_in_claude_code,
        "Codex installs the plugin": _codex,
        "Gemini CLI checks and installs the extension": _gemini,
    }


def _bundle(hosts: Hosts, folder: Path) -> None:
    hosts.run("mcpb", "validate", PROJECT / "plugins" / "mcpb" / "manifest.json")
    hosts.run("mcpb", "unpack", write_bundle(folder / "clew.mcpb"), folder / "unpacked")
    assert (folder / "unpacked" / "server.py").is_file()
    packed = hosts.run("mcpb", "pack", folder / "unpacked", folder / "again.mcpb")
    assert (folder / "again.mcpb").is_file(), packed


def _claude_code(hosts: Hosts, folder: Path) -> None:
    hosts.run("claude", "plugin", "validate", PROJECT / "plugins" / "claude-code")
    hosts.run("claude", "plugin", "validate", PROJECT)
    hosts.run("claude", "plugin", "marketplace", "add", PROJECT)
    hosts.run("claude", "plugin", "install", "clew@clew")
    told = hosts.run("claude", "plugin", "details", "clew")
    assert "Skills (3)  answer-from-memory, trace-change, write-requirement" in told, told
    assert "Hooks (8)" in told, told
    assert "MCP servers (1)  clew" in told, told


def _edit_in_claude_code(hosts: Hosts, folder: Path) -> None:
    demo = folder / "demo"
    shutil.copytree(PROJECT / "examples" / "demo", demo, ignore=shutil.ignore_patterns(".clew"))
    clew = (sys.executable, "-m", "clew")
    # Hooks run the command of this environment.
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "HOME": str(hosts.home), "PATH": path}
    subprocess.run([*clew, "init", str(demo), "--client", "claude-code", "--memory"], env=environment, check=True)
    place = str(demo / "src" / "fairwater" / "tables.py")
    line = next(each for each in Path(place).read_text().splitlines() if each.startswith("def read_table"))
    edit = {"file_path": place, "old_string": line, "new_string": f"{line}  # x"}
    model = ModelStub((("Read", {"file_path": place}), ("Edit", edit)))
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    call = {"name": "get_requirement", "arguments": {"req_id": "REQ-d00001"}}
    server = subprocess.Popen(
        [*clew, "serve", str(demo)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    try:
        assert server.stdin is not None
        assert server.stdout is not None
        for frame in (
            {"id": 1, "method": "initialize", "params": client},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": call},
        ):
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n")
            server.stdin.flush()
            if "id" in frame:
                server.stdout.readline()
        with serving(model) as url:
            variables = {
                "ANTHROPIC_BASE_URL": url,
                "ANTHROPIC_API_KEY": "none",
                "CLEW_HOOK_SECONDS": "20",
                "PATH": path,
            }
            hosts.run(
                *("claude", "-p", "make it better", "--allowedTools", "Edit,Read", "--permission-mode", "acceptEdits"),
                folder=demo,
                **variables,
            )
    finally:
        server.kill()
        server.communicate()
    shown = model.shown[-1]
    assert "must stay true, REQ-d00001-A" in shown, shown[-3_000:]
    assert "suspect after this edit: REQ-d00001-A" in shown, shown[-3_000:]


def _codex(hosts: Hosts, folder: Path) -> None:
    hosts.run("codex", "plugin", "marketplace", "add", PROJECT)
    hosts.run("codex", "plugin", "add", "clew@clew")
    told = hosts.run("codex", "plugin", "list", "--json")
    (plugin,) = json.loads(told[told.index("{") : told.rindex("}") + 1])["installed"]
    assert (plugin["pluginId"], plugin["enabled"]) == ("clew@clew", True)
    assert "uvx" in hosts.run("codex", "mcp", "list")


def _gemini(hosts: Hosts, folder: Path) -> None:
    extension = PROJECT / "plugins" / "gemini"
    hosts.run("gemini", "extensions", "validate", extension)
    hosts.run("gemini", "extensions", "link", extension, "--consent")
    told = hosts.run("gemini", "extensions", "list")
    assert "MCP servers:\n  clew" in told, told
    assert all(skill in told for skill in ("trace-change", "write-requirement", "answer-from-memory")), told


__all__ = ["ANSWER", "Hosts", "checks"]
