"""A folder whose `.git` leads to a repository that does not know the folder."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError
from tests.mcp_client import McpClient, Options

from clew.memory.hooks import address
from clew.project import Project
from clew.surfaces.cli.main import main
from clew.workspace.git import api as git
from clew.workspace.git.find import find_work_tree

SECRET = "The vault opens with the word marmalade"
SUBJECT = "Hide the key under the flowerpot"


def run(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    options = ["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *identity, *options, *arguments], cwd=root, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without settings, who trusts nothing."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """A repository of the user's, in which something was remembered."""
    root = tmp_path / "private"
    root.mkdir()
    run(root, "init", "-q")
    (root / "key.md").write_text("# Key\n", encoding="utf-8")
    (root / "clew.toml").touch()
    run(root, "add", ".")
    run(root, "commit", "-qm", SUBJECT)
    assert main(["remember", SECRET, "-C", str(root)]) == 0
    return root


def by_file(folder: Path, private: Path) -> None:
    (folder / ".git").write_text(f"gitdir: {private}/.git\n", encoding="utf-8")


def by_link(folder: Path, private: Path) -> None:
    (folder / ".git").symlink_to(private / ".git")


def by_commondir(folder: Path, private: Path) -> None:
    own = folder / ".git"
    own.mkdir()
    for name in ("HEAD", "index"):
        (own / name).write_bytes((private / ".git" / name).read_bytes())
    (own / "commondir").write_text(f"{private}/.git\n", encoding="utf-8")


def by_a_work_tree_of_its_own_making(folder: Path, private: Path) -> None:
    """It names itself as the work tree, but the repository does not."""
    own = folder.parent / "beside" / "worktrees" / "w"
    own.mkdir(parents=True)
    (own / "HEAD").write_bytes((private / ".git" / "HEAD").read_bytes())
    (own / "gitdir").write_text(f"{folder}/.git\n", encoding="utf-8")
    (own / "commondir").write_text(f"{private}/.git\n", encoding="utf-8")
    (folder / ".git").write_text(f"gitdir: {own}\n", encoding="utf-8")


def by_the_work_tree_of_another(folder: Path, private: Path) -> None:
    tree = private.parent / "tree"
    run(private, "worktree", "add", "-q", "-b", "work", str(tree))
    (folder / ".git").symlink_to(tree / ".git")


def by_links_in_a_repository(folder: Path, private: Path) -> None:
    run(folder, "init", "-q")
    for name in ("objects", "refs"):
        subprocess.run(["rm", "-r", str(folder / ".git" / name)], check=True)
        (folder / ".git" / name).symlink_to(private / ".git" / name)
    (folder / ".git" / "clew").symlink_to(private / ".git" / "clew")


WAYS = (
    by_file,
    by_link,
    by_commondir,
    by_a_work_tree_of_its_own_making,
    by_the_work_tree_of_another,
    by_links_in_a_repository,
)
Way = Callable[[Path, Path], None]


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def unpacked(request: pytest.FixtureRequest, tmp_path: Path, private: Path) -> Path:
    folder = tmp_path / "unpacked"
    folder.mkdir()
    (folder / "clew.toml").touch()
    (folder / "key.md").write_text("# Key\n", encoding="utf-8")
    request.param(folder, private)
    return folder


def said(*arguments: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-m", "clew", *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


# Verifies: REQ-d00636-A
def test_no_command_shows_or_writes_what_is_in_the_other_repository(unpacked: Path, private: Path) -> None:
    memory = private / ".git" / "clew" / "memory.db"
    before = memory.read_bytes(), sorted(each.name for each in memory.parent.iterdir())
    for words in (
        ("recall", "marmalade vault"),
        ("memory", "list"),
        ("why", "HEAD"),
        ("why", "key.md"),
        ("why", "key.md:1"),
        ("context", "key.md"),
        ("brief",),
        ("status",),
        ("search", "marmalade flowerpot"),
        ("remember", "Something else entirely"),
        ("changed",),
        ("doctor",),
    ):
        code, text = said(*words, "-C", str(unpacked))
        assert code != 3, text
        assert "marmalade" not in text.replace("marmalade vault", "").replace("marmalade flowerpot", ""), words
        assert "flowerpot" not in text.replace("marmalade flowerpot", ""), words
    assert before == (memory.read_bytes(), sorted(each.name for each in memory.parent.iterdir()))


# Verifies: REQ-d00636-A
def test_what_is_refused_says_how_to_allow_it(unpacked: Path) -> None:
    for words in (("recall", "vault"), ("remember", "Something")):
        code, text = said(*words, "-C", str(unpacked))
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
    done = subprocess.run(
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
    run(other, "init", "-q")
    run(folder, "init", "-q", "--separate-git-dir", str(tmp_path / "apart"))
    assert main(["trust", str(folder), "--grant", "repository", "--yes"]) == 0
    assert git.toplevel(folder) == folder.resolve()
    (folder / ".git").write_text(f"gitdir: {private}/.git\n", encoding="utf-8")
    assert git.toplevel(folder) is None
    assert main(["trust", str(other), "--grant", "repository", "--yes"]) == 2


# Verifies: REQ-d00636-C
def test_work_trees_and_submodules_are_the_repositorys_own(private: Path, tmp_path: Path) -> None:
    tree, outer = tmp_path / "a tree", tmp_path / "outer"
    run(private, "worktree", "add", "-q", "-b", "work", str(tree))
    outer.mkdir()
    run(outer, "init", "-q")
    run(outer, "submodule", "add", "-q", str(private), 'in"n;er')
    run(outer, "commit", "-qm", "first")
    inner_tree = tmp_path / "inner tree"
    run(outer / 'in"n;er', "worktree", "add", "-q", "-b", "work", str(inner_tree))
    for folder in (private, tree, outer, outer / 'in"n;er', inner_tree):
        assert git.toplevel(folder) == folder.resolve(), folder
    assert git.common_folder(tree) == (private / ".git").resolve()
    assert address.spools(str(tree))[0] == str(private / ".git" / "clew" / address.SPOOL)


# Verifies: REQ-d00636-C
def test_a_repository_inside_the_folder_is_its_own(private: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    run(folder, "clone", "-q", "--bare", str(private), ".bare")
    (folder / ".git").write_text("gitdir: ./.bare\n", encoding="utf-8")
    run(folder, "worktree", "add", "-q", "-b", "work", "work")
    for each in (folder, folder / "work"):
        assert git.toplevel(each) == each.resolve()


# Verifies: REQ-d00636-C
def test_a_work_tree_that_was_moved_is_refused_until_git_repaired_it(private: Path, tmp_path: Path) -> None:
    tree, moved = tmp_path / "tree", tmp_path / "moved"
    run(private, "worktree", "add", "-q", "-b", "work", str(tree))
    tree.rename(moved)
    assert git.toplevel(moved) is None
    assert "git worktree repair" in said("recall", "vault", "-C", str(moved))[1].replace("\n      ", " ")
    run(moved, "worktree", "repair")
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
