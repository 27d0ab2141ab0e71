"""The first source document, requirement by requirement: the mutation tools.

Each test is named after the assertion of the source that it proves.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contract.elspais import picture
from tests.contract.mutations import MUTATIONS, arguments_for, broken_references
from tests.mcp_client import Options, list_tools

from clew.project import Project

Ask = Callable[..., Any]
Open = Callable[[Path], Project]

ENTRY = {"id", "timestamp", "operation", "target_id", "before_state", "after_state", "affects_hash"}

NODES = (
    "mutate_rename_node",
    "mutate_update_title",
    "mutate_change_status",
    "mutate_add_requirement",
    "mutate_delete_requirement",
)
ASSERTIONS = (
    "mutate_add_assertion",
    "mutate_update_assertion",
    "mutate_delete_assertion",
    "mutate_rename_assertion",
)
EDGES = ("mutate_add_edge", "mutate_change_edge_kind", "mutate_delete_edge", "mutate_fix_broken_reference")


@pytest.fixture
def project(opened: Open, demo: Path) -> Project:
    return opened(demo)


# Verifies: REQ-o00021-A
def test_p00060_D_there_are_mutation_tools_under_the_names_of_the_source(ask: Ask) -> None:
    listed = list_tools(Options(profile="elspais-45"))
    assert {name for name in listed if name.startswith("mutate_") or "mutation" in name} == {
        *MUTATIONS,
        "undo_last_mutation",
        "undo_to_mutation",
        "get_mutation_log",
        "save_mutations",
    }
    assert ask("get_mutation_log")["current_tip"] == ""


# Verifies: REQ-o00021-B
@pytest.mark.parametrize("tool", MUTATIONS)
def test_p00060_E_every_mutation_can_be_undone(ask: Ask, tool: str) -> None:
    before = picture(ask)
    done = ask(tool, **arguments_for(ask, tool))
    assert not done["is_error"]
    assert picture(ask) != before
    undone = ask("undo_last_mutation")
    assert undone["mutation"] == done["mutation"]
    assert picture(ask) == before


def _changes(ask: Ask, tool: str) -> dict[str, Any]:
    before = picture(ask)
    result: dict[str, Any] = ask(tool, **arguments_for(ask, tool))
    assert not result["is_error"], result
    assert result["success"] is True
    assert result["mutation"]["operation"] == MUTATIONS[tool][0]
    assert picture(ask) != before
    return result


# Verifies: REQ-o00021-A
@pytest.mark.parametrize("tool", NODES)
def test_o00062_A_nodes_are_renamed_retitled_added_deleted_and_get_another_status(ask: Ask, tool: str) -> None:
    _changes(ask, tool)
    node, added = ask("get_requirement", req_id="REQ-d00001"), ask("get_requirement", req_id="REQ-d00099")
    if tool == "mutate_add_requirement":
        assert (added["title"], added["level"], added["status"]) == ("New", "dev", "Draft")
    elif tool in ("mutate_rename_node", "mutate_delete_requirement"):
        assert node["code"] == "not_found"
        assert added["is_error"] is (tool != "mutate_rename_node")
    else:
        assert (node["title"] == "Tables", node["status"] == "Deprecated") == (
            tool == "mutate_update_title",
            tool == "mutate_change_status",
        )


# Verifies: REQ-o00021-A
@pytest.mark.parametrize("tool", ASSERTIONS)
def test_o00062_B_assertions_are_added_updated_deleted_and_renamed(ask: Ask, tool: str) -> None:
    result = _changes(ask, tool)
    assert result["mutation"]["affects_hash"] is True
    texts = {each["label"]: each["text"] for each in ask("get_requirement", req_id="d1")["assertions"]}
    expected = {
        "mutate_add_assertion": {"A", "B", "C", "D"},
        "mutate_update_assertion": {"A", "B", "C"},
        "mutate_delete_assertion": {"B", "C"},
        "mutate_rename_assertion": {"Q", "B", "C"},
    }
    assert set(texts) == expected[tool]
    assert ("It SHALL." in texts.values()) is (tool in ("mutate_add_assertion", "mutate_update_assertion"))


# Verifies: REQ-o00021-A, REQ-d00046-D
@pytest.mark.parametrize("tool", EDGES)
def test_o00062_C_edges_are_added_turned_deleted_and_mended(ask: Ask, tool: str) -> None:
    broken = len(broken_references(ask))
    _changes(ask, tool)
    parents = [(each["id"], each["edge_kind"]) for each in ask("get_requirement", req_id="d1")["parents"]]
    expected = {
        "mutate_add_edge": [("REQ-o00001", "refines"), ("REQ-o00002", "implements")],
        "mutate_change_edge_kind": [("REQ-o00002", "refines")],
        "mutate_delete_edge": [],
        "mutate_fix_broken_reference": [("REQ-o00002", "implements")],
    }
    assert parents == expected[tool]
    assert len(broken_references(ask)) == broken - (tool == "mutate_fix_broken_reference")


# Verifies: REQ-o00021-A
@pytest.mark.parametrize("tool", MUTATIONS)
def test_o00062_E_every_mutation_returns_an_entry_for_audit_and_undo(ask: Ask, tool: str) -> None:
    result = ask(tool, **arguments_for(ask, tool))
    assert set(result["mutation"]) == ENTRY
    log = ask("get_mutation_log")
    assert log["mutations"] == [result["mutation"]]
    assert log["current_tip"] == result["mutation"]["id"]
    assert ask("undo_to_mutation", mutation_id=result["mutation"]["id"])["mutations_undone"] == 1


# Verifies: REQ-d00045-D
@pytest.mark.parametrize("tool", [tool for tool in MUTATIONS if "_delete_" in tool])
def test_o00062_F_deletions_need_confirmation(ask: Ask, tool: str) -> None:
    before = picture(ask)
    arguments = arguments_for(ask, tool)
    without = {name: value for name, value in arguments.items() if name != "confirm"}
    for refused in (ask(tool, **without), ask(tool, **without, confirm=False)):
        assert refused["is_error"] is True
        assert "requires confirm=True" in refused["error"]
    assert picture(ask) == before
    assert ask(tool, **arguments)["success"] is True


# Verifies: REQ-o00021-B, REQ-d00001-D
def test_o00062_G_undo_reverses_the_last_mutation_or_all_down_to_one(ask: Ask) -> None:
    start = picture(ask)
    titles = ("One", "Two", "Three")
    done = [ask("mutate_update_title", node_id="REQ-d00001", new_title=title) for title in titles]
    ids = [result["mutation"]["id"] for result in done]
    assert ask("undo_last_mutation")["mutation"]["id"] == ids[2]
    assert ask("get_requirement", req_id="REQ-d00001")["title"] == "Two"
    result = ask("undo_to_mutation", mutation_id=ids[0])
    assert [entry["id"] for entry in result["mutations"]] == [ids[1], ids[0]]
    assert picture(ask) == start
    nothing = ask("undo_last_mutation")
    assert nothing["is_error"] is True
    assert "no mutation to undo" in nothing["error"]


# Verifies: REQ-d00046-A
def test_d00065_A_renaming_gives_the_requirement_its_new_id_everywhere(ask: Ask) -> None:
    before = ask("get_requirement", req_id="REQ-d00001")
    ask("mutate_rename_node", old_id="REQ-d00001", new_id="REQ-d00099")
    after = ask("get_requirement", req_id="REQ-d00099")
    assert (after["title"], after["children"]) == (before["title"], before["children"])
    assert [each["id"] for each in after["assertions"]] == ["REQ-d00099-A", "REQ-d00099-B", "REQ-d00099-C"]


# Verifies: REQ-o00021-A
def test_d00065_B_a_requirement_is_added_below_its_parent_and_in_its_file(ask: Ask) -> None:
    ask("mutate_add_requirement", req_id="REQ-d00099", title="New", level="DEV", parent_id="REQ-o00001")
    added, parent = ask("get_requirement", req_id="REQ-d00099"), ask("get_requirement", req_id="REQ-o00001")
    assert (added["title"], added["level"], added["status"]) == ("New", "dev", "Draft")
    assert [each["id"] for each in added["parents"]] == ["REQ-o00001"]
    assert ask("save_mutations")["files_modified"] == [parent["source"]["path"]]


# Verifies: REQ-d00045-D
def test_d00065_C_deleting_happens_only_when_it_is_confirmed(ask: Ask) -> None:
    assert ask("mutate_delete_requirement", node_id="REQ-d00001")["is_error"] is True
    assert ask("get_requirement", req_id="REQ-d00001")["id"] == "REQ-d00001"
    ask("mutate_delete_requirement", node_id="REQ-d00001", confirm=True)
    assert ask("get_requirement", req_id="REQ-d00001")["code"] == "not_found"


# Verifies: REQ-d00045-A
def test_d00065_D_tools_validate_before_anything_is_done(ask: Ask) -> None:
    before = picture(ask)
    refused = ask("mutate_change_status", node_id="REQ-d00001", new_status="Banana")
    assert refused["is_error"] is True
    assert "Banana" in refused["error"]
    assert picture(ask) == before
    assert ask("get_mutation_log")["mutations"] == []


# Verifies: REQ-o00021-A
def test_d00065_E_tools_return_the_entry_of_the_change(ask: Ask) -> None:
    result = ask("mutate_update_assertion", assertion_id="REQ-d00001-A", new_text="It SHALL be so.")
    entry = result["mutation"]
    assert entry["target_id"] == "REQ-d00001-A"
    assert entry["after_state"] == {"text": "It SHALL be so."}
    assert entry["before_state"]["text"].startswith("`read_table` SHALL")
    assert entry["affects_hash"] is True
    assert entry["timestamp"].endswith("+00:00")
    assert ask("get_requirement", req_id="REQ-d00001")["assertions"][0]["text"] == "It SHALL be so."


# Verifies: REQ-d00045-E
def test_tokens_are_optional_and_checked_when_given(ask: Ask) -> None:
    version = ask("get_requirement", req_id="REQ-d00001")["version"]
    first = ask("mutate_update_title", node_id="REQ-d00001", new_title="One", if_version=version)
    assert first["success"] is True
    stale = ask("mutate_update_title", node_id="REQ-d00001", new_title="Two", if_version=version)
    assert stale["code"] == "conflict"
    assert stale["data"]["current_version"] == first["version"]
    tip = first["mutation"]["id"]
    assert ask("save_mutations", if_tip_mutation_id="")["data"]["current_tip"] == tip
    assert ask("undo_last_mutation", if_mutation_id="no")["is_error"] is True
    assert ask("save_mutations", if_tip_mutation_id=tip)["saved_count"] == 1


# Verifies: REQ-o00021-C+D
def test_the_whole_way_from_a_draft_to_the_file_and_back(ask: Ask, demo: Path) -> None:
    spec = demo / "spec" / "dev-tides.md"
    before = spec.read_bytes()
    ask("mutate_add_requirement", req_id="REQ-d00099", title="Warn of gales", level="dev", parent_id="REQ-d00001")
    added = ask("mutate_add_assertion", req_id="REQ-d00099", text="It SHALL warn.")
    assert (added["label"], added["assertion_id"]) == ("A", "REQ-d00099-A")
    assert spec.read_bytes() == before
    saved = ask("save_mutations", message="gales")
    assert (saved["saved_count"], saved["files_modified"], saved["conflicts"]) == (2, ["spec/dev-tides.md"], [])
    assert b"# REQ-d00099: Warn of gales\n" in spec.read_bytes()
    assert ask("refresh_graph", full=True)["success"] is True
    assert ask("get_requirement", req_id="REQ-d00099")["hash_state"] == "current"
    undone = ask("undo_to_mutation", mutation_id=saved["saved_mutations"][0])
    assert undone["mutations_undone"] == 2
    ask("save_mutations")
    assert spec.read_bytes() == before
