"""Changing requirements in their files."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.trace.drafted import mutate

from clew.edit.edits import FileEdit, Inverse
from clew.edit.transaction import EditPurpose, FileTransaction
from clew.errors import ClewError, Conflict, InvalidArgument, NotFound, OutsideProject, Refused, WrongKind
from clew.graph.model import NodeKind
from clew.project import Project
from clew.trace.edit.requests import ListBranches, RestoreBranch, UndoTo
from clew.trace.operations.files import ChangeReferenceType, MoveRequirement

Open = Callable[[Path], Project]


def cite(project: Project, req_id: str, target_id: str, new_type: str, **more: Any) -> Any:
    """Let a requirement cite another one as something else."""
    request = ChangeReferenceType(req_id=req_id, target_id=target_id, new_type=new_type, **more)
    return project.files.change_reference_type(request)


def move(project: Project, req_id: str, target_file: str, **more: Any) -> Any:
    """Move a requirement to another file."""
    return project.files.move_requirement(MoveRequirement(req_id=req_id, target_file=target_file, **more))


SPEC = """# Clock

Some prose, with  double spaces kept.

---

## REQ-p00001: Keep time

**Level**: PRD | **Status**: Active

## Assertions

A. The clock SHALL show the hour.
B. The clock SHALL show the minute.

*End* *Keep time* | **Hash**: 00000000

---

## REQ-p00010: Keep ten times

**Level**: PRD | **Status**: Active

*End* *Keep ten times*

---

## REQ-d00001: Show the hour

**Level**: DEV | **Status**: Draft | **Implements**: REQ-p00001-A

A. Not an assertion, since there is no heading.

*End* *Show the hour* | **Hash**: 11111111

---

## REQ-d00002: Show the minute

**Level**: DEV | **Status**: Draft | **Implements**: REQ-p00010,REQ-p00001-B ,  REQ-p00001

*End* *Show the minute*
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "spec").mkdir(parents=True)
    (root / "clew.toml").write_text('[project]\nname = "clock"\n', encoding="utf-8")
    (root / "spec" / "clock.md").write_text(SPEC, encoding="utf-8", newline="")
    return root


def spec(root: Path, name: str = "clock.md") -> str:
    return (root / "spec" / name).read_bytes().decode()


def with_spec(root: Path, text: str) -> None:
    (root / "spec" / "clock.md").write_bytes(text.encode())


def run_git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


# change_reference_type


# Verifies: REQ-o00022-A+D, REQ-d00051-A
def test_only_the_keyword_of_the_one_citation_changes(opened: Open, root: Path) -> None:
    project = opened(root)
    change = cite(project, "d1", "REQ-p00001", "REFINES")
    assert spec(root) == SPEC.replace("**Implements**: REQ-p00001-A", "**Refines**: REQ-p00001-A")
    assert change.changed
    assert change.files == ("spec/clock.md",)
    assert "-**Level**: DEV | **Status**: Draft | **Implements**: REQ-p00001-A\n" in change.diff
    assert "+**Level**: DEV | **Status**: Draft | **Refines**: REQ-p00001-A\n" in change.diff
    kinds = {parent.id: parent.edge_kind for parent in project.trace.requirement("d1").parents}
    assert kinds == {"REQ-p00001": "refines"}


