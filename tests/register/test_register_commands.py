"""Commands of `clew req` on code, evidence and git."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests import forked
from tests.register.shell import ADD, Shell


@pytest.fixture
def repository(shell: Shell, tmp_path: Path) -> Path:
    """The register in a repository with one commit."""
    (tmp_path / ".gitignore").write_text(".clew/\n.*.req.lock\n")
    for arguments in (("init", "-q", "-b", "main"), ("config", "user.name", "Ann"), ("config", "user.email", "a@b.c")):
        git(tmp_path, *arguments)
    shell.run("add", *ADD)
    shell.run("add", *ADD)
    commit(tmp_path)
    return tmp_path


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "-q", "--no-verify", "-m", "work")


# Verifies: REQ-d00171-A
def test_every_command_of_req_is_there() -> None:
    from clew.surfaces.cli.resolve import commands_of

    wanted = """
        init add list show update delete link validate status next check diff stale audit test verify batch import
        export schema migrate version doctor coverage review split lint brief repair renumber hooks setup precheck
        purpose adopt help tui serve mcp
    """
    assert set(wanted.split()) <= {(listed.verb or "").split()[1] for listed in commands_of("req")}


# Verifies: REQ-d00171-A
def test_what_concerns_no_register_in_particular_works_beside_several(shell: Shell, tmp_path: Path) -> None:
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "project.req").write_bytes((tmp_path / "project.req").read_bytes())
    (tmp_path / "project.req").unlink()
    assert "2 registers: one/project.req, other/project.req" in shell.run("list", code=2)
    assert shell.json("version")["file_format"] == "req-v3"
    assert shell.json("schema", "batch")["$id"].endswith(":batch")
    assert "best-practice" in shell.run("help")


# Verifies: REQ-d00171-B
def test_adopting_walks_every_step_and_can_be_tried_first(shell: Shell, tmp_path: Path) -> None:
    shell.run("add", *ADD)
    shell.run("add", *ADD)
    shell.run("update", "2", "--status", "approved")
    before = (tmp_path / "project.req").read_bytes()
    tried = shell.json("adopt", "--all-drafts", "--to", "verified", "--reason", "it runs", "--dry-run")
    assert tried["adopted"] == [{"id": "REQ-0001", "hops": ["proposed", "approved", "implemented", "verified"]}]
    assert (tmp_path / "project.req").read_bytes() == before
    shell.run("adopt", "1", "2", "--to", "verified", "--reason", "it runs")
    first = shell.json("show", "1")
    assert first["status"] == "Verified"
    assert [entry["action"] for entry in first["history"][1:5]] == [
        *("adopt → proposed", "adopt → approved", "adopt → implemented", "adopt → verified"),
    ]
    assert (first["tests"][0]["kind"], first["tests"][0]["outcome"]) == ("Inspection", "Pass")
    assert "as far already" in shell.run("adopt", "1", "--reason", "again")
    assert shell.json("validate")["errors"] == 0
    shell.run("retire", "2")
    assert shell.json("adopt", "2", "--reason", "r", code=2)["code"] == "REQ-E-INVALID-INPUT"
    assert shell.json("adopt", "--reason", "r", code=2)["code"] == "REQ-E-INVALID-INPUT"
    assert shell.json("adopt", "9", "--reason", "r", code=1)["code"] == "REQ-E-NOT-FOUND"


# Verifies: REQ-d00171-C
def test_clashing_ids_are_renumbered_and_their_markers_named_and_rewritten(shell: Shell, repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "other")
    shell.run("add", *ADD[:1], "From the other branch", *ADD[2:])
    commit(repository)
    git(repository, "checkout", "-q", "main")
    shell.run("add", *ADD[:1], "From this branch", *ADD[2:], "--parent", "1")
    shell.run("add", *ADD[:1], "A child of it", *ADD[2:], "--parent", "3")
    shell.run("update", "1", "-t", "Only reworded")
    (repository / "src").mkdir()
    code = repository / "src" / "a.py"
    code.write_text("# REQ-0003 and REQ-0001\nx = 'REQ-0003'\ndef test_req_0003(): pass\n")
    tried = shell.json("renumber", "--base", "other", "--dry-run")
    assert tried["renumbered"] == {"REQ-0003": "REQ-0005"}
    assert shell.json("show", "3")["title"] == "From this branch"
    done = shell.json("renumber", "--base", "other")
    assert done["markers"] == {"REQ-0003": ["src/a.py:1"]}
    assert shell.json("show", "5")["history"][-1]["action"] == "renumbered from REQ-0003 (merge with base)"
    assert shell.json("show", "4")["links"] == [{"kind": "Parent", "target": "REQ-0005"}]
    assert shell.json("show", "3", code=1)["code"] == "REQ-E-NOT-FOUND"
    assert "No id means two" in shell.run("renumber", "--base", "other")
    assert shell.json("renumber", "--base", "nowhere", code=2)["code"] == "REQ-E-INVALID-INPUT"

    before = code.read_text()
    assert shell.json("coverage", "--remap", "3=5")["changes"] == [
        {"file": "src/a.py", "line": 1, "old": "REQ-0003", "new": "REQ-0005"}
    ]
    assert code.read_text() == before
    assert "1 place rewritten" in shell.run("coverage", "--remap", "REQ-0003=REQ-0005", "--apply")
    assert code.read_text() == before.replace("# REQ-0003", "# REQ-0005")
    for pair in ("3", "3=99", "x=5"):
        assert shell.json("coverage", "--remap", pair, code=2)["code"] == "REQ-E-INVALID-INPUT", pair
    assert shell.json("coverage", "--apply", code=2)["code"] == "REQ-E-INVALID-INPUT"


# Verifies: REQ-d00171-A
def test_coverage_by_requirement_and_review_in_one_line_each(shell: Shell, repository: Path) -> None:
    (repository / "src").mkdir()
    (repository / "src" / "a.py").write_text("# REQ-0001\nx = 1\n")
    assert shell.json("coverage", "--by-req") == {"REQ-0001": ["src/a.py:1"]}
    assert "REQ-0001" in shell.run("coverage", "--by-req")
    assert "REQ-0001 (draft) Lock the account: clew req update REQ-0001" in shell.run("review", "--summary")
    assert shell.json("review", "--summary")["coverage"]["referenced"] == ["REQ-0001"]
    for number in range(3, 9):
        shell.run("add", *ADD[:1], f"Requirement number {number}", *ADD[2:])
    assert "and 4 more requirements" in shell.run("review", "--summary")


# Verifies: REQ-d00171-A
def test_a_review_in_lines_names_what_was_removed(shell: Shell, repository: Path) -> None:
    before = (repository / "project.req").read_bytes()
    added = shell.json("add", *ADD[:1], "Requirement to lose", *ADD[2:])["id"]
    commit(repository)
    (repository / "project.req").write_bytes(before)
    assert f"{added} was removed from the register" in shell.run("review", "--base", "HEAD", "--summary")


# Verifies: REQ-d00171-D
def test_a_strict_review_wants_a_marker_near_every_change(shell: Shell, repository: Path) -> None:
    (repository / "src").mkdir()
    code = repository / "src" / "a.py"
    code.write_text("# REQ-0001\n" + "x = 1\n" * 200)
    commit(repository)
    code.write_text("# REQ-0001\ny = 2\n" + "x = 1\n" * 198 + "z = 3\n")
    far = shell.json("review", "--base", "HEAD", "--marker-near-hunks", "50", "--gate", code=1)
    assert far["coverage"]["hunks_without_marker"] == ["src/a.py:201"]
    assert far["failures"] == ["1 changed place without a marker near it"]
    assert shell.json("review", "--base", "HEAD", "--gate")["coverage"]["hunks_without_marker"] == []
    git(repository, "add", "--all")
    staged = shell.json("review", "--staged", "--marker-near-hunks", "50", "--gate", code=1)
    assert staged["coverage"]["hunks_without_marker"] == ["src/a.py:201"]
    assert shell.json("review", "--marker-near-hunks", "-1", code=2)["code"] == "REQ-E-INVALID-INPUT"
    assert shell.json("review", "--base", "HEAD", "--ext", "rs")["coverage"]["changed_files"] == []
    code.unlink()
    assert shell.json("review", "--base", "HEAD", "--gate")["ok"]


# Verifies: REQ-d00171-E
def test_a_command_is_run_for_its_log_and_a_map_names_its_tests(shell: Shell, repository: Path) -> None:
    (repository / "tests.sh").write_text(
        "echo 'test req_0001_locks ... ok'\necho 'PASS  login is refused'\necho 'login mails FAILED'\nexit 1\n"
    )
    (repository / "map.json").write_text(json.dumps({"login is refused": ["2"], "login mails": ["REQ-0002"]}))
    found = shell.json("test", "run", "--cmd", "sh tests.sh", "--map", "map.json")
    rows = {row["req_id"]: (row["outcome"], row["passed"], row["failed"]) for row in found["results"]}
    assert rows == {"REQ-0001": ("pass", 1, 0), "REQ-0002": ("fail", 1, 1)}
    assert shell.json("test", "list", "2")[0]["outcome"] == "Fail"
    assert shell.json("test", "run", code=2)["code"] == "REQ-E-INVALID-INPUT"
    assert shell.json("test", "run", "--cmd", "no-such-program", code=2)["code"] == "REQ-E-INVALID-INPUT"
    (repository / "bad.json").write_text("[1]")
    bad = shell.json("test", "run", "--cmd", "true", "--map", "bad.json", code=2)
    assert bad["code"] == "REQ-E-INVALID-INPUT"


# Verifies: REQ-d00171-A
def test_precheck_does_step_after_step_and_stops_at_the_first_that_fails(shell: Shell, repository: Path) -> None:
    passed = shell.json("precheck", "--base", "HEAD")
    assert {step["name"]: step["state"] for step in passed["steps"]} == {
        **dict.fromkeys(("fmt", "clippy", "test"), "skipped"),
        **dict.fromkeys(("validate", "coverage", "review"), "ok"),
    }
    (repository / "ghost.py").write_text("# REQ-0099\n")
    failed = shell.json("precheck", "--base", "HEAD", code=1)
    assert [step["state"] for step in failed["steps"][3:]] == ["ok", "FAILED", "skipped"]
    going = shell.json("precheck", "--base", "HEAD", "--keep-going", "--skip", "validate", code=1)
    assert [step["state"] for step in going["steps"][3:]] == ["skipped", "FAILED", "FAILED"]
    assert "ghosts" in shell.run("precheck", code=1)


# Verifies: REQ-d00171-F
def test_hooks_stay_strict_check_messages_and_come_off_again(shell: Shell, repository: Path) -> None:
    shell.run("hooks", "install", "--strict")
    hook = repository / ".git" / "hooks" / "pre-commit"
    assert "--marker-near-hunks 50" in hook.read_text()
    shell.run("setup")
    assert "mode: strict" in hook.read_text()
    shell.run("hooks", "install", "--no-strict")
    assert "mode: default" in hook.read_text()
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def committed(message: str) -> "subprocess.CompletedProcess[str]":
        command = ["git", "commit", "--allow-empty", "-m", message]
        return subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True)

    refused = committed("Serve REQ-0003")
    assert refused.returncode == 1
    assert "There is no requirement REQ-0003. Did you mean REQ-0002?" in refused.stdout + refused.stderr
    accepted = committed("Serve REQ-0002")
    assert accepted.returncode == 0, accepted.stderr
    shell.run("hooks", "uninstall")
    assert not any((repository / ".git" / "hooks" / name).exists() for name in ("pre-commit", "commit-msg"))


# Verifies: REQ-d00171-F
def test_setup_works_in_worktrees_and_leaves_foreign_hooks_alone(shell: Shell, repository: Path) -> None:
    foreign = repository / ".git" / "hooks" / "commit-msg"
    foreign.parent.mkdir(exist_ok=True)
    foreign.write_text("#!/bin/sh\nexit 0\n")
    tree = repository.parent / "tree"
    git(repository, "worktree", "add", "-q", str(tree))
    report = shell.json("setup", "-C", str(tree), code=1)
    states = {step["what"]: step["done"] for step in report["steps"]}
    assert states["pre-commit"]
    assert not states["commit-msg"]
    assert foreign.read_text() == "#!/bin/sh\nexit 0\n"
    assert (repository / ".git" / "hooks" / "pre-commit").exists()
    assert (tree / "AGENTS.md").exists()


# Verifies: REQ-d00171-F
def test_the_block_for_agents_is_renewed_and_nothing_around_it_changes(shell: Shell, tmp_path: Path) -> None:
    agents = tmp_path / "AGENTS.md"
    agents.write_text("# Ours\n\nKeep this.")
    assert shell.json("help", "agents", "--install")["changed"]
    text = agents.read_text()
    assert text.startswith("# Ours\n\nKeep this.\n\n<!-- req:help:agents:begin -->\n")
    agents.write_text(text.replace("req_", "old_") + "\nAnd this.\n")
    shell.run("help", "--install")
    assert agents.read_text() == text + "\nAnd this.\n"
    assert not shell.json("help", "--install")["changed"]
    assert shell.json("help", "nothing", "--install", code=1)["code"] == "REQ-E-NOT-FOUND"


# Verifies: REQ-d00171-F
def test_a_file_of_agents_keeps_its_line_ends_and_stays_a_link(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_bytes(b"# Ours\r\n\r\nKeep this.\r\n")
    (tmp_path / "AGENTS.md").symlink_to("CLAUDE.md")
    assert shell.json("help", "agents", "--install")["changed"]
    text = (tmp_path / "CLAUDE.md").read_bytes()
    assert (tmp_path / "AGENTS.md").is_symlink()
    assert text.startswith(b"# Ours\r\n\r\nKeep this.\r\n\r\n<!-- req:help:agents:begin -->\r\n")
    assert text.count(b"\n") == text.count(b"\r\n")
    assert not shell.json("help", "--install")["changed"]


# Verifies: REQ-d00171-A
def test_setup_makes_a_register_where_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, "init", "-q")
    monkeypatch.chdir(tmp_path)
    fresh = Shell(capsys)
    fresh.run("setup", "-n", "fresh", "--no-agents")
    assert fresh.json("status")["project"] == "fresh"
    assert not (tmp_path / "AGENTS.md").exists()
    assert fresh.json("doctor")["ok"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
# Verifies: REQ-d00171-A
def test_on_a_terminal_a_new_requirement_is_asked_for(shell: Shell, tmp_path: Path) -> None:
    import pty

    assert shell.json("add", "-i", code=2)["code"] == "REQ-E-INVALID-INPUT"
    answers = [ADD[1], "", ADD[3], ADD[5], "", "must", ADD[7], ""]
    leader, follower = pty.openpty()
    with os.fdopen(leader, "wb", buffering=0) as terminal:
        asking = forked.Process(
            [sys.executable, "-m", "clew", "req", "add"],
            cwd=tmp_path,
            stdin=follower,
            stdout=subprocess.PIPE,
            text=True,
        )
        os.close(follower)
        terminal.write("".join(f"{answer}\n" for answer in answers).encode())
        shown, _ = asking.communicate(timeout=120)
    assert "Added REQ-0001." in shown
    made = shell.json("show", "1")
    assert (made["title"], made["priority"], made["acceptance"]) == (ADD[1], "Must", [ADD[7]])
