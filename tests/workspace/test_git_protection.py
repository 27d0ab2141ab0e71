"""What a repository cannot make git do. tests/attack/repository.py tries every way at once."""

import os
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.mcp_client import McpClient

from clew.config import load
from clew.errors import Refused, Unavailable
from clew.project import Project
from clew.register.git.repository import Repository
from clew.surfaces.cli.main import main
from clew.workspace.git import api as git
from clew.workspace.git import run as git_run
from clew.workspace.git.run import run as run_git

SPEC = "## REQ-d00001: One\n\n**Level**: DEV | **Status**: Active\n\nIt SHALL {}.\n\n*End* *One*\n"


def run(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "spec").mkdir(parents=True)
    (root / "spec" / "a.md").write_text(SPEC.format("work"), encoding="utf-8")
    (root / "clew.toml").touch()
    run(root, "init", "-q", "-b", "main")
    run(root, "add", ".")
    run(root, "commit", "-qm", "first")
    return root


def filtered(root: Path) -> None:
    """Give the spec a filter, and change it."""
    (root / ".gitattributes").write_text("*.md filter=lfs\n", encoding="utf-8")
    run(root, "config", "filter.lfs.clean", "false")
    (root / "spec" / "a.md").write_text(SPEC.format("work well"), encoding="utf-8")


# Verifies: REQ-d00260-D
def test_files_with_a_filter_are_named_as_not_compared(root: Path) -> None:
    filtered(root)
    changed = git.uncommitted(root, ("spec",))
    assert changed == git.ChangedLines({}, ("spec/a.md",))
    project = Project.open(root)
    try:
        with McpClient(project) as client:
            changes = client("get_project_summary")["changes"]
    finally:
        project.close()
    assert changes["uncommitted"] == 0
    assert "spec/a.md" in changes["note"]


