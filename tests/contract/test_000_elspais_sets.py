"""The first source document, requirement by requirement: sets, scopes and discovery.

Each test is named after the assertion of the source that it proves. Where the source names a function of elspais, what
that function has to achieve is proved through the tool.
"""

from typing import Any

import pytest
from tests.contract.elspais import SPEC, Ask, ids

from clew.project import Project


@pytest.fixture
def project(clock: Project) -> Project:
    return clock


# REQ-o00069: MCP Minimize Requirement Set Tool


# Verifies: REQ-d00064-A
def test_o00069_A_takes_ids_and_edge_kinds(ask: Ask) -> None:
    given = ["REQ-p00001", "REQ-o00002"]
    usual = ask("minimize_requirement_set", req_ids=given)
    named = ask("minimize_requirement_set", req_ids=given, edge_kinds="implements,refines")
    assert usual == named
    only = ask("minimize_requirement_set", req_ids=given, edge_kinds="implements")
    assert ids(only["minimal_set"]) == given


# Verifies: REQ-d00064-A
def test_o00069_B_no_member_of_the_minimal_set_is_an_ancestor_of_another_input(ask: Ask) -> None:
    given = ["REQ-p00001", "REQ-o00001", "REQ-o00002", "REQ-d00001", "REQ-d00002"]
    found = ask("minimize_requirement_set", req_ids=given)
    assert ids(found["minimal_set"]) == ["REQ-d00001", "REQ-d00002"]


# Verifies: REQ-d00064-A
def test_o00069_C_pruned_ones_say_what_supersedes_them(ask: Ask) -> None:
    found = ask("minimize_requirement_set", req_ids=["REQ-p00001", "REQ-o00001", "REQ-d00001"])
    assert {each["id"]: each["superseded_by"] for each in found["pruned"]} == {
        "REQ-p00001": ["REQ-o00001", "REQ-d00001"],
        "REQ-o00001": ["REQ-d00001"],
    }


# Verifies: REQ-d00064-B
def test_o00069_D_unknown_ids_are_reported_without_failing(ask: Ask) -> None:
    found = ask("minimize_requirement_set", req_ids=["REQ-d00001", "REQ-d00777"])
    assert (found["is_error"], found["not_found"], ids(found["minimal_set"])) == (False, ["REQ-d00777"], ["REQ-d00001"])


# Verifies: REQ-d00064-A
@pytest.mark.parametrize(
    ("kinds", "superseding"),
    [("implements", ["REQ-o00001"]), ("refines", ["REQ-o00002"]), ("implements,refines", ["REQ-o00001", "REQ-o00002"])],
)
def test_o00069_E_implements_and_refines_are_followed_as_configured(
    ask: Ask, kinds: str, superseding: list[str]
) -> None:
    given = ["REQ-p00001", "REQ-o00001", "REQ-o00002"]
    (pruned,) = ask("minimize_requirement_set", req_ids=given, edge_kinds=kinds)["pruned"]
    assert (pruned["id"], pruned["superseded_by"]) == ("REQ-p00001", superseding)


# REQ-d00077: Minimize Requirement Set Implementation


# Verifies: REQ-d00064-B
def test_d00077_A_ids_are_resolved_and_the_others_set_apart(ask: Ask) -> None:
    found = ask("minimize_requirement_set", req_ids=["d1", "REQ-d00001-A", "x", "JNY-Reader-01"])
    assert ids(found["minimal_set"]) == ["REQ-d00001"]
    assert found["not_found"] == ["x", "JNY-Reader-01"]


# Verifies: REQ-d00064-A
def test_d00077_B_ancestors_over_several_steps_count(ask: Ask) -> None:
    found = ask("minimize_requirement_set", req_ids=["REQ-p00001", "REQ-d00001"])
    assert ids(found["pruned"]) == ["REQ-p00001"], "the requirement between them is not in the set"


# Verifies: REQ-d00064-A
def test_d00077_C_an_ancestor_of_a_member_is_pruned_and_a_descendant_is_not(ask: Ask) -> None:
    found = ask("minimize_requirement_set", req_ids=["REQ-d00001", "REQ-o00002"])
    assert (ids(found["minimal_set"]), ids(found["pruned"])) == (["REQ-d00001"], ["REQ-o00002"])


# Verifies: REQ-d00064-A
def test_d00077_D_several_members_may_supersede_one(ask: Ask) -> None:
    found = ask("minimize_requirement_set", req_ids=["REQ-p00001", "REQ-o00001", "REQ-o00002"])
    assert found["pruned"][0]["superseded_by"] == ["REQ-o00001", "REQ-o00002"]


