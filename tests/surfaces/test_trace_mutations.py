"""The mutation tools hold no logic of their own: each ends in one method of the graph and in its history."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.elspais import Ask, asking
from tests.contract.mutations import MUTATIONS, arguments_for
from tests.mcp_client import McpClient, Options

from clew.graph.changes import Change, History
from clew.project import Project
from clew.trace.edit.text.requirements import Mutations


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
def test_every_mutation_is_a_change_that_the_graph_makes_and_its_history_applies(
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
    ask(tool, **arguments_for(ask, tool))
    assert [change.id for change in applied] == [change.id for change in made]
    assert len(made) == 1


def _calls_of(monkeypatch: pytest.MonkeyPatch, method: str) -> list[tuple[Any, ...]]:
    calls: list[tuple[Any, ...]] = []
    original = getattr(Mutations, method)
    monkeypatch.setattr(Mutations, method, lambda self, *args: (calls.append(args), original(self, *args))[1])
    return calls


# Verifies: REQ-d00046-A
def test_renaming_is_the_graphs_rename_node(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = _calls_of(monkeypatch, "rename_node")
    ask("mutate_rename_node", old_id="REQ-d00001", new_id="REQ-d00099")
    assert calls == [("REQ-d00001", "REQ-d00099")]


# Verifies: REQ-o00021-A
def test_adding_is_the_graphs_add_requirement(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = _calls_of(monkeypatch, "add_requirement")
    ask("mutate_add_requirement", req_id="REQ-d00099", title="New", level="DEV", parent_id="REQ-o00001")
    parent = ask("get_requirement", req_id="REQ-o00001")
    ((new, path, aim),) = calls
    assert (new.id, new.title, new.level, new.status) == ("REQ-d00099", "New", "dev", "Draft")
    assert (path, aim.target) == (parent["source"]["path"], "REQ-o00001")


# Verifies: REQ-d00045-D
def test_deleting_is_the_graphs_delete_requirement_only_when_confirmed(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = _calls_of(monkeypatch, "delete_requirement")
    assert ask("mutate_delete_requirement", node_id="REQ-d00001")["is_error"] is True
    assert calls == []
    ask("mutate_delete_requirement", node_id="REQ-d00001", confirm=True)
    assert calls == [("REQ-d00001",)]


# Verifies: REQ-d00045-A
def test_tools_validate_and_delegate_and_do_nothing_themselves(
    ask: Ask, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = project.graph.memory.snapshot()
    for tool in MUTATIONS:
        monkeypatch.setattr(Mutations, MUTATIONS[tool][0], lambda self, *args: Change("0" * 32, "none", "none", ()))
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