# Verifies: REQ-d00260-D
def test_the_changes_of_a_project_name_what_was_not_compared(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filtered(root)
    assert main(["changed", str(root)]) == 0
    assert "spec/a.md" in capsys.readouterr().out


# Verifies: REQ-d00260-D
def test_a_filter_without_a_program_changes_nothing_about_a_comparison(root: Path) -> None:
    filtered(root)
    run(root, "config", "--unset", "filter.lfs.clean")
    changed = git.uncommitted(root, ("spec",))
    assert changed is not None
    assert changed.not_compared == ()
    assert list(changed.ranges) == ["spec/a.md"]


# Verifies: REQ-d00260-D
def test_what_has_a_filter_is_not_staged(root: Path) -> None:
    (root / ".gitattributes").write_text("register/* filter=lfs\n", encoding="utf-8")
    (root / "register").mkdir()
    (root / "register" / "one.req").write_text("x", encoding="utf-8")
    with pytest.raises(Refused, match=r"'register/one\.req' has the git filter 'lfs'"):
        Repository(root).add("register")
    assert run(root, "diff", "--cached", "--name-only") == ""


# Verifies: REQ-d00260-D
def test_what_has_a_filter_is_not_restored(root: Path) -> None:
    project = Project.open(root)
    try:
        with McpClient(project) as client:
            options = {"req_id": "REQ-d00001", "target_file": "spec/b.md", "save_branch": True}
            branch = client("move_requirement", **options)["safety_branch"]
            (root / ".gitattributes").write_text("spec/a.md filter=lfs\n", encoding="utf-8")
            before = (root / "spec" / "b.md").read_bytes()
            refused = client.result("restore_from_safety_branch", branch_name=branch)
    finally:
        project.close()
    assert refused.is_error
    assert "'spec/a.md' has the git filter 'lfs'" in refused.text
    assert (root / "spec" / "b.md").read_bytes() == before


# Verifies: REQ-d00260-B
def test_a_repository_does_not_choose_its_work_tree(root: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run(root, "config", "core.worktree", str(elsewhere))
    assert git.toplevel(root) == root.resolve()
    assert git.uncommitted(root, ("spec",)) == git.ChangedLines({})


# Verifies: REQ-d00260-B
def test_a_folder_that_looks_like_a_bare_repository_is_not_one(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = root / "bare"
    run(root, "init", "-q", "--bare", str(bare))
    (bare / "clew.toml").touch()
    with pytest.raises(Refused, match="looks like a bare git repository"):
        git.command(bare, "status")
    assert git.toplevel(bare) is None
    assert main(["doctor", str(bare)]) == 1
    assert "looks like a bare git repository" in capsys.readouterr().out


# Verifies: REQ-d00260-C
def test_an_old_git_is_refused(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / "git").write_text("#!/bin/sh\necho git version 2.33.8\n", encoding="utf-8")
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(Unavailable, match=r"2\.33\.8.*needs git 2\.34") as caught:
        git.command(root, "status")
    assert "2.34" in caught.value.hint
    assert git.branch(root) is None
    assert main(["doctor", str(root)]) == 1
    assert "2.33.8" in capsys.readouterr().out


# Verifies: REQ-d00260-E
@pytest.mark.parametrize("revision", ["--output=x", "-p", "", "a\0b", "no-such-branch", "HEAD^{tree}"])
def test_what_is_no_revision_does_not_reach_another_command(root: Path, revision: str) -> None:
    assert git.commit_of(root, revision) is None
    assert git.changed_since(root, revision, ("spec",)) is None
    assert sorted(each.name for each in root.iterdir()) == [".git", "clew.toml", "spec"]


# Verifies: REQ-d00260-E
def test_a_path_is_what_it_is_however_it_is_written(root: Path) -> None:
    odd = ":(top)*.md"
    (root / odd).write_text("x\n", encoding="utf-8")
    assert git.ignored(root, [odd]) == frozenset()
    (root / ".gitignore").write_text(f"/{odd.replace('*', chr(92) + '*')}\n", encoding="utf-8")
    assert git.ignored(root, [odd, "spec/a.md"]) == {odd}
    Repository(root).add("spec")
    assert git.command(root, "ls-files", "-z", "--", "*.md") == b""


# Verifies: REQ-d00260-F
def test_the_users_own_settings_hold_where_the_repository_says_otherwise(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Ada\n[gpg]\n\tprogram = mygpg\n", encoding="utf-8")
    run(root, "config", "gpg.openpgp.program", "evil")
    run(root, "config", "gpg.ssh.program", "evil")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    values = {
        key: run_git(root, "config", "--get", key).output.decode().strip()
        for key in ("user.name", "gpg.program", "gpg.openpgp.program", "gpg.ssh.program")
    }
    assert values == {
        "user.name": "Ada",
        "gpg.program": "mygpg",
        "gpg.openpgp.program": "mygpg",
        "gpg.ssh.program": "ssh-keygen",
    }


# Verifies: REQ-d00260-A
def test_a_filter_that_is_configured_later_is_switched_off_too(root: Path, tmp_path: Path) -> None:
    told = tmp_path / "told"
    assert git.uncommitted(root, ("spec",)) == git.ChangedLines({})
    filtered(root)
    run(root, "config", "filter.lfs.clean", f"touch '{told}'")
    git.uncommitted(root, ("spec",))
    assert not told.exists()


# Verifies: REQ-d00260-A
def test_the_folder_of_hooks_is_the_users_although_no_hook_runs(root: Path) -> None:
    assert git.hooks_folder(root) == root.resolve() / ".git" / "hooks"
    run(root, "config", "core.hooksPath", "tools/hooks")
    assert git.hooks_folder(root) == root.resolve() / "tools" / "hooks"


# Verifies: REQ-d00260-A
def test_a_command_that_nobody_looked_through_is_not_run(root: Path) -> None:
    assert load(root).root == root.resolve()
    with pytest.raises(Unavailable, match="does not run `git push`"):
        git.command(root, "push")


# Verifies: REQ-d00269-A
def test_a_git_that_hangs_in_one_repository_keeps_no_other_waiting(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    run(other, "init", "-q")
    start, hangs, goes_on = git_run._start, threading.Event(), threading.Event()

    def started(folder: Path, *rest: Any) -> git_run.Result:
        if folder == root:
            hangs.set()
            assert goes_on.wait(120)
        return start(folder, *rest)

    monkeypatch.setattr(git_run, "_start", started)
    with ThreadPoolExecutor(2) as threads:
        slow = threads.submit(run_git, root, "rev-parse", "--git-dir")
        try:
            assert hangs.wait(120)
            assert threads.submit(run_git, other, "rev-parse", "--git-dir").result(120).code == 0
        finally:
            goes_on.set()
        assert slow.result(120).code == 0
