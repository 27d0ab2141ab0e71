"""What a change was written against comes from git, so that every clone finds what moved since."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.mcp_client import McpClient, Options, ToolFailed

from clew.project import Project
from clew.surfaces.cli.main import main

PURPOSE = "The lamp shows ships where the rock is, in every night and in every weather."


def requirement(text: str) -> str:
    steps = "- **WHEN** the sun sets\n- **THEN** the lamp burns\n"
    return f"### Requirement: Burn\n\n{text}\n\n#### Scenario: Dusk\n\n{steps}"


def spec(text: str) -> str:
    return f"# Lamp\n\n## Purpose\n\n{PURPOSE}\n\n## Requirements\n\n{requirement(text)}"


OLD, MOVED, MINE = "The lamp SHALL burn.", "The lamp SHALL burn all night.", "The lamp SHALL burn brightly."


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def write(root: Path, path: str, text: str, message: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")
    git(root, "add", "--all")
    git(root, "commit", "-qm", message)


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A change, and a spec that moved after it was written."""
    root = tmp_path / "origin"
    root.mkdir()
    git(root, "init", "-qb", "main")
    write(root, ".gitignore", ".clew/\n", "start")
    write(root, "openspec/specs/lamp/spec.md", spec(OLD), "spec")
    folder = root / "openspec/changes/brighter"
    folder.mkdir(parents=True)
    (folder / "proposal.md").write_text("# Brighter\n\n## Why\n\nShips.\n\n## What Changes\n\n- Light.\n")
    (folder / "tasks.md").write_text("- [x] 1.1 Lamp\n")
    write(root, f"{folder}/specs/lamp/spec.md", f"## MODIFIED Requirements\n\n{requirement(MINE)}", "change")
    return root


@pytest.fixture
def agent(origin: Path) -> Iterator[McpClient]:
    yield from connected(origin)


def connected(root: Path) -> Iterator[McpClient]:
    project = Project.open(root)
    with McpClient(project, Options(toolsets=("all",))) as client:
        yield client
    project.close()


def clone(origin: Path, *options: str) -> Path:
    root = origin.parent / "clone"
    shutil.rmtree(root, ignore_errors=True)
    git(origin.parent, "clone", "-q", *options, origin.as_uri(), str(root))
    return root


def archived(client: McpClient, **more: Any) -> dict[str, Any]:
    return client("archive_change", change_id="brighter", dry_run=False, confirm=True, **more)


# Verifies: REQ-d00387-A
def test_a_fresh_clone_finds_that_the_base_moved_and_archives_nothing(origin: Path) -> None:
    write(origin, "openspec/specs/lamp/spec.md", spec(MOVED), "the spec moves")
    root = clone(origin)
    for client in connected(root):
        found = client("change_conflicts")
        assert [each["requirement"] for each in found["conflicts"]] == ["Burn"]
        with pytest.raises(ToolFailed, match="conflict"):
            archived(client)
    assert MOVED in (root / "openspec/specs/lamp/spec.md").read_text(encoding="utf-8")


# Verifies: REQ-d00387-A
def test_a_change_from_a_branch_is_compared_with_where_the_branch_began(origin: Path) -> None:
    git(origin, "checkout", "-qb", "work", "HEAD~1")
    write(origin, "openspec/changes/other/proposal.md", "# Other\n\n## Why\n\nShips.\n\n## What Changes\n\n- x\n", "p")
    write(origin, "openspec/changes/other/specs/lamp/spec.md", f"## MODIFIED Requirements\n\n{requirement(MINE)}", "d")
    git(origin, "checkout", "-q", "main")
    git(origin, "rm", "-rq", "openspec/changes/brighter")
    write(origin, "openspec/specs/lamp/spec.md", spec(MOVED), "the spec moves")
    git(origin, "merge", "-q", "--no-edit", "work")
    for client in connected(clone(origin)):
        found = client("change_conflicts")["conflicts"]
        assert [(each["changes"], each["requirement"]) for each in found] == [(["other"], "Burn")]


# Verifies: REQ-d00387-A
def test_without_a_move_a_fresh_clone_archives(origin: Path) -> None:
    root = clone(origin)
    for client in connected(root):
        assert client("change_conflicts")["conflicts"] == []
        assert archived(client)["applied"] is True
    assert MINE in (root / "openspec/specs/lamp/spec.md").read_text(encoding="utf-8")


# Verifies: REQ-d00387-B
def test_a_shallow_clone_does_not_know_the_base_and_asks(origin: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(origin, "openspec/specs/lamp/spec.md", spec(MOVED), "the spec moves")
    root = clone(origin, "--depth", "1")
    for client in connected(root):
        assert "base of 'brighter' is unknown" in client("change_conflicts")["notes"][0]
        with pytest.raises(ToolFailed, match="base of 'brighter' is not known"):
            archived(client)
    assert main(["change", "archive", "brighter", "--accept-base", "-C", str(root)]) == 0
    assert MINE in (root / "openspec/specs/lamp/spec.md").read_text(encoding="utf-8")


# Verifies: REQ-d00387-B
def test_one_commit_with_the_change_and_what_it_touches_does_not_tell_the_base(
    origin: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(origin, "reset", "-q", "--soft", "HEAD~1")
    write(origin, "openspec/specs/lamp/spec.md", spec(MOVED), "squashed")
    root = clone(origin)
    for client in connected(root):
        assert "as squashing does" in client("change_conflicts")["notes"][0]
        with pytest.raises(ToolFailed, match="base of 'brighter' is not known"):
            archived(client)
    assert main(["change", "archive", "brighter", "-C", str(root)]) == 2
    assert "clew change diff brighter" in " ".join(capsys.readouterr().err.split())
    assert main(["change", "diff", "brighter", "-C", str(root)]) == 0
    assert main(["change", "archive", "brighter", "--accept-base", "-C", str(root)]) == 0
    assert MINE in (root / "openspec/specs/lamp/spec.md").read_text(encoding="utf-8")


# Verifies: REQ-d00387-B
def test_a_history_in_one_commit_does_not_tell_the_base(origin: Path) -> None:
    git(origin, "checkout", "-q", "--orphan", "imported")
    git(origin, "commit", "-qm", "all at once")
    root = clone(origin, "--branch", "imported")
    for client in connected(root):
        assert "as squashing does" in client("change_conflicts")["notes"][0]
        with pytest.raises(ToolFailed, match="base of 'brighter' is not known"):
            archived(client)
        tried = client("archive_change", change_id="brighter")
        assert "base is not known" in tried["warnings"][0]
        assert archived(client, take="change")["applied"] is True


# Verifies: REQ-d00387-C
def test_what_somebody_brought_up_to_date_counts_for_more_than_git(origin: Path, agent: McpClient) -> None:
    write(origin, "openspec/specs/lamp/spec.md", spec(MOVED), "the spec moves")
    assert len(agent("change_conflicts")["conflicts"]) == 1
    assert agent("rebase_change", change_id="brighter")["moved"] == ["Burn"]
    assert agent("change_conflicts")["conflicts"] == []
    assert archived(agent)["applied"] is True
