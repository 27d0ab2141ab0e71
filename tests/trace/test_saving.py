"""Saving: what was drafted is written, nothing else, all of it or none."""

import os
import sqlite3
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.trace.drafted import FILES, TIDY, TWICE, WINDOWS, contents, mutate, said, write_project

from clew.edit.edits import FileEdit
from clew.edit.recovery import recover
from clew.edit.transaction import FileTransaction
from clew.errors import ClewError, ConfigError, FileChanged, NotFound, Refused, StoreError
from clew.formats.elspais.hashes import assertion_hash
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Requirement
from clew.formats.elspais.settings import ElspaisSettings
from clew.project import Project
from clew.trace.edit.requests import SaveDrafts, UndoTo

Open = Callable[[Path], Project]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_project(tmp_path / "odd")


@pytest.fixture
def project(root: Path, opened: Open) -> Project:
    project = opened(root)
    project.ensure_graph()
    return project


def changed_lines(before: bytes, after: bytes) -> list[tuple[bytes, bytes]]:
    """The lines that differ, of two texts with the same number of them."""
    old, new = before.split(b"\n"), after.split(b"\n")
    assert len(old) == len(new)
    return [(one, other) for one, other in zip(old, new, strict=True) if one != other]


def records(data: bytes) -> dict[str, Requirement]:
    blocks = read(data, IdGrammar(ElspaisSettings())).blocks
    return {block.id: block for block in blocks if isinstance(block, Requirement)}


# What is written


# Verifies: REQ-d00048-A+B
def test_only_the_mutated_requirement_changes_and_stale_neighbours_stay_stale(project: Project, root: Path) -> None:
    mutate(project, "update_assertion", assertion_id="REQ-d00001-A", new_text="The hour SHALL be wide.")
    result = project.mutations.save(SaveDrafts(message="wider"))
    assert result.files_modified == ("spec/a-tidy.md",)
    after = (root / "spec/a-tidy.md").read_bytes()
    value = assertion_hash(records(after)["REQ-d00001"].assertions, "sorted").encode()
    assert changed_lines(TIDY.encode(), after) == [
        (b"A. The hour SHALL be two digits wide.", b"A. The hour SHALL be wide."),
        (b"*End* *Show the hour*", b"*End* *Show the hour* | **Hash**: " + value),
    ]
    assert b"**Hash**: 00000000" in after
    assert {path: data for path, data in contents(root).items() if path != "spec/a-tidy.md"} == {
        path: data for path, data in FILES.items() if path != "spec/a-tidy.md"
    }


# Verifies: REQ-d00048-A
def test_line_ends_byte_order_marks_and_bytes_of_other_encodings_stay(project: Project, root: Path) -> None:
    mutate(project, "update_assertion", assertion_id="REQ-o00001-B", new_text="It SHALL tell,\nover two lines.")
    mutate(project, "change_status", node_id="REQ-o00002", new_status="Active")
    mutate(project, "update_title", node_id="REQ-d00003", new_title="Set it")
    mutate(project, "update_title", node_id="REQ-d00001#d-twice", new_title="Again")
    project.mutations.save()
    windows = (root / "spec/b-windows.md").read_bytes()
    assert b"B. It SHALL tell,\r\nover two lines.\r\n\r\nC." in windows
    assert windows.replace(b"\r\n", b"").count(b"\n") == 0
    assert windows.endswith("Ring \u00fcber all.\r\n".encode())
    assert b"Status: Active\r\nImplements: -\r\n" in windows
    journey = (root / "spec/c-journey.md").read_bytes()
    assert journey.startswith(b"\xef\xbb\xbf## JNY-Clock-01")
    assert journey.endswith(b"*End* *Set it*")
    assert (root / "spec/d-twice.md").read_bytes() == TWICE.replace(b"Show the hour again", b"Again").replace(
        b"*End* *Again*", (root / "spec/d-twice.md").read_bytes().splitlines()[-1]
    )
    assert b"Caf\xe9 au lait." in (root / "spec/d-twice.md").read_bytes()