# Verifies: REQ-d00051-A
@pytest.mark.parametrize(
    ("before", "target", "after"),
    [
        # An id that another begins with is another id.
        ("Implements: REQ-p00010, REQ-p00001", "REQ-p00001", "Implements: REQ-p00010 | Refines: REQ-p00001"),
        ("**IMPLEMENTS**: REQ-p00001", "p1", "**REFINES**: REQ-p00001"),
        ("implements = REQ-p00001", "REQ-p00001", "refines = REQ-p00001"),
        # Every other item keeps its own spaces.
        (
            "**Implements**: REQ-p00010,REQ-p00001-B ,  REQ-p00001",
            "REQ-p00010",
            "**Implements**: REQ-p00001-B ,  REQ-p00001 | **Refines**: REQ-p00010",
        ),
        # With a label, only the citation that names it.
        (
            "**Implements**: REQ-p00010,REQ-p00001-B ,  REQ-p00001",
            "REQ-p00001-B",
            "**Implements**: REQ-p00010 ,  REQ-p00001 | **Refines**: REQ-p00001-B",
        ),
        # Without one, all citations of the target.
        (
            "**Implements**: REQ-p00010,REQ-p00001-B ,  REQ-p00001",
            "REQ-p00001",
            "**Implements**: REQ-p00010 | **Refines**: REQ-p00001-B, REQ-p00001",
        ),
        # A list of that kind is continued.
        (
            "**Implements**: REQ-p00010, REQ-p00001\n**Refines**: REQ-p00001-A | **Template**",
            "REQ-p00010",
            "**Implements**: REQ-p00001\n**Refines**: REQ-p00001-A, REQ-p00010 | **Template**",
        ),
        # A list may run over several lines.
        (
            "**Implements**: REQ-p00010,\n    REQ-p00001-A,\n    REQ-p00001-B",
            "REQ-p00001-A",
            "**Implements**: REQ-p00010,\n    REQ-p00001-B | **Refines**: REQ-p00001-A",
        ),
        (
            "**Implements**: REQ-p00010,\n    REQ-p00001-B",
            "REQ-p00010",
            "**Implements**: REQ-p00001-B | **Refines**: REQ-p00010",
        ),
    ],
)
def test_lists_of_every_form_lose_one_item_and_keep_the_others(
    opened: Open, root: Path, before: str, target: str, after: str
) -> None:
    line = "**Implements**: REQ-p00010,REQ-p00001-B ,  REQ-p00001"
    with_spec(root, SPEC.replace(f"Draft | {line}", f"Draft\n{before}"))
    cite(opened(root), "REQ-d00002", target, "refines")
    assert spec(root) == SPEC.replace(f"Draft | {line}", f"Draft\n{after}")


# Verifies: REQ-o00022-A
def test_line_ends_and_bytes_that_are_no_text_stay(opened: Open, root: Path) -> None:
    data = SPEC.replace("\n", "\r\n").encode().replace(b"Some prose", b"Some \xff prose")
    (root / "spec" / "clock.md").write_bytes(data)
    cite(opened(root), "d1", "p1", "refines")
    expected = data.replace(b"**Implements**: REQ-p00001-A", b"**Refines**: REQ-p00001-A")
    assert (root / "spec" / "clock.md").read_bytes() == expected


# Verifies: REQ-o00022-C, REQ-d00051-F
def test_what_is_so_already_changes_nothing(opened: Open, root: Path) -> None:
    change = cite(opened(root), "d1", "p1", "implements")
    assert (change.changed, change.files, change.diff) == (False, (), "")
    assert spec(root) == SPEC


# Verifies: REQ-o00022-C
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("REQ-d00099", "REQ-p00001", "refines"), NotFound),
        (("REQ-d00001", "REQ-p00010", "refines"), NotFound),
        (("REQ-d00001", "nonsense", "refines"), NotFound),
        (("REQ-d00001", "REQ-p00001-B", "refines"), NotFound),
        (("REQ-d00001", "REQ-p00001", "verifies"), InvalidArgument),
        (("REQ-d00001", "REQ-p00001", "$(id)"), InvalidArgument),
    ],
)
def test_a_citation_that_is_not_there_is_refused(
    opened: Open, root: Path, arguments: tuple[str, str, str], error: type[ClewError]
) -> None:
    with pytest.raises(error) as raised:
        cite(opened(root), *arguments)
    assert raised.value.hint
    assert spec(root) == SPEC


# Verifies: REQ-d00051-F
def test_a_version_is_compared_and_a_dry_run_writes_nothing(opened: Open, root: Path) -> None:
    project = opened(root)
    project.ensure_graph()
    version = project.trace.requirement("d1").version
    shown = cite(project, "d1", "p1", "refines", dry_run=True, if_version=version)
    assert "+**Level**" in shown.diff
    assert (shown.changed, shown.dry_run, spec(root)) == (False, True, SPEC)
    changed = cite(project, "d1", "p1", "refines", if_version=version)
    assert changed.version not in (None, version)
    with pytest.raises(Conflict, match=version):
        cite(project, "d1", "p1", "implements", if_version=version)


# Verifies: REQ-o00022-C
def test_a_duplicate_is_changed_where_it_stands(opened: Open, root: Path) -> None:
    (root / "spec" / "later.md").write_text(SPEC, encoding="utf-8")
    cite(opened(root), "REQ-d00001#later", "p1", "refines")
    assert spec(root) == SPEC
    assert spec(root, "later.md") == SPEC.replace("**Implements**: REQ-p00001-A", "**Refines**: REQ-p00001-A")


