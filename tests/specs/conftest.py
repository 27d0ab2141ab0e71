"""A small project with specs and open changes, as OpenSpec lays it out."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.operation.call import Call, carry_out
from clew.operation.listing import all_tools
from clew.project import Project

LAMP = """# Lamp

## Purpose

The lamp shows ships where the rock is, in every night and in every weather.

## Requirements

### Requirement: Burn at night
The lamp SHALL burn from dusk to dawn.

#### Scenario: Dusk falls
- **WHEN** the sun sets
- **THEN** the lamp burns

### Requirement: Rest by day
The lamp SHALL be out by day.

#### Scenario: Dawn
- **WHEN** the sun rises
- **THEN** the lamp is out
"""
SCENARIO = "\n#### Scenario: {name}\n- **WHEN** x\n- **THEN** y\n"


def requirement(name: str, text: str, *scenarios: str) -> str:
    return f"### Requirement: {name}\n{text}\n" + "".join(SCENARIO.format(name=each) for each in scenarios)


class Folder:
    """Writes specs and changes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.specs = root / "openspec" / "specs"
        self.changes = root / "openspec" / "changes"

    def spec(self, id: str, text: str) -> Path:
        return self._write(self.specs / id / "spec.md", text)

    def change(self, id: str, *, tasks: str = "- [x] 1.1 Done\n", **deltas: str) -> Path:
        folder = self.changes / id
        why = "Because the keeper asked for it more than once in the last winter."
        self._write(folder / "proposal.md", f"# {id}\n\n## Why\n{why}\n\n## What Changes\nSomething.\n")
        self._write(folder / "tasks.md", tasks)
        for spec, text in deltas.items():
            self._write(folder / "specs" / spec / "spec.md", text)
        return folder

    def _write(self, path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "clew.toml").write_text('[search]\nbackground = false\n[embedder]\nkind = "none"\n', encoding="utf-8")
    made = Folder(tmp_path)
    made.spec("lamp", LAMP)
    return made


@pytest.fixture
def project(opened: Callable[[Path], Project], folder: Folder) -> Project:
    return opened(folder.root)


@pytest.fixture
def call(project: Project) -> Callable[..., dict[str, Any]]:
    """Calls a tool by name, as every surface does."""
    by_name = {tool.name: tool for tool in all_tools()}

    def carry(name: str, **arguments: Any) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(carry_out(by_name[name], arguments, Call(project, all_tools())).text)
        return data

    return carry


@pytest.fixture
def brighter() -> str:
    """A delta that modifies one requirement and adds another."""
    return (
        "## MODIFIED Requirements\n\n"
        + requirement("Rest by day", "The lamp MUST rest by day.", "Dawn", "Eclipse")
        + "\n## ADDED Requirements\n\n"
        + requirement("Ring at noon", "The bell SHALL ring.", "Noon")
    )