# Verifies: REQ-d00064-A
def test_d00077_E_minimal_set_pruned_not_found_and_stats(ask: Ask) -> None:
    found = ask("minimize_requirement_set", req_ids=["REQ-p00001", "REQ-o00001", "x"])
    assert found["minimal_set"] == [
        {"id": "REQ-o00001", "title": "Showing the hour", "level": "ops", "status": "Active"}
    ]
    assert found["stats"] == {"input_count": 3, "minimal_count": 1, "pruned_count": 1}
    assert found["not_found"] == ["x"]


# Verifies: REQ-o00007-B
def test_d00077_F_kinds_that_do_not_exist_are_refused(ask: Ask) -> None:
    found = ask("minimize_requirement_set", req_ids=["REQ-p00001"], edge_kinds="nonsense")
    assert found["code"] == "invalid_argument"


# REQ-o00070: MCP Scoped Search Tool


# Verifies: REQ-d00064-C
def test_o00070_A_query_scope_and_direction(ask: Ask) -> None:
    below = ask("scoped_search", query="hour", scope_id="REQ-o00001", direction="descendants")
    above = ask("scoped_search", query="hour", scope_id="REQ-o00001", direction="ancestors")
    assert set(ids(below["results"])) == {"REQ-o00001", "REQ-d00001"}
    assert set(ids(above["results"])) == {"REQ-o00001", "REQ-p00001"}
    parameters = {
        "query": "h.u",
        "scope_id": "REQ-o00001",
        "direction": "descendants",
        "field": "title",
        "regex": True,
        "include_assertions": False,
        "limit": 5,
    }
    assert ids(ask("scoped_search", **parameters)["results"]) == ["REQ-o00001"]


# Verifies: REQ-d00064-C
def test_o00070_B_results_are_reachable_and_include_the_scope(ask: Ask) -> None:
    found = ask("scoped_search", query="REQ", field="id", scope_id="REQ-o00002")
    assert ids(found["results"]) == ["REQ-d00001", "REQ-o00002"]


# Verifies: REQ-d00064-D
def test_o00070_C_assertions_match_and_are_named(ask: Ask) -> None:
    without = ask("scoped_search", query="bells", field="title", scope_id="REQ-p00001")
    found = ask("scoped_search", query="bells", field="title", scope_id="REQ-p00001", include_assertions=True)
    assert without["results"] == []
    assert [(each["id"], ids(each["matched_assertions"])) for each in found["results"]] == [
        ("REQ-o00002", ["REQ-o00002-A"])
    ]


# Verifies: REQ-o00024-B
def test_o00070_D_an_unknown_scope_is_an_error(ask: Ask) -> None:
    found = ask("scoped_search", query="hour", scope_id="REQ-p00099")
    assert (found["is_error"], found["code"]) == (True, "not_found")
    assert "REQ-p00099" in found["error"]


# Verifies: REQ-d00064-C
@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "hour -bells"},
        {"query": "hands OR bells"},
        {"query": '"the hour"', "field": "body"},
        {"query": "^The", "regex": True, "field": "body"},
        {"query": "hand", "field": "title"},
        {"query": "hand", "field": "keywords"},
    ],
)
def test_o00070_E_matching_is_that_of_search(ask: Ask, arguments: dict[str, Any]) -> None:
    everywhere = ask("search", **arguments)
    within = ask("scoped_search", **arguments, scope_id="REQ-p00001")
    inside = {"REQ-p00001", "REQ-o00001", "REQ-o00002", "REQ-d00001"}
    assert ids(within["results"]) == [id for id in ids(everywhere["results"]) if id in inside]


# REQ-d00078: Scoped Search Implementation


# Verifies: REQ-d00064-C
def test_d00078_A_descendants_and_ancestors_over_all_steps(ask: Ask) -> None:
    below = ask("scoped_search", query="REQ", field="id", scope_id="REQ-p00001")
    assert len(below["results"]) == 4
    above = ask("scoped_search", query="REQ", field="id", scope_id="REQ-d00001", direction="ancestors")
    assert set(ids(above["results"])) == {"REQ-d00001", "REQ-o00001", "REQ-o00002", "REQ-p00001"}


# Verifies: REQ-o00024-C
def test_d00078_B_the_scope_includes_itself_and_circles_end(ask: Ask, project: Project) -> None:
    spec = project.config.root / "spec" / "clock.md"
    circle = "**Level**: PRD | **Status**: Active | **Implements**: REQ-d00001"
    spec.write_text(SPEC.replace("**Level**: PRD | **Status**: Active", circle, 1), encoding="utf-8")
    for direction in ("descendants", "ancestors"):
        found = ask("scoped_search", query="REQ", field="id", scope_id="REQ-d00001", direction=direction)
        assert sorted(ids(found["results"])) == ["REQ-d00001", "REQ-o00001", "REQ-o00002", "REQ-p00001"]


