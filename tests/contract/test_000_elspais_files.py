"""The first source document, requirement by requirement: the file mutation tools and safety branches.

Each test is named after the assertion of the source that it proves.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.project import Project

Ask = Callable[..., Any]
Open = Callable[[Path], Project]


def run_git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def root(demo: Path) -> Path:
    """The demo as a repository, with an edit that is not committed."""
    run_git(demo, "init", "-qb", "main")
    run_git(demo, "add", ".")
    run_git(demo, "commit", "-qm", "first")
    spec = demo / "spec" / "dev-tides.md"
    spec.write_bytes(spec.read_bytes() + b"\nAn edit that is not committed.\n")
    return demo


@pytest.fixture
def project(opened: Open, root: Path) -> Project:
    return opened(root)


def specs(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((root / "spec").iterdir())}


# Verifies: REQ-d00051-A, REQ-o00022-A
def test_o00063_A_the_type_of_one_reference_is_changed_in_the_file(ask: Ask, root: Path) -> None:
    before = specs(root)
    changed = ask("change_reference_type", req_id="REQ-d00001", target_id="REQ-o00002", new_type="REFINES")
    assert (changed["success"], changed["files"]) == (True, ["spec/dev-tides.md"])
    old, new = b"**Implements**: REQ-o00002", b"**Refines**: REQ-o00002"
    assert before["dev-tides.md"].count(old) >= 1
    assert specs(root) == {**before, "dev-tides.md": before["dev-tides.md"].replace(old, new, 1)}
    parents = ask("get_requirement", req_id="REQ-d00001")["parents"]
    assert [(parent["id"], parent["edge_kind"]) for parent in parents] == [("REQ-o00002", "refines")]
    ask("change_reference_type", req_id="REQ-d00001", target_id="REQ-o00002", new_type="implements")
    assert specs(root) == before


# Verifies: REQ-d00051-B
def test_o00063_B_a_requirement_is_moved_between_files(ask: Ask, root: Path) -> None:
    before = specs(root)
    text = ask("get_requirement", req_id="REQ-d00001")["body"]
    moved = ask("move_requirement", req_id="REQ-d00001", target_file="spec/dev-surface.md")
    assert (moved["source_file"], moved["dest_file"]) == ("spec/dev-tides.md", "spec/dev-surface.md")
    after = specs(root)
    assert after["dev-surface.md"].startswith(before["dev-surface.md"])
    start = before["dev-tides.md"].index(b"# REQ-d00001:")
    end = before["dev-tides.md"].index(b"\n", before["dev-tides.md"].index(b"*End*", start)) + 1
    assert before["dev-tides.md"][start:end] in after["dev-surface.md"]
    assert b"REQ-d00001:" not in after["dev-tides.md"]
    detail = ask("get_requirement", req_id="REQ-d00001")
    assert (detail["source"]["path"], detail["body"]) == ("spec/dev-surface.md", text)


# Verifies: REQ-d00052-A+C
def test_o00063_C_a_model_rewrites_the_content(
    ask: Ask, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "model.py"
    program.write_text(
        "import sys\n"
        "text = sys.stdin.read()\n"
        "block = text[text.index('# REQ-d00001:'):text.index('What to do with it:')].strip()\n"
        "assert 'Say it briefly.' in text\n"
        "print(block.replace('SHALL', 'SHALL always', 1))\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("CLEW_AI_COMMAND", f"'{sys.executable}' '{program}'")
    before = specs(root)
    result = ask("transform_with_ai", req_id="REQ-d00001", prompt="Say it briefly.", save_branch=True)
    assert result["success"] is True
    assert "SHALL always" in result["diff"]
    after = specs(root)
    start = before["dev-tides.md"].index(b"# REQ-d00001:")
    place = before["dev-tides.md"].index(b"SHALL", start)
    changed = before["dev-tides.md"][:place] + b"SHALL always" + before["dev-tides.md"][place + 5 :]
    assert after == {**before, "dev-tides.md": changed}
    assert run_git(root, "show", f"{result['safety_branch']}:spec/dev-tides.md").encode() == before["dev-tides.md"]


# Verifies: REQ-d00050-A+B
@pytest.mark.parametrize("tool", ["change_reference_type", "move_requirement"])
def test_o00063_D_a_safety_branch_is_made_when_it_is_asked_for(ask: Ask, root: Path, tool: str) -> None:
    arguments = {
        "change_reference_type": {"target_id": "REQ-o00002", "new_type": "refines"},
        "move_requirement": {"target_file": "spec/moved.md"},
    }[tool]
    without = ask(tool, req_id="REQ-d00001", dry_run=True, **arguments)
    assert without["safety_branch"] is None
    assert ask("list_safety_branches")["branches"] == []
    before = specs(root)
    changed = ask(tool, req_id="REQ-d00001", save_branch=True, **arguments)
    listed = ask("list_safety_branches")["branches"]
    assert [branch["name"] for branch in listed] == [changed["safety_branch"]]
    held = run_git(root, "show", f"{changed['safety_branch']}:spec/dev-tides.md")
    assert held.encode() == before["dev-tides.md"]
    assert "An edit that is not committed." in held


# Verifies: REQ-d00050-C+D
def test_o00063_E_files_are_brought_back_from_a_safety_branch(ask: Ask, root: Path) -> None:
    before = specs(root)
    moved = ask("move_requirement", req_id="REQ-d00001", target_file="spec/moved.md", save_branch=True)
    assert specs(root) != before
    restored = ask("restore_from_safety_branch", branch_name=moved["safety_branch"])
    assert restored["success"] is True
    assert specs(root) == before
    assert restored["files_restored"] == ["spec/dev-tides.md"]
    assert restored["files_removed"] == ["spec/moved.md"]
    refused = ask("restore_from_safety_branch", branch_name="main; rm -rf .")
    assert (refused["is_error"], refused["code"]) == (True, "invalid_argument")
    assert specs(root) == before


# Verifies: REQ-o00022-D
def test_o00063_F_the_graph_is_in_step_after_every_change(ask: Ask, root: Path) -> None:
    def place() -> tuple[str, str]:
        detail = ask("get_requirement", req_id="REQ-d00001")
        return detail["source"]["path"], detail["parents"][0]["edge_kind"]

    assert place() == ("spec/dev-tides.md", "implements")
    changed = ask(
        "change_reference_type", req_id="REQ-d00001", target_id="REQ-o00002", new_type="refines", save_branch=True
    )
    status = ask("get_graph_status")
    assert status["is_stale"] is False
    assert place() == ("spec/dev-tides.md", "refines")
    ask("move_requirement", req_id="REQ-d00001", target_file="spec/moved.md")
    assert ask("get_graph_status")["is_stale"] is False
    assert place() == ("spec/moved.md", "refines")
    ask("restore_from_safety_branch", branch_name=changed["safety_branch"])
    assert ask("get_graph_status")["is_stale"] is False
    assert place() == ("spec/dev-tides.md", "implements")
