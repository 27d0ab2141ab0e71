"""`clew fix`, as a shell uses it."""

import json
import re
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

*End* *Keep time* | **Hash**: 00000000

---

## REQ-p00002: Keep quiet

**Level**: PRD | **Status**: Active

## Assertions

A.   The clock SHALL not strike.

*End* *Keep quiet*

---

## REQ-d0003: Show the hour

**Level**: DEV | **Status**: Draft | **Implements**: REQ-p1-A,  req-p00002

  Text with odd   spaces.

*End* *Another title* | **Hash**: N/A

## REQ-d00004: Without end

**Level**: DEV | **Status**: Draft

## Assertions

A. It SHALL end.
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "spec").mkdir()
    (tmp_path / "clew.toml").touch()
    (tmp_path / "spec" / "clock.md").write_bytes(SPEC.encode())
    return tmp_path


def spec(root: Path) -> str:
    return (root / "spec" / "clock.md").read_bytes().decode()


def hash_of(root: Path, title: str) -> str:
    """What the End marker says."""
    found = re.search(rf"\*End\* \*{title}\* \| \*\*Hash\*\*: (\S+)", spec(root))
    assert found is not None
    return found[1]


# Verifies: REQ-d00054-B, REQ-o00022-A
def test_hashes_are_written_and_nothing_else(clew: Clew, root: Path) -> None:
    done = clew(root, "fix")
    expected = SPEC.replace("00000000", hash_of(root, "Keep time"))
    expected = expected.replace("*Keep quiet*\n", f"*Keep quiet* | **Hash**: {hash_of(root, 'Keep quiet')}\n")
    assert spec(root) == expected
    assert "REQ-p00001: hash 00000000 to" in done.stdout
    assert "REQ-d00004 was left alone" in done.stderr
    assert done.returncode == 1
    findings = json.loads(clew(root, "check", "--json").stdout)["findings"]
    assert [item["node_id"] for item in findings if "hash" in item["code"]] == ["REQ-d00004"]
    again = clew(root, "fix", "p1")
    assert (again.returncode, again.stdout, spec(root)) == (0, "Nothing to fix.\n", expected)


# Verifies: REQ-d00054-B
def test_only_what_is_named_is_mended(clew: Clew, root: Path) -> None:
    assert clew(root, "fix", "p1").returncode == 0
    assert spec(root) == SPEC.replace("00000000", hash_of(root, "Keep time"))


# Verifies: REQ-d00054-B
def test_formatting_is_mended_when_it_is_asked_for_and_hashes_are_left(clew: Clew, root: Path) -> None:
    done = clew(root, "fix", "--format")
    assert done.returncode == 0, done.stderr
    assert spec(root) == (
        SPEC.replace("## REQ-d0003:", "## REQ-d00003:")
        .replace("REQ-p1-A,  req-p00002", "REQ-p00001-A,  REQ-p00002")
        .replace("*Another title*", "*Show the hour*")
        + "\n*End* *Without end*\n"
    )
    assert clew(root, "fix", "--format", "--hashes").returncode == 0
    assert hash_of(root, "Without end")


# Verifies: REQ-d00054-C
def test_a_dry_run_prints_the_difference_and_writes_nothing(clew: Clew, root: Path) -> None:
    done = clew(root, "fix", "--dry-run", "p1")
    assert done.returncode == 0
    assert done.stdout.startswith("--- a/spec/clock.md\n+++ b/spec/clock.md\n@@ ")
    assert "-*End* *Keep time* | **Hash**: 00000000\n" in done.stdout
    assert spec(root) == SPEC
    data = json.loads(clew(root, "fix", "--dry-run", "--json", "p1").stdout)
    assert data["dry_run"] is True
    assert data["files"] == ["spec/clock.md"]
    assert [fix["requirement_id"] for fix in data["fixes"]] == ["REQ-p00001"]
    assert data["diff"] == done.stdout
    assert spec(root) == SPEC


# Verifies: REQ-o00022-C
def test_a_write_protected_file_stops_it(clew: Clew, root: Path) -> None:
    (root / "spec" / "clock.md").chmod(0o444)
    done = clew(root, "fix", "p1")
    assert (done.returncode, spec(root)) == (2, SPEC)
    assert "write-protected" in done.stderr


# Verifies: REQ-o00022-C
def test_an_unknown_id_is_not_found(clew: Clew, root: Path) -> None:
    done = clew(root, "fix", "REQ-p00099")
    assert done.returncode == 1
    assert "REQ-p00099" in done.stderr
    assert spec(root) == SPEC


# Verifies: REQ-d00054-B
def test_an_assertion_stands_for_its_requirement(clew: Clew, root: Path) -> None:
    done = clew(root, "fix", "REQ-p00001-A")
    assert done.returncode == 0, done.stderr
    assert "REQ-p00001: hash 00000000 to" in done.stdout
    assert "REQ-p00002" not in done.stdout


# Verifies: REQ-d00054-B
def test_what_has_nothing_to_mend_by_its_nature_is_refused(clew: Clew, root: Path) -> None:
    (root / "src").mkdir()
    (root / "src" / "clock.py").write_text("# Implements: REQ-p00001-A\ndef show(): ...\n", encoding="utf-8")
    done = clew(root, "fix", "src/clock.py")
    assert done.returncode == 2
    assert "'src/clock.py' is not a requirement of a spec file" in done.stderr
