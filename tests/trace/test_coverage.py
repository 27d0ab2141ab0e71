"""Coverage: what tests, results, journeys and executed lines say of assertions, in figures that follow every change."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.project import Project
from clew.trace import aggregates
from clew.trace.coverage import code_lines, proof
from clew.trace.coverage_rollup import DIMENSIONS, dimensions

Open = Callable[[Path], Project]

CONFIGURATION = '[tests]\nresults = ["results/*"]\n[search]\nbackground = false\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, "clew.toml", CONFIGURATION)
    return tmp_path


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def requirement(
    number: int, labels: str = "AB", *, refines: Sequence[str] = (), status: str = "Active", more: str = ""
) -> str:
    entries = "".join(f"{label}. It SHALL {label}.\n" for label in labels)
    section = f"## Assertions\n\n{entries}\n" if labels else ""
    cites = f" | **Refines**: {', '.join(refines)}" if refines else ""
    title = f"Number {number}"
    head = f"## REQ-d{number:05}: {title}\n\n**Level**: DEV | **Status**: {status}{cites}{more}\n\n"
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


def covered(project: Project, id: str, name: str) -> tuple[float | None, float | None, str | None]:
    found = dimensions(project.graph, id)[name]
    return found.covered, found.pct, found.tier


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
    assert aggregates.count_by_coverage(graph).failing is None
    assert aggregates.count_by_coverage(graph).validated is None
    assert aggregates.coverage_by_level(graph)[0].validated_assertions is None
    for name in ("verified", "uat_verified", "lcov_tested"):
        assert covered(project, "REQ-d00001", name) == (None, None, None)
    assert graph.metrics("code:src/a.py:1") == {
        "line_evidence": "no line evidence",
        "executable_lines": None,
        "executed_lines": None,
        "executed_by": (),
    }
    assert code_lines(graph, "REQ-d00001") is None


# Verifies: REQ-o00020-C
def test_every_count_says_the_same_as_the_requirements_it_counts(root: Path, opened: Open) -> None:
    write(root, "spec/a.md", "".join(requirement(number) for number in range(1, 5)))
    tests(root, one="REQ-d00001-A+B", two="REQ-d00002-A", three="REQ-d00003", four="REQ-d00001-A")
    results(root, one="passed", two="failed", three="error", four="passed")
    project = opened(root)
    project.refresh()
    graph = project.graph
    counts = aggregates.count_by_coverage(graph)
    assert (counts.total, counts.full_coverage, counts.partial_coverage, counts.no_coverage) == (4, 1, 1, 2)
    assert (counts.failing, counts.validated) == (2, 1)
    (level,) = aggregates.coverage_by_level(graph)
    assert (level.tested_assertions, level.validated_assertions, level.validated_pct) == (3, 2, 25.0)
    assert level.validated_assertions == sum(graph.metrics(f"REQ-d0000{number}")["validated"] for number in range(1, 5))


# Verifies: REQ-d00042-F
def test_figures_follow_tests_reports_requirements_and_drafts(root: Path, opened: Open) -> None:
    write(root, "spec/a.md", requirement(1) + requirement(2, "A", refines=["REQ-d00001-A"]))
    tests(root, one="REQ-d00001-A")
    project = opened(root)

    def state() -> tuple[Any, ...]:
        project.refresh()
        metrics = project.graph.metrics("REQ-d00001")
        return metrics["validated"], metrics["tested"], covered(project, "REQ-d00001", "tested")[0]

    assert state() == (None, 1, 1.0)
    results(root, one="passed")
    assert state() == (1, 1, 1.0)
    results(root, one="failed")
    assert state() == (0, 1, 1.0)
    tests(root, one="REQ-d00001-B", two="REQ-d00002-A")
    assert state() == (0, 1, 2.0)
    results(root, one="passed", two="passed")
    assert state() == (1, 1, 2.0)
    project.mutations.mutate("delete_assertion", {"assertion_id": "REQ-d00001-B", "compact": False})
    assert project.graph.metrics("REQ-d00001")["total_assertions"] == 1
    assert covered(project, "REQ-d00001", "tested") == (1.0, 100.0, "full")
    project.mutations.undo_last()
    assert state() == (1, 1, 2.0)
    (root / "results" / "junit.xml").unlink()
    assert state() == (None, 1, 2.0)


# Verifies: REQ-d00042-C
def test_each_dimension_counts_what_it_is_about(root: Path, opened: Open) -> None:
    write(root, "spec/a.md", requirement(1, "ABCD") + requirement(2, "A", more=" | **Implements**: REQ-d00001-B"))
    journey = "# JNY-Day-01: The day\n\nValidates: REQ-d00001-C\n\n*End* *JNY-Day-01*\n"
    write(root, "spec/journeys.md", journey)
    write(root, "src/a.py", "# Implements: REQ-d00001-A\ndef ring():\n    x = 1\n    return x\n")
    tests(root, one="REQ-d00001-A+D")
    results(root, one="passed")
    write(root, "results/manual.xml", "<testsuite><testcase name='JNY-Day-01'/></testsuite>")
    write(root, "results/lcov.info", "SF:src/a.py\nDA:2,1\nDA:3,1\nDA:4,0\nend_of_record\n")
    project = opened(root)
    project.refresh()
    found = dimensions(project.graph, "REQ-d00001")
    assert tuple(found) == DIMENSIONS
    direct = {name: dict(found[name].immediate_direct) for name in DIMENSIONS}
    assert direct == {
        "implemented": {"A": 1.0, "B": 1.0},
        "tested": {"A": 1.0, "D": 1.0},
        "verified": {"A": 1.0, "D": 1.0},
        "uat_coverage": {"C": 1.0},
        "uat_verified": {"C": 1.0},
        "lcov_tested": {"A": pytest.approx(2 / 3)},
    }
    assert covered(project, "REQ-d00001", "implemented") == (2.0, 50.0, "partial")
    assert covered(project, "REQ-d00001", "lcov_tested")[1] == 16.7


# Verifies: REQ-d00042-A
def test_what_cites_the_whole_requirement_covers_every_assertion_indirectly(root: Path, opened: Open) -> None:
    write(root, "spec/a.md", requirement(1, "ABC"))
    tests(root, one="REQ-d00001-A", whole="REQ-d00001")
    project = opened(root)
    project.refresh()
    found = dimensions(project.graph, "REQ-d00001")["tested"]
    assert found.immediate_direct == {"A": 1.0}
    assert found.immediate_indirect == {"A": 1.0, "B": 1.0, "C": 1.0}
    assert (found.covered, found.tier) == (3.0, "full")
    assert project.graph.metrics("REQ-d00001")["untested_labels"] == ("B", "C")


# Verifies: REQ-d00042-A
def test_requirements_conduct_their_mean_to_what_they_refine(root: Path, opened: Open) -> None:
    write(
        root,
        "spec/a.md",
        requirement(1, "ABC")
        + requirement(2, "AB", refines=["REQ-d00001-A"])
        + requirement(3, "A", refines=["REQ-d00001-A+B"])
        + requirement(4, "AB", refines=["REQ-d00003"])
        + requirement(5, "A", refines=["REQ-d00001-C"], status="Draft")
        + requirement(6, "", refines=["REQ-d00001-B"]),
    )
    tests(root, two="REQ-d00002-A", four="REQ-d00004-A", five="REQ-d00005-A", whole="REQ-d00004", six="REQ-d00006")
    project = opened(root)
    project.refresh()
    three = dimensions(project.graph, "REQ-d00003")["tested"]
    assert (three.rolled_direct, three.rolled_indirect) == ({"A": 0.5}, {"A": 1.0})
    one = dimensions(project.graph, "REQ-d00001")["tested"]
    # A: half of 2 and half of 3; B: half of 3, and 6, which has no assertions; C: only a draft.
    assert one.rolled_direct == {"A": 0.5, "B": 0.25}
    assert one.rolled_indirect == {"A": 0.5, "B": 1.0}
    assert (one.covered, one.pct, one.tier) == (1.5, 50.0, "partial")


def small_graph(root: Path, refining: Mapping[int, Sequence[int]]) -> None:
    texts = [
        requirement(number, "A", refines=[f"REQ-d{to:05}" for to in refining.get(number, ())]) for number in range(1, 6)
    ]
    write(root, "spec/a.md", "".join(texts))
    tests(root, one="REQ-d00001-A", three="REQ-d00003-A")


# Verifies: REQ-d00042-B
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.dictionaries(st.integers(1, 5), st.lists(st.integers(1, 5), unique=True, max_size=3), max_size=5),
    st.permutations([f"REQ-d0000{number}" for number in range(1, 6)]),
)
def test_circles_conduct_nothing_whoever_is_asked_first(
    tmp_path_factory: pytest.TempPathFactory, refining: dict[int, list[int]], order: list[str]
) -> None:
    root = tmp_path_factory.mktemp("project")
    write(root, "clew.toml", CONFIGURATION)
    small_graph(root, refining)
    found = []
    for ids in (order, sorted(order)):
        project = Project.open(root)
        project.refresh()
        found.append({id: dimensions(project.graph, id)["tested"] for id in ids})
        project.close()
    assert found[0] == found[1]
    assert all(each.covered is not None and 0 <= each.covered <= 1 for each in found[0].values())


# Verifies: REQ-d00042-B
def test_a_circle_does_not_cover_itself(root: Path, opened: Open) -> None:
    small_graph(root, {1: [2], 2: [1], 4: [2], 5: [4]})
    tests(root, five="REQ-d00005-A", one="REQ-d00001-A")
    project = opened(root)
    project.refresh()
    assert covered(project, "REQ-d00002", "tested")[0] == 1.0
    assert dimensions(project.graph, "REQ-d00002")["tested"].rolled_direct == {"A": 1.0}
    assert dimensions(project.graph, "REQ-d00001")["tested"].rolled_direct == {}


# Verifies: REQ-d00042-B
def test_a_long_chain_of_refinements_is_no_problem(root: Path, opened: Open) -> None:
    chain = [
        requirement(number, "A", refines=[f"REQ-d{number - 1:05}"] if number > 1 else ()) for number in range(1, 2_001)
    ]
    write(root, "spec/a.md", "".join(chain))
    tests(root, last="REQ-d02000-A")
    project = opened(root)
    project.refresh()
    assert covered(project, "REQ-d00001", "tested") == (1.0, 100.0, "full")


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
    lines = code_lines(graph, "REQ-d00001")
    assert lines is not None
    assert (lines.executable, lines.executed, lines.pct) == (4, 2, 50.0)


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
