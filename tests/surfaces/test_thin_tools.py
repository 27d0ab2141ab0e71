"""Tools answer what their services return, and a question changes nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.mcp_client import McpClient

from clew.project import Project
from clew.trace.find.lists import TraceQueries
from clew.trace.find.requests import AssertionQuery, NodeQuery, TitleQuery

ASKED: dict[str, tuple[dict[str, Any], Callable[[TraceQueries], Any]]] = {
    "query_nodes": (
        {"kind": "requirement", "level": "ops"},
        lambda find: find.node_page(NodeQuery(kind="requirement", level="ops"), offset=0),
    ),
    "find_assertions_by_keywords": (
        {"keywords": ["reject"]},
        lambda find: find.assertions_by_keywords(AssertionQuery(keywords=["reject"]), offset=0),
    ),
    "find_by_keywords": (
        {"keywords": ["tide", "table"]},
        lambda find: find.by_title(TitleQuery(keywords=["tide", "table"]), offset=0),
    ),
}


def as_json(result: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(result))


# Verifies: REQ-o00007-B
@pytest.mark.parametrize("tool", ASKED)
def test_a_tool_that_queries_the_graph_answers_what_the_service_returns(
    opened: Callable[[Path], Project], demo: Path, tool: str
) -> None:
    project = opened(demo)
    arguments, ask = ASKED[tool]
    with McpClient(project) as client:
        answer = client(tool, **arguments)
    returned = as_json(ask(project.trace.find))
    assert returned["total"] > 0
    assert {name: value for name, value in answer.items() if name in returned} == returned


# Verifies: REQ-o00023-C
def test_suggesting_links_leaves_the_graph_and_the_files_as_they_are(
    opened: Callable[[Path], Project], demo: Path
) -> None:
    project = opened(demo)
    project.ensure_graph()
    before, files = project.graph.memory.snapshot(), contents(demo)
    with McpClient(project) as client:
        assert client("suggest_links")["suggestions"]
    assert project.graph.memory.snapshot() == before
    assert contents(demo) == files


def contents(folder: Path) -> dict[Path, bytes]:
    """The project's own files; Clew's lie in .clew."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".clew" not in path.parts}


# Verifies: REQ-d00076-A
def test_the_spec_tools_answer_what_the_service_returns(opened: Callable[[Path], Project], demo: Path) -> None:
    project = opened(demo)
    with McpClient(project) as client:
        spec = client("list_specs")["specs"][0]["id"]
        answer = client("get_spec_requirements", spec_id=spec)
    assert answer["requirements"] == as_json(project.specs.requirements(spec).requirements)
