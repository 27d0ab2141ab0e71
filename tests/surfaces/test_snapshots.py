"""Schemas change only on purpose: every tool has a snapshot. `UPDATE_SNAPSHOTS=1 make test` writes them anew."""

import json
import os
from pathlib import Path

import pytest

from clew.operation.declare import result_of
from clew.operation.listing import Listed, all_tools
from clew.operation.names import portable
from clew.operation.toolsets import ALL, Choice, choose
from clew.surfaces.mcp.server import describe

TOOLS = choose(all_tools(), Choice(toolsets=(ALL,)), {}).shown
SNAPSHOTS = Path(__file__).parent / "snapshots"


def rendered(tool: Listed) -> str:
    return json.dumps(describe(tool), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


# Verifies: REQ-o00004-E
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_is_listed_as_its_snapshot_says(tool: Listed) -> None:
    path = SNAPSHOTS / f"{portable(tool.name)}.json"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOTS.mkdir(exist_ok=True)
        path.write_text(rendered(tool), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == rendered(tool)


# Verifies: REQ-o00004-E
def test_no_snapshot_outlives_its_tool() -> None:
    assert {path.stem for path in SNAPSHOTS.glob("*.json")} == {portable(tool.name) for tool in all_tools()}


# Verifies: REQ-o00004-A
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_says_enough_about_itself(tool: Listed) -> None:
    assert len(tool.name) <= 64
    assert 100 <= len(tool.description) <= 900
    assert not (tool.destructive and tool.read_only)
    for name, field in tool.input_schema.get("properties", {}).items():
        assert field.get("description"), f"{tool.name}.{name} has no description"
    about = tool.operation.about
    fields = set(result_of(tool.operation).__struct_fields__)
    if about.pages is not None:
        assert {"limit", "cursor"} <= set(tool.operation.__struct_fields__)
        assert {about.total, "truncated", "next_cursor", about.pages} <= fields
        assert about.pages in about.trim
    assert {field.partition(".")[0] for field in about.trim} <= fields
    assert not about.trim or "truncated" in fields


def test_names_are_unique_in_either_spelling() -> None:
    names = [portable(tool.name) for tool in all_tools()]
    assert len(set(names)) == len(names)
