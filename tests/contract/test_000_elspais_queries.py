"""The first source document, requirement by requirement: the core query and workspace tools.

Each test is named after the assertion of the source that it proves.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contract.elspais import asking, pages
from tests.mcp_client import McpClient, Options

from clew.project import Project

Ask = Callable[..., Any]
Open = Callable[[Path], Project]


@pytest.fixture
def project(opened: Open, demo: Path) -> Project:
    return opened(demo)


# Verifies: REQ-d00013-A
def test_o00060_A_status_has_staleness_counts_and_time(ask: Ask) -> None:
    status = ask("get_graph_status")
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
        "file": status["node_counts"]["file"],
    }
    assert status["last_refresh"].endswith("+00:00")


# Verifies: REQ-d00013-B
def test_o00060_B_full_refresh_clears_all_caches(ask: Ask) -> None:
    first = ask("refresh_graph")
    assert first["files_parsed"] == first["files"] > 0
    assert ask("refresh_graph")["files_parsed"] == 0
    assert ask("refresh_graph", full=True)["files_parsed"] == first["files"]


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
def test_o00060_C_search_by_id_title_or_body(ask: Ask, query: str, arguments: dict, expected: str) -> None:
    found = ask("search", query=query, **arguments)
    assert found["results"][0]["id"] == expected


# Verifies: REQ-d00013-E
def test_o00060_D_requirement_with_assertions_and_relationships(ask: Ask) -> None:
    detail = ask("get_requirement", req_id="REQ-d00001")
    assert [item["label"] for item in detail["assertions"]] == sorted(item["label"] for item in detail["assertions"])
    assert detail["assertions"][0]["text"]
    assert [item["edge_kind"] for item in detail["parents"]] == ["implements"]
    assert {item["kind"] for item in detail["children"]} == {"code", "test"}


# Verifies: REQ-d00013-F
def test_o00060_E_hierarchy_has_ancestors_and_children(ask: Ask) -> None:
    place = ask("get_hierarchy", req_id="REQ-o00001")
    assert [item["level"] for item in place["ancestors"]] == ["prd"]
    assert {item["level"] for item in place["children"]} == {"dev"}


# Verifies: REQ-d00013-G
def test_o00061_A_workspace_has_path_name_and_configuration(ask: Ask, demo: Path) -> None:
    info = ask("get_workspace_info")
    assert info["repo_path"] == str(demo.resolve())
    assert info["project_name"] == "demo"
    assert info["config_file"] == "clew.toml"
    assert info["config_summary"]["prefix"] == "REQ"
    assert info["config_summary"]["spec_directories"] == ["spec"]
    assert info["config_summary"]["testing_enabled"] is True


# Verifies: REQ-d00013-H
def test_o00061_B_summary_has_levels_coverage_and_changes(ask: Ask, demo: Path) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    for command in (["init", "-qb", "main"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run(["git", *identity, *command], cwd=demo, check=True, capture_output=True)
    summary = ask("get_project_summary")
    assert summary["requirements_by_level"]["all"] == {"dev": 8, "ops": 4, "prd": 3, "register": 3, "spec": 5}
    assert summary["coverage"]["total"] == 23
    assert (summary["coverage"]["full_coverage"], summary["coverage"]["partial_coverage"]) == (21, 1)
    assert summary["changes"] == {"uncommitted": 0, "branch_changed": 0, "base": "main", "note": None}
    assert (summary["broken_reference_count"], summary["stale_hash_count"]) == (1, 1)
    detail = ask("get_requirement", req_id="REQ-d00001")
    spec = demo / detail["source"]["path"]
    text = spec.read_text(encoding="utf-8")
    spec.write_text(text.replace(detail["title"], detail["title"] + " soon", 1), encoding="utf-8")
    assert ask("get_project_summary")["changes"]["uncommitted"] == 1


# Verifies: REQ-d00019-A
def test_o00061_D_configuration_comes_from_the_one_config(ask: Ask, project: Project) -> None:
    told = ask("get_workspace_info")["config_summary"]["spec_directories"]
    assert told == list(project.config.requirements.folders)


# Verifies: REQ-d00013-A
def test_d00060_A_to_D_staleness_time_and_counts_are_those_of_the_graph(ask: Ask, demo: Path) -> None:
    ask("refresh_graph")
    status = ask("get_graph_status")
    assert status["is_stale"] is False
    for kind, count in status["node_counts"].items():
        # Files are counted as elspais does, and listed by no tool.
        assert kind == "file" or len(pages(ask, "query_nodes", "results", kind=kind)) == count
    assert status["total_nodes"] == sum(status["node_counts"].values())
    (demo / "spec" / "dev-tides.md").unlink()
    ask("refresh_graph")
    later = ask("get_graph_status")
    assert later["last_refresh"] > status["last_refresh"]
    assert later["node_counts"]["requirement"] < status["node_counts"]["requirement"]


# Verifies: REQ-d00013-C
@pytest.mark.parametrize(
    ("field", "query", "finds"),
    [("id", "d00006", True), ("title", "d00006", False), ("body", "72 characters", True), ("title", "72 char", False)],
)
def test_d00061_A_B_the_field_decides_where_to_look(ask: Ask, field: str, query: str, finds: bool) -> None:
    found = ask("search", query=query, field=field)
    assert any(item["id"] == "REQ-d00006" for item in found["results"]) is finds


# Verifies: REQ-d00013-C
def test_d00061_C_patterns_are_matched_in_any_case(ask: Ask) -> None:
    found = ask("search", query="^req-P\\d+$", field="id", regex=True)
    assert [item["id"] for item in found["results"]] == ["REQ-p00001", "REQ-p00002", "REQ-p00003"]


# Verifies: REQ-d00013-C
def test_d00061_D_results_are_summaries(ask: Ask) -> None:
    found = ask("search", query="REQ-d00001")
    assert set(found["results"][0]) == {"id", "title", "level", "status", "score"}


# Verifies: REQ-p00004-A
def test_d00061_E_results_are_limited(ask: Ask) -> None:
    found = ask("search", query="REQ", limit=3)
    assert len(found["results"]) == 3
    assert found["total"] == 18
    assert found["truncated"] is True


# Verifies: REQ-d00013-E
def test_d00062_B_all_fields_are_returned(ask: Ask, demo: Path) -> None:
    detail = ask("get_requirement", req_id="REQ-d00001")
    lines = (demo / detail["source"]["path"]).read_text(encoding="utf-8").splitlines()
    assert lines[detail["source"]["line"] - 1].endswith(f"{detail['id']}: {detail['title']}")
    assert (detail["level"], detail["status"]) == ("dev", "Active")
    assert detail["hash"] in lines[detail["source"]["end_line"] - 1]
    assert all(assertion["text"].split()[0] in detail["body"] for assertion in detail["assertions"])


# Verifies: REQ-d00013-E
def test_d00062_C_D_assertions_and_relationships_are_the_edges_of_the_node(ask: Ask) -> None:
    detail = ask("get_requirement", req_id="REQ-d00001")
    below = ask("get_subtree", root_id="REQ-d00001", format="flat")
    parts = [node["id"] for node in below["nodes"] if node["kind"] == "assertion"]
    assert [item["id"] for item in detail["assertions"]] == parts
    above = ask("get_subtree", root_id="REQ-o00002", format="flat")
    outgoing = {(edge["source"], edge["kind"]) for edge in above["edges"] if edge["target"] == "REQ-d00001"}
    assert {(item["id"], item["edge_kind"]) for item in detail["parents"]} == outgoing


# Verifies: REQ-d00013-E
def test_d00062_E_metrics_are_those_of_the_graph(ask: Ask) -> None:
    detail = ask("get_requirement", req_id="REQ-d00006")
    assert detail["metrics"]["untested_labels"] == ["C"]
    uncovered = ask("get_uncovered_assertions", req_id="REQ-d00006")["assertions"]
    assert [item["label"] for item in uncovered] == ["C"]
    assert detail["metrics"]["total_assertions"] == len(detail["assertions"])


# Verifies: REQ-d00013-E
def test_d00062_F_an_unknown_requirement_is_not_found(ask: Ask) -> None:
    error = ask("get_requirement", req_id="REQ-d00010")
    assert error["is_error"] is True
    assert error["code"] == "not_found"
    assert error["error"] == "Requirement 'REQ-d00010' not found."
    assert "Did you mean REQ-d0000" in error["hint"]
    journey = ask("get_requirement", req_id="JNY-Crossing-01")
    assert journey["code"] in ("wrong_kind", "not_found")


# Verifies: REQ-d00013-F
def test_d00063_A_ancestors_reach_the_roots(ask: Ask) -> None:
    place = ask("get_hierarchy", req_id="REQ-d00001")
    assert [item["level"] for item in place["ancestors"]] == ["ops", "prd"]
    assert ask("get_hierarchy", req_id=place["ancestors"][-1]["id"])["ancestors"] == []


# Verifies: REQ-d00013-F
def test_d00063_B_C_children_and_siblings_share_the_parent(ask: Ask) -> None:
    parent = ask("get_hierarchy", req_id="REQ-o00001")
    child = ask("get_hierarchy", req_id=parent["children"][0]["id"])
    assert [item["id"] for item in child["siblings"]] == [item["id"] for item in parent["children"][1:]]


# Verifies: REQ-d00013-F
def test_d00063_D_summaries_not_details(ask: Ask) -> None:
    place = ask("get_hierarchy", req_id="REQ-d00001")
    assert all(set(item) == {"id", "title", "level", "status"} for item in place["ancestors"])


# Verifies: REQ-d00013-F
def test_d00063_E_several_parents_and_circles_are_walked_once(opened: Open, small: Path) -> None:
    blocks = {"p00001": "o00003", "o00001": "p00001", "o00002": "p00001", "o00003": "o00001, REQ-o00002"}
    text = "".join(
        f"## REQ-{id}: {id}\n\n**Level**: OPS | **Status**: Active | **Implements**: REQ-{parents}\n\n*End* *{id}*\n\n"
        for id, parents in blocks.items()
    )
    (small / "spec" / "small.md").write_text(text, encoding="utf-8")
    with McpClient(opened(small)) as client:
        place = asking(client)("get_hierarchy", req_id="REQ-o00003")
    assert [item["id"] for item in place["ancestors"]] == ["REQ-o00001", "REQ-o00002", "REQ-p00001"]
    assert [item["id"] for item in place["children"]] == ["REQ-p00001"]


# Verifies: REQ-d00013-E
def test_d00064_A_B_summary_and_full(ask: Ask) -> None:
    (summary,) = ask("get_hierarchy", req_id="REQ-d00001")["ancestors"][:1]
    assert list(summary) == ["id", "title", "level", "status"]
    full = ask("get_requirement", req_id="REQ-d00001")
    assert full["body"]
    assert full["assertions"]
    assert full["parents"]


# Verifies: REQ-d00013-E
def test_d00064_C_D_what_a_requirement_lacks_has_a_default(opened: Open, small: Path) -> None:
    (small / "spec" / "small.md").write_text(
        "## REQ-d00001: Bare\n\n**Level**: DEV\n\n*End* *Bare*\n", encoding="utf-8"
    )
    with McpClient(opened(small), Options(profile="elspais")) as client:
        full = client("get_requirement", req_id="REQ-d00001")
    assert (full["status"], full["hash"], full["assertions"], full["parents"]) == ("Unknown", None, [], [])
    assert full["coverage"]["total_assertions"] == 0
