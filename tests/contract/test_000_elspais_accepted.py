"""The first source document once more: what its acceptance found (points D2, D5 and D7 of the report)."""

import pytest
from tests.contract.elspais import Ask

from clew.project import Project


@pytest.fixture
def project(clock: Project) -> Project:
    return clock


# Verifies: REQ-d00821-A
def test_o00068_B_and_d00076_E_next_gives_what_was_asked_for(ask: Ask, project: Project) -> None:
    opened = ask("open_cursor", query="query_nodes", params={}, batch_size=0)
    rest = ask("cursor_next", count=opened["remaining"])
    assert len(rest["items"]) == opened["remaining"] > 10
    assert (rest["truncated"], rest["remaining"]) == (False, 0)
    ask("open_cursor", query="query_nodes", params={}, batch_size=0)
    # More than 500 is no error, and more than there are is all of them.
    assert ask("cursor_next", count=10_000)["position"] == opened["total"]
    ask("open_cursor", query="query_nodes", params={}, batch_size=0)
    cut = ask("cursor_next", count=opened["remaining"], max_tokens=400)
    assert cut["truncated"] is True
    assert 0 < cut["count"] < opened["remaining"]
    assert cut["remaining"] == opened["remaining"] - cut["count"]


# Verifies: REQ-d00821-D
def test_o00069_D_unknown_ids_are_counted_as_given(ask: Ask) -> None:
    found = ask("minimize_requirement_set", req_ids=["REQ-p00001", "REQ-d00001", "REQ-d09999"])
    assert found["stats"]["input_count"] == 3
    assert found["not_found"] == ["REQ-d09999"]


# Verifies: REQ-d00821-B
def test_later_keys_of_single_answers(ask: Ask) -> None:
    shown = ask("get_requirement", req_id="REQ-o00001")
    assert shown["file_version"]
    assert {each["level"] for each in shown["children"] if each["kind"] == "requirement"} == {"dev"}
    gaps = ask("get_uncovered_assertions", req_id="REQ-d00001")
    assert (gaps["success"], gaps["title"], gaps["total_assertions"]) == (True, "Moving hands", 3)
    assert gaps["uncovered_count"] == len(gaps["uncovered_labels"]) == gaps["total"]
    assert "title" not in ask("get_uncovered_assertions")
    status = ask("get_graph_status")
    assert status["node_counts"]["file"] >= 1
    assert status["has_unresolved_references"] or status["broken_reference_count"] == 0
    unresolved = ask("get_unresolved_references")
    assert {each["name"] for each in unresolved["checks"]} >= {"references.unknown_requirement"}
    for each in unresolved["unresolved_references"]:
        assert (each["file_path"], each["node_id"]) == (each["path"], each["source_id"])
    found = ask("get_check_findings", check="references.unknown_assertion")
    (check,) = found["checks"]
    assert (check["name"], check["passed"]) == ("references.unknown_assertion", found["healthy"])


# Verifies: REQ-d00821-E
@pytest.mark.parametrize(
    ("detail", "parts"),
    [
        ("default", set()),
        ("testing", {"id_patterns", "assertion_format", "testing"}),
        ("code-refs", {"id_patterns", "assertion_format", "code_references"}),
        ("coverage", {"coverage_stats", "associates"}),
        ("manager", {"coverage_stats", "health", "change_metrics"}),
        ("worktree", {"id_patterns", "hierarchy_rules", "associates"}),
    ],
)
def test_profiles_of_the_workspace(ask: Ask, detail: str, parts: set[str]) -> None:
    default = ask("get_workspace_info").keys()
    told = ask("get_workspace_info", detail=detail)
    assert told.keys() - default == parts
    assert ask("get_workspace_info", detail="all").keys() >= told.keys()
    if "id_patterns" in parts:
        assert told["id_patterns"]["examples"]["dev"] == "REQ-d00001"
