"""A folder whose `.git` leads to a repository that does not know the folder."""

import json
import os
import sys
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError
from tests import forked
from tests.attack.elsewhere import WAYS, clew, faults, make_private, unpack
from tests.attack.elsewhere import git as git_runs
from tests.mcp_client import McpClient, Options

from clew.memory.hooks import address
from clew.project import Project
from clew.surfaces.cli.main import main
from clew.workspace.git import api as git
from clew.workspace.git.find import find_work_tree


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without settings, who trusts nothing."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture
def private(tmp_path: Path) -> Path:
    return make_private(tmp_path / "private")


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def unpacked(request: pytest.FixtureRequest, tmp_path: Path, private: Path) -> Path:
    return unpack(tmp_path / "unpacked", private, request.param)


# Verifies: REQ-d00636-A
def test_no_command_shows_or_writes_what_is_in_the_other_repository(
    unpacked: Path, private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_HOOK_SECONDS", "60")
    assert list(faults(unpacked, private, "unpacked")) == []


# Verifies: REQ-d00636-A
def test_what_is_refused_says_how_to_allow_it(unpacked: Path) -> None:
    for words in (("recall", "vault"), ("remember", "Something")):
        code, text = clew(*words, "-C", str(unpacked))
        assert code == 2, text
        assert "`clew trust --grant repository`" in " ".join(text.split())
    assert "does not name this folder" in (git.problem(unpacked) or "")


# Verifies: REQ-d00636-A
def test_a_server_shows_and_writes_nothing_of_the_other_repository(unpacked: Path, private: Path) -> None:
    memory = private / ".git" / "clew" / "memory.db"
    before = memory.read_bytes()
    project = Project.open(unpacked)
    try:
        with McpClient(project, Options(toolsets=("all",))) as client:
            for tool, arguments in (
                ("search_graph", {"query": "marmalade"}),
                ("inject_context", {"query": "how does the vault open"}),
                ("store_memory", {"content": "Something", "rationale": "why not"}),
                ("why", {"target": "HEAD"}),
                ("get_workspace_info", {}),
            ):
                try:
                    text = client.result(tool, **arguments).text
                except MCPError as error:
                    text = str(error)
                assert "The vault opens" not in text
                assert "flowerpot" not in text
            assert any("clew trust --grant repository" in note or "does not name" in note for note in project.notes())
    finally:
        project.close()
    assert memory.read_bytes() == before


# Verifies: REQ-d00636-A
def test_a_hook_neither_shows_nor_keeps_anything_there(unpacked: Path, private: Path) -> None:
    event = {"session_id": "s", "cwd": str(unpacked), "prompt": "the vault in key.md opens with a word"}
    done = forked.run(
        [sys.executable, "-m", "clew", "hook", "UserPromptSubmit", "--host", "claude-code"],
        input=json.dumps(event),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CLEW_HOOK_SECONDS": "60"},
    )
    assert done.returncode == 0
    assert "marmalade" not in done.stdout
    assert address.spools(str(unpacked)) == [str(unpacked / ".clew" / address.SPOOL)]
    assert not list((private / ".git" / "clew").glob("*spool*"))


# Verifies: REQ-d00636-B
def test_it_is_allowed_by_a_grant_for_the_place_where_it_leads(
    unpacked: Path, private: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trust", str(unpacked), "--grant", "repository", "--yes"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert str(private / ".git") in shown
    assert find_work_tree(unpacked) is not None
    if (unpacked / ".git" / "clew").is_symlink():
        # The repository may be used now; a folder of Clew's own is opened through no link even then.
        assert main(["why", "HEAD", "-C", str(unpacked)]) == 0
        assert main(["recall", "vault", "-C", str(unpacked)]) == 2
        assert "it is a link" in " ".join(capsys.readouterr().err.split())
    else:
        assert main(["recall", "vault", "-C", str(unpacked)]) == 0
        assert "marmalade" in capsys.readouterr().out
        assert address.spools(str(unpacked))[0].endswith(f"clew/{address.SPOOL}")
    assert main(["trust", str(unpacked), "--revoke", "repository"]) == 0
    assert main(["recall", "vault", "-C", str(unpacked)]) == 2


# Verifies: REQ-d00636-B
def test_the_grant_does_not_hold_for_another_place(private: Path, tmp_path: Path) -> None:
    folder, other = tmp_path / "unpacked", tmp_path / "other"
    for each in (folder, other):
        each.mkdir()
    git_runs(other, "init", "-q")
    git_runs(folder, "init", "-q", "--separate-git-dir", str(tmp_path / "apart"))
    assert main(["trust", str(folder), "--grant", "repository", "--yes"]) == 0
    assert git.toplevel(folder) == folder.resolve()
    (folder / ".git").write_text(f"gitdir: {private}/.git\n", encoding="utf-8")
    assert git.toplevel(folder) is None
    assert main(["trust", str(other), "--grant", "repository", "--yes"]) == 2


# Verifies: REQ-d00636-C
def test_work_trees_and_submodules_are_the_repositorys_own(private: Path, tmp_path: Path) -> None:
    tree, outer = tmp_path / "a tree", tmp_path / "outer"
    git_runs(private, "worktree", "add", "-q", "-b", "work", str(tree))
    outer.mkdir()
    git_runs(outer, "init", "-q")
    git_runs(outer, "submodule", "add", "-q", str(private), 'in"n;er')
    git_runs(outer, "commit", "-qm", "first")
    inner_tree = tmp_path / "inner tree"
    git_runs(outer / 'in"n;er', "worktree", "add", "-q", "-b", "work", str(inner_tree))
    for folder in (private, tree, outer, outer / 'in"n;er', inner_tree):
        assert git.toplevel(folder) == folder.resolve(), folder
    assert git.common_folder(tree) == (private / ".git").resolve()
    assert address.spools(str(tree))[0] == str(private / ".git" / "clew" / address.SPOOL)


# Verifies: REQ-d00636-C
def test_a_repository_inside_the_folder_is_its_own(private: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    git_runs(folder, "clone", "-q", "--bare", str(private), ".bare")
    (folder / ".git").write_text("gitdir: ./.bare\n", encoding="utf-8")
    git_runs(folder, "worktree", "add", "-q", "-b", "work", "work")
    for each in (folder, folder / "work"):
        assert git.toplevel(each) == each.resolve()


# Verifies: REQ-d00636-C
def test_a_work_tree_that_was_moved_is_refused_until_git_repaired_it(private: Path, tmp_path: Path) -> None:
    tree, moved = tmp_path / "tree", tmp_path / "moved"
    git_runs(private, "worktree", "add", "-q", "-b", "work", str(tree))
    tree.rename(moved)
    assert git.toplevel(moved) is None
    assert "git worktree repair" in clew("recall", "vault", "-C", str(moved))[1].replace("\n      ", " ")
    git_runs(moved, "worktree", "repair")
    assert git.toplevel(moved) == moved.resolve()


# Verifies: REQ-d00636-D
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give a folder away")
def test_a_repository_of_another_user_is_named_with_what_to_do(
    private: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (private, private / ".git"):
        os.chown(path, 65534, 65534)
    assert main(["brief", str(private)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "safe.directory" in shown
    assert "what is remembered lies in .clew" in shown
    assert main(["why", "HEAD", "-C", str(private)]) == 1
    assert "safe.directory" in capsys.readouterr().err
    os.chown(private, 0, 0)
    os.chown(private / ".git", 0, 0)
    assert git.unused(private) is None