# Verifies: REQ-o00022-C
def test_a_write_protected_file_is_refused(opened: Open, root: Path) -> None:
    (root / "spec" / "clock.md").chmod(0o444)
    with pytest.raises(Refused, match="write-protected"):
        cite(opened(root), "d1", "p1", "refines")
    assert spec(root) == SPEC


# Verifies: REQ-o00022-B
def test_an_edit_by_another_program_in_between_is_kept(opened: Open, root: Path) -> None:
    project = opened(root)
    project.ensure_graph()
    edit = FileEdit("spec/clock.md", SPEC.encode(), b"ours")
    with_spec(root, "theirs")
    with pytest.raises(Conflict, match="changed while"):
        FileTransaction(root, [edit], EditPurpose("test", "ada")).commit(project.store)
    assert spec(root) == "theirs"
    assert project.store is not None
    assert project.store.count("file_edits") == 0


# Verifies: REQ-d00051-E
def test_a_change_is_recorded_with_its_difference(opened: Open, root: Path) -> None:
    project = opened(root)
    change = cite(project, "d1", "p1", "refines")
    assert project.store is not None
    (record,) = project.store.scan("file_edits")
    (inverse,) = msgspec.convert(record.data.pop("inverse"), list[Inverse])
    assert inverse.applied((root / "spec" / "clock.md").read_bytes()) == SPEC.encode()
    assert record.data == {
        "operation": "change_reference_type",
        "requirement_id": "REQ-d00001",
        "files": ["spec/clock.md"],
        "diff": change.diff,
        "safety_branch": None,
    }


# move_requirement

MOVED = SPEC[SPEC.index("## REQ-d00001") : SPEC.index("---\n\n## REQ-d00002")].rstrip("\n") + "\n"
RULED = f"{MOVED}\n---\n"
"""With the rule behind it, which moves along where the other file would set nothing apart."""


# Verifies: REQ-o00022-A, REQ-d00051-B
def test_a_requirement_moves_to_a_new_file_with_every_byte(opened: Open, root: Path) -> None:
    project = opened(root)
    moved = move(project, "d1", "spec/new/hour.md")
    assert (root / "spec" / "new" / "hour.md").read_text(encoding="utf-8") == f"{MOVED}\n---\n"
    assert spec(root) == SPEC.replace(MOVED + "\n---\n\n", "")
    assert (moved.source_file, moved.dest_file, moved.source_empty) == ("spec/clock.md", "spec/new/hour.md", False)
    source = project.trace.requirement("d1").source
    assert source is not None
    assert source.path == "spec/new/hour.md"


# Verifies: REQ-d00051-B
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# Empty\n", f"# Empty\n\n{RULED}"),
        ("# No end of line", f"# No end of line\n\n{RULED}"),
        ("", RULED),
        ("\ufeff", f"\ufeff{RULED}"),
        ("x\n\n\n", f"x\n\n\n{RULED}"),
        ("a\n\n---\n\nb\n", f"a\n\n---\n\nb\n\n---\n\n{MOVED}"),
        ("a\n\n---\n", f"a\n\n---\n\n{MOVED}\n---\n"),
        ("a\r\n\r\n---\r\n\r\nb\r\n", f"a\r\n\r\n---\r\n\r\nb\r\n\r\n---\r\n\r\n{MOVED}"),
    ],
)
def test_in_a_file_that_is_there_it_is_set_apart_as_the_others_are(
    opened: Open, root: Path, before: str, after: str
) -> None:
    (root / "spec" / "there.md").write_bytes(before.encode())
    move(opened(root), "d1", "spec/there.md")
    assert spec(root, "there.md") == after


