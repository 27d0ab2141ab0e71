"""`clew coverage`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Clew = Callable[..., Any]

TESTS = """
# Verifies: REQ-p00001-A
def test_hour(clew: Clew, ):
    pass


# Verifies: REQ-p00001-B
def test_minute(clew: Clew, ):
    pass
"""
RESULTS = """<testsuite name="s"><testcase classname="tests.test_a" name="test_hour"/>
<testcase classname="tests.test_a" name="test_minute"><failure message="no"/></testcase></testsuite>"""


@pytest.fixture
def tested(small: Path) -> Path:
    (small / "tests").mkdir()
    (small / "tests" / "test_a.py").write_text(TESTS, encoding="utf-8")
    spec = small / "spec" / "small.md"
    # A draft owes no test, and figures would leave it out.
    spec.write_text(spec.read_text(encoding="utf-8").replace("Draft", "Active"), encoding="utf-8")
    return small


def read_results(root: Path) -> None:
    (root / "results").mkdir()
    (root / "results" / "junit.xml").write_text(RESULTS, encoding="utf-8")
    (root / "clew.toml").write_text('[tests]\nfolders = ["tests"]\nresults = ["results/*.xml"]\n', encoding="utf-8")


# Verifies: REQ-d00066-C
def test_figures_are_shown_by_level_and_gaps_are_named(clew: Clew, tested: Path) -> None:
    done = clew(tested, "coverage")
    assert done.returncode == 0
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["level", "requirements", "implemented", "tested", "passed"]
    assert lines[1][:5] == ["dev", "1", "0", "of", "1"]
    assert "2 of 3 (66.7 %)" in done.stdout.splitlines()[3]
    assert "Not fully tested: 1 of 2 requirements" in done.stdout
    assert "REQ-d00001  0/1  Show the hour  no test: A" in done.stdout


# Verifies: REQ-d00066-C
def test_a_requirement_is_shown_assertion_by_assertion(clew: Clew, tested: Path) -> None:
    read_results(tested)
    done = clew(tested, "coverage", "p1")
    assert "2 of 2 assertions tested, 1 implemented" in done.stdout
    assert "  + A. The clock SHALL show the hour.  passed" in done.stdout
    assert "  ! B. The clock SHALL show the minute.  failed" in done.stdout
    assert "verified by test:tests/test_a.py::test_minute (failed)" in done.stdout
    assert "implemented by REQ-d00001" in done.stdout


# Verifies: REQ-d00066-C, REQ-o00024-D
def test_json_has_the_figures_of_the_tools(clew: Clew, tested: Path) -> None:
    read_results(tested)
    data = json.loads(clew(tested, "coverage", "--json").stdout)
    assert data["totals"]["tested"] == sum(level["tested"] for level in data["levels"]) == 2
    assert (data["totals"]["validated"], data["totals"]["failed"]) == (1, 1)
    assert [(gap["id"], gap["untested_labels"], gap["failed_labels"]) for gap in data["gaps"]] == [
        ("REQ-d00001", ["A"], []),
        ("REQ-p00001", [], ["B"]),
    ]
    summary = json.loads(clew(tested, "call", "get_project_summary").stdout)
    for level, other in zip(data["levels"], summary["coverage_by_level"], strict=True):
        assert (level["level"], level["tested"], level["tested_pct"]) == (
            other["level"],
            other["tested_assertions"],
            other["tested_pct"],
        )
        assert (level["validated"], level["validated_pct"]) == (other["validated_assertions"], other["validated_pct"])
    row = json.loads(clew(tested, "coverage", "REQ-p00001", "--json").stdout)
    assert [each["proof"] for each in row["assertions"]] == ["passed", "failed"]


# Verifies: REQ-d00066-C
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--fail-under", "66"], 0),
        (["--fail-under", "67"], 1),
        (["--fail-under", "100", "--level", "prd"], 0),
        (["REQ-d00001", "--fail-under", "1"], 1),
        (["--fail-under", "101"], 2),
        (["--fail-under", "most"], 2),
        (["REQ-d09999"], 1),
    ],
)
def test_a_limit_decides_the_exit_code(clew: Clew, tested: Path, arguments: list[str], code: int) -> None:
    done = clew(tested, "coverage", *arguments)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert bool(done.stderr) is (code > 0)


# Verifies: REQ-d00066-D
def test_what_nobody_knows_is_not_a_number(clew: Clew, tested: Path, tmp_path: Path) -> None:
    assert clew(tested, "coverage").stdout.count("no results read") == 3
    assert json.loads(clew(tested, "coverage", "--json").stdout)["totals"]["validated"] is None
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "clew.toml").touch()
    assert "nothing to cover" in clew(empty, "coverage").stdout
    assert json.loads(clew(empty, "coverage", "--json").stdout)["totals"]["tested_pct"] is None
    matrix = clew(empty, "trace")
    assert (matrix.returncode, "nothing to cover" in matrix.stderr) == (0, True)
    limited = clew(empty, "coverage", "--fail-under", "0")
    assert (limited.returncode, "no assertions" in limited.stderr) == (1, True)


# Verifies: REQ-d00066-C
def test_a_level_that_nothing_has_is_told_with_those_there_are(clew: Clew, tested: Path) -> None:
    done = clew(tested, "coverage", "--level", "nope")
    assert done.returncode == 1
    assert "no requirement matches. Levels here: dev" in done.stderr


# Verifies: REQ-d00066-C
def test_of_many_that_cite_an_assertion_the_first_are_shown(clew: Clew, tested: Path) -> None:
    many = "".join(f"# Verifies: REQ-p00001-B\ndef test_more_{number}(): ...\n" for number in range(500))
    (tested / "tests" / "test_more.py").write_text(many, encoding="utf-8")
    shown = clew(tested, "coverage", "REQ-p00001").stdout
    assert "more; --json lists them" in shown
    assert max(map(len, shown.splitlines())) < 2_000
    assert (
        len(json.loads(clew(tested, "coverage", "REQ-p00001", "--json").stdout)["assertions"][1]["verified_by"]) > 500
    )
