"""What Clew asks git, of real repositories."""

import subprocess
from pathlib import Path

from clew import git


def run(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def repository(root: Path) -> Path:
    run(root, "init", "-q", "-b", "main")
    (root / "spec").mkdir()
    (root / "spec" / "a.md").write_text("one\ntwo\nthree\nfour\n", encoding="utf-8")
    run(root, "add", ".")
    run(root, "commit", "-qm", "first")
    return root


# Verifies: REQ-d00013-H
def test_uncommitted_lines_are_those_that_differ_from_the_last_commit(tmp_path: Path) -> None:
    root = repository(tmp_path)
    assert git.uncommitted(root, ("spec",)) == git.ChangedLines({})
    (root / "spec" / "a.md").write_text("one\ntwo\nTHREE\nfour\n", encoding="utf-8")
    (root / "spec" / "new ü.md").write_text("x\n", encoding="utf-8")
    changed = git.uncommitted(root, ("spec",))
    assert changed is not None
    assert changed.ranges["spec/a.md"] == ((3, 3),)
    assert changed.touch("spec/a.md", 2, 3)
    assert not changed.touch("spec/a.md", 1, 2)
    assert changed.touch("spec/new ü.md", 1, 1)


# Verifies: REQ-d00013-H
def test_a_branch_is_measured_from_where_it_began(tmp_path: Path) -> None:
    root = repository(tmp_path)
    run(root, "checkout", "-qb", "work")
    (root / "spec" / "a.md").write_text("one\ntwo\nthree\nfour\nfive\n", encoding="utf-8")
    run(root, "commit", "-qam", "second")
    assert git.branch(root) == "work"
    assert git.base_branch(root) == "main"
    since = git.changed_since(root, "main", ("spec",))
    assert since is not None
    assert since.ranges == {"spec/a.md": ((5, 5),)}


def test_paths_are_relative_to_the_project_when_it_is_a_folder_of_the_work_tree(tmp_path: Path) -> None:
    root = repository(tmp_path)
    inner = root / "inner"
    (inner / "spec").mkdir(parents=True)
    (inner / "spec" / "b.md").write_text("x\n", encoding="utf-8")
    changed = git.uncommitted(inner, ("spec",))
    assert changed is not None
    assert list(changed.ranges) == ["spec/b.md"]
    run(root, "add", ".")
    run(root, "commit", "-qm", "inner")
    (inner / "spec" / "b.md").write_text("y\n", encoding="utf-8")
    changed = git.uncommitted(inner, ("spec",))
    assert changed is not None
    assert changed.ranges == {"spec/b.md": ((1, 1),)}


def test_before_the_first_commit_everything_is_uncommitted(tmp_path: Path) -> None:
    run(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "a.md").write_text("x\n", encoding="utf-8")
    run(tmp_path, "add", ".")
    changed = git.uncommitted(tmp_path, ("spec",))
    assert changed is not None
    assert changed.touch("spec/a.md", 1, 1)


# Verifies: REQ-d00019-C
def test_a_folder_without_git_has_plain_answers(tmp_path: Path) -> None:
    assert git.uncommitted(tmp_path, ("spec",)) is None
    assert git.branch(tmp_path) is None
    assert git.base_branch(tmp_path) is None
    assert git.toplevel(tmp_path) is None


def test_hunks_of_a_deletion_touch_the_line_before() -> None:
    diff = "--- a/spec/a.md\n+++ b/spec/a.md\n@@ -3 +2,0 @@\n-three\n@@ -9,2 +7,3 @@\n"
    assert git.parse_hunks(diff) == {"spec/a.md": ((2, 2), (7, 9))}
