"""Coverage: what tests, results, journeys and executed lines say of assertions, in figures that follow every change."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.trace.drafted import mutate

from clew.project import Project
from clew.trace import coverage
from clew.trace.coverage import proof

Open = Callable[[Path], Project]

CONFIGURATION = '[tests]\nresults = ["results/*"]\n[search]\nbackground = false\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, "clew.toml", CONFIGURATION)
    return tmp_path


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def requirement(number: int, labels: str = "AB", *, more: str = "") -> str:
    entries = "".join(f"{label}. It SHALL {label}.\n" for label in labels)
    section = f"## Assertions\n\n{entries}\n" if labels else ""
    title = f"Number {number}"
    head = f"## REQ-d{number:05}: {title}\n\n**Level**: DEV | **Status**: Active{more}\n\n"
    return f"{head}{section}*End* *{title}*\n\n"


def tests(root: Path, **cited: str) -> None:
    """A file of tests, by name with what each cites."""
    text = "".join(f"# Verifies: {ids}\ndef test_{name}(): ...\n\n" for name, ids in cited.items())
    write(root, "tests/test_all.py", text)


def results(root: Path, **statuses: str) -> None:
    inside = {"passed": "", "failed": "<failure/>", "error": "<error/>", "skipped": "<skipped/>"}
    cases = "".join(
        f"<testcase classname='tests.test_all' name='test_{name}'>{inside[status]}</testcase>"
        for name, status in statuses.items()
    )
    write(root, "results/junit.xml", f"<testsuite>{cases}</testsuite>")


# Verifies: REQ-o00020-C, REQ-d00042-D
def test_an_assertion_is_validated_by_a_test_that_passed_and_none_that_failed(root: Path, opened: Open) -> None:
    write(root, "spec/a.md", requirement(1, "ABCDE"))
    tests(root, one="REQ-d00001-A+B", two="REQ-d00001-B", three="REQ-d00001-C", whole="REQ-d00001", four="REQ-d00001-D")
    results(root, one="passed", two="failed", three="skipped", whole="passed")
    project = opened(root)
    project.refresh()
    metrics = project.graph.metrics("REQ-d00001")
    assert (metrics["tested"], metrics["validated"], metrics["validated_pct"]) == (4, 1, 20.0)
    assert (metrics["passed_labels"], metrics["failed_labels"]) == (("A",), ("B",))
    assert metrics["awaiting_labels"] == ("C", "D")
    assert metrics["untested_labels"] == ("E",)
    assert (metrics["has_failures"], metrics["tier"]) == (True, "failing")
    words = [proof(metrics, label) for label in "ABCDE"]
    assert words == ["passed", "failed", "awaiting_result", "awaiting_result", "untested"]


# Verifies: REQ-o00020-D
def test_without_reports_nothing_is_said_of_what_only_they_can_tell(root: Path, opened: Open) -> None:
    write(root, "spec/a.md", requirement(1))
    tests(root, one="REQ-d00001-A")
    write(root, "src/a.py", "# Implements: REQ-d00001-A\ndef ring(): ...\n")
    project = opened(root)
    project.refresh()
    graph = project.graph
    metrics = graph.metrics("REQ-d00001")
    assert (metrics["validated"], metrics["validated_pct"], metrics["tier"]) == (None, None, "partial")
    assert metrics["awaiting_labels"] == ("A",)
    assert coverage.count_by_coverage(graph).failing is None
    assert coverage.count_by_coverage(graph).validated is None
    assert coverage.coverage_by_level(graph)[0].validated_assertions is None
    assert graph.metrics("code:src/a.py:1") == {
        "line_evidence": "no line evidence",
        "executable_lines": None,
        "executed_lines": None,
        "executed_by": (),
    }


# Verifies: REQ-o00020-C
def test_every_count_says_the_same_as_the_requirements_it_counts(root: Path, opened: Open) -> None:
    write(root, "spec/a.md", "".join(requirement(number) for number in range(1, 5)))
    tests(root, one="REQ-d00001-A+B", two="REQ-d00002-A", three="REQ-d00003", four="REQ-d00001-A")
    results(root, one="passed", two="failed", three="error", four="passed")
    project = opened(root)
    project.refresh()
    graph = project.graph
    counts = coverage.count_by_coverage(graph)
    assert (counts.total, counts.full_coverage, counts.partial_coverage, counts.no_coverage) == (4, 1, 1, 2)
    assert (counts.failing, counts.validated) == (2, 1)
    (level,) = coverage.coverage_by_level(graph)
    assert (level.tested_assertions, level.validated_assertions, level.validated_pct) == (3, 2, 25.0)
    assert level.validated_assertions == sum(graph.metrics(f"REQ-d0000{number}")["validated"] for number in range(1, 5))


# Verifies: REQ-d00042-F
def test_figures_follow_tests_reports_requirements_and_drafts(root: Path, opened: Open) -> None:
    write(root, "spec/a.md", requirement(1))
    tests(root, one="REQ-d00001-A")
    project = opened(root)

    def state() -> tuple[Any, ...]:
        project.refresh()
        metrics = project.graph.metrics("REQ-d00001")
        return metrics["validated"], metrics["tested"]

    assert state() == (None, 1)
    results(root, one="passed")
    assert state() == (1, 1)
    results(root, one="failed")
    assert state() == (0, 1)
    tests(root, one="REQ-d00001-A+B", two="REQ-d00001-B")
    assert state() == (0, 2)
    results(root, one="passed", two="passed")
    assert state() == (2, 2)
    mutate(project, "delete_assertion", assertion_id="REQ-d00001-B", compact=False)
    metrics = project.graph.metrics("REQ-d00001")
    assert (metrics["total_assertions"], metrics["tested"], metrics["tested_pct"]) == (1, 1, 100.0)
    project.mutations.undo_last()
    assert state() == (2, 2)
    (root / "results" / "junit.xml").unlink()
    assert state() == (None, 2)


# Verifies: REQ-d00042-B+C
def test_implementation_tests_and_passed_tests_are_told_apart(root: Path, opened: Open) -> None:
    write(
        root,
        "spec/a.md",
        requirement(1, "ABCD")
        + requirement(2, "A", more=" | **Implements**: REQ-d00001-B")
        + requirement(3, "AB")
        + requirement(4, "A", more=" | **Implements**: REQ-d00003"),
    )
    write(root, "src/a.py", "# Implements: REQ-d00001-A\ndef ring(): ...\n")
    tests(root, one="REQ-d00001-A+D", two="REQ-d00001-B")
    results(root, one="passed", two="skipped")
    project = opened(root)
    project.refresh()
    metrics = project.graph.metrics("REQ-d00001")
    assert (metrics["implemented"], metrics["implemented_pct"]) == (2, 50.0)
    assert (metrics["tested"], metrics["untested_labels"]) == (3, ("C",))
    assert metrics["passed_labels"] == ("A", "D")
    assert project.graph.metrics("REQ-d00003")["implemented"] == 2


# Verifies: REQ-d00042-A
def test_a_test_of_the_whole_requirement_proves_no_assertion(root: Path, opened: Open) -> None:
    write(root, "spec/a.md", requirement(1, "ABC"))
    tests(root, one="REQ-d00001-A", whole="REQ-d00001")
    results(root, one="passed", whole="passed")
    project = opened(root)
    project.refresh()
    metrics = project.graph.metrics("REQ-d00001")
    assert (metrics["tests"], metrics["tested"], metrics["validated"]) == (2, 1, 1)
    assert metrics["untested_labels"] == ("B", "C")


# Verifies: REQ-d00042-E
def test_a_place_in_code_says_what_was_executed_and_by_whom(root: Path, opened: Open) -> None:
    write(root, "spec/a.md", requirement(1, "ABC"))
    ring, hang = (
        f"# Implements: REQ-d00001-{label}\ndef {name}():\n    return 1\n"
        for label, name in (("A", "ring"), ("B", "hang"))
    )
    write(root, "src/bell.py", f"{ring}\n\n{hang}")
    write(root, "src/rope.py", "# Implements: REQ-d00001-C\ndef hold(): ...\n")
    tests(root, one="REQ-d00001-A", two="REQ-d00001-B")
    contexts = {"3": ["tests/test_all.py::test_one|run", "tests.test_all.test_two"], "2": [""]}
    files = {"/build/project/src/bell.py": {"executed_lines": [2, 3], "missing_lines": [7, 8], "contexts": contexts}}
    write(root, "results/coverage.json", json.dumps({"files": files}))
    project = opened(root)
    project.refresh()
    graph = project.graph
    assert graph.metrics("code:src/bell.py:1") == {
        "line_evidence": "executed",
        "executable_lines": 2,
        "executed_lines": 2,
        "executed_by": ("test:tests/test_all.py::test_one", "test:tests/test_all.py::test_two"),
    }
    assert graph.metrics("code:src/bell.py:6")["line_evidence"] == "not executed"
    assert graph.metrics("code:src/rope.py:1")["line_evidence"] == "no line evidence"


# Verifies: REQ-d00042-E
def test_several_reports_on_lines_add_up_and_follow_the_files(root: Path, opened: Open) -> None:
    write(root, "spec/a.md", requirement(1, "A"))
    write(root, "src/bell.py", "# Implements: REQ-d00001-A\ndef ring():\n    return 1\n")
    write(root, "results/a.info", "SF:src/bell.py\nDA:2,1\nDA:3,0\nend_of_record\n")
    project = opened(root)
    project.refresh()
    assert project.graph.metrics("code:src/bell.py:1")["line_evidence"] == "partly executed"
    write(root, "results/b.info", "SF:src/bell.py\nDA:2,0\nDA:3,1\nend_of_record\n")
    project.refresh()
    assert project.graph.metrics("code:src/bell.py:1")["line_evidence"] == "executed"
    write(root, "src/bell.py", "\n# Implements: REQ-d00001-A\ndef ring():\n    return 1\n")
    project.refresh()
    assert project.graph.metrics("code:src/bell.py:2")["executable_lines"] == 1
    for name in "ab":
        (root / "results" / f"{name}.info").unlink()
    project.refresh()
    assert project.graph.metrics("code:src/bell.py:2")["line_evidence"] == "no line evidence"


# Verifies: REQ-d00042-E
def test_a_path_that_could_mean_two_files_says_nothing_of_either(root: Path, opened: Open) -> None:
    write(root, "spec/a.md", requirement(1, "A"))
    for folder in "xy":
        write(root, f"src/{folder}/bell.py", "# Implements: REQ-d00001-A\ndef ring():\n    return 1\n")
    write(root, "results/a.info", "SF:bell.py\nDA:3,1\nend_of_record\n")
    project = opened(root)
    project.refresh()
    evidence = {project.graph.metrics(f"code:src/{folder}/bell.py:1")["line_evidence"] for folder in "xy"}
    assert evidence == {"no line evidence"}