# Verifies: REQ-d00051-B
@pytest.mark.parametrize(
    ("before", "after", "is_empty"),
    [
        (MOVED, "", True),
        (f"\ufeff{MOVED}", "\ufeff", True),
        (f"# T\n\n---\n\n{MOVED}", "# T\n", True),
        (f"# T\n\n{MOVED}\nprose\n", "# T\n\nprose\n", True),
        (f"# T\n\n{MOVED}\n---\n\nprose\n", "# T\n\nprose\n", True),
        (f"{MOVED}\n---\n", "", True),
        (f"## REQ-p00005: A\n\n*End* *A*\n\n---\n\n{MOVED}\n---\n", "## REQ-p00005: A\n\n*End* *A*\n\n---\n", False),
        (f"## REQ-p00005: A\n\n*End* *A*\n\n---\n\n{MOVED}", "## REQ-p00005: A\n\n*End* *A*\n", False),
    ],
)
def test_what_set_it_apart_goes_with_it(opened: Open, root: Path, before: str, after: str, is_empty: bool) -> None:
    with_spec(root, before)
    moved = move(opened(root), "d1", "spec/other.md")
    assert spec(root) == after
    assert spec(root, "other.md") == (RULED if f"{MOVED}\n---" in before else MOVED)
    assert moved.source_empty is is_empty


# Verifies: REQ-d00051-B
def test_without_end_marker_or_final_line_end_it_moves_too(opened: Open, root: Path) -> None:
    with_spec(root, "# T\n\n## REQ-d00001: A\n\n**Level**: DEV\n\ntext without end")
    move(opened(root), "d1", "spec/other.md")
    assert spec(root) == "# T\n"
    assert spec(root, "other.md") == "## REQ-d00001: A\n\n**Level**: DEV\n\ntext without end\n"


# Verifies: REQ-d00051-C
@pytest.mark.parametrize(
    ("target", "error"),
    [
        ("../outside.md", OutsideProject),
        ("/etc/clew.md", OutsideProject),
        ("spec/link/moved.md", OutsideProject),
        ("spec/nul\0.md", OutsideProject),
        ("spec", InvalidArgument),
        (".", InvalidArgument),
        ("docs/moved.md", InvalidArgument),
        ("spec/moved.txt", InvalidArgument),
        ("spec/README.md", InvalidArgument),
        ("clew.toml", InvalidArgument),
    ],
)
def test_a_target_that_is_no_file_of_requirements_is_refused(
    opened: Open, root: Path, tmp_path: Path, target: str, error: type[ClewError]
) -> None:
    (root / "spec" / "link").symlink_to(tmp_path)
    with pytest.raises(error):
        move(opened(root), "d1", target)
    assert spec(root) == SPEC
    assert sorted(path.name for path in tmp_path.iterdir()) == ["project"]


# Verifies: REQ-o00022-A+C
@pytest.mark.parametrize(
    "there",
    ["```\nnever closed\n", "## REQ-d00001: Another\n\n*End* *Another*\n"],
    ids=["unclosed fence", "same id"],
)
def test_a_target_in_which_it_would_not_be_found_is_refused(opened: Open, root: Path, there: str) -> None:
    (root / "spec" / "a.md").write_text(there, encoding="utf-8")
    project = opened(root)
    project.ensure_graph()
    id = "REQ-d00001" if project.trace.requirement("d1").source.path == "spec/clock.md" else "REQ-d00001#clock"
    with pytest.raises((Refused, Conflict)):
        move(project, id, "spec/a.md")
    assert (spec(root), spec(root, "a.md")) == (SPEC, there)


# Verifies: REQ-o00022-A, REQ-d00681-C
def test_a_neighbour_that_would_swallow_what_follows_keeps_the_requirement_where_it_is(
    opened: Open, root: Path
) -> None:
    text = f"## REQ-p00005: Without end\n\ntext\n\n{MOVED}\nProse that belongs to nobody.\n"
    with_spec(root, text)
    with pytest.raises(Refused, match=r"spec/clock\.md"):
        move(opened(root), "d1", "spec/other.md")
    assert spec(root) == text
    assert not (root / "spec" / "other.md").exists()


# Verifies: REQ-d00051-D
def test_two_files_are_written_both_or_neither(opened: Open, root: Path) -> None:
    project = opened(root)
    project.ensure_graph()
    edits = [FileEdit("spec/new.md", None, b"new"), FileEdit("spec/clock.md", b"not what is there", b"other")]
    with pytest.raises(Conflict):
        FileTransaction(root, edits, EditPurpose("test", "ada")).commit(project.store)
    assert spec(root) == SPEC
    assert sorted(path.name for path in (root / "spec").iterdir()) == ["clock.md"]


# Verifies: REQ-o00022-C
def test_a_file_that_is_there_already_is_no_move(opened: Open, root: Path) -> None:
    moved = move(opened(root), "d1", "./spec/../spec/clock.md")
    assert (moved.changed, moved.source_file, moved.dest_file) == (False, "spec/clock.md", "spec/clock.md")
    assert spec(root) == SPEC


