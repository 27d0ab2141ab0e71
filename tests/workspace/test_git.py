"""What Clew asks git, of real repositories."""

import os
import subprocess
from pathlib import Path

import pytest

from clew.errors import InvalidArgument, Unavailable
from clew.workspace.find import Selection, scan
from clew.workspace.git import api as git


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


# Verifies: REQ-d00013-H
@pytest.mark.parametrize(
    "setting",
    [
        "diff.mnemonicPrefix=true",
        "diff.noprefix=true",
        "diff.interHunkContext=50",
        "color.ui=always",
        "core.quotePath=true",
        "status.showUntrackedFiles=no",
        "diff.external=false",
    ],
)
def test_no_setting_of_the_user_changes_an_answer(tmp_path: Path, setting: str) -> None:
    root = repository(tmp_path)
    name, value = setting.split("=")
    run(root, "config", name, value)
    run(root, "checkout", "-qb", "work")
    (root / "spec" / "a.md").write_text("ONE\ntwo\nthree\nFOUR\n", encoding="utf-8")
    (root / "spec" / "ü.md").write_text("x\n", encoding="utf-8")
    expected = {"spec/a.md": ((1, 1), (4, 4)), "spec/ü.md": git.WHOLE_FILE}
    for changed in (git.uncommitted(root, ("spec",)), git.changed_since(root, "main", ("spec",))):
        assert changed is not None
        assert changed.ranges == expected


# Verifies: REQ-d00013-H
@pytest.mark.skipif(os.name != "posix", reason="such names cannot be on Windows")
@pytest.mark.parametrize("tracked", [True, False])
def test_a_file_of_any_name_is_named_as_the_project_names_it(tmp_path: Path, tracked: bool) -> None:
    root = repository(tmp_path)
    names = [
        b'q"uote.md',
        b"new\nline.md",
        b"back\\slash.md",
        b"b\xff.md",
        b"tab\t.md",
        b"sp ace.md",
        b'\xc3\xbc"\r.md',
    ]
    places = [os.fsencode(root / "spec") + b"/" + name for name in names]
    if tracked:
        for place in places:
            Path(os.fsdecode(place)).write_text("one\n", encoding="utf-8")
        run(root, "add", ".")
        run(root, "commit", "-qm", "second")
    run(root, "branch", "fork")
    for place in places:
        Path(os.fsdecode(place)).write_text("two\n", encoding="utf-8")
    known = {entry.path for entry in scan(root, Selection(folders=("spec",), patterns=("*.md",))).files} - {"spec/a.md"}
    assert len(known) == len(names)
    for changed in (git.uncommitted(root, ("spec",)), git.changed_since(root, "fork", ("spec",))):
        assert changed is not None
        assert changed.ranges.keys() == known


# Verifies: REQ-d00013-H
def test_the_default_branch_of_the_remote_is_the_base_where_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "remote").mkdir()
    remote = repository(tmp_path / "remote")
    run(remote, "checkout", "-qb", "trunk")
    run(tmp_path, "clone", "-q", "remote", "clone")
    clone = tmp_path / "clone"
    run(clone, "branch", "main")
    assert git.base_branch(clone) == "origin/trunk"
    run(clone, "remote", "set-head", "origin", "--delete")
    assert git.base_branch(clone) == "origin/main"
    run(clone, "remote", "remove", "origin")
    assert git.base_branch(clone) == "main"


# Verifies: REQ-d00013-H
def test_branches_that_were_merged_crosswise_have_a_beginning_too(tmp_path: Path) -> None:
    root = repository(tmp_path)
    run(root, "checkout", "-qb", "work")
    run(root, "commit", "-qm", "w", "--allow-empty")
    run(root, "checkout", "-q", "main")
    run(root, "commit", "-qm", "m", "--allow-empty")
    run(root, "branch", "earlier")
    run(root, "merge", "-q", "--no-edit", "work")
    run(root, "checkout", "-q", "work")
    run(root, "merge", "-q", "--no-edit", "earlier")
    (root / "spec" / "a.md").write_text("one\ntwo\nthree\nfour\nfive\n", encoding="utf-8")
    since = git.changed_since(root, "main", ("spec",))
    assert since is not None
    assert since.ranges == {"spec/a.md": ((5, 5),)}