# Verifies: REQ-d00048-B
@pytest.mark.parametrize("rule", ["ordered", "sorted"])
def test_a_hash_follows_the_rule_of_its_file(tmp_path: Path, opened: Open, rule: str) -> None:
    def text(*hashes: str) -> bytes:
        blocks = (
            f"## REQ-d0000{number}: Number {number}\n\n**Level**: DEV | **Status**: Active\n\n## Assertions\n\n"
            f"A. It SHALL be {number}.\nB. It SHALL stay.\n\n*End* *Number {number}* | **Hash**: {value}\n\n"
            for number, value in enumerate(hashes, start=1)
        )
        return "".join(blocks).encode()

    found = records(text("x", "x", "x"))
    right = [assertion_hash(found[f"REQ-d0000{number}"].assertions, rule) for number in (1, 2, 3)]  # type: ignore[arg-type]
    root = tmp_path / "ruled"
    (root / "spec").mkdir(parents=True)
    (root / "clew.toml").write_text("", encoding="utf-8")
    (root / "spec/a.md").write_bytes(text(right[0], right[1], "deadbeef"))
    project = opened(root)
    mutate(project, "update_assertion", assertion_id="REQ-d00001-A", new_text="It SHALL be new.")
    mutate(project, "delete_assertion", assertion_id="REQ-d00003-B")
    project.mutations.save()
    after = records((root / "spec/a.md").read_bytes())
    for id in ("REQ-d00001", "REQ-d00003"):
        assert after[id].stored_hash == assertion_hash(after[id].assertions, rule)  # type: ignore[arg-type]
    assert after["REQ-d00002"].stored_hash == right[1]
    assert [finding.code for finding in project.trace.findings() if "hash" in finding.code] == []


# Verifies: REQ-d00048-B
@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("update_title", {"node_id": "REQ-d00001", "new_title": "Another title"}),
        ("change_status", {"node_id": "REQ-d00001", "new_status": "Draft"}),
        ("rename_node", {"old_id": "REQ-d00001", "new_id": "REQ-d00007"}),
        ("add_edge", {"source_id": "REQ-d00001", "target_id": "REQ-d00002", "edge_kind": "refines"}),
    ],
)
def test_a_mutation_that_leaves_the_assertions_alone_leaves_a_stale_hash_stale(
    tmp_path: Path, opened: Open, operation: str, arguments: dict[str, str]
) -> None:
    root = tmp_path / "unreviewed"
    (root / "spec").mkdir(parents=True)
    (root / "clew.toml").write_text("", encoding="utf-8")
    text = "## REQ-d0000{0}: Number {0}\n\n**Level**: DEV | **Status**: Active\n\n## Assertions\n\nA. It SHALL be.\n\n"
    blocks = [f"{text.format(number)}*End* *Number {number}* | **Hash**: deadbeef\n\n" for number in (1, 2)]
    (root / "spec/a.md").write_text("".join(blocks), encoding="utf-8")
    project = opened(root)
    entry = mutate(project, operation, **arguments).mutation
    project.mutations.save()
    assert entry.affects_hash is False
    assert {each.stored_hash for each in records((root / "spec/a.md").read_bytes()).values()} == {"deadbeef"}


# Verifies: REQ-d00048-A
def test_what_only_follows_a_rename_keeps_its_stale_hash(project: Project, root: Path) -> None:
    mutate(project, "rename_node", old_id="REQ-d00002", new_id="REQ-d00020")
    mutate(project, "add_edge", source_id="REQ-o00001", target_id="REQ-d00020", edge_kind="addresses")
    project.mutations.undo_last()
    mutate(project, "add_edge", source_id="REQ-d00003", target_id="REQ-o00002", edge_kind="refines")
    mutate(project, "rename_node", old_id="REQ-o00002", new_id="REQ-o00020")
    mutate(project, "rename_node", old_id="REQ-p00001", new_id="REQ-p00010")
    project.mutations.save()
    assert b"**Implements**: REQ-p00010\r\n" in (root / "spec/b-windows.md").read_bytes()
    assert b"| **Hash**: 12345678\r\n" in (root / "spec/b-windows.md").read_bytes()