# With safety branches


# Verifies: REQ-d00050-B+C
def test_a_change_can_be_taken_back_to_the_uncommitted_byte(opened: Open, root: Path) -> None:
    run_git(root, "init", "-q", "-b", "main")
    run_git(root, "add", ".")
    run_git(root, "commit", "-qm", "first")
    text = SPEC.replace("Some prose", "Uncommitted prose")
    with_spec(root, text)
    project = opened(root)
    moved = move(project, "d1", "spec/other.md", save_branch=True)
    assert moved.safety_branch is not None
    assert moved.safety_branch.startswith("safety/REQ-d00001-")
    assert spec(root) != text
    report = project.files.restore_from_safety_branch(RestoreBranch(branch_name=moved.safety_branch))
    assert spec(root) == text
    assert not (root / "spec" / "other.md").exists()
    assert (report.files_restored, report.files_removed) == (("spec/clock.md",), ("spec/other.md",))
    source = project.trace.requirement("d1").source
    assert source is not None
    assert source.path == "spec/clock.md"
    listed = project.files.safety_branches(ListBranches())
    assert {branch.name for branch in listed.branches} == {moved.safety_branch, report.safety_branch}
    assert [branch.name for branch in project.files.safety_branches(ListBranches(limit=1)).branches] == [
        listed.branches[0].name
    ]


# Verifies: REQ-o00022-C, REQ-d00050-E
def test_without_git_a_safety_branch_is_refused_before_anything_changes(opened: Open, root: Path) -> None:
    project = opened(root)
    with pytest.raises(Refused, match="git init"):
        cite(project, "d1", "p1", "refines", save_branch=True)
    assert spec(root) == SPEC
    assert project.files.safety_branches(ListBranches()).note


# Verifies: REQ-o00022-C
def test_a_file_that_drafts_are_about_to_change_is_left_to_them(opened: Open, root: Path) -> None:
    (root / "spec" / "other.md").write_text("## REQ-p00020: Other\n\n*End* *Other*\n", encoding="utf-8")
    project = opened(root)
    draft = mutate(project, "update_title", node_id="REQ-p00010", new_title="Keep twelve times")
    for change in (
        lambda: cite(project, "d1", "p1", "refines"),
        lambda: move(project, "d1", "spec/other.md"),
        lambda: move(project, "p20", "spec/clock.md"),
        lambda: project.files.restore_from_safety_branch(RestoreBranch(branch_name="safety/any")),
    ):
        with pytest.raises(Refused, match="drafts"):
            change()
    assert spec(root) == SPEC
    project.mutations.undo_to(UndoTo(mutation_id=draft.mutation.id))
    assert cite(project, "d1", "p1", "refines").changed


# Verifies: REQ-o00022-C
def test_requirements_of_other_formats_are_left_to_their_own_tools(opened: Open, demo: Path) -> None:
    project = opened(demo)
    project.ensure_graph()
    nodes = project.graph.nodes_by_kind(NodeKind.REQUIREMENT)
    foreign = [node.id for node in nodes if node.source is not None and not node.source.path.startswith("spec/")]
    assert foreign
    with pytest.raises(WrongKind, match="not a file of the folders in \\[requirements\\]"):
        move(project, foreign[0], "spec/moved.md")


# Verifies: REQ-d00827-B
def test_a_requirement_takes_its_rule_along(opened: Open, root: Path) -> None:
    text = (root / "spec" / "clock.md").read_text(encoding="utf-8")
    one = (
        "## REQ-d00071: {0}\n\n**Level**: DEV | **Status**: Draft\n\n## Assertions\n\nA. It SHALL be.\n\n*End* *{0}*\n"
    )
    first, second = one.format("First"), one.format("Second").replace("71", "72")
    (root / "spec" / "ruled.md").write_text(f"# Ruled\n\n{first}\n---\n\n{second}\n---\n", encoding="utf-8")
    moved = move(opened(root), "d71", "spec/own.md")
    assert moved.success
    assert (root / "spec" / "own.md").read_text(encoding="utf-8") == f"{first}\n---\n"
    assert (root / "spec" / "ruled.md").read_text(encoding="utf-8") == f"# Ruled\n\n{second}\n---\n"
    assert (root / "spec" / "clock.md").read_text(encoding="utf-8") == text
