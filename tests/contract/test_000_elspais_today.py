"""Arguments that elspais got after February 2026."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.contract.elspais import write_clock
from tests.mcp_client import McpClient, Options

from clew.project import Project

JOURNEY = """
# JNY-Reader-02: Reading the hour

**Actor**: Reader

Validates: REQ-d00001-A

*End* *JNY-Reader-02*
"""


@pytest.fixture
def agent(tmp_path: Path, opened: Callable[[Path], Project]) -> Iterator[McpClient]:
    write_clock(tmp_path)
    (tmp_path / "spec/journeys.md").write_text(JOURNEY, encoding="utf-8")
    with McpClient(opened(tmp_path), Options(profile="elspais")) as client:
        yield client


# Verifies: REQ-d00389-A
def test_arguments_of_today_are_taken(agent: McpClient) -> None:
    info = agent("get_workspace_info", detail="testing")
    assert info["detail"] == "testing"
    assert "testing" in info["available_details"]
    made = agent("mutate_add_requirement", req_id="REQ-d00090", title="New", level="dev", file_id="file:REQ:spec/n.md")
    tip = made["mutation"]["id"]
    assert agent("refresh_graph", path="", force=True, if_tip_mutation_id=tip)["success"] is True
    assert "tip demands" in agent.error("refresh_graph", if_tip_mutation_id="other")["message"]
    assert "is not the folder" in agent.error("refresh_graph", path="spec")["message"]
    assert "tip demands" in agent.error("restore_from_safety_branch", branch_name="x", if_tip_mutation_id="")["message"]
    assert agent("save_mutations", if_tip_mutation_id=tip)["files_modified"] == ["spec/n.md"]


# Verifies: REQ-d00389-B
def test_gaps_of_user_journeys_are_listed(agent: McpClient) -> None:
    def lacking(source: str) -> list[str]:
        found = agent("get_uncovered_assertions", req_id="REQ-d00001", source=source)["assertions"]
        return [each["label"] for each in found]

    assert lacking("test") == ["C"]
    assert lacking("uat") == ["B", "C"]
    assert lacking("both") == ["B", "C"]