# Verifies: REQ-o00021-D
def test_after_saving_the_graph_is_the_one_that_the_files_give(project: Project, root: Path, opened: Open) -> None:
    mutate(project, "rename_node", old_id="REQ-p00001", new_id="REQ-p00010")
    mutate(project, "delete_requirement", node_id="REQ-d00001")
    mutate(project, "add_requirement", req_id="REQ-o00007", title="New", level="ops", file_path="spec/new/file.md")
    drafted = said(project.graph)
    result = project.mutations.save()
    assert "spec/new/file.md" in result.files_modified
    assert said(project.graph) == drafted
    fresh = opened(root)
    fresh.refresh(full=True)
    assert fresh.graph.memory.snapshot() == project.graph.memory.snapshot()
    assert project.mutations.log().total == 0
    assert not project.graph.state.is_edited
    assert project.mutations.save().saved_count == 0


def test_modes_of_files_stay_and_a_link_stays_a_link(project: Project, root: Path) -> None:
    real = root / "real"
    real.mkdir()
    (root / "spec/b-windows.md").rename(real / "b.md")
    (root / "spec/b-windows.md").symlink_to("../real/b.md")
    (real / "b.md").chmod(0o640)
    mutate(project, "update_title", node_id="REQ-o00001", new_title="Wind it")
    project.mutations.save()
    assert (root / "spec/b-windows.md").is_symlink()
    assert b"Wind it" in (real / "b.md").read_bytes()
    assert stat.S_IMODE((real / "b.md").stat().st_mode) == 0o640


# What is refused


# Verifies: REQ-d00048-C
def test_an_edit_by_another_program_between_read_and_save_is_shown_and_kept(project: Project, root: Path) -> None:
    mutate(project, "update_title", node_id="REQ-d00002", new_title="Mine")
    mutate(project, "update_title", node_id="REQ-o00001", new_title="Mine too")
    theirs = TIDY.replace("Time flies.", "Time is money.").encode()
    (root / "spec/a-tidy.md").write_bytes(theirs)
    before = contents(root)
    with pytest.raises(FileChanged) as refused:
        project.mutations.save()
    assert "spec/a-tidy.md" in refused.value.message
    assert "+## REQ-d00002: Mine\n" in refused.value.data["mine"]
    assert "-Time flies.\n+Time is money.\n" in refused.value.data["theirs"]
    assert contents(root) == before
    assert project.mutations.log().total == 2
    project.refresh()
    assert project.mutations.save().saved_count == 2
    after = (root / "spec/a-tidy.md").read_bytes()
    assert b"Time is money." in after
    assert b"## REQ-d00002: Mine" in after


# Verifies: REQ-d00048-C
def test_a_file_that_was_deleted_is_not_written_anew(project: Project, root: Path) -> None:
    mutate(project, "update_title", node_id="REQ-o00001", new_title="Mine")
    (root / "spec/b-windows.md").unlink()
    with pytest.raises(FileChanged) as refused:
        project.mutations.save()
    assert "deleted" in refused.value.data["theirs"]
    assert not (root / "spec/b-windows.md").exists()


# Verifies: REQ-d00048-E
def test_a_write_protected_file_is_refused_before_any_is_written(project: Project, root: Path) -> None:
    mutate(project, "update_title", node_id="REQ-d00002", new_title="Mine")
    mutate(project, "update_title", node_id="REQ-o00001", new_title="Mine too")
    (root / "spec/b-windows.md").chmod(0o444)
    with pytest.raises(Refused, match=r"spec/b-windows\.md.*write-protected"):
        project.mutations.save()
    assert contents(root) == FILES
    (root / "spec/b-windows.md").chmod(0o644)
    assert project.mutations.save().saved_count == 2


# Verifies: REQ-d00048-D
def test_when_one_file_cannot_be_written_none_is(project: Project, root: Path) -> None:
    mutate(project, "rename_node", old_id="REQ-o00001", new_id="REQ-o00009")
    mutate(project, "add_requirement", req_id="REQ-d00010", title="x", level="dev", file_path="spec/z.md")
    (root / "spec/z.md").mkdir()
    with pytest.raises(ClewError, match=r"spec/z\.md"):
        project.mutations.save()
    assert contents(root) == FILES
    (root / "spec/z.md").rmdir()
    assert len(project.mutations.save().files_modified) == 6


