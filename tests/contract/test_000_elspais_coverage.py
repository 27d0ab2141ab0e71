"""The first source document, requirement by requirement: the server, and the analysis of coverage.

Each test is named after the assertion of the source that it proves. Where the source names a function of elspais, what
that function has to achieve is proved through the tool.
"""

import pytest
from tests.contract.elspais import BOTH, SHORT, TESTS, Ask, ids
from tests.mcp_client import Options, list_tools

from clew.project import Project


@pytest.fixture
def project(clock: Project) -> Project:
    return clock


# REQ-p00060: MCP Server for AI-Driven Requirements Management


# Verifies: REQ-p00003-A
def test_p00060_A_graph_data_is_exposed_through_tools_of_the_protocol() -> None:
    listed = list_tools(Options(profile="elspais"))
    assert {"search", "get_requirement", "get_subtree", "open_cursor"} <= listed.keys()
    assert all(tool.input_schema["type"] == "object" and tool.output_schema for tool in listed.values())


# Verifies: REQ-p00001-B
def test_p00060_B_tools_consume_the_graph_itself(ask: Ask, project: Project) -> None:
    before = ask("get_requirement", req_id="REQ-d00002")
    ask("mutate_update_title", node_id="REQ-d00002", new_title="Greasing")
    after = ask("get_requirement", req_id="REQ-d00002")
    assert (before["title"], after["title"]) == ("Oiling", "Greasing")
    assert ids(ask("search", query="greasing", field="title")["results"]) == ["REQ-d00002"]
    assert "Greasing" not in (project.config.root / "spec" / "clock.md").read_text(encoding="utf-8")


# Verifies: REQ-d00060-A
def test_p00060_C_there_are_read_only_tools_for_discovery_and_navigation() -> None:
    listed = list_tools(Options(profile="elspais"))
    harmless = {name for name, tool in listed.items() if tool.annotations and tool.annotations.read_only_hint}
    assert {
        "search",
        "scoped_search",
        "discover_requirements",
        "get_hierarchy",
        "get_subtree",
        "query_nodes",
    } <= harmless


# REQ-o00064: MCP Test Coverage Analysis Tools


# Verifies: REQ-d00061-A
def test_o00064_A_tests_and_their_results(ask: Ask) -> None:
    found = ask("get_test_coverage", req_id="REQ-d00001")
    assert ids(found["test_nodes"]) == [BOTH, SHORT]
    assert [result["test_id"] for result in found["result_nodes"]] == [BOTH, SHORT]


# Verifies: REQ-d00061-B
def test_o00064_B_assertions_without_a_test(ask: Ask) -> None:
    found = ask("get_uncovered_assertions")
    assert ids(found["assertions"]) == ["REQ-d00001-C", "REQ-o00001-A", "REQ-o00002-A", "REQ-p00001-A", "REQ-p00001-B"]


# Verifies: REQ-d00060-D
def test_o00064_C_assertions_by_keywords(ask: Ask) -> None:
    found = ask("find_assertions_by_keywords", keywords=["hand", "hour"], match_all=True)
    assert sorted(ids(found["assertions"])) == ["REQ-d00001-A", "REQ-o00001-A"]


# Verifies: REQ-d00061-A
def test_o00064_D_coverage_is_that_of_the_edges(ask: Ask, project: Project) -> None:
    path = project.config.root / "tests" / "test_clock.py"
    path.write_text(TESTS.replace("REQ-d00001-A+B", "REQ-d00001-C"), encoding="utf-8")
    found = ask("get_test_coverage", req_id="REQ-d00001")
    assert found["covered_assertions"] == ["REQ-d00001-A", "REQ-d00001-C"]
    children = ask("get_requirement", req_id="REQ-d00001")["children"]
    named = {label for child in children for label in child["assertion_targets"]}
    assert named == {"A", "C"}


# Verifies: REQ-d00061-B
def test_o00064_E_one_requirement_or_all(ask: Ask) -> None:
    everything = ask("get_uncovered_assertions")
    one = ask("get_uncovered_assertions", req_id="REQ-o00001")
    assert ids(one["assertions"]) == ["REQ-o00001-A"]
    assert set(ids(one["assertions"])) < set(ids(everything["assertions"]))


# REQ-d00066: Test Coverage Tool Implementation


# Verifies: REQ-d00061-A
def test_d00066_A_takes_the_id_of_a_requirement(ask: Ask) -> None:
    assert ask("get_test_coverage", req_id="d1")["req_id"] == "REQ-d00001"
    assert ask("get_test_coverage", req_id="REQ-d09999")["code"] == "not_found"


# Verifies: REQ-d00061-A
def test_d00066_B_tests_are_those_with_edges_to_the_requirement(ask: Ask) -> None:
    found = ask("get_test_coverage", req_id="REQ-d00001")
    children = ask("get_requirement", req_id="REQ-d00001")["children"]
    citing = {child["id"] for child in children if child["kind"] == "test"}
    assert set(ids(found["test_nodes"])) == citing
    assert ask("get_test_coverage", req_id="REQ-o00001")["test_nodes"][0]["name"] == "test_showing"


# Verifies: REQ-d00061-A
def test_d00066_C_results_are_linked_to_their_test(ask: Ask) -> None:
    found = ask("get_test_coverage", req_id="REQ-d00001")
    statuses = {test["id"]: [result["status"] for result in test["results"]] for test in found["test_nodes"]}
    assert statuses == {SHORT: ["passed"], BOTH: ["failed"]}


# Verifies: REQ-d00061-A
def test_d00066_D_covered_assertions_are_those_that_edges_name(ask: Ask) -> None:
    found = ask("get_test_coverage", req_id="REQ-d00001")
    assert {test["id"]: test["assertion_targets"] for test in found["test_nodes"]} == {SHORT: ["A"], BOTH: ["A", "B"]}
    assert found["covered_assertions"] == ["REQ-d00001-A", "REQ-d00001-B"]


