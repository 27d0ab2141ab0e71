"""The mutation tools hold no logic of their own: each ends in one method of the graph and in its history."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.contract.elspais import Ask, asking
from tests.contract.mutations import MUTATIONS, arguments_for
from tests.mcp_client import McpClient, Options

from clew.graph.changes import Change, History
from clew.project import Project


@pytest.fixture
def project(opened: Callable[[Path], Project], demo: Path) -> Project:
    project = opened(demo)
    project.ensure_graph()
    return project


@pytest.fixture
def ask(project: Project) -> Iterator[Ask]:
    with McpClient(project, Options(profile="elspais")) as client:
        yield asking(client)


# Verifies: REQ-o00021-A
@pytest.mark.parametrize("tool", MUTATIONS)
def test_every_mutation_is_one_change_that_the_history_of_the_graph_applies(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    applied: list[Change] = []
    apply = History.apply
    monkeypatch.setattr(History, "apply", lambda self, change: (applied.append(change), apply(self, change))[1])
    answer = ask(tool, **arguments_for(ask, tool))
    assert [change.id for change in applied] == [answer["mutation"]["id"]]
    assert applied[0].operation == MUTATIONS[tool][0]


# Verifies: REQ-d00046-A
def test_renaming_lets_the_requirement_and_its_references_follow(ask: Ask) -> None:
    before = ask("get_requirement", req_id="REQ-d00001")
    ask("mutate_rename_node", old_id="REQ-d00001", new_id="REQ-d00099")
    after = ask("get_requirement", req_id="REQ-d00099")
    assert (after["title"], len(after["children"])) == (before["title"], len(before["children"]))
    assert ask("get_requirement", req_id="REQ-d00001")["is_error"] is True


# Verifies: REQ-o00021-A
def test_a_new_requirement_stands_in_the_file_of_its_parent(ask: Ask) -> None:
    ask("mutate_add_requirement", req_id="REQ-d00099", title="New", level="DEV", parent_id="REQ-o00001")
    parent, new = ask("get_requirement", req_id="REQ-o00001"), ask("get_requirement", req_id="REQ-d00099")
    assert (new["id"], new["title"], new["level"], new["status"]) == ("REQ-d00099", "New", "dev", "Draft")
    assert new["source"]["path"] == parent["source"]["path"]
    assert [each["id"] for each in new["parents"]] == ["REQ-o00001"]


# Verifies: REQ-d00045-D
def test_a_requirement_is_deleted_only_when_that_is_confirmed(ask: Ask) -> None:
    assert ask("mutate_delete_requirement", node_id="REQ-d00001")["is_error"] is True
    assert ask("get_requirement", req_id="REQ-d00001")["id"] == "REQ-d00001"
    ask("mutate_delete_requirement", node_id="REQ-d00001", confirm=True)
    assert ask("get_requirement", req_id="REQ-d00001")["is_error"] is True


# Verifies: REQ-d00045-A
def test_tools_validate_and_delegate_and_do_nothing_themselves(
    ask: Ask, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = project.graph.memory.snapshot()
    monkeypatch.setattr(History, "apply", lambda self, change: None)
    for tool in MUTATIONS:
        assert ask(tool, **arguments_for(ask, tool))["success"] is True
    assert project.graph.memory.snapshot() == before


# Verifies: REQ-o00021-B, REQ-d00001-D
def test_undoing_takes_the_last_change_of_the_history_back_one_by_one(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    undone: list[str] = []
    undo = History.undo_last

    def watched(self: History) -> Change:
        change = undo(self)
        undone.append(change.id)
        return change

    monkeypatch.setattr(History, "undo_last", watched)
    titles = ("One", "Two", "Three")
    done = [ask("mutate_update_title", node_id="REQ-d00001", new_title=title) for title in titles]
    ids = [result["mutation"]["id"] for result in done]
    ask("undo_last_mutation")
    ask("undo_to_mutation", mutation_id=ids[0])
    assert undone == [ids[2], ids[1], ids[0]]