# Verifies: REQ-d00048-D
def test_when_one_file_cannot_be_put_in_place_those_before_it_are_put_back(root: Path) -> None:
    paths = ("spec/a-tidy.md", "spec/b-windows.md", "spec/new.md")
    files = FileTransaction(root, [FileEdit(path, FILES.get(path), b"new") for path in paths])
    files.prepare()
    next((root / "spec").glob(".new.md.*")).unlink()
    with pytest.raises(ConfigError, match=r"spec/new\.md"):
        files.carry_out()
    assert contents(root) == FILES


# Verifies: REQ-d00048-C+D
@pytest.mark.parametrize("replaced", [0, 1])
def test_an_interrupted_save_is_not_completed_over_what_somebody_wrote_meanwhile(root: Path, replaced: int) -> None:
    paths = ("spec/a-tidy.md", "spec/b-windows.md", "spec/c-journey.md")
    files = FileTransaction(root, [FileEdit(path, FILES.get(path), b"new") for path in paths])
    files.prepare()
    for path in paths[:replaced]:
        next((root / "spec").glob(f".{Path(path).name}.*")).replace(root / path)
    (root / paths[2]).write_bytes(b"theirs")
    files.release()
    recover(root, None)
    assert contents(root) == {**FILES, paths[2]: b"theirs"}


def full_store(root: Path, *, full: bool) -> None:
    """Have the project's store refuse to note that drafts are saved, as a disk without space would, or no more."""
    connection = sqlite3.connect(root / ".clew" / "clew.db")
    with connection:
        connection.execute("DROP TRIGGER IF EXISTS no_space")
        if full:
            connection.execute(
                "CREATE TRIGGER no_space BEFORE INSERT ON events WHEN NEW.collection = 'draft_sessions' "
                "AND NEW.after NOT LIKE '%\"saved_through\":0,%' BEGIN SELECT RAISE(ABORT, 'no space'); END"
            )
    connection.close()


def save_unnoted(project: Project, root: Path) -> None:
    """Save while the store can note nothing."""
    full_store(root, full=True)
    with pytest.raises(StoreError, match="files are saved"):
        project.mutations.save()


# Verifies: REQ-o00021-B, REQ-d00048-D
def test_a_save_that_the_store_cannot_note_is_noted_later_and_can_be_taken_back(project: Project, root: Path) -> None:
    mutate(project, "update_title", node_id="REQ-d00002", new_title="Mine")
    save_unnoted(project, root)
    # What is in the files is a draft no more.
    assert project.mutations.log().total == 0
    assert b"Mine" in (root / "spec/a-tidy.md").read_bytes()
    assert (node := project.graph.get_node("REQ-d00002")) is not None
    assert (node.title, project.graph.state.is_edited) == ("Mine", False)
    # Nothing takes the place of the journal that completes the save.
    for write in (project.mutations.undo_last, lambda: mutate(project, "update_title", node_id="d2", new_title="Two")):
        with pytest.raises(StoreError):
            write()
    full_store(root, full=False)
    project.refresh()
    mutate(project, "update_title", node_id="REQ-d00002", new_title="Second")
    project.mutations.save()
    for _ in range(2):
        project.mutations.undo_last()
    project.mutations.save()
    assert contents(root) == FILES


# Verifies: REQ-d00048-D
def test_a_save_that_the_store_could_not_note_is_noted_by_the_next_process(root: Path, opened: Open) -> None:
    first = Project.open(root)
    first.ensure_graph()
    mutate(first, "update_title", node_id="REQ-d00002", new_title="Mine")
    save_unnoted(first, root)
    first.close()
    full_store(root, full=False)
    second = opened(root)
    second.ensure_graph()
    assert second.mutations.log().total == 0
    assert second.mutations.undo_last().reverts_saved
    second.mutations.save()
    assert contents(root) == FILES


# Verifies: REQ-d00048-D
def test_a_save_is_noted_at_the_latest_when_the_project_is_closed(root: Path, opened: Open) -> None:
    first = Project.open(root)
    first.ensure_graph()
    mutate(first, "add_assertion", req_id="REQ-d00002", text="It SHALL be added once.")
    save_unnoted(first, root)
    full_store(root, full=False)
    with (root / "spec/a-tidy.md").open("ab") as file:
        file.write(b"\nA line by hand.\n")
    first.close()

    second = opened(root)
    second.ensure_graph()

    log = second.mutations.log()
    assert (log.total, log.conflicts) == (0, ())
    assert (root / "spec/a-tidy.md").read_bytes().count(b"It SHALL be added once.") == 1


