"""Hooks that git itself runs."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.register.served import Served, make_project

from clew.register.setup import set_up, take_down

Git = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Runs git in a repository whose hooks find Clew."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def run(*arguments: str, code: int = 0) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(["git", *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    for arguments in (("init", "-q", "-b", "main"), ("config", "user.name", "Ann"), ("config", "user.email", "a@b.c")):
        run(*arguments)
    return run


def project(root: Path) -> Served:
    made = make_project(root, git=False)
    made.add()
    made.write("src/kept.rs", "// REQ-0001\nfn kept() {}\n")
    return made


# Verifies: REQ-d00231-A
def test_a_gate_sees_what_the_commit_will_hold(tmp_path: Path, git: Git) -> None:
    served = project(tmp_path)
    served.write("src/bare.rs", "fn bare() {}\n")
    git("add", "--all")
    git("commit", "-q", "-m", "begin")
    assert set_up(tmp_path).ok
    served.write("src/bare.rs", "fn bare() { more() }\n")

    for command in (("--all",), ("src/bare.rs",)):
        refused = git("commit", "-q", "-m", "bare", *command, code=1)
        assert "- src/bare.rs" in refused.stderr
    served.write("src/bare.rs", "// REQ-0001\nfn bare() { more() }\n")
    accepted = git("commit", "-q", "--all", "-m", "marked")
    assert "Requirements since" not in accepted.stdout + accepted.stderr


# Verifies: REQ-d00231-B
def test_the_register_is_judged_as_it_is_staged(tmp_path: Path, git: Git) -> None:
    served = project(tmp_path)
    git("add", "--all")
    git("commit", "-q", "-m", "begin")
    assert set_up(tmp_path).ok
    sound = (tmp_path / "project.req").read_bytes()
    (tmp_path / "project.req").write_bytes(sound.replace(b"Guessing", b"Guesswork"))
    git("add", "--all")
    (tmp_path / "project.req").write_bytes(sound)
    assert served.call("req_validate")["errors"] == 0

    assert "integrity check failed" in git("commit", "-q", "-m", "edited by hand", code=1).stderr

    served.add(title="Only in the work tree")
    git("reset", "-q")
    assert served.call("req_review", staged=True)["added"] == []
    git("add", "--all")
    assert served.call("req_review", staged=True)["added"] == ["REQ-0002"]


# Verifies: REQ-d00231-C
def test_projects_below_the_top_share_the_hooks(tmp_path: Path, git: Git) -> None:
    one, two = project(tmp_path / "one"), project(tmp_path / "it's two")
    for served in (one, two):
        assert set_up(served.root).ok
    git("add", "--all")
    git("commit", "-q", "--no-verify", "-m", "begin")
    two.write("src/bare.rs", "fn bare() {}\n")
    git("add", "--all")
    assert "- src/bare.rs" in git("commit", "-q", "-m", "bare", code=1).stderr

    take_down(two.root, two.root / "project.req")
    two.write("src/bare.rs", "fn bare() { more() }\n")
    git("commit", "-q", "--all", "-m", "nobody looks")
    take_down(one.root, one.root / "project.req")
    assert not (tmp_path / ".git" / "hooks" / "pre-commit").exists()


# Verifies: REQ-d00231-C
def test_a_branch_without_a_register_can_be_committed_to(tmp_path: Path, git: Git) -> None:
    served = project(tmp_path)
    assert set_up(tmp_path).ok
    git("checkout", "-q", "--orphan", "pages")
    (tmp_path / "project.req").unlink()
    shutil.rmtree(tmp_path / "src")
    served.write("index.rs", "fn page() {}\n")
    git("add", "--all")
    git("commit", "-q", "-m", "No register, no REQ-0099")


# Verifies: REQ-d00231-D
def test_the_lock_is_kept_out_of_git_and_the_doctor_looks_at_every_hook(tmp_path: Path, git: Git) -> None:
    served = project(tmp_path)
    (tmp_path / ".gitignore").write_text("*.log")
    set_up(tmp_path)
    set_up(tmp_path)

    assert (tmp_path / ".gitignore").read_text() == "*.log\n.*.req.lock\n"
    assert ".project.req.lock" not in git("status", "--porcelain", "--untracked-files=all").stdout
    hooks = tmp_path / ".git" / "hooks"
    (hooks / "commit-msg").unlink()
    (hooks / "post-commit").write_text("#!/bin/sh\n")
    (tmp_path / ".gitignore").unlink()
    checks = {check["name"]: (check["ok"], check["advisory"]) for check in served.call("req_doctor")["checks"]}
    for name in ("commit-msg hook", "post-commit hook", "lock file"):
        assert checks[name] == (False, True)
