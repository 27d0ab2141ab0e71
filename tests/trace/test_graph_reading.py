"""How the requirement tools read the graph: through its iterators, by edges, and each figure once."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.elspais import Ask, asking, write_clock
from tests.mcp_client import McpClient, Options

from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind
from clew.project import Project
from clew.trace import coverage
from clew.trace.find.requests import CoverageQuery
from clew.trace.read.serialize import requirement_full, requirement_summary


@pytest.fixture
def project(opened: Callable[[Path], Project], demo: Path) -> Project:
    return opened(demo)


@pytest.fixture
def ask(project: Project) -> Iterator[Ask]:
    with McpClient(project, Options(profile="elspais")) as client:
        yield asking(client)


# Verifies: REQ-d00061-A
def test_for_the_tests_of_a_requirement_edges_are_followed_and_nothing_else_is_walked(
    tmp_path: Path, opened: Callable[[Path], Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = opened(write_clock(tmp_path))
    project.ensure_graph()
    walked: list[NodeKind] = []
    original = Graph.nodes_by_kind

    def watched(self: Graph, kind: NodeKind) -> Any:
        walked.append(kind)
        return original(self, kind)

    monkeypatch.setattr(Graph, "nodes_by_kind", watched)
    assert project.trace.find.tests(CoverageQuery(req_id="REQ-d00001")).page(0, 10).tests_total == 2
    assert walked == []


# Verifies: REQ-o00001-B
def test_tools_read_the_graph_through_its_iterators(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    used: set[str] = set()
    for name in ("get_node", "nodes_by_kind", "iter_incoming_edges", "iter_outgoing_edges"):
        original = getattr(Graph, name)

        def watched(self: Graph, *args: Any, _name: str = name, _original: Any = original) -> Any:
            used.add(_name)
            return _original(self, *args)

        monkeypatch.setattr(Graph, name, watched)
    ask("get_requirement", req_id="REQ-d00001")
    ask("search", query="tide")
    assert used == {"get_node", "nodes_by_kind", "iter_incoming_edges", "iter_outgoing_edges"}


# Verifies: REQ-d00013-H
def test_statistics_are_computed_once_for_a_state_of_the_graph(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    ask("get_project_summary")

    def recomputed(graph: Graph) -> None:
        raise AssertionError("a statistic was computed again")

    for name in ("_count_by_level", "_count_by_coverage", "_coverage_by_level", "_orphan_count"):
        monkeypatch.setattr(coverage, name, recomputed)
    assert ask("get_project_summary")["is_error"] is False


# Verifies: REQ-d00013-A
def test_staleness_and_time_are_those_of_the_graph(ask: Ask, project: Project) -> None:
    status = ask("get_graph_status")
    assert status["is_stale"] is project.graph.state.is_stale
    assert status["last_refresh"] == project.graph.state.last_refresh


# Verifies: REQ-o00001-B
def test_counting_visits_no_node(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.ensure_graph()

    def visited(self: Graph, kind: NodeKind) -> None:
        raise AssertionError("nodes were visited")

    monkeypatch.setattr(Graph, "nodes_by_kind", visited)
    assert project.trace.status().node_counts["requirement"] == 23


# Verifies: REQ-o00001-B
def test_lookup_visits_no_other_node(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.ensure_graph()

    def visited(self: Graph, kind: NodeKind) -> None:
        raise AssertionError("nodes were visited")

    monkeypatch.setattr(Graph, "nodes_by_kind", visited)
    assert project.trace.requirement("REQ-d00001").id == "REQ-d00001"


# Verifies: REQ-d00013-E
def test_summary_and_full(project: Project) -> None:
    project.ensure_graph()
    node = project.graph.get_node("REQ-d00001")
    assert node is not None
    assert requirement_summary(node).__struct_fields__ == ("id", "title", "level", "status")
    full = requirement_full(project.graph, node)
    assert full.body
    assert full.assertions
    assert full.parents


# Verifies: REQ-d00013-E
def test_serializers_read_fields_have_defaults_and_stay_at_the_node() -> None:
    graph = Graph()
    graph.memory.put_nodes([Node("REQ-d00001", NodeKind.REQUIREMENT, "Bare", {})])
    node = graph.get_node("REQ-d00001")
    assert node is not None
    full = requirement_full(graph, node)
    assert (full.level, full.status, full.hash, full.body, full.source) == ("Unknown", "Unknown", None, "", None)
    assert full.coverage["total_assertions"] == 0


# Verifies: REQ-d00013-A
def test_counts_are_those_of_the_graph(ask: Ask, project: Project) -> None:
    status = ask("get_graph_status")
    for kind in set(NodeKind) - {NodeKind.FILE}:
        assert status["node_counts"].get(kind.value, 0) == sum(1 for _ in project.graph.nodes_by_kind(kind))
    assert status["node_counts"]["file"] == len(set(project.graph.memory.files()))
    assert status["root_count"] == project.graph.root_count() == len(list(project.graph.iter_roots()))


# Verifies: REQ-d00013-E
def test_metrics_are_those_of_the_graph(ask: Ask, project: Project) -> None:
    detail = ask("get_requirement", req_id="REQ-d00006")
    assert detail["metrics"]["untested_labels"] == ["C"]
    assert list(project.graph.metrics("REQ-d00006")["untested_labels"]) == ["C"]
    assert project.graph.metrics("REQ-d00006") is project.graph.metrics("REQ-d00006")