# Verifies: REQ-d00061-A
def test_d00066_E_uncovered_assertions_are_the_others(ask: Ask) -> None:
    assert ask("get_test_coverage", req_id="REQ-d00001")["uncovered_assertions"] == ["REQ-d00001-C"]
    assert ask("get_test_coverage", req_id="REQ-o00001")["uncovered_assertions"] == ["REQ-o00001-A"]


# Verifies: REQ-d00061-A, REQ-o00024-D
def test_d00066_F_the_summary_has_total_covered_and_percentage(ask: Ask) -> None:
    found = ask("get_test_coverage", req_id="REQ-d00001")
    assert (found["total_assertions"], found["covered_count"], found["coverage_pct"]) == (3, 2, 66.7)


# REQ-d00067: Uncovered Assertions Tool Implementation


# Verifies: REQ-d00061-B
def test_d00067_A_without_an_id_all_requirements_are_scanned(ask: Ask) -> None:
    found = ask("get_uncovered_assertions", req_id=None)
    parents = {each["parent_id"] for each in found["assertions"]}
    assert parents == {"REQ-p00001", "REQ-o00001", "REQ-o00002", "REQ-d00001"}
    assert found["req_id"] is None


# Verifies: REQ-d00061-B
def test_d00067_B_every_assertion_of_the_graph_is_looked_at(ask: Ask) -> None:
    uncovered = set(ids(ask("get_uncovered_assertions")["assertions"]))
    covered = {"REQ-d00001-A", "REQ-d00001-B"}
    assert uncovered | covered == set(ids(ask("query_nodes", kind="assertion")["results"]))


# Verifies: REQ-d00061-B
def test_d00067_C_only_edges_from_tests_count(ask: Ask, project: Project) -> None:
    (project.config.root / "tests" / "test_clock.py").write_text("\n", encoding="utf-8")
    uncovered = ids(ask("get_uncovered_assertions")["assertions"])
    assert "REQ-d00001-A" in uncovered, "code that implements an assertion is no test of it"
    assert len(uncovered) == ask("get_graph_status")["node_counts"]["assertion"]


# Verifies: REQ-d00061-B
def test_d00067_D_id_text_label_and_context(ask: Ask) -> None:
    (found,) = ask("get_uncovered_assertions", req_id="REQ-d00001")["assertions"]
    assert (found["id"], found["label"], found["text"]) == ("REQ-d00001-C", "C", "Neither hand SHALL move back.")


# Verifies: REQ-d00061-B
def test_d00067_E_id_and_title_of_the_requirement(ask: Ask) -> None:
    (found,) = ask("get_uncovered_assertions", req_id="REQ-d00001")["assertions"]
    assert (found["parent_id"], found["parent_title"]) == ("REQ-d00001", "Moving hands")


# Verifies: REQ-o00024-A
def test_d00067_F_results_are_limited(ask: Ask) -> None:
    found = ask("get_uncovered_assertions", limit=2)
    assert (len(found["assertions"]), found["total"], found["truncated"]) == (2, 5, True)
    rest = ask("get_uncovered_assertions", limit=2, cursor=found["next_cursor"])
    assert set(ids(rest["assertions"])).isdisjoint(ids(found["assertions"]))


# REQ-d00068: Assertion Keyword Search Tool Implementation


# Verifies: REQ-d00060-D
def test_d00068_A_takes_a_list_of_keywords(ask: Ask) -> None:
    assert ask("find_assertions_by_keywords", keywords=["chime"])["total"] == 1
    assert ask("find_assertions_by_keywords", keywords=[])["code"] == "invalid_argument"


# Verifies: REQ-d00060-C
def test_d00068_B_all_keywords_or_any(ask: Ask) -> None:
    every = ask("find_assertions_by_keywords", keywords=["hand", "minute"], match_all=True)
    some = ask("find_assertions_by_keywords", keywords=["hand", "minute"], match_all=False)
    assert ids(every["assertions"]) == ["REQ-d00001-B"]
    assert sorted(ids(some["assertions"])) == ["REQ-d00001-A", "REQ-d00001-B", "REQ-d00001-C", "REQ-o00001-A"]


# Verifies: REQ-d00060-D
def test_d00068_C_the_text_of_assertions_is_searched(ask: Ask) -> None:
    assert ids(ask("find_assertions_by_keywords", keywords=["bells"])["assertions"]) == ["REQ-o00002-A"]
    assert ask("find_assertions_by_keywords", keywords=["oiling"])["assertions"] == []


# Verifies: REQ-d00060-D
def test_d00068_D_id_text_label_and_context(ask: Ask) -> None:
    (found,) = ask("find_assertions_by_keywords", keywords=["bells"])["assertions"]
    assert found == {
        "id": "REQ-o00002-A",
        "label": "A",
        "text": "Bells SHALL ring on the hour.",
        "parent_id": "REQ-o00002",
        "parent_title": "Chiming",
    }


# Verifies: REQ-d00060-B
@pytest.mark.parametrize("keyword", ["minute", "MINUTE", "Minute"])
def test_d00068_E_in_any_case(ask: Ask, keyword: str) -> None:
    found = ask("find_assertions_by_keywords", keywords=[keyword])
    assert ids(found["assertions"]) == ["REQ-d00001-B"]


# Verifies: REQ-d00060-D
def test_d00068_F_find_by_keywords_looks_into_titles(ask: Ask) -> None:
    assert ids(ask("find_by_keywords", keywords=["hands"], match_all=True)["results"]) == ["REQ-d00001"]
    assert ask("find_by_keywords", keywords=["bells"], match_all=True)["results"] == []
