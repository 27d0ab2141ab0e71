"""`clew review`, as a shell uses it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Clew = Callable[..., Any]

SPEC = """## REQ-p00001: Keep time

**Level**: PRD | **Status**: Active

## Assertions

A. The clock SHALL show the hour.
B. The clock SHALL show the minute.

*End* *Keep time* | **Hash**: 00000000
"""
TESTS = "def test_{name}():\n    # Verifies: REQ-p00001-A+B\n    pass\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("spec", "tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / "clew.toml").touch()
    (tmp_path / "spec" / "clock.md").write_text(SPEC, encoding="utf-8")
    for name in ("one", "two"):
        (tmp_path / "tests" / f"test_{name}.py").write_text(TESTS.format(name=name), encoding="utf-8")
    return tmp_path


def change(root: Path) -> None:
    place = root / "spec" / "clock.md"
    place.write_text(place.read_text(encoding="utf-8").replace("show the", "always show the"), encoding="utf-8")


def suspect(clew: Clew, root: Path) -> list[str]:
    listed = clew(root, "review", "--list", "--json")
    data = json.loads(listed.stdout)
    assert data["count"] == len(data["suspect"])
    assert listed.returncode == (1 if data["count"] else 0)
    return sorted(f"{item['link']['citing']} {item['link']['cited']}" for item in data["suspect"])


# Verifies: REQ-d00054-A, REQ-d00053-A+D
def test_the_whole_way_from_a_change_to_a_review(clew: Clew, root: Path) -> None:
    assert suspect(clew, root) == []
    change(root)
    assert len(suspect(clew, root)) == 4
    checked = clew(root, "check")
    assert checked.stdout.count("trace.suspect_link") == 4
    assert "info trace.suspect_link" in checked.stdout
    done = clew(root, "review", "REQ-p00001-A")
    assert (done.returncode, "2 recorded in clew.reviews" in done.stdout) == (0, True)
    assert suspect(clew, root) == [f"test:tests/test_{name}.py::test_{name} REQ-p00001-B" for name in ("one", "two")]
    clew(root, "review", "p1", "--by", "tests/test_one.py")
    assert suspect(clew, root) == ["test:tests/test_two.py::test_two REQ-p00001-B"]
    clew(root, "review", "tests/test_two.py")
    assert suspect(clew, root) == []
    change(root)
    assert "warning trace.suspect_link" in clew(root, "check").stdout
    data = json.loads(clew(root, "review", "--all", "--json").stdout)
    assert (len(data["recorded"]), data["file"]) == (4, "clew.reviews")
    assert suspect(clew, root) == []
    again = clew(root, "review", "--all")
    assert "0 recorded in clew.reviews, 4 were there already" in again.stdout


# Verifies: REQ-d00054-A
@pytest.mark.parametrize(
    ("arguments", "code"),
    [([], 2), (["p1", "--all"], 2), (["--all", "--list"], 2), (["REQ-p00099"], 1), (["p1", "--by", "nowhere"], 1)],
)
def test_what_was_reviewed_has_to_be_said(clew: Clew, root: Path, arguments: list[str], code: int) -> None:
    done = clew(root, "review", *arguments)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert not (root / "clew.reviews").exists()
