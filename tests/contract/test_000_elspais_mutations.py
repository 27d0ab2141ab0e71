"""The first source document, requirement by requirement: the mutation tools.

Each test is named after the assertion of the source that it proves.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.graph.changes import Change, History
from clew.graph.model import NodeKind
from clew.graph.mutations import Mutations
from clew.project import Project
from clew.surfaces.mcp.tools.trace_mutations import TOOLS as MUTATION_TOOLS

pytestmark = pytest.mark.anyio

Ask = Callable[..., Any]
Open = Callable[[Path], Project]

ENTRY = {"id", "timestamp", "operation", "target_id", "before_state", "after_state", "affects_hash"}

MUTATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "mutate_rename_node": ("rename_node", {"old_id": "REQ-d00001", "new_id": "REQ-d00099"}),
    "mutate_update_title": ("update_title", {"node_id": "REQ-d00001", "new_title": "Tables"}),
    "mutate_change_status": ("change_status", {"node_id": "REQ-d00001", "new_status": "Deprecated"}),
    "mutate_add_requirement": (
        "add_requirement",
        {"req_id": "REQ-d00099", "title": "New", "level": "dev", "parent_id": "REQ-o00001", "edge_kind": "refines"},
    ),
    "mutate_delete_requirement": ("delete_requirement", {"node_id": "REQ-d00001", "confirm": True}),
    "mutate_add_assertion": ("add_assertion", {"req_id": "REQ-d00001", "label": "D", "text": "It SHALL."}),
    "mutate_update_assertion": ("update_assertion", {"assertion_id": "REQ-d00001-A", "new_text": "It SHALL."}),
    "mutate_delete_assertion": ("delete_assertion", {"assertion_id": "REQ-d00001-A", "confirm": True}),
    "mutate_rename_assertion": ("rename_assertion", {"old_id": "REQ-d00001-A", "new_label": "Q"}),
    "mutate_add_edge": (
        "add_edge",
        {
            "source_id": "REQ-d00001",
            "target_id": "REQ-o00001",
            "edge_kind": "refines",
            "assertion_targets": ["A"],
        },
    ),
    "mutate_change_edge_kind": (
        "change_edge_kind",
        {"source_id": "REQ-d00001", "target_id": "REQ-o00002", "new_kind": "refines"},
    ),
    "mutate_delete_edge": ("delete_edge", {"source_id": "REQ-d00001", "target_id": "REQ-o00002", "confirm": True}),
    "mutate_fix_broken_reference": ("fix_broken_reference", {}),
}
"""Of each tool: the method of the graph that it ends in, and arguments for the demo."""

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
    project = opened(demo)
    project.ensure_graph()
    return project


def arguments_for(project: Project, tool: str) -> dict[str, Any]:
    if tool == "mutate_fix_broken_reference":
        broken = next(project.graph.broken_references())
        return {"source_id": broken.source_id, "old_target_id": broken.target_id, "new_target_id": "REQ-o00001-A"}
    return MUTATIONS[tool][1]


# Verifies: REQ-o00021-A
async def test_p00060_D_there_are_mutation_tools_under_the_names_of_the_source(ask: Ask) -> None:
    assert {tool.name for tool in MUTATION_TOOLS} == {
        *MUTATIONS,
        "undo_last_mutation",
        "undo_to_mutation",
        "get_mutation_log",
        "save_mutations",
    }
    assert (await ask("get_mutation_log"))["current_tip"] == ""


# Verifies: REQ-o00021-B
@pytest.mark.parametrize("tool", MUTATIONS)
async def test_p00060_E_every_mutation_can_be_undone(ask: Ask, project: Project, tool: str) -> None:
    before = project.graph.memory.snapshot()
    done = await ask(tool, **arguments_for(project, tool))
    assert not done["is_error"]
    assert project.graph.memory.snapshot() != before
    undone = await ask("undo_last_mutation")
    assert undone["mutation"] == done["mutation"]
    assert project.graph.memory.snapshot() == before


async def _changes(ask: Ask, project: Project, tool: str) -> dict[str, Any]:
    before = project.graph.memory.snapshot()
    result: dict[str, Any] = await ask(tool, **arguments_for(project, tool))
    assert not result["is_error"], result
    assert result["success"] is True
    assert result["mutation"]["operation"] == MUTATIONS[tool][0]
    assert project.graph.memory.snapshot() != before
    return result


# Verifies: REQ-o00021-A
@pytest.mark.parametrize("tool", NODES)
async def test_o00062_A_nodes_are_renamed_retitled_added_deleted_and_get_another_status(
    ask: Ask, project: Project, tool: str
) -> None:
    await _changes(ask, project, tool)
    node, added = project.graph.get_node("REQ-d00001"), project.graph.get_node("REQ-d00099")
    if tool == "mutate_add_requirement":
        assert added is not None
        assert (added.title, added.get_field("level"), added.get_field("status")) == ("New", "dev", "Draft")
    elif tool in ("mutate_rename_node", "mutate_delete_requirement"):
        assert node is None
        assert (added is not None) is (tool == "mutate_rename_node")
    else:
        assert node is not None
        assert (node.title == "Tables", node.get_field("status") == "Deprecated") == (
            tool == "mutate_update_title",
            tool == "mutate_change_status",
        )


# Verifies: REQ-o00021-A
@pytest.mark.parametrize("tool", ASSERTIONS)
async def test_o00062_B_assertions_are_added_updated_deleted_and_renamed(ask: Ask, project: Project, tool: str) -> None:
    result = await _changes(ask, project, tool)
    assert result["mutation"]["affects_hash"] is True
    texts = {each["label"]: each["text"] for each in (await ask("get_requirement", req_id="d1"))["assertions"]}
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
async def test_o00062_C_edges_are_added_turned_deleted_and_mended(ask: Ask, project: Project, tool: str) -> None:
    broken = project.graph.broken_count()
    await _changes(ask, project, tool)
    parents = [(each["id"], each["edge_kind"]) for each in (await ask("get_requirement", req_id="d1"))["parents"]]
    expected = {
        "mutate_add_edge": [("REQ-o00001", "refines"), ("REQ-o00002", "implements")],
        "mutate_change_edge_kind": [("REQ-o00002", "refines")],
        "mutate_delete_edge": [],
        "mutate_fix_broken_reference": [("REQ-o00002", "implements")],
    }
    assert parents == expected[tool]
    assert project.graph.broken_count() == broken - (tool == "mutate_fix_broken_reference")


# Verifies: REQ-o00021-A
@pytest.mark.parametrize("tool", MUTATIONS)
async def test_o00062_D_every_mutation_is_a_change_that_the_graph_makes_and_its_history_applies(
    ask: Ask, project: Project, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    made: list[Change] = []
    applied: list[Change] = []
    method = MUTATIONS[tool][0]
    original, apply = getattr(Mutations, method), History.apply

    def watched(self: Mutations, *args: Any, **kwargs: Any) -> Change:
        made.append(original(self, *args, **kwargs))
        return made[-1]

    monkeypatch.setattr(Mutations, method, watched)
    monkeypatch.setattr(History, "apply", lambda self, change: (applied.append(change), apply(self, change))[1])
    await ask(tool, **arguments_for(project, tool))
    assert [change.id for change in applied] == [change.id for change in made]
    assert len(made) == 1


# Verifies: REQ-o00021-A
@pytest.mark.parametrize("tool", MUTATIONS)
async def test_o00062_E_every_mutation_returns_an_entry_for_audit_and_undo(
    ask: Ask, project: Project, tool: str
) -> None:
    result = await ask(tool, **arguments_for(project, tool))
    assert set(result["mutation"]) == ENTRY
    log = await ask("get_mutation_log")
    assert log["mutations"] == [result["mutation"]]
    assert log["current_tip"] == result["mutation"]["id"]
    assert (await ask("undo_to_mutation", mutation_id=result["mutation"]["id"]))["mutations_undone"] == 1


# Verifies: REQ-d00045-D
@pytest.mark.parametrize("tool", [tool for tool in MUTATIONS if "_delete_" in tool])
async def test_o00062_F_deletions_need_confirmation(ask: Ask, project: Project, tool: str) -> None:
    before = project.graph.memory.snapshot()
    arguments = arguments_for(project, tool)
    without = {name: value for name, value in arguments.items() if name != "confirm"}
    for refused in (await ask(tool, **without), await ask(tool, **without, confirm=False)):
        assert refused["is_error"] is True
        assert "requires confirm=True" in refused["error"]
    assert project.graph.memory.snapshot() == before
    assert (await ask(tool, **arguments))["success"] is True


# Verifies: REQ-o00021-B, REQ-d00001-D
async def test_o00062_G_undo_reverses_the_last_mutation_or_all_down_to_one(
    ask: Ask, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    undone: list[str] = []
    undo = History.undo_last

    def watched(self: History) -> Change:
        undone.append(undo(self).id)
        return self._undone[-1]

    monkeypatch.setattr(History, "undo_last", watched)
    start = project.graph.memory.snapshot()
    titles = ("One", "Two", "Three")
    done = [await ask("mutate_update_title", node_id="REQ-d00001", new_title=title) for title in titles]
    ids = [result["mutation"]["id"] for result in done]
    assert (await ask("undo_last_mutation"))["mutation"]["id"] == ids[2]
    assert (await ask("get_requirement", req_id="REQ-d00001"))["title"] == "Two"
    result = await ask("undo_to_mutation", mutation_id=ids[0])
    assert [entry["id"] for entry in result["mutations"]] == [ids[1], ids[0]]
    assert undone == [ids[2], ids[1], ids[0]]
    assert project.graph.memory.snapshot() == start
    nothing = await ask("undo_last_mutation")
    assert nothing["is_error"] is True
    assert "no mutation to undo" in nothing["error"]


async def _calls_of(monkeypatch: pytest.MonkeyPatch, method: str) -> list[tuple[Any, ...]]:
    calls: list[tuple[Any, ...]] = []
    original = getattr(Mutations, method)
    monkeypatch.setattr(Mutations, method, lambda self, *args: (calls.append(args), original(self, *args))[1])
    return calls


# Verifies: REQ-d00046-A
async def test_d00065_A_renaming_is_the_graphs_rename_node(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = await _calls_of(monkeypatch, "rename_node")
    await ask("mutate_rename_node", old_id="REQ-d00001", new_id="REQ-d00099")
    assert calls == [("REQ-d00001", "REQ-d00099")]


# Verifies: REQ-o00021-A
async def test_d00065_B_adding_is_the_graphs_add_requirement(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = await _calls_of(monkeypatch, "add_requirement")
    await ask("mutate_add_requirement", req_id="REQ-d00099", title="New", level="DEV", parent_id="REQ-o00001")
    parent = await ask("get_requirement", req_id="REQ-o00001")
    ((new, path, aim),) = calls
    assert (new.id, new.title, new.level, new.status) == ("REQ-d00099", "New", "dev", "Draft")
    assert (path, aim.target) == (parent["source"]["path"], "REQ-o00001")


# Verifies: REQ-d00045-D
async def test_d00065_C_deleting_is_the_graphs_delete_requirement_only_when_confirmed(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = await _calls_of(monkeypatch, "delete_requirement")
    assert (await ask("mutate_delete_requirement", node_id="REQ-d00001"))["is_error"] is True
    assert calls == []
    await ask("mutate_delete_requirement", node_id="REQ-d00001", confirm=True)
    assert calls == [("REQ-d00001",)]


# Verifies: REQ-d00045-A
async def test_d00065_D_tools_validate_and_delegate_and_do_nothing_themselves(
    ask: Ask, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = project.graph.memory.snapshot()
    for tool in MUTATIONS:
        monkeypatch.setattr(Mutations, MUTATIONS[tool][0], lambda self, *args: Change("0" * 32, "none", "none", ()))
        assert (await ask(tool, **arguments_for(project, tool)))["success"] is True
    assert project.graph.memory.snapshot() == before
    refused = await ask("mutate_change_status", node_id="REQ-d00001", new_status="Banana")
    assert refused["is_error"] is True
    assert "Banana" in refused["error"]


# Verifies: REQ-o00021-A
async def test_d00065_E_tools_return_the_entry_of_the_change(ask: Ask, project: Project) -> None:
    result = await ask("mutate_update_assertion", assertion_id="REQ-d00001-A", new_text="It SHALL be so.")
    entry = result["mutation"]
    assert entry["target_id"] == "REQ-d00001-A"
    assert entry["after_state"] == {"text": "It SHALL be so."}
    assert entry["before_state"]["text"].startswith("`read_table` SHALL")
    assert entry["affects_hash"] is True
    assert entry["timestamp"].endswith("+00:00")
    (node,) = [node for node in project.graph.nodes_by_kind(NodeKind.ASSERTION) if node.id == "REQ-d00001-A"]
    assert node.title == "It SHALL be so."


# Verifies: REQ-d00045-E
async def test_tokens_are_optional_and_checked_when_given(ask: Ask) -> None:
    version = (await ask("get_requirement", req_id="REQ-d00001"))["version"]
    first = await ask("mutate_update_title", node_id="REQ-d00001", new_title="One", if_version=version)
    assert first["success"] is True
    stale = await ask("mutate_update_title", node_id="REQ-d00001", new_title="Two", if_version=version)
    assert stale["code"] == "conflict"
    assert stale["data"]["current_version"] == first["version"]
    tip = first["mutation"]["id"]
    assert (await ask("save_mutations", if_tip_mutation_id=""))["data"]["current_tip"] == tip
    assert (await ask("undo_last_mutation", if_mutation_id="no"))["is_error"] is True
    assert (await ask("save_mutations", if_tip_mutation_id=tip))["saved_count"] == 1


# Verifies: REQ-o00021-C+D
async def test_the_whole_way_from_a_draft_to_the_file_and_back(ask: Ask, demo: Path) -> None:
    spec = demo / "spec" / "dev-tides.md"
    before = spec.read_bytes()
    await ask("mutate_add_requirement", req_id="REQ-d00099", title="Warn of gales", level="dev", parent_id="REQ-d00001")
    added = await ask("mutate_add_assertion", req_id="REQ-d00099", text="It SHALL warn.")
    assert (added["label"], added["assertion_id"]) == ("A", "REQ-d00099-A")
    assert spec.read_bytes() == before
    saved = await ask("save_mutations", message="gales")
    assert (saved["saved_count"], saved["files_modified"], saved["conflicts"]) == (2, ["spec/dev-tides.md"], [])
    assert b"# REQ-d00099: Warn of gales\n" in spec.read_bytes()
    assert (await ask("refresh_graph", full=True))["success"] is True
    assert (await ask("get_requirement", req_id="REQ-d00099"))["hash_state"] == "current"
    undone = await ask("undo_to_mutation", mutation_id=saved["saved_mutations"][0])
    assert undone["mutations_undone"] == 2
    await ask("save_mutations")
    assert spec.read_bytes() == before
