"""Lists of the memory: as many as were asked for where they fit, one line each, and a cursor for the rest."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.memory_client import WHY, Memory, remembering, write_project

KINDS = ("buoy", "crane", "ferry", "gate", "harbour", "jetty", "lamp", "mooring", "pier", "quay", "rope", "sluice")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with remembering(write_project(tmp_path / "harbour")) as client:
        yield client


def note(kind: str, number: int) -> str:
    return f"The inspector of the {kind} signs sheet {number} before the tide turns, and files the copy in the office."


def walked(memory: Memory, tool: str, field: str, **arguments: Any) -> list[dict[str, Any]]:
    """The items of all pages, each of which goes on where the one before ended."""
    page = memory(tool, **arguments)
    items = list(page[field])
    while page["next_cursor"] is not None:
        assert page["truncated"] is True
        page = memory(tool, **arguments, cursor=page["next_cursor"])
        assert page[field]
        items += page[field]
    assert len(items) == page.get("count", page.get("total"))
    return items


# Verifies: REQ-d00334-D
def test_a_search_for_ten_lists_ten_in_a_line_each_and_says_no_text_twice(memory: Memory) -> None:
    ids = [memory.store(note(kind, number)) for number, kind in enumerate(KINDS)]
    answer = memory.result("search_graph", query="inspector signs the sheet")
    assert (len(answer.data["results"]), answer.data["count"], answer.data["truncated"]) == (10, 10, False)
    lines = [line for line in answer.text.splitlines() if line.split(" ")[0] in ids]
    assert [line.split(" ")[0] for line in lines] == [hit["node_id"] for hit in answer.data["results"]]
    assert [hit["title"] for hit in answer.data["results"]] == [""] * 10
    assert all(line.count(hit["snippet"]) == 1 for line, hit in zip(lines, answer.data["results"], strict=True))


# Verifies: REQ-d00334-D
def test_what_has_no_room_is_behind_a_cursor(memory: Memory) -> None:
    ids = [memory.store(f"{note(kind, number)} {kind}") for number in range(6) for kind in KINDS]
    first = memory("search_graph", query="inspector signs the sheet", top_k=72)
    assert 10 <= len(first["results"]) < first["count"] == 72
    for tool, field, arguments in (
        ("search_graph", "results", {"query": "inspector signs the sheet", "top_k": 72}),
        ("get_recent_context", "memories", {"limit": 72}),
        ("get_neighborhood", "neighbors", {"node_id": ids[36], "depth": 3, "min_weight": 0.0}),
    ):
        items = walked(memory, tool, field, **arguments)
        shown = [item["node_id"] for item in items]
        assert len(shown) >= 5, tool
        if tool != "get_neighborhood":
            assert sorted(shown) == sorted(ids), tool
    entries = walked(memory, "get_system_logs", "entries", limit=1_000)
    stored = [id for entry in entries for id in entry["node_ids"] if entry["action"] == "store"]
    assert sorted(stored) == sorted(ids)
    for id in ids[:40]:
        memory("forget_concept", node_id=id, reason="obsolete", rationale=WHY)
    gone = walked(memory, "search_tombstones", "tombstones", limit=100)
    assert sorted(each["node_id"] for each in gone) == sorted(ids[:40])


# Verifies: REQ-d00334-D
def test_a_cursor_is_refused_once_the_list_changed(memory: Memory) -> None:
    for number in range(72):
        memory.store(f"{note(KINDS[number % 12], number)} {number}")
    page = memory("search_graph", query="inspector signs the sheet", top_k=72)
    memory.store("The inspector of the dock signs sheet 99 at noon.")
    failed = memory.failure("search_graph", query="inspector signs the sheet", top_k=72, cursor=page["next_cursor"])
    assert "changed since this cursor" in failed.error.message


# Verifies: REQ-d00334-D
def test_no_error_proposes_an_argument_that_the_tool_does_not_have(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, kind in enumerate(KINDS):
        memory.store(note(kind, number))
    monkeypatch.setattr("clew.operation.budget.DEFAULT_TOKENS", 60)
    failed = memory.failure("debug_compare_retrieval", query="inspector", spaces=["E1", "E13"], top_k=8)
    said = f"{failed.error.message} {failed.error.data}"
    assert "Pass top_k=4, or ask for less." in said
    assert "max_tokens" not in said