def test_folders_are_globs_or_names_and_those_outside_have_no_changes(tmp_path: Path) -> None:
    root = repository(tmp_path)
    for path in ("p/a/spec/deep/x.md", "p/[id]/spec/y.md", "p/a/other/z.md"):
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text("x\n", encoding="utf-8")

    def changed(*folders: str) -> set[str]:
        lines, since = git.uncommitted(root, folders), git.changed_since(root, "main", folders)
        assert lines is not None
        assert lines == since
        return set(lines.ranges)

    assert changed("p/*/spec") == {"p/a/spec/deep/x.md", "p/[id]/spec/y.md"}
    assert changed("p/[id]/spec") == {"p/[id]/spec/y.md"}
    assert changed("**/spec") == {"p/a/spec/deep/x.md", "p/[id]/spec/y.md"}
    assert len(changed(".")) == 3
    assert changed("../elsewhere", "nowhere", "p/a/other") == {"p/a/other/z.md"}
    assert changed("../elsewhere") == set()
    assert changed() == set()


# Verifies: REQ-d00019-C
def test_a_folder_without_git_has_plain_answers(tmp_path: Path) -> None:
    assert git.uncommitted(tmp_path, ("spec",)) is None
    assert git.uncommitted(tmp_path, ()) is None
    assert git.changed_since(tmp_path, "main", ("spec",)) is None
    assert git.branch(tmp_path) is None
    assert git.base_branch(tmp_path) is None
    assert git.toplevel(tmp_path) is None


def test_hunks_of_a_deletion_touch_the_line_before() -> None:
    diff = b"--- a/spec/a.md\n+++ b/spec/a.md\n@@ -3 +2,0 @@\n-three\n@@ -9,2 +7,3 @@\n"
    assert git.changed_lines(diff) == {"spec/a.md": ((2, 2), (7, 9))}


def test_an_added_line_is_never_taken_for_the_name_of_a_file() -> None:
    diff = (
        b"diff --git a/spec/a.md b/spec/a.md\n--- a/spec/a.md\n+++ b/spec/a.md\n@@ -1 +1,2 @@\n--- x\n+++ x\n+@@ y\n"
        b"@@ -9 +10 @@\n-a\n+b\ndiff --git a/b.md b/b.md\n--- a/b.md\n+++ b/b.md\n@@ -0,0 +1 @@\n+c\n"
    )
    assert git.changed_lines(diff) == {"spec/a.md": ((1, 2), (10, 10)), "b.md": ((1, 1),)}


# Verifies: REQ-d00054-D
def test_files_that_differ_from_a_commit_are_named_with_what_they_held(tmp_path: Path) -> None:
    root = repository(tmp_path)
    first = git.head(root)
    assert first is not None
    (root / "spec" / "b ü.md").write_text("b\n", encoding="utf-8")
    (root / "spec" / "a.md").unlink()
    run(root, "add", ".")
    (root / "spec" / "new.md").write_text("n\n", encoding="utf-8")
    assert git.changed_paths(root, first, ("spec",)) == ("spec/a.md", "spec/b ü.md", "spec/new.md")
    assert git.changed_paths(root, None, ("spec",)) == ("spec/b ü.md", "spec/new.md")
    assert git.changed_paths(root, first, ()) == ()
    assert git.content_at(root, first, "spec/a.md") == b"one\ntwo\nthree\nfour\n"
    assert git.content_at(root, first, "spec/new.md") is None
    assert git.content_at(root / "spec", first, "a.md") == b"one\ntwo\nthree\nfour\n"


# Verifies: REQ-d00054-D
def test_a_branch_left_its_base_at_one_commit(tmp_path: Path) -> None:
    root = repository(tmp_path)
    first = git.head(root)
    run(root, "checkout", "-qb", "work")
    run(root, "commit", "-qm", "second", "--allow-empty")
    assert git.fork_of(root, "main") == first
    run(root, "checkout", "-q", "--orphan", "alone")
    run(root, "commit", "-qm", "alone", "--allow-empty")
    assert git.fork_of(root, "main") is None
    for base in ("nowhere", "-x", "", "main:spec"):
        with pytest.raises(InvalidArgument, match="not a branch"):
            git.fork_of(root, base)


# Verifies: REQ-d00050-E
def test_work_that_git_cannot_do_is_told_in_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unavailable, match="not a git repository"):
        git.command(tmp_path, "status")
    repository(tmp_path)
    assert git.command(tmp_path, "config", "--get", "no.such", says_no=1) == b""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="cannot be run"):
        git.command(tmp_path, "status")


# Verifies: REQ-d00260-A
def test_a_program_that_the_repository_names_for_finding_changes_is_not_run(tmp_path: Path) -> None:
    root, told = repository(tmp_path), tmp_path / "told"
    program = tmp_path / "monitor"
    program.write_text(f"#!/bin/sh\ntouch '{told}'\n")
    program.chmod(0o755)
    run(root, "config", "core.fsmonitor", str(program))
    git.uncommitted(root, (".",))
    assert not told.exists()
