"""`clew changed`, in real repositories."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Clew = Callable[..., Any]

SPEC = """# Clock

## REQ-p00001: Keep time

**Level**: PRD | **Status**: Active

## Assertions

A. The clock SHALL show the hour.
B. The clock SHALL show the minute.

*End* *Keep time*

## REQ-d00001: Show the hour

**Level**: DEV | **Status**: Draft | **Implements**: REQ-p00001-A

*End* *Show the hour*

## REQ-d00002: Show the minute

**Level**: DEV | **Status**: Draft | **Implements**: REQ-p00001-B

*End* *Show the minute*
"""
CODE = """def hour():
    # Implements: REQ-p00001-A
    return 0


def minute():
    # Implements: REQ-p00001-B
    return 0
"""
TESTS = """def test_hour():
    # Verifies: REQ-p00001-A
    pass


def test_minute(clew: Clew, ):
    # Verifies: REQ-p00001-B
    pass
"""


def run_git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    run_git(tmp_path, "init", "-qb", "main")
    for name, text in (("spec/clock.md", SPEC), ("src/clock.py", CODE), ("tests/test_clock.py", TESTS)):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "clew.toml").touch()
    run_git(tmp_path, "add", ".")
    run_git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def edit(root: Path, name: str, old: str, new: str) -> None:
    text = (root / name).read_text(encoding="utf-8")
    assert old in text
    (root / name).write_text(text.replace(old, new), encoding="utf-8")


def changed(clew: Clew, root: Path, *arguments: str) -> list[tuple[str, str, str]]:
    done = clew(root, "changed", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert sum(data["counts"].values()) == len(data["items"])
    return [(item["change"], item["kind"], item["id"]) for item in data["items"]]


# Verifies: REQ-d00054-D
def test_what_differs_from_the_last_commit_is_told_by_what_became_of_it(clew: Clew, root: Path) -> None:
    assert changed(clew, root) == []
    assert clew(root, "changed").stdout.startswith("Nothing changed since then.")
    edit(root, "spec/clock.md", "show the hour", "show  hours")
    edit(root, "spec/clock.md", "B. The clock SHALL show the minute.\n", "")
    edit(root, "spec/clock.md", SPEC[SPEC.index("## REQ-d00002") :], "## REQ-d00003: New\n\n*End* *New*\n")
    (root / "spec" / "moved.md").write_text(
        SPEC[SPEC.index("## REQ-d00001") : SPEC.index("## REQ-d00002")], encoding="utf-8"
    )
    edit(root, "spec/clock.md", SPEC[SPEC.index("## REQ-d00001") : SPEC.index("## REQ-d00002")], "")
    edit(root, "src/clock.py", "-B\n    return 0", "-B\n    return 1")
    edit(root, "tests/test_clock.py", "-A\n    pass", "-A\n    assert True")
    assert changed(clew, root) == [
        ("changed", "requirement", "REQ-p00001"),
        ("added", "requirement", "REQ-d00003"),
        ("removed", "requirement", "REQ-d00002"),
        ("moved", "requirement", "REQ-d00001"),
        ("changed", "assertion", "REQ-p00001-A"),
        ("removed", "assertion", "REQ-p00001-B"),
        ("changed", "test", "test:tests/test_clock.py::test_hour"),
        ("changed", "code", "code:src/clock.py:7"),
    ]
    shown = clew(root, "changed").stdout
    assert "4 requirements, 2 assertions, 1 test, 1 code" in shown


# Verifies: REQ-d00054-D
def test_text_around_requirements_is_no_change_of_theirs(clew: Clew, root: Path) -> None:
    edit(root, "spec/clock.md", "# Clock\n", "# Clock\n\nProse.\n")
    edit(root, "src/clock.py", "def hour", "import sys\n\n\ndef hour")
    assert changed(clew, root) == []


# Verifies: REQ-d00054-D
def test_a_branch_is_compared_with_where_it_left_its_base(clew: Clew, root: Path) -> None:
    run_git(root, "checkout", "-qb", "work")
    edit(root, "spec/clock.md", "show the hour", "show hours")
    run_git(root, "commit", "-qam", "second")
    (root / "tests" / "test_more.py").write_text("def test_more():\n    pass\n", encoding="utf-8")
    run_git(root, "checkout", "-q", "main")
    edit(root, "spec/clock.md", "Keep time", "Keep the time")
    run_git(root, "commit", "-qam", "on main")
    run_git(root, "checkout", "-q", "work")
    assert changed(clew, root) == [("added", "test", "test:tests/test_more.py::test_more")]
    assert changed(clew, root, "--base", "main") == [
        ("changed", "requirement", "REQ-p00001"),
        ("changed", "assertion", "REQ-p00001-A"),
        ("added", "test", "test:tests/test_more.py::test_more"),
    ]


# Verifies: REQ-d00054-D
def test_before_the_first_commit_everything_is_new(clew: Clew, tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q")
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "clock.md").write_text(SPEC, encoding="utf-8")
    assert {change for change, _, _ in changed(clew, tmp_path)} == {"added"}


# Verifies: REQ-d00054-D
@pytest.mark.parametrize("base", ["nowhere", "--output=x", "main..x", "$(id)", ""])
def test_a_base_that_is_no_revision_is_refused(clew: Clew, root: Path, base: str) -> None:
    done = clew(root, "changed", f"--base={base}")
    assert done.returncode == 2, done.stdout
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in root.iterdir() if path.name != ".clew") == [
        ".git",
        "clew.toml",
        "spec",
        "src",
        "tests",
    ]


# Verifies: REQ-d00054-D
def test_without_git_it_says_so(clew: Clew, tmp_path: Path) -> None:
    (tmp_path / "clew.toml").touch()
    done = clew(tmp_path, "changed")
    assert done.returncode == 2
    assert "git init" in done.stderr


# Verifies: REQ-d00054-D
def test_a_citation_that_was_edited_into_a_broken_one_or_taken_out_is_told(clew: Clew, root: Path) -> None:
    edit(root, "src/clock.py", "Implements: REQ-p00001-A", "Implements: REQ-p00099-A")
    edit(root, "src/clock.py", "    # Implements: REQ-p00001-B\n", "")
    edit(root, "tests/test_clock.py", "Verifies: REQ-p00001-B", "Verifies: REQ-p00001-X")
    edit(root, "spec/clock.md", "**Implements**: REQ-p00001-B", "**Implements**: REQ-p00077")
    items = {item["id"]: item for item in json.loads(clew(root, "changed", "--json").stdout)["items"]}
    told = {
        id: (item["change"], item["broken"], item["lost"]) for id, item in items.items() if item["kind"] != "assertion"
    }
    assert told == {
        "REQ-d00002": ("changed", ["REQ-p00077"], []),
        "test:tests/test_clock.py::test_minute": ("changed", ["REQ-p00001-X"], ["REQ-p00001-B"]),
        "code:src/clock.py:2": ("changed", ["REQ-p00099-A"], ["REQ-p00001-A"]),
        "code:src/clock.py:7": ("removed", [], ["REQ-p00001-B"]),
    }
    shown = clew(root, "changed").stdout
    assert "cites REQ-p00099-A: not there" in shown
    assert "no longer cites REQ-p00001-B" in shown
    table = clew(root, "changed", "--format", "markdown").stdout
    assert "**cites `REQ-p00099-A`, which does not exist**<br>no longer cites `REQ-p00001-A`" in table


# Verifies: REQ-d00054-D
def test_tests_and_code_of_a_removed_file_are_told_as_removed(clew: Clew, root: Path) -> None:
    (root / "tests" / "test_clock.py").unlink()
    assert changed(clew, root) == [
        ("removed", "test", "test:tests/test_clock.py::test_hour"),
        ("removed", "test", "test:tests/test_clock.py::test_minute"),
    ]
