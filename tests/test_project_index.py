"""The search index of a project: taken away, damaged, replaced and shared, while somebody searches."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.removing import remove
from tests.trace.drafted import mutate

from clew.edit.state_folder import make_state_folder
from clew.errors import Cancelled, InvalidCursor
from clew.graph.model import NodeKind
from clew.operation.call import Call, carry_out
from clew.operation.listing import all_tools
from clew.operation.prepare import as_listed
from clew.project import Project
from clew.search.units import Unit
from clew.trace.operations.read import SearchRequirements
from clew.why.operations.brief import ShowBrief

Open = Callable[[Path], Project]


@pytest.fixture
def plain(demo: Path) -> Path:
    """The demo, searched by words alone, which needs no encoder."""
    with (demo / "clew.toml").open("a") as file:
        file.write('\n[embedder]\nkind = "none"\n')
    return demo


def search(project: Project, query: str, **more: Any) -> dict[str, Any]:
    return carry_out(as_listed(SearchRequirements), {"query": query, **more}, Call(project, all_tools())).data


def held(project: Project) -> dict[str, str]:
    """What the index holds of requirements, by the ids of the units."""
    engine = project.index.engine
    assert engine is not None
    units = {id: engine.units.get(id) for id in engine.units.hashes("requirement")}
    return {id: f"{unit.title}\n{unit.body}" for id, unit in units.items() if unit is not None}


def overwrite(file: Path) -> None:
    """Damage every other page but the first ones, and the log with them."""
    with file.open("r+b") as content:
        for page in range(3, file.stat().st_size // 4096, 2):
            content.seek(page * 4096)
            content.write(b"\xff" * 4096)
    file.with_name("index.db-wal").write_bytes(b"")


def all_at_once(ask: Callable[[], dict[str, Any]], count: int) -> list[dict[str, Any]]:
    together = threading.Barrier(count)
    answers: list[dict[str, Any]] = []

    def run() -> None:
        together.wait()
        answers.append(ask())

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


# Verifies: REQ-d00034-B, REQ-d00037-C
def test_every_page_of_the_first_search_follows_though_it_makes_the_index(plain: Path, opened: Open) -> None:
    project = opened(plain)
    found, cursor = [], None
    while True:
        page = search(project, "tide", limit=2, **({"cursor": cursor} if cursor else {}))
        found += [result["id"] for result in page["results"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(found) == len(set(found)) == page["total"] > 4
    assert found == [result["id"] for result in search(project, "tide", limit=100)["results"]]


# Verifies: REQ-d00034-C
def test_a_page_of_files_that_changed_since_is_refused(plain: Path, opened: Open) -> None:
    project = opened(plain)
    cursor = search(project, "tide", limit=2)["next_cursor"]
    (plain / "spec" / "new.md").write_text(
        "## REQ-d00077: Tide mill\n\n**Level**: DEV | **Status**: Active\n\nA tide mill.\n\n*End* *Tide mill*\n"
    )
    with pytest.raises(InvalidCursor, match="changed"):
        search(project, "tide", limit=2, cursor=cursor)
    first = search(project, "tide", limit=2)
    assert search(project, "tide", limit=2, cursor=first["next_cursor"])["results"]


# Verifies: REQ-o00010-C, REQ-d00037-F
def test_an_index_that_is_deleted_under_a_server_is_made_anew(plain: Path, opened: Open) -> None:
    project = opened(plain)
    before = search(project, "tide")["results"]
    remove(plain / ".clew" / "search")
    carry_out(as_listed(ShowBrief), {}, Call(project, all_tools()))
    again = search(project, "tide")
    assert again["results"] == before
    assert again["indexed"] is not None


# Verifies: REQ-o00010-C
def test_an_index_damaged_in_its_middle_is_replaced_by_a_search_and_by_a_rebuild(plain: Path, opened: Open) -> None:
    project = opened(plain)
    before = search(project, "tide")["results"]
    project.close()
    overwrite(plain / ".clew" / "search" / "index.db")
    again = opened(plain)
    assert search(again, "tide")["results"] == before
    again.index.rebuild()
    assert search(again, "tide")["results"] == before


# Verifies: REQ-d00200-A
@pytest.mark.parametrize("damage", [False, True], ids=["deleted", "damaged"])
def test_all_who_search_while_the_index_is_lost_are_answered_from_the_new_one(
    plain: Path, opened: Open, damage: bool
) -> None:
    project = opened(plain)
    before = search(project, "tide")
    folder = plain / ".clew" / "search"
    for _ in range(3):
        if damage:
            overwrite(folder / "index.db")
        else:
            remove(folder)
        answers = all_at_once(lambda: search(project, "tide"), 6)
        assert [answer["results"] for answer in answers] == [before["results"]] * 6
        assert [answer["indexed"] for answer in answers] == [before["indexed"]] * 6


# Verifies: REQ-d00200-A
def test_an_index_that_could_not_be_opened_is_tried_again(
    plain: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = plain / ".clew" / "search"
    # Clew makes its own folder: one that it has not made is not believed.
    make_state_folder(plain)
    folder.write_text("in the way")
    project = opened(plain)
    without = search(project, "tide")
    assert "There is no search index" in " ".join(without["notes"])
    folder.unlink()
    assert search(project, "tide")["indexed"] is None
    monkeypatch.setattr(project.index, "_rest_until", 0.0)
    again = search(project, "tide")
    assert again["indexed"] is not None
    assert not again["notes"]


# Verifies: REQ-d00200-A
def test_a_rebuild_makes_the_index_that_was_missing(plain: Path, opened: Open) -> None:
    folder = plain / ".clew" / "search"
    # Clew makes its own folder: one that it has not made is not believed.
    make_state_folder(plain)
    folder.write_text("in the way")
    project = opened(plain)
    assert search(project, "tide")["indexed"] is None
    folder.unlink()
    assert project.index.rebuild().added
    assert search(project, "tide")["indexed"] is not None


# Verifies: REQ-d00200-B
def test_what_another_process_wrote_of_another_state_of_the_files_is_put_right(plain: Path, opened: Open) -> None:
    server = opened(plain)
    before = search(server, "tide")
    file = plain / "spec" / "branch.md"
    file.write_text(
        "## REQ-d00077: Tide mill\n\n**Level**: DEV | **Status**: Active\n\nA tide mill.\n\n*End* *Tide mill*\n"
    )
    other = opened(plain)
    assert search(other, "tide mill")["results"][0]["id"] == "REQ-d00077"
    file.unlink()
    assert search(server, "tide") == before


# Verifies: REQ-d00200-D
def test_a_search_that_outlives_the_project_opens_nothing_again(plain: Path, opened: Open) -> None:
    project = opened(plain)
    search(project, "tide")
    index, engine = project.index, project.index.engine
    project.close()
    with pytest.raises(Cancelled):
        index.rank_requirements("tide", lambda: None)
    assert index.engine is engine


# Verifies: REQ-d00200-A
def test_a_fault_of_clew_costs_the_ranking_and_is_logged_with_its_place(
    plain: Path, opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    project = opened(plain)

    def broken() -> None:
        raise ZeroDivisionError("a fault")

    found = project.index.rank_requirements("tide", broken)
    assert found.notes == ("The search index could not be asked: a fault",)
    assert caplog.records[-1].exc_info is not None


# Verifies: REQ-d00037-D
def test_a_rebuild_keeps_the_units_of_other_parts_and_other_processes_notice_it(plain: Path, opened: Open) -> None:
    first, second = opened(plain), opened(plain)
    before = {result["id"] for result in search(first, "tide")["results"]}
    assert first.index.engine is not None
    first.index.engine.units.put([Unit(id="m1", part="memory", title="", body="The tide was late.")])
    second.ensure_graph()
    second.index.rebuild()
    assert {result["id"] for result in search(first, "tide")["results"]} == before
    assert first.index.engine is not None
    assert first.index.engine.units.get("m1") is not None


# Verifies: REQ-d00037-F
def test_a_requirement_too_long_for_the_index_is_found_and_stops_no_other_search(plain: Path, opened: Open) -> None:
    body = "zeppelin " + "filler " * 1_400_000
    (plain / "spec" / "huge.md").write_text(
        f"## REQ-d00078: Huge\n\n**Level**: DEV | **Status**: Active\n\n{body} quagga\n\n*End* *Huge*\n"
    )
    project = opened(plain)
    assert [result["id"] for result in search(project, "quagga")["results"]] == ["REQ-d00078"]
    assert search(project, "tide")["indexed"] is not None


# Verifies: REQ-d00200-F
def test_a_draft_is_in_the_graph_and_not_in_the_index_that_all_share(plain: Path) -> None:
    project = Project.open(plain)
    project.ensure_graph()
    mutate(project, "update_title", node_id="REQ-d00005", new_title="Zebraquux words")
    assert search(project, "zebraquux")["results"][0]["id"] == "REQ-d00005"
    engine = project.index.engine
    assert engine is not None
    assert "Zebraquux" not in held(project)["requirement:REQ-d00005"]
    project.mutations.save()
    search(project, "zebraquux")
    assert "Zebraquux" in held(project)["requirement:REQ-d00005"]
    project.close()


# Verifies: REQ-d00200-F
@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("update_title", {"node_id": "REQ-d00005", "new_title": "Zebraquux words"}),
        ("rename_node", {"old_id": "REQ-d00005", "new_id": "REQ-d00055"}),
        ("delete_requirement", {"node_id": "REQ-d00005"}),
        ("add_requirement", {"req_id": "REQ-d00056", "title": "Zebraquux words", "level": "dev"}),
    ],
)
def test_with_a_draft_the_index_holds_what_the_files_say(
    plain: Path, opened: Open, operation: str, arguments: dict[str, str]
) -> None:
    first = opened(plain)
    search(first, "tide")
    before = held(first)
    project = opened(plain)
    project.ensure_graph()
    mutate(project, operation, **arguments)
    # Nothing was put into it before the draft was made.
    project.index.rebuild()
    assert held(project) == before
    assert search(project, "tide")["indexed"] is not None
    project.mutations.undo_last()
    project.index.rebuild()
    assert held(project) == before
    assert not project.graph.state.is_edited


# Verifies: REQ-d00200-F
def test_with_drafts_that_another_process_left_the_index_is_filled(plain: Path, opened: Open) -> None:
    left = Project.open(plain)
    left.ensure_graph()
    mutate(left, "update_title", node_id="REQ-d00005", new_title="Zebraquux words")
    left.close()
    project = opened(plain)
    assert search(project, "zebraquux")["results"][0]["id"] == "REQ-d00005"
    assert project.graph.state.is_edited
    assert len(held(project)) == project.graph.count(NodeKind.REQUIREMENT)
    assert "Zebraquux" not in held(project)["requirement:REQ-d00005"]


# Verifies: REQ-d00200-F
def test_a_draft_that_takes_a_duplicate_away_leaves_both_in_the_index(plain: Path, opened: Open) -> None:
    (plain / "spec" / "again.md").write_text(
        "## REQ-d00005: Again\n\n**Level**: DEV | **Status**: Active\n\nA second one.\n\n*End* *Again*\n"
    )
    project = opened(plain)
    search(project, "tide")
    before = held(project)
    assert sum("REQ-d00005" in id for id in before) == 2
    mutate(project, "delete_requirement", node_id="REQ-d00005")
    project.index.rebuild()
    assert held(project) == before
