"""The first source document, requirement by requirement: the core query and workspace tools.

Each test is named after the assertion of the source that it proves.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.graph.graph import Graph
from clew.graph.model import NodeKind
from clew.project import Project
from clew.trace.serialize import requirement_full, requirement_summary

pytestmark = pytest.mark.anyio

Ask = Callable[..., Any]
Open = Callable[[Path], Project]


@pytest.fixture
def project(opened: Open, demo: Path) -> Project:
    return opened(demo)


# Verifies: REQ-d00013-A
async def test_o00060_A_status_has_staleness_counts_and_time(ask: Ask) -> None:
    status = await ask("get_graph_status")
    assert status["is_stale"] is False
    assert status["node_counts"] == {
        "requirement": 23,
        "assertion": 44,
        "code": status["node_counts"]["code"],
        "test": 39,
        "result": 54,
        "journey": 1,
        "spec": 2,
        "remainder": status["node_counts"]["remainder"],
    }
    assert status["last_refresh"].endswith("+00:00")


# Verifies: REQ-d00013-B
async def test_o00060_B_full_refresh_clears_all_caches(ask: Ask) -> None:
    first = await ask("refresh_graph")
    assert first["files_parsed"] == first["files"] > 0
    assert (await ask("refresh_graph"))["files_parsed"] == 0
    assert (await ask("refresh_graph", full=True))["files_parsed"] == first["files"]


# Verifies: REQ-d00013-C
@pytest.mark.parametrize(
    ("query", "arguments", "expected"),
    [
        ("REQ-d00006", {}, "REQ-d00006"),
        ("req-d00006", {"field": "id"}, "REQ-d00006"),
        ("72 characters", {"field": "body"}, "REQ-d00006"),
        ("^REQ-d0000[6]$", {"field": "id", "regex": True}, "REQ-d00006"),
    ],
)
async def test_o00060_C_search_by_id_title_or_body(ask: Ask, query: str, arguments: dict, expected: str) -> None:
    found = await ask("search", query=query, **arguments)
    assert found["results"][0]["id"] == expected


# Verifies: REQ-d00013-E
async def test_o00060_D_requirement_with_assertions_and_relationships(ask: Ask) -> None:
    detail = await ask("get_requirement", req_id="REQ-d00001")
    assert [item["label"] for item in detail["assertions"]] == sorted(item["label"] for item in detail["assertions"])
    assert detail["assertions"][0]["text"]
    assert [item["edge_kind"] for item in detail["parents"]] == ["implements"]
    assert {item["kind"] for item in detail["children"]} == {"code", "test"}


# Verifies: REQ-d00013-F
async def test_o00060_E_hierarchy_has_ancestors_and_children(ask: Ask) -> None:
    place = await ask("get_hierarchy", req_id="REQ-o00001")
    assert [item["level"] for item in place["ancestors"]] == ["prd"]
    assert {item["level"] for item in place["children"]} == {"dev"}


# Verifies: REQ-o00001-B
async def test_o00060_F_tools_read_the_graph_through_its_iterators(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    used: set[str] = set()
    for name in ("get_node", "nodes_by_kind", "iter_incoming_edges", "iter_outgoing_edges"):
        original = getattr(Graph, name)

        def watched(self: Graph, *args: Any, _name: str = name, _original: Any = original) -> Any:
            used.add(_name)
            return _original(self, *args)

        monkeypatch.setattr(Graph, name, watched)
    await ask("get_requirement", req_id="REQ-d00001")
    await ask("search", query="tide")
    assert used == {"get_node", "nodes_by_kind", "iter_incoming_edges", "iter_outgoing_edges"}


# Verifies: REQ-d00013-G
async def test_o00061_A_workspace_has_path_name_and_configuration(ask: Ask, demo: Path) -> None:
    info = await ask("get_workspace_info")
    assert info["repo_path"] == str(demo.resolve())
    assert info["project_name"] == "demo"
    assert info["config_file"] == "clew.toml"
    assert info["config_summary"]["prefix"] == "REQ"
    assert info["config_summary"]["spec_directories"] == ["spec"]
    assert info["config_summary"]["testing_enabled"] is True


# Verifies: REQ-d00013-H
async def test_o00061_B_summary_has_levels_coverage_and_changes(ask: Ask, demo: Path) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    for command in (["init", "-qb", "main"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run(["git", *identity, *command], cwd=demo, check=True, capture_output=True)
    summary = await ask("get_project_summary")
    assert summary["requirements_by_level"]["all"] == {"dev": 8, "ops": 4, "prd": 3, "register": 3, "spec": 5}
    assert summary["coverage"]["total"] == 23
    assert (summary["coverage"]["full_coverage"], summary["coverage"]["partial_coverage"]) == (21, 1)
    assert summary["changes"] == {"uncommitted": 0, "branch_changed": 0, "base": "main", "note": None}
    assert (summary["broken_reference_count"], summary["stale_hash_count"]) == (1, 1)
    detail = await ask("get_requirement", req_id="REQ-d00001")
    spec = demo / detail["source"]["path"]
    text = spec.read_text(encoding="utf-8")
    spec.write_text(text.replace(detail["title"], detail["title"] + " soon", 1), encoding="utf-8")
    assert (await ask("get_project_summary"))["changes"]["uncommitted"] == 1


# Verifies: REQ-d00013-H
async def test_o00061_C_statistics_are_computed_once_for_a_state_of_the_graph(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clew.trace import aggregates

    await ask("get_project_summary")

    def recomputed(graph: Graph) -> None:
        raise AssertionError("a statistic was computed again")

    for name in ("_count_by_level", "_count_by_coverage", "_coverage_by_level", "_orphan_count"):
        monkeypatch.setattr(aggregates, name, recomputed)
    assert (await ask("get_project_summary"))["is_error"] is False


# Verifies: REQ-d00019-A
async def test_o00061_D_configuration_comes_from_the_one_config(opened: Open, demo: Path) -> None:
    project = opened(demo)
    assert project.trace.workspace(()).config_summary.spec_directories == project.config.requirements.folders


# Verifies: REQ-d00013-A
async def test_d00060_A_C_staleness_and_time_are_those_of_the_graph(ask: Ask, project: Project) -> None:
    status = await ask("get_graph_status")
    assert status["is_stale"] is project.graph.state.is_stale
    assert status["last_refresh"] == project.graph.state.last_refresh


# Verifies: REQ-d00013-A
async def test_d00060_B_D_counts_are_those_of_the_graph(ask: Ask, project: Project) -> None:
    status = await ask("get_graph_status")
    for kind in NodeKind:
        assert status["node_counts"].get(kind.value, 0) == sum(1 for _ in project.graph.nodes_by_kind(kind))
    assert status["root_count"] == project.graph.root_count() == len(list(project.graph.iter_roots()))


# Verifies: REQ-o00001-B
async def test_d00060_E_counting_visits_no_node(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.ensure_graph()

    def visited(self: Graph, kind: NodeKind) -> None:
        raise AssertionError("nodes were visited")

    monkeypatch.setattr(Graph, "nodes_by_kind", visited)
    assert project.trace.status().node_counts["requirement"] == 23


# Verifies: REQ-d00013-C
@pytest.mark.parametrize(
    ("field", "query", "finds"),
    [("id", "d00006", True), ("title", "d00006", False), ("body", "72 characters", True), ("title", "72 char", False)],
)
async def test_d00061_A_B_the_field_decides_where_to_look(ask: Ask, field: str, query: str, finds: bool) -> None:
    found = await ask("search", query=query, field=field)
    assert any(item["id"] == "REQ-d00006" for item in found["results"]) is finds


# Verifies: REQ-d00013-C
async def test_d00061_C_patterns_are_matched_in_any_case(ask: Ask) -> None:
    found = await ask("search", query="^req-P\\d+$", field="id", regex=True)
    assert [item["id"] for item in found["results"]] == ["REQ-p00001", "REQ-p00002", "REQ-p00003"]


# Verifies: REQ-d00013-C
async def test_d00061_D_results_are_summaries(ask: Ask) -> None:
    found = await ask("search", query="REQ-d00001")
    assert set(found["results"][0]) == {"id", "title", "level", "status", "score"}


# Verifies: REQ-p00004-A
async def test_d00061_E_results_are_limited(ask: Ask) -> None:
    found = await ask("search", query="REQ", limit=3)
    assert len(found["results"]) == 3
    assert found["total"] == 18
    assert found["truncated"] is True


# Verifies: REQ-o00001-B
async def test_d00062_A_lookup_visits_no_other_node(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.ensure_graph()

    def visited(self: Graph, kind: NodeKind) -> None:
        raise AssertionError("nodes were visited")

    monkeypatch.setattr(Graph, "nodes_by_kind", visited)
    assert project.trace.requirement("REQ-d00001").id == "REQ-d00001"


# Verifies: REQ-d00013-E
async def test_d00062_B_all_fields_are_returned(ask: Ask, demo: Path) -> None:
    detail = await ask("get_requirement", req_id="REQ-d00001")
    lines = (demo / detail["source"]["path"]).read_text(encoding="utf-8").splitlines()
    assert lines[detail["source"]["line"] - 1].endswith(f"{detail['id']}: {detail['title']}")
    assert (detail["level"], detail["status"]) == ("dev", "Active")
    assert detail["hash"] in lines[detail["source"]["end_line"] - 1]
    assert all(assertion["text"].split()[0] in detail["body"] for assertion in detail["assertions"])


# Verifies: REQ-d00013-E
async def test_d00062_C_D_assertions_and_relationships_are_the_edges_of_the_node(ask: Ask, project: Project) -> None:
    detail = await ask("get_requirement", req_id="REQ-d00001")
    graph = project.graph
    parts = [node.id for node in graph.iter_children("REQ-d00001") if node.kind is NodeKind.ASSERTION]
    assert [item["id"] for item in detail["assertions"]] == parts
    outgoing = {(edge.target, edge.kind.value) for edge in graph.iter_outgoing_edges("REQ-d00001")}
    assert {(item["id"], item["edge_kind"]) for item in detail["parents"]} == outgoing


# Verifies: REQ-d00013-E
async def test_d00062_E_metrics_are_those_of_the_graph(ask: Ask, project: Project) -> None:
    detail = await ask("get_requirement", req_id="REQ-d00006")
    assert detail["metrics"]["untested_labels"] == ["C"]
    assert list(project.graph.metrics("REQ-d00006")["untested_labels"]) == ["C"]
    assert project.graph.metrics("REQ-d00006") is project.graph.metrics("REQ-d00006")


# Verifies: REQ-d00013-E
async def test_d00062_F_an_unknown_requirement_is_not_found(ask: Ask) -> None:
    error = await ask("get_requirement", req_id="REQ-d00010")
    assert error["is_error"] is True
    assert error["code"] == "not_found"
    assert error["error"] == "Requirement 'REQ-d00010' not found."
    assert "Did you mean REQ-d0000" in error["hint"]
    journey = await ask("get_requirement", req_id="JNY-Crossing-01")
    assert journey["code"] in ("wrong_kind", "not_found")


# Verifies: REQ-d00013-F
async def test_d00063_A_ancestors_reach_the_roots(ask: Ask, project: Project) -> None:
    place = await ask("get_hierarchy", req_id="REQ-d00001")
    assert [item["level"] for item in place["ancestors"]] == ["ops", "prd"]
    roots = {node.id for node in project.graph.iter_roots()}
    assert place["ancestors"][-1]["id"] in roots


# Verifies: REQ-d00013-F
async def test_d00063_B_C_children_and_siblings_share_the_parent(ask: Ask) -> None:
    parent = await ask("get_hierarchy", req_id="REQ-o00001")
    child = await ask("get_hierarchy", req_id=parent["children"][0]["id"])
    assert [item["id"] for item in child["siblings"]] == [item["id"] for item in parent["children"][1:]]


# Verifies: REQ-d00013-F
async def test_d00063_D_summaries_not_details(ask: Ask) -> None:
    place = await ask("get_hierarchy", req_id="REQ-d00001")
    assert all(set(item) == {"id", "title", "level", "status"} for item in place["ancestors"])


# Verifies: REQ-d00013-F
async def test_d00063_E_several_parents_and_circles_are_walked_once(opened: Open, small: Path) -> None:
    blocks = {"p00001": "o00003", "o00001": "p00001", "o00002": "p00001", "o00003": "o00001, REQ-o00002"}
    text = "".join(
        f"## REQ-{id}: {id}\n\n**Level**: OPS | **Status**: Active | **Implements**: REQ-{parents}\n\n*End* *{id}*\n\n"
        for id, parents in blocks.items()
    )
    (small / "spec" / "small.md").write_text(text, encoding="utf-8")
    project = opened(small)
    project.ensure_graph()
    place = project.trace.hierarchy("REQ-o00003")
    assert [item.id for item in place.ancestors] == ["REQ-o00001", "REQ-o00002", "REQ-p00001"]
    assert [item.id for item in place.children] == ["REQ-p00001"]


# Verifies: REQ-d00013-E
async def test_d00064_A_B_summary_and_full(project: Project) -> None:
    project.ensure_graph()
    node = project.graph.get_node("REQ-d00001")
    assert node is not None
    assert requirement_summary(node).__struct_fields__ == ("id", "title", "level", "status")
    full = requirement_full(project.graph, node)
    assert full.body
    assert full.assertions
    assert full.parents


# Verifies: REQ-d00013-E
async def test_d00064_C_D_E_serializers_read_fields_have_defaults_and_stay_at_the_node() -> None:
    from clew.graph.model import Node

    graph = Graph()
    graph.memory.put_node(Node("REQ-d00001", NodeKind.REQUIREMENT, "Bare", {}))
    node = graph.get_node("REQ-d00001")
    assert node is not None
    full = requirement_full(graph, node)
    assert (full.level, full.status, full.hash, full.body, full.source) == ("Unknown", "Unknown", None, "", None)
    assert full.coverage["total_assertions"] == 0
