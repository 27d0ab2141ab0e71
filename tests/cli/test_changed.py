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


# Verifies: REQ-d00054-E
def test_files_that_cite_nothing_are_named_when_they_differ(clew: Clew, root: Path) -> None:
    (root / "src" / "plain.py").write_text("def plain():\n    return 1\n", encoding="utf-8")
    (root / "README.md").write_text("A clock.\n", encoding="utf-8")
    edit(root, "src/clock.py", "-B\n    return 0", "-B\n    return 1")
    data = json.loads(clew(root, "changed", "--json").stdout)
    assert data["other_files"] == ["README.md", "src/plain.py"]
    assert "2 changed files without any of them: README.md, src/plain.py" in clew(root, "changed").stdout
    edit(root, "src/clock.py", "-B\n    return 1", "-B\n    return 0")
    shown = clew(root, "changed").stdout
    assert "No requirement, assertion, test or citing code changed" in shown
    assert "src/plain.py" in shown
    assert "src/plain.py" in clew(root, "changed", "--format", "markdown").stdout


# Verifies: REQ-d00054-D
def test_what_differs_from_the_last_commit_is_told_by_what_became_of_it(clew: Clew, root: Path) -> None:
    assert changed(clew, root) == []
    shown = clew(root, "changed").stdout
    assert shown.startswith("No requirement, assertion, test or citing code changed since HEAD.\n")
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


# Verifies: REQ-d00054-D
@pytest.mark.parametrize("staged", [True, False])
def test_tests_and_code_of_a_renamed_file_have_moved(clew: Clew, root: Path, staged: bool) -> None:
    for old, new in (("tests/test_clock.py", "tests/deep/test_watch.py"), ("src/clock.py", "src/watch.py")):
        (root / new).parent.mkdir(exist_ok=True)
        (root / old).rename(root / new)
    if staged:
        run_git(root, "add", "-A")
    assert changed(clew, root) == [
        ("moved", "test", "test:tests/deep/test_watch.py::test_hour"),
        ("moved", "test", "test:tests/deep/test_watch.py::test_minute"),
        ("moved", "code", "code:src/watch.py:2"),
        ("moved", "code", "code:src/watch.py:7"),
    ]
    assert "no longer cites" not in clew(root, "changed").stdout
    edit(root, "tests/deep/test_watch.py", "-A\n    pass", "-A\n    assert True")
    edit(root, "tests/deep/test_watch.py", "Verifies: REQ-p00001-B", "Verifies: REQ-p00001-A")
    assert [each for each in changed(clew, root) if each[1] == "test"] == [
        ("changed", "test", "test:tests/deep/test_watch.py::test_hour"),
        ("added" if not staged else "changed", "test", "test:tests/deep/test_watch.py::test_minute"),
        ("removed", "test", "test:tests/test_clock.py::test_minute"),
    ]


# Verifies: REQ-d00054-D
def test_a_test_that_went_to_another_file_has_moved_and_a_copy_has_not(clew: Clew, root: Path) -> None:
    hour, _, minute = TESTS.partition("\n\n\n")
    (root / "tests" / "test_clock.py").write_text(minute, encoding="utf-8")
    (root / "tests" / "test_hour.py").write_text(f"{hour}\n", encoding="utf-8")
    (root / "src" / "copy.py").write_text(CODE, encoding="utf-8")
    assert changed(clew, root) == [
        ("moved", "test", "test:tests/test_hour.py::test_hour"),
        ("added", "code", "code:src/copy.py:2"),
        ("added", "code", "code:src/copy.py:7"),
    ]


# Verifies: REQ-d00054-D
def test_the_citation_of_a_whole_file_moves_with_a_file_that_is_alike(clew: Clew, root: Path) -> None:
    cites = "# Implements: REQ-p00001-A\n"
    for name in ("one", "two", "three"):
        text = "".join(f"{name}_{number} = {number}\n" for number in range(9))
        (root / "src" / f"{name}.py").write_text(cites + text, encoding="utf-8")
    run_git(root, "add", ".")
    run_git(root, "commit", "-qm", "more")
    (root / "src" / "one.py").rename(root / "src" / "a.py")
    (root / "src" / "two.py").rename(root / "src" / "b.py")
    edit(root, "src/b.py", "two_1 = 1", "two_1 = 2")
    (root / "src" / "three.py").unlink()
    (root / "src" / "c.py").write_text(f"{cites}import sys\n\nprint(sys.path)\n", encoding="utf-8")
    assert changed(clew, root) == [
        ("moved", "code", "code:src/a.py:1"),
        ("changed", "code", "code:src/b.py:1"),
        ("added", "code", "code:src/c.py:1"),
        ("removed", "code", "code:src/three.py:1"),
    ]


# Verifies: REQ-d00054-D
def test_git_is_not_started_for_each_changed_file(clew: Clew, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    popen = subprocess.Popen.__init__

    def counted(self: Any, *arguments: Any, **options: Any) -> None:
        started.append(arguments)
        popen(self, *arguments, **options)

    def calls() -> int:
        started.clear()
        assert changed(clew, root)
        return len(started)

    for number in range(30):
        (root / "tests" / f"test_more_{number}.py").write_text(TESTS, encoding="utf-8")
        (root / "spec" / f"more{number}.md").write_text(SPEC.replace("0000", f"0{number:02}0"), encoding="utf-8")
    run_git(root, "add", ".")
    run_git(root, "commit", "-qm", "more")
    edit(root, "tests/test_clock.py", "pass", "assert True")
    monkeypatch.setattr(subprocess.Popen, "__init__", counted)
    few = calls()
    for path in [*(root / "tests").iterdir(), *(root / "spec").iterdir()]:
        path.write_text(path.read_text(encoding="utf-8").replace("pass", "assert 1").replace("hour", "hours"))
    assert few > 0
    assert calls() < few + 10
