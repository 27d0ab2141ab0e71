"""Drafts: durable before they are acknowledged, private until they are saved, and never dropped in silence."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.trace.drafted import FILES, contents, mutate, said, write_project
from tests.trace.drafting_worker import STEPS, steps

from clew.errors import Conflict, FileChanged, NotFound, StoreError
from clew.project import Project
from clew.surfaces.cli.main import main
from clew.trace.edit.requests import UndoTo

Open = Callable[[Path], Project]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_project(tmp_path / "odd")


def titles(project: Project, *ids: str) -> list[str]:
    project.ensure_graph()
    return [project.trace.requirement(id).title for id in ids]


def edit(root: Path, path: str, old: str, new: str) -> None:
    """What another program does to a file."""
    data = (root / path).read_bytes()
    assert old.encode() in data
    (root / path).write_bytes(data.replace(old.encode(), new.encode(), 1))


# Surviving


# Verifies: REQ-d00047-A+B
def test_drafts_are_there_again_when_the_project_is_opened_again(root: Path, opened: Open) -> None:
    first = opened(root)
    mutate(first, "update_title", node_id="d2", new_title="Drafted")
    mutate(first, "add_requirement", req_id="REQ-d00010", title="New", level="dev", parent_id="d2")
    mutate(first, "add_assertion", req_id="REQ-d00010", text="It SHALL last.")
    log, graph = first.mutations.log(), said(first.graph)
    first.close()
    assert contents(root) == FILES
    second = opened(root)
    assert titles(second, "REQ-d00002", "REQ-d00010") == ["Drafted", "New"]
    assert said(second.graph) == graph
    assert second.mutations.log() == log
    second.mutations.undo_to(UndoTo(mutation_id=log.mutations[-1].id))
    assert titles(second, "REQ-d00002") == ["Show the minute"]


@pytest.fixture
def nursery() -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "tests.trace.drafting_worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0


def worked(nursery: "subprocess.Popen[str]", root: Path, moment: int) -> tuple[int, bool]:
    """How many steps a process took that was to die at a moment, and whether it died."""
    assert nursery.stdin is not None
    assert nursery.stdout is not None
    nursery.stdin.write(f"{moment} {root}\n")
    nursery.stdin.flush()
    done = 0
    while (word := nursery.stdout.readline().strip()) == "done":
        done += 1
    assert word in ("killed", "ended")
    return done, word == "killed"


# Verifies: REQ-d00047-A, REQ-d00048-D
def test_a_process_that_is_killed_at_any_moment_loses_nothing_and_saves_all_or_none(
    tmp_path: Path, opened: Open, nursery: "subprocess.Popen[str]"
) -> None:
    reference = opened(write_project(tmp_path / "reference"))
    reference.ensure_graph()
    states = [(said(reference.graph), contents(tmp_path / "reference"))]
    states += [(said(reference.graph), contents(tmp_path / "reference")) for _ in steps(reference)]
    for moment in range(1, 1_000, 3):
        root = write_project(tmp_path / str(moment))
        acknowledged, died = worked(nursery, root, moment)
        after = Project.open(root)
        try:
            after.ensure_graph()
            found = (said(after.graph), contents(root))
        finally:
            after.close()
        assert found in states[acknowledged : acknowledged + 2], f"killed at moment {moment}"
        if not died:
            assert acknowledged == len(STEPS)
            break
    assert moment > 20


# Privacy


# Verifies: REQ-d00047-B
def test_nobody_else_sees_drafts_before_they_are_saved(root: Path, opened: Open) -> None:
    first, second = opened(root), opened(root)
    mutate(first, "update_title", node_id="d2", new_title="Mine")
    mutate(second, "update_title", node_id="o1", new_title="Yours")
    assert titles(second, "REQ-d00002", "REQ-o00001") == ["Show the minute", "Yours"]
    assert second.mutations.log().total == 1
    third = opened(root)
    assert titles(third, "REQ-d00002", "REQ-o00001") == ["Show the minute", "Wind the clock"]
    first.mutations.save()
    assert titles(second, "REQ-d00002", "REQ-o00001") == ["Mine", "Yours"]
    second.mutations.save()
    assert titles(third, "REQ-d00002", "REQ-o00001") == ["Mine", "Yours"]
    assert titles(first, "REQ-d00002", "REQ-o00001") == ["Mine", "Yours"]


# Verifies: REQ-d00047-B
def test_the_drafts_of_several_processes_that_ended_are_taken_over_together(root: Path, opened: Open) -> None:
    first, second = opened(root), opened(root)
    mutate(first, "update_title", node_id="d2", new_title="First")
    mutate(second, "update_title", node_id="o1", new_title="Second")
    mutate(first, "change_status", node_id="d2", new_status="Deprecated")
    first.close()
    second.close()
    third = opened(root)
    assert titles(third, "REQ-d00002", "REQ-o00001") == ["First", "Second"]
    assert [entry.operation for entry in third.mutations.log().mutations] == [
        "change_status",
        "update_title",
        "update_title",
    ]
    mutate(third, "update_title", node_id="d2", new_title="Third")
    assert third.mutations.save().saved_count == 4
    third.close()
    assert opened(root).mutations.log().total == 0
    assert titles(opened(root), "REQ-d00002", "REQ-o00001") == ["Third", "Second"]


# Verifies: REQ-d00047-B
def test_drafts_that_are_left_behind_later_wait_for_the_next_process(root: Path, opened: Open) -> None:
    first, second = opened(root), opened(root)
    first.ensure_graph()
    mutate(second, "update_title", node_id="o1", new_title="Left behind")
    second.close()
    mutate(first, "update_title", node_id="d2", new_title="Mine")
    assert first.mutations.save().saved_count == 1
    mutate(first, "change_status", node_id="d2", new_status="Draft")
    first.close()
    third = opened(root)
    assert titles(third, "REQ-d00002", "REQ-o00001") == ["Mine", "Left behind"]
    assert third.mutations.log().total == 2


# Verifies: REQ-o00021-C
def test_commands_for_people_show_the_files_and_not_the_drafts(
    root: Path, opened: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    project = opened(root)
    mutate(project, "update_title", node_id="d2", new_title="Only a draft")
    project.close()
    assert main(["show", "REQ-d00002", "-C", str(root)]) == 0
    assert "Only a draft" not in capsys.readouterr().out
    assert main(["call", "get_requirement", '{"req_id": "REQ-d00002"}', "-C", str(root)]) == 0
    assert "Only a draft" in capsys.readouterr().out
    assert main(["call", "undo_last_mutation", "-C", str(root)]) == 0
    capsys.readouterr()
    assert main(["call", "get_mutation_log", "-C", str(root)]) == 0
    assert '"total": 0' in capsys.readouterr().out


# Verifies: REQ-d00047-D
def test_without_a_store_that_can_be_written_nothing_is_drafted(root: Path, opened: Open) -> None:
    (root / ".clew").write_text("in the way", encoding="utf-8")
    project = opened(root)
    before = titles(project, "REQ-d00002")
    with pytest.raises(StoreError, match="lost with the process"):
        mutate(project, "update_title", node_id="d2", new_title="Lost")
    assert titles(project, "REQ-d00002") == before


# Files that change


# Verifies: REQ-d00047-C
def test_drafts_that_still_apply_follow_a_file_that_changes(root: Path, opened: Open) -> None:
    project = opened(root)
    mutate(project, "update_title", node_id="d2", new_title="Mine")
    mutate(project, "update_assertion", assertion_id="REQ-p00001-A", new_text="It SHALL be mine.")
    mutate(project, "rename_node", old_id="REQ-o00001", new_id="REQ-o00009")
    edit(root, "spec/a-tidy.md", "The clock SHALL show the minute.", "The clock SHALL be theirs.")
    edit(root, "spec/a-tidy.md", "**Refines**: REQ-o00001", "**Refines**: REQ-o00001-A")
    project.refresh()
    assert project.mutations.log().conflicts == ()
    assert titles(project, "REQ-d00002") == ["Mine"]
    detail = project.trace.requirement("REQ-p00001")
    assert [each.text for each in detail.assertions[:2]] == ["It SHALL be mine.", "The clock SHALL be theirs."]
    parents = {(each.id, each.assertion_targets) for each in project.trace.requirement("REQ-d00002").parents}
    assert ("REQ-o00009", ("A",)) in parents
    project.mutations.save()
    fresh = opened(root)
    fresh.refresh(full=True)
    assert fresh.graph.memory.snapshot() == project.graph.memory.snapshot()


# Verifies: REQ-d00047-C
def test_a_draft_that_no_longer_applies_is_kept_and_shown_with_both_sides(root: Path, opened: Open) -> None:
    project = opened(root)
    mine = mutate(project, "update_title", node_id="d2", new_title="Mine").mutation
    other = mutate(project, "change_status", node_id="d2", new_status="Draft").mutation
    edit(root, "spec/a-tidy.md", "## REQ-d00002: Show the minute", "## REQ-d00002: Theirs")
    project.refresh()
    assert titles(project, "REQ-d00002") == ["Theirs"]
    assert project.trace.requirement("REQ-d00002").status == "Draft"
    log = project.mutations.log()
    assert log.total == 2
    (conflict,) = log.conflicts
    assert (conflict.mutation.id, conflict.mine, conflict.theirs) == (mine.id, {"title": "Mine"}, {"title": "Theirs"})
    before = contents(root)
    with pytest.raises(Conflict) as refused:
        project.mutations.save()
    shown = refused.value.data["conflicts"][0]
    assert (shown["mine"], shown["theirs"]) == ({"title": "Mine"}, {"title": "Theirs"})
    assert contents(root) == before
    assert [entry.id for entry in project.mutations.undo_to(UndoTo(mutation_id=mine.id)).mutations] == [mine.id]
    assert [entry.id for entry in project.mutations.log().mutations] == [other.id]
    assert project.mutations.save().saved_count == 1


# Verifies: REQ-d00047-C
def test_a_draft_in_conflict_applies_again_when_the_file_is_as_it_was(root: Path, opened: Open) -> None:
    project = opened(root)
    mutate(project, "update_title", node_id="d2", new_title="Mine")
    edit(root, "spec/a-tidy.md", "## REQ-d00002: Show the minute", "## REQ-d00002: Theirs")
    project.refresh()
    project.close()
    again = opened(root)
    assert titles(again, "REQ-d00002") == ["Theirs"]
    assert len(again.mutations.log().conflicts) == 1
    edit(root, "spec/a-tidy.md", "## REQ-d00002: Theirs", "## REQ-d00002: Show the minute")
    assert titles(again, "REQ-d00002") == ["Mine"]
    assert again.mutations.log().conflicts == ()


# Verifies: REQ-d00047-C
def test_a_spec_file_that_is_deleted_under_its_drafts_loses_none_of_them(root: Path, opened: Open) -> None:
    project = opened(root)
    ids = [
        mutate(project, "update_title", node_id="o1", new_title="Wind it").mutation.id,
        mutate(project, "add_assertion", req_id="o2", text="It SHALL ring.").mutation.id,
        mutate(project, "change_status", node_id="d2", new_status="Draft").mutation.id,
    ]
    content = (root / "spec/b-windows.md").read_bytes()
    (root / "spec/b-windows.md").unlink()
    project.refresh()
    log = project.mutations.log()
    assert [entry.id for entry in reversed(log.mutations)] == ids
    assert [conflict.mutation.id for conflict in log.conflicts] == ids[:2]
    assert all("not found" in conflict.reason for conflict in log.conflicts)
    assert project.trace.requirement("REQ-d00002").status == "Draft"
    with pytest.raises(Conflict, match="REQ-o00001"):
        project.mutations.save()
    assert not (root / "spec/b-windows.md").exists()
    (root / "spec/b-windows.md").write_bytes(content)
    assert titles(project, "REQ-o00001") == ["Wind it"]
    assert project.mutations.log().conflicts == ()
    assert project.mutations.save().saved_count == 3


def test_a_mutation_of_a_file_that_just_changed_is_made_on_the_new_text(root: Path, opened: Open) -> None:
    project = opened(root)
    project.ensure_graph()
    edit(root, "spec/a-tidy.md", "## REQ-d00002: Show the minute", "## REQ-d00002: Theirs")
    result = mutate(project, "update_title", node_id="d2", new_title="Mine")
    assert result.mutation.before_state == {"title": "Theirs"}
    (root / "spec/a-tidy.md").unlink()
    with pytest.raises(NotFound):
        mutate(project, "update_title", node_id="d2", new_title="Gone")


def test_where_changed_files_are_not_followed_a_mutation_of_one_is_refused(root: Path, opened: Open) -> None:
    (root / "clew.toml").write_text("[graph]\nauto_refresh = false\n", encoding="utf-8")
    project = opened(root)
    project.ensure_graph()
    edit(root, "spec/a-tidy.md", "## REQ-d00002: Show the minute", "## REQ-d00002: Theirs")
    with pytest.raises(FileChanged, match="refresh_graph"):
        mutate(project, "update_title", node_id="d2", new_title="Mine")
    mutate(project, "update_title", node_id="o1", new_title="Another file")
    project.refresh()
    mutate(project, "update_title", node_id="d2", new_title="Mine")
    assert project.mutations.log().total == 2


def test_a_full_refresh_brings_every_draft_back(root: Path, opened: Open) -> None:
    project = opened(root)
    mutate(project, "rename_node", old_id="REQ-o00001", new_id="REQ-o00009")
    mutate(project, "delete_requirement", node_id="REQ-d00003")
    before = said(project.graph)
    project.refresh(full=True)
    assert said(project.graph) == before
    assert project.mutations.log().total == 2


def test_a_refresh_that_finds_nothing_new_leaves_the_state_with_its_drafts(root: Path, opened: Open) -> None:
    project = opened(root)
    mutate(project, "update_title", node_id="d2", new_title="Mine")
    state = project.graph.state.fingerprint
    project.refresh()
    assert project.graph.state.fingerprint == state
    assert project.graph.state.is_edited
