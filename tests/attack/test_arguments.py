"""The short form of the attack by arguments: every tenth of them."""

from pathlib import Path

from tests.attack import arguments
from tests.mcp_client import McpClient

from clew.project import Project


# Verifies: REQ-d00653-A
def test_no_argument_is_an_internal_error() -> None:
    outcome = arguments.run(60)
    assert outcome.faults == ()
    assert outcome.tried == 120


# Verifies: REQ-d00653-A
def test_every_tool_that_takes_text_is_attacked() -> None:
    attacked = {tool for tool, _ in arguments.calls()}
    assert {"refresh_graph", "search", "kb.search", "why", "req_add"} <= attacked | {"kb_search"}
    assert len(attacked) > 150


# Verifies: REQ-d00653-B
def test_a_path_with_a_nul_byte_is_outside_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "clew.toml").touch()
    project = Project.open(tmp_path)
    try:
        with McpClient(project) as client:
            assert client.error("refresh_graph", path="spec/a\0.md")["code"] == "outside_project"
    finally:
        project.close()
