"""Hooks that git itself runs."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.register.served import Served, make_project

from clew.errors import StoreError
from clew.register.git.setup import set_up, take_down

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


def without_clew() -> str:
    """A PATH on which there is no Clew."""
    return os.pathsep.join(each for each in os.environ["PATH"].split(os.pathsep) if not (Path(each) / "clew").exists())


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


def hook(root: Path, name: str = "pre-commit") -> Path:
    return root / ".git" / "hooks" / name


# Verifies: REQ-d00231-E
def test_lines_around_the_managed_ones_stay_and_run(tmp_path: Path, git: Git) -> None:
    served = project(tmp_path)
    assert set_up(tmp_path).ok
    own = (b"#!/bin/bash\nset -euo pipefail\n# caf\xe9\n", b"echo and after >&2  # \r\n")
    block = hook(tmp_path).read_bytes().removeprefix(b"#!/bin/sh\n")
    hook(tmp_path).write_bytes(own[0] + block + own[1])
    hook(tmp_path).chmod(0o750)

    assert set_up(tmp_path, strict=True).ok

    text = hook(tmp_path).read_bytes()
    assert text.startswith(own[0])
    assert text.endswith(own[1])
    assert b"--marker-near-hunks" in text
    assert hook(tmp_path).stat().st_mode & 0o777 == 0o751
    git("add", "--all")
    assert "and after" in git("commit", "-q", "-m", "begin").stderr
    served.write("src/bare.rs", "fn bare() {}\n")
    git("add", "--all")
    assert "and after" not in git("commit", "-q", "-m", "bare", code=1).stderr
    take_down(tmp_path, tmp_path / "project.req")
    assert hook(tmp_path).read_bytes() == own[0] + own[1]
    git("commit", "-q", "-m", "nobody looks")


# Verifies: REQ-d00231-E
def test_a_hook_without_a_mark_at_its_end_is_renewed_and_nothing_in_it_is_lost(tmp_path: Path, git: Git) -> None:
    project(tmp_path)
    assert set_up(tmp_path).ok
    whole = [line for line in hook(tmp_path).read_text().splitlines() if line not in ("(", "set +eu", ") || exit 1")]
    older = "\n".join(line for line in whole if not line.startswith(("# end of clew-hooks", "PATH="))) + "\n"
    hook(tmp_path).write_text(older + "make lint\n")
    hook(tmp_path, "commit-msg").write_text("#!/bin/sh\n# managed-by: req-hooks\nreq validate\ncheck it's\nmake lint\n")
    hook(tmp_path, "post-commit").write_text("#!/bin/sh\n# managed-by: clew-hooks\nmake tags\nclew req review\n")

    report = set_up(tmp_path)

    told = {step.what: step.detail for step in report.steps}
    assert hook(tmp_path).read_text().endswith("lines of your own stay before or after\nmake lint\n")
    assert hook(tmp_path).read_text().count("check . project.req") == 1
    assert "bak-replaced" not in told["pre-commit"]
    for name, line in (("commit-msg", "make lint"), ("post-commit", "make tags")):
        kept = hook(tmp_path, f"{name}.bak-replaced")
        assert str(kept) in told[name]
        assert line in kept.read_text()
    take_down(tmp_path, tmp_path / "project.req")
    assert hook(tmp_path).read_text() == "#!/bin/sh\nmake lint\n"
    assert not hook(tmp_path, "commit-msg").exists()


# Verifies: REQ-d00231-E
def test_a_hook_that_is_a_link_stays_one(tmp_path: Path, git: Git) -> None:
    project(tmp_path)
    assert set_up(tmp_path).ok
    kept = tmp_path / "hooks" / "pre-commit"
    kept.parent.mkdir()
    hook(tmp_path).rename(kept)
    hook(tmp_path).symlink_to(kept)

    assert set_up(tmp_path, strict=True).ok

    assert hook(tmp_path).is_symlink()
    assert "# mode: strict" in kept.read_text()


# Verifies: REQ-d00231-E
def test_two_blocks_of_clew_in_one_hook_become_one(tmp_path: Path, git: Git) -> None:
    project(tmp_path)
    assert set_up(tmp_path).ok
    shebang, _, block = hook(tmp_path).read_text().partition("\n")
    hook(tmp_path).write_text(f"{shebang}\n{block}echo between\n{block}echo after\n")

    assert set_up(tmp_path).ok
    assert hook(tmp_path).read_text() == f"{shebang}\n{block}echo between\necho after\n"

    hook(tmp_path).write_text(f"{shebang}\n{block}echo between\n{block}echo after\n")
    assert take_down(tmp_path, tmp_path / "project.req").ok
    assert hook(tmp_path).read_text() == f"{shebang}\necho between\necho after\n"


# Verifies: REQ-d00231-E
def test_a_place_where_no_hook_can_be_is_named(tmp_path: Path, git: Git) -> None:
    project(tmp_path)
    (tmp_path / "taken").write_text("a file")
    git("config", "core.hooksPath", "taken")
    with pytest.raises(StoreError, match=r"taken/pre-commit cannot be used"):
        set_up(tmp_path)


# Verifies: REQ-d00231-D
def test_the_doctor_sees_that_a_shared_hook_passes_a_project_over(tmp_path: Path, git: Git) -> None:
    one, two = project(tmp_path / "one"), project(tmp_path / "two")
    assert set_up(one.root).ok

    def found() -> dict[str, str]:
        return {check["name"]: check["detail"] for check in two.call("req_doctor")["checks"] if not check["ok"]}

    for name in ("pre-commit", "post-commit", "commit-msg"):
        assert "It checks one/project.req, but not two/project.req." in found()[f"{name} hook"]
    assert set_up(two.root).ok
    assert not found().keys() & {"pre-commit hook", "post-commit hook", "commit-msg hook"}
    if sys.platform != "win32":
        hook(tmp_path).chmod(0o644)
        assert "not executable" in found()["pre-commit hook"]


# Verifies: REQ-d00231-D
def test_lines_are_added_to_files_of_git_in_the_form_of_those_that_are_there(tmp_path: Path, git: Git) -> None:
    project(tmp_path)
    (tmp_path / ".gitattributes").write_bytes(b"*.png binary\r\n*.caf\xe9 text\r\n")
    assert set_up(tmp_path, hooks=False).ok
    assert (tmp_path / ".gitattributes").read_bytes() == (
        b"*.png binary\r\n*.caf\xe9 text\r\n*.req merge=req-merge\r\n*.req -text eol=lf\r\n"
        b"*.req.history merge=union\r\n"
    )


# Verifies: REQ-d00231-F
def test_git_finds_clew_where_the_shell_does_not(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    served = project(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{without_clew()}")
    assert set_up(tmp_path).ok
    monkeypatch.setenv("PATH", without_clew())
    git("add", "--all")
    git("commit", "-q", "-m", "begin")

    def plainly(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(["git", *arguments], cwd=tmp_path, capture_output=True, text=True)

    served.write("src/bare.rs", "fn bare() {}\n")
    plainly("add", "--all")
    assert "- src/bare.rs" in plainly("commit", "-q", "-m", "bare").stderr
    served.write("src/bare.rs", "// REQ-0001\n")
    assert plainly("checkout", "-q", "-b", "side").returncode == 0
    served.add(title="Show our door")
    assert plainly("commit", "-q", "--all", "-m", "ours").returncode == 0
    assert plainly("checkout", "-q", "main").returncode == 0
    served.add(title="Show their door")
    assert plainly("commit", "-q", "--all", "-m", "theirs").returncode == 0
    merged = plainly("merge", "side", "-m", "both")
    assert merged.returncode == 0, merged.stdout + merged.stderr
    assert served.call("req_list")["count"] == 3
    assert driver_check(served)["ok"]
    git("config", "merge.req-merge.driver", "nowhere req merge-driver %O %A %B --path %P")
    assert not driver_check(served)["ok"]
    assert "nowhere" in driver_check(served)["detail"]


# Verifies: REQ-d00231-F
def test_a_hook_that_everybody_shares_names_no_folder_of_one_machine(tmp_path: Path, git: Git) -> None:
    project(tmp_path)
    git("config", "core.hooksPath", "shared-hooks")
    (tmp_path / "shared-hooks").mkdir()
    assert set_up(tmp_path).ok
    assert str(Path(sys.executable).parent) not in (tmp_path / "shared-hooks/pre-commit").read_text()


# Verifies: REQ-d00231-F
def test_a_hook_that_leads_to_a_shared_file_names_no_folder_of_one_machine(
    tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", without_clew())
    project(tmp_path)
    assert set_up(tmp_path).ok
    shared = tmp_path / "shared" / "pre-commit"
    shared.parent.mkdir()
    assert str(Path(sys.executable).parent) in hook(tmp_path).read_text()
    hook(tmp_path).rename(shared)
    hook(tmp_path).symlink_to(shared)

    assert set_up(tmp_path).ok

    assert str(Path(sys.executable).parent) not in shared.read_text()


# Verifies: REQ-d00231-F
def test_a_folder_of_git_may_have_any_name(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", without_clew())
    git("init", "-q", "--separate-git-dir", str(tmp_path / "kept.elsewhere"))
    project(tmp_path)
    assert set_up(tmp_path).ok
    assert str(Path(sys.executable).parent) in (tmp_path / "kept.elsewhere/hooks/pre-commit").read_text()


# Verifies: REQ-d00231-D+F
@pytest.mark.skipif(sys.platform == "win32", reason="git is led to Clew by its name there")
def test_clew_may_lie_in_a_folder_of_any_name(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", without_clew())
    served = project(tmp_path)
    program = tmp_path.parent / f"{tmp_path.name} it's 100%A of $HOME" / "clew"
    program.parent.mkdir()
    program.symlink_to(Path(sys.executable).with_name("clew"))
    subprocess.run([program, "req", "setup", "-C", tmp_path], check=True, capture_output=True)
    git("add", "--all")
    git("commit", "-q", "--no-verify", "-m", "begin")
    git("checkout", "-q", "-b", "side")
    served.add(title="Show our door")
    git("commit", "-q", "--no-verify", "--all", "-m", "ours")
    git("checkout", "-q", "main")
    served.add(title="Show their door")
    git("commit", "-q", "--no-verify", "--all", "-m", "theirs")

    merging = ["git", "merge", "--no-verify", "side", "-m", "both"]
    merged = subprocess.run(merging, cwd=tmp_path, capture_output=True, text=True)

    assert merged.returncode == 0, merged.stdout + merged.stderr
    assert served.call("req_list")["count"] == 3
    assert driver_check(served)["ok"]


# Verifies: REQ-d00231-G
def test_nothing_is_written_through_a_link_that_leads_out_of_the_clone(tmp_path: Path) -> None:
    clone, home = tmp_path / "clone", tmp_path / "home"
    make_project(clone)
    home.mkdir()
    (clone / ".claude").symlink_to(home)
    for name in ("AGENTS.md", ".gitignore", ".gitattributes", ".mcp.json"):
        (clone / name).unlink(missing_ok=True)
        (home / name).write_text("mine\n")
        (clone / name).symlink_to(home / name)
    before = {file.name: file.read_bytes() for file in home.iterdir()}

    def clew(*arguments: str) -> "subprocess.CompletedProcess[str]":
        program = Path(sys.executable).with_name("clew")
        return subprocess.run([program, "req", *arguments], cwd=clone, capture_output=True, text=True)

    steps = {step["what"]: step for step in json.loads(clew("setup", "--claude-code", "--json").stdout)["steps"]}
    for name in ("AGENTS.md", ".gitignore", ".gitattributes", ".claude/settings.json"):
        assert not steps[name]["done"]
        assert "outside the project" in steps[name]["detail"]
    (home / ".mcp.json").write_text("{}")
    before[".mcp.json"] = b"{}"
    for refused in (("help", "--install"), ("mcp", "--init-config")):
        assert "outside the project" in clew(*refused).stderr
    assert {file.name: file.read_bytes() for file in home.iterdir()} == before
    # What the user names is the user's choice.
    assert clew("help", "--install", "--path", "../home/notes.md").returncode == 0
    assert (home / "notes.md").exists()


# Verifies: REQ-d00231-D
def test_the_doctor_reads_a_merge_driver_as_git_does(tmp_path: Path, git: Git) -> None:
    served = project(tmp_path)
    program = tmp_path / "my tools" / "clew"
    program.parent.mkdir()
    program.symlink_to(Path(sys.executable).with_name("clew"))
    arguments = "req merge-driver %O %A %B"
    for works in (f"'{program}' {arguments}", f"LANG=C PATH='{program.parent}' clew {arguments}"):
        git("config", "merge.req-merge.driver", works)
        assert driver_check(served)["ok"], works
    for fails in (f"'{program} {arguments}", f"PATH={tmp_path}:/nowhere clew {arguments}", "LANG=C"):
        git("config", "merge.req-merge.driver", fails)
        assert not driver_check(served)["ok"], fails


# Verifies: REQ-d00231-D
def test_the_doctor_sees_that_a_hook_finds_no_clew(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    served = project(tmp_path)
    git("config", "core.hooksPath", "shared-hooks")
    for path, expected in ((str(Path(sys.executable).parent), True), (without_clew(), False)):
        monkeypatch.setenv("PATH", f"{path}{os.pathsep}{without_clew()}")
        assert set_up(tmp_path).ok
        checks = {check["name"]: check for check in served.call("req_doctor")["checks"]}
        for name in ("pre-commit hook", "post-commit hook", "commit-msg hook"):
            assert (checks[name]["ok"], "finds no clew" in checks[name]["detail"]) == (expected, not expected)


def driver_check(served: Served) -> dict[str, Any]:
    return next(check for check in served.call("req_doctor")["checks"] if check["name"] == "merge driver")


# Verifies: REQ-d00231-D
def test_the_doctor_looks_at_the_lines_of_clew_in_a_hook_not_at_those_of_others(tmp_path: Path, git: Git) -> None:
    served = project(tmp_path)
    assert set_up(tmp_path).ok
    own = hook(tmp_path).read_text()
    hook(tmp_path).write_text(own.replace("#!/bin/sh\n", "#!/bin/sh\nPATH=/opt/tools:$PATH\n", 1))
    checks = {check["name"]: check for check in served.call("req_doctor")["checks"]}
    assert checks["pre-commit hook"]["ok"]
