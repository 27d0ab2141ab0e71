"""The first source document, requirement by requirement: subtrees.

Each test is named after the assertion of the source that it proves. Where the source names a function of elspais, what
that function has to achieve is proved through the tool.
"""

from typing import Any

import pytest
from tests.contract.elspais import SPEC, Ask, ids, picture

from clew.project import Project


@pytest.fixture
def project(clock: Project) -> Project:
    return clock


def all_nodes(tree: dict[str, Any]) -> list[dict[str, Any]]:
    return [tree, *(node for child in tree.get("children", ()) for node in all_nodes(child))]


# REQ-o00067: MCP Subtree Extraction Tool


# Verifies: REQ-d00062-A
def test_o00067_A_a_subgraph_level_by_level(ask: Ask) -> None:
    found = ask("get_subtree", root_id="REQ-p00001", format="flat")
    depths = [node["depth"] for node in found["nodes"]]
    assert depths == sorted(depths)
    assert set(ids(found["nodes"])) >= {"REQ-p00001", "REQ-o00001", "REQ-o00002", "REQ-d00001"}


# Verifies: REQ-d00062-A
@pytest.mark.parametrize(("depth", "deepest"), [(0, 3), (1, 1), (2, 2)])
def test_o00067_B_depth_zero_is_unlimited(ask: Ask, depth: int, deepest: int) -> None:
    found = ask("get_subtree", root_id="REQ-p00001", depth=depth, format="flat")
    assert max(node["depth"] for node in found["nodes"]) == deepest


# Verifies: REQ-d00062-B
def test_o00067_C_kinds_are_filtered(ask: Ask) -> None:
    usual = ask("get_subtree", root_id="REQ-d00001", format="flat")
    assert {node["kind"] for node in usual["nodes"]} == {"requirement", "assertion"}
    named = ask("get_subtree", root_id="REQ-d00001", include_kinds="code,test", format="flat")
    assert {node["kind"] for node in named["nodes"]} == {"requirement", "code", "test"}


# Verifies: REQ-d00062-C
def test_o00067_D_three_formats(ask: Ask) -> None:
    for shape, field in (("markdown", "content"), ("flat", "nodes"), ("nested", "tree")):
        found = ask("get_subtree", root_id="REQ-p00001", format=shape)
        assert found["format"] == shape
        assert found[field]
    assert ask("get_subtree", root_id="REQ-p00001", format="xml")["code"] == "invalid_argument"


# Verifies: REQ-d00062-A
def test_o00067_E_a_node_with_two_parents_stands_there_once(ask: Ask) -> None:
    found = ask("get_subtree", root_id="REQ-p00001", format="flat")
    assert ids(found["nodes"]).count("REQ-d00001") == 1
    up = {edge["source"] for edge in found["edges"] if edge["target"] == "REQ-d00001"}
    assert up == {"REQ-o00001", "REQ-o00002"}


# Verifies: REQ-d00062-C
def test_o00067_F_requirements_carry_their_coverage(ask: Ask) -> None:
    found = ask("get_subtree", root_id="REQ-d00001", format="flat")
    assert found["nodes"][0]["coverage"] == {"total": 3, "covered": 2, "pct": 66.7, "implemented": 1}


# REQ-d00075: Subtree Extraction Implementation


# Verifies: REQ-d00062-A, REQ-o00024-C
def test_d00075_A_levels_are_counted_by_the_shortest_way_and_circles_end(ask: Ask, project: Project) -> None:
    spec = project.config.root / "spec" / "clock.md"
    below_its_grandchild = "**Level**: PRD | **Status**: Active | **Implements**: REQ-d00001"
    spec.write_text(SPEC.replace("**Level**: PRD | **Status**: Active", below_its_grandchild, 1), encoding="utf-8")
    found = ask("get_subtree", root_id="REQ-o00001", include_kinds="requirement", format="flat")
    assert {node["id"]: node["depth"] for node in found["nodes"]} == {
        "REQ-o00001": 0,
        "REQ-d00001": 1,
        "REQ-p00001": 2,
        "REQ-o00002": 3,
    }


# Verifies: REQ-o00024-D
def test_d00075_B_coverage_is_that_of_the_coverage_tools(ask: Ask) -> None:
    coverage = ask("get_subtree", root_id="REQ-d00001", format="flat")["nodes"][0]["coverage"]
    tests = ask("get_test_coverage", req_id="REQ-d00001")
    assert (coverage["total"], coverage["covered"], coverage["pct"]) == (
        tests["total_assertions"],
        tests["covered_count"],
        tests["coverage_pct"],
    )


# Verifies: REQ-d00062-C
def test_d00075_C_markdown_has_indented_headings_bullets_and_figures(ask: Ask) -> None:
    lines = ask("get_subtree", root_id="REQ-p00001")["content"].splitlines()
    assert lines[0] == "# REQ-p00001: Keeping time (prd, Active) [Implemented 1/2, Tested 0/2]"
    assert "- **A**: The clock SHALL show the hour." in lines
    assert "    ### REQ-d00001: Moving hands (dev, Active) [Implemented 1/3, Tested 2/3]" in lines
    assert "    - **C**: Neither hand SHALL move back." in lines


# Verifies: REQ-d00062-C, REQ-d00821-C
def test_d00075_D_flat_has_root_nodes_edges_and_stats(ask: Ask) -> None:
    found = ask("get_subtree", root_id="REQ-o00001", format="flat")
    assert found["root_id"] == "REQ-o00001"
    assert len(found["nodes"]) == found["stats"]["total_nodes"] == 6
    assert found["stats"] == {"total_nodes": 6, "requirements": 2, "assertions": 4}
    assert {"source": "REQ-o00001", "target": "REQ-d00001", "kind": "implements"} in found["edges"]
    (first,) = [each for each in found["nodes"] if each["id"] == "REQ-o00001-A"]
    assert (first["label"], first["text"]) == ("A", "Hands SHALL move with the hour.")
    # Figures are counts, in every format.
    counts = {type(each["coverage"]["total"]) for each in found["nodes"] if "coverage" in each}
    assert counts == {int}


# Verifies: REQ-d00062-C
def test_d00075_E_nested_has_children_all_the_way_down(ask: Ask) -> None:
    tree = ask("get_subtree", root_id="REQ-p00001", format="nested")["tree"]
    assert ids(tree["children"]) == ["REQ-p00001-A", "REQ-p00001-B", "REQ-o00001", "REQ-o00002"]
    assert len(all_nodes(tree)) == 11


# Verifies: REQ-d00062-B
def test_d00075_F_defaults_for_requirements_and_journeys(ask: Ask) -> None:
    requirement = ask("get_subtree", root_id="REQ-d00001", format="flat")
    assert {node["kind"] for node in requirement["nodes"]} == {"requirement", "assertion"}
    journey = ask("get_subtree", root_id="JNY-Reader-01", format="flat")
    assert [node["kind"] for node in journey["nodes"]] == ["journey"]


# Verifies: REQ-d00062-A
def test_d00075_G_the_graph_is_not_modified(ask: Ask) -> None:
    before, status = picture(ask), ask("get_graph_status")
    for shape in ("markdown", "flat", "nested"):
        ask("get_subtree", root_id="REQ-p00001", format=shape, include_kinds="requirement,test,code")
    assert picture(ask) == before
    assert ask("get_graph_status") == status