# Verifies: REQ-d00064-C
def test_d00078_C_only_requirements_of_the_scope_are_found(ask: Ask) -> None:
    found = ask("scoped_search", query="oiling OR hands", scope_id="REQ-p00001")
    assert "REQ-d00002" not in ids(found["results"])
    assert all(id.startswith("REQ-") and id.count("-") == 1 for id in ids(found["results"]))


# Verifies: REQ-d00064-D
def test_d00078_D_matched_assertions_are_attached_to_their_requirement(ask: Ask) -> None:
    found = ask("scoped_search", query="move", scope_id="REQ-o00001", include_assertions=True)
    matched = {each["id"]: [one["label"] for one in each["matched_assertions"]] for each in found["results"]}
    assert matched == {"REQ-o00001": ["A"], "REQ-d00001": ["A", "B", "C"]}


# Verifies: REQ-d00064-C
def test_d00078_E_results_are_those_of_search_with_scope_and_direction(ask: Ask) -> None:
    found = ask("scoped_search", query="hands", field="title", scope_id="REQ-p00001")
    plain = ask("search", query="hands", field="title")
    assert found["results"] == plain["results"]
    assert (found["scope_id"], found["direction"]) == ("REQ-p00001", "descendants")


# Verifies: REQ-o00007-B
def test_d00078_F_a_direction_that_does_not_exist_is_refused(ask: Ask) -> None:
    found = ask("scoped_search", query="hour", scope_id="REQ-p00001", direction="sideways")
    assert found["code"] == "invalid_argument"


# REQ-o00071: MCP Discover Requirements Tool


# Verifies: REQ-d00064-E
def test_o00071_A_takes_scoped_search_parameters_and_edge_kinds(ask: Ask) -> None:
    found = ask(
        "discover_requirements",
        query="h.ur",
        scope_id="REQ-d00001",
        direction="ancestors",
        field="body",
        regex=True,
        include_assertions=True,
        limit=10,
        edge_kinds="implements",
    )
    assert ids(found["results"]) == ["REQ-d00001"]


# Verifies: REQ-d00064-E
def test_o00071_B_ancestors_of_more_specific_matches_go(ask: Ask) -> None:
    found = ask("discover_requirements", query="hour", scope_id="REQ-p00001")
    assert ids(found["results"]) == ["REQ-d00001"]


# Verifies: REQ-d00064-E
def test_o00071_C_pruned_matches_say_what_supersedes_them(ask: Ask) -> None:
    found = ask("discover_requirements", query="hour", scope_id="REQ-p00001")
    assert {each["id"]: each["superseded_by"][-1] for each in found["pruned"]} == {
        "REQ-p00001": "REQ-d00001",
        "REQ-o00001": "REQ-d00001",
        "REQ-o00002": "REQ-d00001",
    }
    assert set(found["results"][0]) == {"id", "title", "level", "status", "score"}


# Verifies: REQ-d00064-E
def test_o00071_D_without_ancestors_among_them_all_matches_pass(ask: Ask) -> None:
    arguments = {"query": "showing OR chiming", "field": "title", "scope_id": "REQ-p00001"}
    found = ask("discover_requirements", **arguments)
    assert found["results"] == ask("scoped_search", **arguments)["results"]
    assert (len(found["results"]), found["pruned"]) == (2, [])


# REQ-d00079: Discover Requirements Implementation


# Verifies: REQ-d00064-E
def test_d00079_A_it_is_scoped_search_and_then_minimize(ask: Ask) -> None:
    candidates = ask("scoped_search", query="hour", scope_id="REQ-p00001")
    minimal = ask("minimize_requirement_set", req_ids=ids(candidates["results"]))
    found = ask("discover_requirements", query="hour", scope_id="REQ-p00001")
    assert ids(found["results"]) == ids(minimal["minimal_set"])
    assert found["pruned"] == minimal["pruned"]


# Verifies: REQ-d00064-E
def test_d00079_B_results_pruned_and_stats(ask: Ask) -> None:
    found = ask("discover_requirements", query="hour", scope_id="REQ-p00001")
    assert found["stats"] == {"candidate_count": 4, "minimal_count": 1, "pruned_count": 3}
    assert (len(found["results"]), len(found["pruned"])) == (1, 3)


# Verifies: REQ-d00064-D+E
def test_d00079_C_matched_assertions_are_kept(ask: Ask) -> None:
    found = ask("discover_requirements", query="hour", scope_id="REQ-p00001", include_assertions=True)
    assert ids(found["results"][0]["matched_assertions"]) == ["REQ-d00001-A"]


# Verifies: REQ-o00007-B
def test_d00079_D_kinds_that_do_not_exist_are_refused(ask: Ask) -> None:
    found = ask("discover_requirements", query="hour", scope_id="REQ-p00001", edge_kinds="implements, nonsense")
    assert found["code"] == "invalid_argument"
