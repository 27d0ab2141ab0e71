"""Modules of tools only delegate: what they answer is made by the services."""

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from tests.mcp_client import McpClient

from clew.compat.elspais import operations as trace_cursor
from clew.project import Project
from clew.specs.operations import tools as specs
from clew.trace.operations import find as trace_find
from clew.trace.operations import links as trace_links


def logic_of(module: ModuleType) -> set[str]:
    """What a module of tools reaches of the graph by itself, other than through the services."""
    touched: set[str] = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Attribute) and node.attr in {"get_node", "nodes_by_kind", "memory", "iter_children"}:
            touched.add(node.attr)
        if isinstance(node, ast.Attribute) and node.attr.startswith(("iter_", "put_", "remove_")):
            touched.add(node.attr)
    return touched


# Verifies: REQ-o00007-B
@pytest.mark.parametrize("module", [trace_find, trace_cursor], ids=lambda module: module.__name__)
def test_tools_that_query_the_graph_leave_it_to_the_services(module: ModuleType) -> None:
    assert logic_of(module) == set()


# Verifies: REQ-o00023-C
def test_the_link_tools_leave_analysis_to_the_engine() -> None:
    tree = ast.parse(inspect.getsource(trace_links))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not any("graph" in (module or "") or "formats" in (module or "") for module in imported)
    assert not any(isinstance(node, ast.For | ast.While) for node in ast.walk(tree))


# Verifies: REQ-o00023-C
def test_suggesting_links_leaves_the_graph_as_it_is(opened: Callable[[Path], Project], demo: Path) -> None:
    project = opened(demo)
    project.ensure_graph()
    before = project.graph.memory.snapshot()
    with McpClient(project) as client:
        client("suggest_links")
    assert project.graph.memory.snapshot() == before


# Verifies: REQ-d00076-A
def test_the_spec_tools_call_the_service_and_answer_what_it_returns(
    opened: Callable[[Path], Project], demo: Path
) -> None:
    project = opened(demo)
    with McpClient(project) as client:
        spec = client("list_specs")["specs"][0]["id"]
        answer = client("get_spec_requirements", spec_id=spec)
    own = project.specs.requirements(spec)
    assert [each["name"] for each in answer["requirements"]] == [each.name for each in own.requirements]
    branches = (ast.If, ast.For, ast.While, ast.Try, ast.Match)
    assert not [node for node in ast.walk(ast.parse(inspect.getsource(specs))) if isinstance(node, branches)]
