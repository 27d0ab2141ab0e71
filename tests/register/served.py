"""A project with a register and a git repository, and calls of the register's tools as an MCP client makes them."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import msgspec

from clew.errors import ClewError
from clew.project import Project
from clew.register.occasion import Occasion
from clew.register.transaction import RegisterFile, new_register
from clew.surfaces.mcp.call import Call, carry_out
from clew.surfaces.mcp.dialects import dialect_of
from clew.surfaces.mcp.schemas import output_schema
from clew.surfaces.mcp.tools import TOOLS

BY_NAME = {tool.name: tool for tool in TOOLS}

GOOD: Mapping[str, Any] = {
    "title": "Lock the account",
    "statement": "The system shall lock the account after five failed logins.",
    "rationale": "Guessing has to stop somewhere.",
    "acceptance": ["The sixth login is refused"],
}


class Served:
    """A project whose tools are called the one way in which all surfaces call them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = Project.open(root)

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer, which fits the schema of the tool. `from_` stands for `from`."""
        tool = BY_NAME[name]
        given = {key.rstrip("_"): value for key, value in arguments.items()}
        answer = carry_out(tool, given, Call(self.project, TOOLS)).data
        data: dict[str, Any] = json.loads(msgspec.json.encode(answer))
        jsonschema.validate(data, output_schema(tool))
        return data

    def text(self, name: str, **arguments: Any) -> str:
        return carry_out(BY_NAME[name], arguments, Call(self.project, TOOLS)).text

    def error(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The error that a call ends in, as the client sees it."""
        try:
            answer = self.call(name, **arguments)
        except ClewError as error:
            return dialect_of(BY_NAME[name].toolset)(error)
        raise AssertionError(f"{name} answered {answer}")

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
        self.project.close()


def make_project(root: Path, *, git: bool = True, place: str = "project.req") -> Served:
    """A new project with an empty register, in a repository whose settings depend on nobody's machine."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "clew.toml").write_text('[project]\nname = "demo"\n', encoding="utf-8")
    (root / ".gitignore").write_text(".clew/\n.*.req.lock\nignored/\n", encoding="utf-8")
    RegisterFile(root / place).create(new_register("demo", Occasion("2026-06-01T12:00:00Z", "ann")))
    if git:
        for arguments in (
            ("init", "--quiet", "--initial-branch=main"),
            ("config", "user.name", "Ann"),
            ("config", "user.email", "ann@example.org"),
            ("config", "commit.gpgsign", "false"),
        ):
            subprocess.run(["git", *arguments], cwd=root, check=True)
    return Served(root)
