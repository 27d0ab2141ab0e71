"""Schemas change only on purpose: every tool has a snapshot, which `make docs` writes."""

import pytest
from tests.surfaces.snapshots import SNAPSHOTS, listed_tools, snapshots

from clew.operation.declare import result_of
from clew.operation.listing import ListedOperation, all_tools
from clew.operation.names import portable

WANTED = snapshots()
TOOLS = listed_tools()


# Verifies: REQ-o00004-E
@pytest.mark.parametrize("name", WANTED, ids=lambda name: name.removesuffix(".json"))
def test_a_tool_is_listed_as_its_snapshot_says(name: str) -> None:
    assert (SNAPSHOTS / name).read_text(encoding="utf-8") == WANTED[name]


# Verifies: REQ-o00004-E
def test_no_snapshot_outlives_its_tool() -> None:
    assert {path.name for path in SNAPSHOTS.glob("*.json")} == set(WANTED)


# Verifies: REQ-o00004-A
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_says_enough_about_itself(tool: ListedOperation) -> None:
    assert len(tool.name) <= 64
    assert 100 <= len(tool.description) <= 900
    assert not (tool.destructive and tool.read_only)
    for name, field in tool.input_schema.get("properties", {}).items():
        assert field.get("description"), f"{tool.name}.{name} has no description"
    about = tool.operation.about
    fields = set(result_of(tool.operation).__struct_fields__)
    if about.pages is not None:
        given = set(tool.operation.__struct_fields__)
        assert "cursor" in given
        assert given & {"limit", "top_k", "depth"}, "no argument says how much is asked for"
        assert {about.total, "truncated", "next_cursor", about.pages} <= fields
        assert about.pages in about.trim
    assert {field.partition(".")[0] for field in about.trim} <= fields
    assert not about.trim or "truncated" in fields


def test_names_are_unique_in_either_spelling() -> None:
    names = [portable(tool.name) for tool in all_tools()]
    assert len(set(names)) == len(names)
