"""A project with a register and a git repository, and calls of the register's tools as an MCP client makes them."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.mcp_client import McpClient, Options

from clew.project import Project
from clew.register.change.draft import Author
from clew.register.change.transaction import RegisterFile, new_register

GOOD: Mapping[str, Any] = {
    "title": "Lock the account",
    "statement": "The system shall lock the account after five failed logins.",
    "rationale": "Guessing has to stop somewhere.",
    "acceptance": ["The sixth login is refused"],
}


OPEN: list["Served"] = []
"""What is to be closed when a test ends; a test may do so itself."""


class Served:
    """A project whose tools an MCP client calls."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = Project.open(root)
        self._client = McpClient(self.project, Options(toolsets=("all",)))
        OPEN.append(self)

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer. `from_` stands for `from`."""
        return self._client(name, **_named(arguments))

    def text(self, name: str, **arguments: Any) -> str:
        return self._client.answer(name, **arguments).text

    def error(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The error that a call ends in, as the client sees it."""
        return self._client.error(name, **_named(arguments))

    def add(self, **changes: Any) -> str:
        """A good requirement, changed as wanted; its id."""
        made: str = self.call("req_add", **{**GOOD, **changes})["id"]
        return made

    def move(self, id: str, *statuses: str) -> None:
        for status in statuses:
            self.call("req_update", id=id, reason="progress", status=status)

    def write(self, path: str, text: str) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.root, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, message: str = "work") -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def register(self) -> RegisterFile:
        return RegisterFile(self.project.register.file.place)

    def close(self) -> None:
        if self in OPEN:
            OPEN.remove(self)
        self._client.close()
        self.project.close()


def _named(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {key.rstrip("_"): value for key, value in arguments.items()}


def make_project(root: Path, *, git: bool = True, place: str = "project.req") -> Served:
    """A new project with an empty register, in a repository whose settings depend on nobody's machine."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "clew.toml").write_text('[project]\nname = "demo"\n', encoding="utf-8")
    (root / ".gitignore").write_text(".clew/\n.*.req.lock\nignored/\n", encoding="utf-8")
    RegisterFile(root / place).create(new_register("demo", Author("2026-06-01T12:00:00Z", "ann")))
    if git:
        for arguments in (
            ("init", "--quiet", "--initial-branch=main"),
            ("config", "user.name", "Ann"),
            ("config", "user.email", "ann@example.org"),
            ("config", "commit.gpgsign", "false"),
        ):
            subprocess.run(["git", *arguments], cwd=root, check=True)
    return Served(root)