# Verifies: REQ-d00048-F
def test_a_safety_branch_holds_the_state_before_the_save(project: Project, root: Path) -> None:
    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
        command = ["git", *identity, *arguments]
        return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout

    mutate(project, "update_title", node_id="REQ-d00002", new_title="Mine")
    with pytest.raises(Refused):
        project.mutations.save(SaveDrafts(save_branch=True))
    assert contents(root) == FILES
    git("init", "-qb", "main")
    git("add", ".")
    git("commit", "-qm", "first")
    (root / "spec/b-windows.md").write_bytes(WINDOWS.replace("daily", "weekly").encode())
    project.refresh()
    branch = project.mutations.save(SaveDrafts(save_branch=True)).safety_branch
    assert branch is not None
    assert "weekly" in git("show", f"{branch}:spec/b-windows.md")
    assert git("show", f"{branch}:spec/a-tidy.md") == TIDY
    assert project.mutations.save(SaveDrafts(save_branch=True)).safety_branch is None


# Taking back


# Verifies: REQ-o00021-B
def test_what_was_saved_is_taken_back_by_new_drafts_to_the_byte(project: Project, root: Path) -> None:
    start = said(project.graph)
    mutate(project, "rename_node", old_id="REQ-o00001", new_id="REQ-o00009")
    first = project.mutations.save()
    mutate(project, "delete_requirement", node_id="REQ-d00001")
    mutate(project, "add_requirement", req_id="REQ-d00010", title="New", level="dev", parent_id="REQ-p00001")
    second = project.mutations.save()
    written = contents(root)
    undone = project.mutations.undo_last()
    assert (undone.mutation.id, undone.reverts_saved) == (second.saved_mutations[1], True)
    assert contents(root) == written
    assert project.graph.get_node("REQ-d00010") is None
    taken_back = project.mutations.undo_to(UndoTo(mutation_id=first.saved_mutations[0]))
    assert [entry.id for entry in taken_back.mutations] == [second.saved_mutations[0], first.saved_mutations[0]]
    assert said(project.graph) == start
    project.mutations.save()
    assert contents(root) == FILES
    assert said(project.graph) == start
    with pytest.raises(NotFound, match="no mutation"):
        project.mutations.undo_last()


# Verifies: REQ-o00021-B
def test_what_was_saved_can_be_taken_back_by_the_next_process_and_that_can_be_undone(
    project: Project, root: Path, opened: Open
) -> None:
    mutate(project, "update_title", node_id="REQ-d00002", new_title="Saved")
    project.mutations.save()
    project.close()
    second = opened(root)
    revert = second.mutations.undo_last()
    second.close()
    third = opened(root)
    third.ensure_graph()
    assert third.trace.requirement("REQ-d00002").title == "Show the minute"
    third.mutations.undo_to(UndoTo(mutation_id=revert.current_tip))
    assert third.trace.requirement("REQ-d00002").title == "Saved"
    assert third.mutations.log().total == 0


# Verifies: REQ-o00021-B
def test_a_saved_mutation_is_not_taken_back_over_what_was_done_to_its_file_since(project: Project, root: Path) -> None:
    mutate(project, "update_title", node_id="REQ-d00002", new_title="Saved")
    project.mutations.save()
    path = root / "spec/a-tidy.md"
    path.write_bytes(path.read_bytes().replace(b"Time flies.", b"Time is money."))
    os.utime(path)
    with pytest.raises(FileChanged, match="no longer as the mutation left it"):
        project.mutations.undo_last()
    assert project.mutations.log().total == 0
    assert b"Time is money." in path.read_bytes()


# Verifies: REQ-d00048-C
def test_drafts_of_a_file_that_is_there_again_are_saved(project: Project, root: Path) -> None:
    spec = root / "spec" / "b-windows.md"
    mutate(project, "update_title", node_id="REQ-o00001", new_title="Wind it daily")
    away = spec.rename(root / "away.md")
    project.refresh()
    assert len(project.mutations.log().conflicts) == 1
    away.rename(spec)
    saved = project.mutations.save()
    assert (saved.saved_count, saved.files_modified) == (1, ("spec/b-windows.md",))
    assert b"REQ-o00001: Wind it daily" in spec.read_bytes()
