"""Drafts that wait are told everywhere, undo never skips one, and a deletion says what it breaks."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.mcp_client import McpClient
from tests.trace.conftest import block

from clew.project import Project
from clew.surfaces.cli.main import main

Open = Callable[[Path], Project]

SPEC = block("p00001", (), ("It SHALL ring.",), title="Ring") + block("d00001", ("p00001-A",), (), title="Bell")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in {
        "spec/all.md": SPEC,
        "clew.toml": "",
        "tests/test_a.py": "# Verifies: REQ-p00001-A\ndef test_ring():\n    pass\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


# Verifies: REQ-d00384-A
def test_undo_takes_a_draft_that_no_longer_applies_and_not_what_was_saved(root: Path, opened: Open) -> None:
    with McpClient(opened(root)) as agent:
        agent("mutate_update_title", node_id="d1", new_title="Small bell")
        agent("save_mutations")
        agent("mutate_update_title", node_id="p1", new_title="Ringing")
        path = root / "spec/all.md"
        path.write_text(path.read_text(encoding="utf-8").replace("Ring", "Sound"), encoding="utf-8")
        assert len(agent("get_mutation_log")["conflicts"]) == 1
        undone = agent("undo_last_mutation")
        assert (undone["mutation"]["target_id"], undone["reverts_saved"]) == ("REQ-p00001", False)
        assert agent("get_mutation_log")["conflicts"] == []
        assert agent("get_graph_status")["drafts"] is None
        assert "Small bell" in path.read_text(encoding="utf-8")


# Verifies: REQ-d00384-B
def test_drafts_are_told_after_a_restart(root: Path, opened: Open, capsys: pytest.CaptureFixture[str]) -> None:
    first = opened(root)
    with McpClient(first) as agent:
        agent("mutate_update_assertion", assertion_id="REQ-p00001-A", new_text="It SHALL ring twice.")
    first.close()
    main(["show", "p1", "-C", str(root)])
    assert "Drafts that are not saved change it" in capsys.readouterr().out
    main(["show", "d1", "-C", str(root)])
    assert "Drafts" not in capsys.readouterr().out
    main(["status", str(root)])
    assert "note: 1 draft of REQ-p00001-A not saved" in capsys.readouterr().out
    with McpClient(opened(root)) as agent:
        for tool in ("get_graph_status", "get_project_summary"):
            assert agent(tool)["drafts"] == {"count": 1, "conflicts": 0, "target_ids": ["REQ-p00001-A"]}
        assert "1 draft of REQ-p00001-A not saved" in agent.answer("clew_brief").text
        agent("save_mutations")
        assert agent("get_project_summary")["drafts"] is None


# Verifies: REQ-d00384-B
def test_the_drafts_of_another_project_are_told_as_they_come_and_go(root: Path, opened: Open) -> None:
    with McpClient(opened(root)) as watcher, McpClient(opened(root)) as writer:
        for _ in range(2):
            assert watcher("get_graph_status")["drafts"] is None
            assert writer("get_graph_status")["drafts"] is None
            writer("mutate_update_title", node_id="p1", new_title="Ringing")
            for agent in (watcher, writer, watcher):
                assert agent("get_graph_status")["drafts"]["target_ids"] == ["REQ-p00001"]
            writer("undo_last_mutation")


# Verifies: REQ-d00384-B
def test_a_damaged_draft_is_told_of_each_time(root: Path, opened: Open) -> None:
    with McpClient(opened(root)) as writer:
        writer("mutate_update_title", node_id="p1", new_title="Ringing")
    with sqlite3.connect(root / ".clew/clew.db") as connection:
        connection.execute("UPDATE entries SET data = 'no JSON' WHERE collection LIKE 'drafts%'")
    connection.close()
    with McpClient(opened(root)) as agent:
        told = [agent("get_graph_status")["notes"] for _ in range(2)]
        assert told[0] == told[1]
        assert "damaged" in told[0][0]


# Verifies: REQ-d00384-B
def test_what_only_a_draft_has_is_told_of(root: Path, opened: Open, capsys: pytest.CaptureFixture[str]) -> None:
    with McpClient(opened(root)) as agent:
        agent("mutate_add_requirement", req_id="REQ-d00009", title="Clapper", level="dev", parent_id="p1")
        assert main(["show", "REQ-d00009", "-C", str(root)]) != 0
        assert "a draft that is not saved: no file holds it" in capsys.readouterr().err


# Verifies: REQ-d00384-C
def test_a_deletion_names_who_cites(root: Path, opened: Open) -> None:
    with McpClient(opened(root)) as agent:
        refused = agent.error("mutate_delete_requirement", node_id="p1")
        done = agent("mutate_delete_requirement", node_id="p1", confirm=True)
    for said in (refused["message"], done["message"]):
        assert "cited by REQ-d00001, test:tests/test_a.py::test_ring" in said
