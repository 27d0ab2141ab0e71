"""The second source once more: what its acceptance found."""

import subprocess
from pathlib import Path

import pytest
from tests.mcp_client import McpClient, Options, list_tools

from clew.project import Project

PROFILE = Options(profile="wekadocs")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "guide.md").write_text("# Guide\n\nThe lamp burns at night.\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


# Verifies: REQ-d00824-A, REQ-d00824-C
def test_43_scores_are_given_where_they_are_asked_for_and_git_sees_nothing(root: Path) -> None:
    project = Project.open(root)
    try:
        with McpClient(project, PROFILE) as ask:
            (plain,) = ask("kb_search", query="lamp")["results"]
            (scored,) = ask("kb_search", query="lamp", options={"include_scores": True})["results"]
    finally:
        project.close()
    assert "scores" not in plain
    assert scored["scores"]["fused"] > 0
    assert len(scored["scores"]) > 1
    seen = subprocess.run(["git", "status", "--short"], cwd=root, check=True, capture_output=True, text=True).stdout
    assert seen == "?? docs/\n"


# Verifies: REQ-d00824-B
def test_7_every_description_says_when_not_to_use_the_tool() -> None:
    assert not [tool.name for tool in list_tools(PROFILE).values() if "Do not use when" not in (tool.description or "")]
