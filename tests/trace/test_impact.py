"""What a change concerns."""

from collections.abc import Callable
from pathlib import Path

import pytest

from clew.errors import NotFound, OutsideProject
from clew.project import Project
from clew.trace.read.resolve import Resolver, subject_of
from clew.trace.reports.impact import Impact, impact
from clew.trace.reports.suspect import suspects

Open = Callable[[Path], Project]

SPEC = """## REQ-p00001: Keep time

**Level**: PRD | **Status**: Active

## Assertions

A. The clock SHALL show the hour.
B. The clock SHALL show the minute.

*End* *Keep time*

## REQ-o00001: Show it

**Level**: OPS | **Status**: Active | **Implements**: REQ-p00001-A

## Assertions

A. The hour SHALL be shown.

*End* *Show it*

## REQ-d00001: Show the hour

**Level**: DEV | **Status**: Active | **Refines**: REQ-o00001

## Assertions

A. The hour SHALL have two digits.

*End* *Show the hour*

## REQ-d00002: Round

**Level**: DEV | **Status**: Active | **Implements**: REQ-d00003

*End* *Round*

## REQ-d00003: And round

**Level**: DEV | **Status**: Active | **Implements**: REQ-d00002

*End* *And round*
"""
CODE = """def hour():
    # Implements: REQ-d00001-A
    return "00"
"""
TESTS = """def test_digits():
    # Verifies: REQ-d00001-A
    pass


def test_minute():
    # Verifies: REQ-p00001-B
    pass
"""


@pytest.fixture
def project(opened: Open, tmp_path: Path) -> Project:
    root = tmp_path / "project"
    for name, text in (("spec/clock.md", SPEC), ("src/clock.py", CODE), ("tests/test_clock.py", TESTS)):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "clew.toml").touch()
    project = opened(root)
    project.ensure_graph()
    return project


def of(project: Project, text: str, *, limit: int = 100, near: Path | None = None) -> Impact:
    graph, root = project.graph, project.config.root
    subject = subject_of(graph, Resolver(graph, project.context.grammar), root, text, near or root)
    return impact(graph, subject, suspects(graph, project.store), limit=limit)


# Verifies: REQ-d00053-E
def test_a_requirement_names_everything_below_it_and_what_proves_it(project: Project) -> None:
    found = of(project, "p1")
    assert [(item.id, item.how, item.distance) for item in found.dependents] == [
        ("REQ-o00001", "implements REQ-p00001-A", 1),
        ("test:tests/test_clock.py::test_minute", "verifies REQ-p00001-B", 1),
        ("REQ-d00001", "refines REQ-o00001", 2),
        ("code:src/clock.py:2", "implements REQ-d00001-A", 3),
        ("test:tests/test_clock.py::test_digits", "verifies REQ-d00001-A", 3),
    ]
    assert found.dependents_by_kind == {"code": 1, "requirement": 2, "test": 2}
    assert {proof.id for proof in found.proofs} == {
        "test:tests/test_clock.py::test_minute",
        "test:tests/test_clock.py::test_digits",
    }
    assert {proof.result for proof in found.proofs} == {None}
    assert {(doubt.citing, doubt.cited) for doubt in found.becomes_suspect} == {
        ("REQ-o00001", "REQ-p00001-A"),
        ("test:tests/test_clock.py::test_minute", "REQ-p00001-B"),
    }
    assert (found.stands_for, found.suspect_now) == ((), 0)


# Verifies: REQ-d00053-E
def test_an_assertion_concerns_only_what_cites_it_or_the_whole(project: Project) -> None:
    found = of(project, "REQ-p00001-B")
    assert [item.id for item in found.dependents] == ["test:tests/test_clock.py::test_minute"]
    assert [doubt.cited for doubt in found.becomes_suspect] == ["REQ-p00001-B"]
    assert [doubt.cited for doubt in of(project, "REQ-o00001-A").becomes_suspect] == ["REQ-o00001"]


# Verifies: REQ-d00053-E
def test_code_stands_for_what_it_cites_and_is_proved_by_the_tests_of_that(project: Project) -> None:
    found = of(project, "src/clock.py")
    assert (found.kind, found.subject) == ("file", "src/clock.py")
    assert [item.id for item in found.stands_for] == ["REQ-d00001", "REQ-o00001", "REQ-p00001"]
    assert [proof.id for proof in found.proofs] == ["test:tests/test_clock.py::test_digits"]
    assert (found.dependents_total, found.becomes_suspect_total) == (0, 0)
    test = of(project, "test:tests/test_clock.py::test_digits")
    assert [item.id for item in test.stands_for] == ["REQ-d00001", "REQ-o00001", "REQ-p00001"]


# Verifies: REQ-d00053-E
def test_a_file_of_requirements_concerns_what_cites_any_of_them(project: Project) -> None:
    found = of(project, "clock.md", near=project.config.root / "spec")
    assert found.subject == "spec/clock.md"
    assert found.dependents_by_kind == {"code": 1, "test": 2}
    assert found.becomes_suspect_total == 7


# Verifies: REQ-d00053-E
def test_a_circle_ends(project: Project) -> None:
    found = of(project, "d2")
    assert [item.id for item in found.dependents] == ["REQ-d00003"]
    assert [item.id for item in found.stands_for] == ["REQ-d00003"]


# Verifies: REQ-d00053-E
def test_lists_are_bounded_and_counted(project: Project) -> None:
    found = of(project, "p1", limit=1)
    assert (len(found.dependents), found.dependents_total) == (1, 5)
    assert (len(found.proofs), found.proofs_total) == (1, 2)
    assert (len(found.becomes_suspect), found.becomes_suspect_total) == (1, 2)


# Verifies: REQ-d00053-E
def test_what_is_suspect_already_is_marked(project: Project) -> None:
    of(project, "p1")
    spec = project.config.root / "spec" / "clock.md"
    spec.write_text(SPEC.replace("show the minute", "show minutes"), encoding="utf-8")
    project.ensure_graph()
    found = of(project, "p1")
    assert [(doubt.cited, doubt.suspect_now) for doubt in found.becomes_suspect] == [
        ("REQ-p00001-A", False),
        ("REQ-p00001-B", True),
    ]
    assert found.suspect_now == 1


@pytest.mark.parametrize("text", ["REQ-p00099", "nowhere.py", "clew.toml", "a\0b", ""])
def test_what_names_nothing_is_not_found(project: Project, text: str) -> None:
    with pytest.raises(NotFound):
        of(project, text)


def test_a_file_outside_is_refused(project: Project, tmp_path: Path) -> None:
    (tmp_path / "outside.py").touch()
    with pytest.raises(OutsideProject):
        of(project, "../outside.py")


# Verifies: REQ-d00053-E
def test_what_is_cited_is_spelled_as_its_own_ids_are(demo: Path, opened: Open) -> None:
    project = opened(demo)
    project.ensure_graph()
    found = of(project, "tests/test_scenarios.py")
    scenario = "passage-windows/windows-of-a-day#a-day-with-two-tides"
    assert project.graph.get_node(scenario) is not None
    assert f"verifies {scenario}" in {each.how for each in found.stands_for}
    assert scenario in {each.proves for each in found.proofs}


# Verifies: REQ-d00053-E
def test_an_assertion_named_twice_in_one_comment_is_one_link(project: Project) -> None:
    twice = "# Implements: REQ-p00001-A+B, REQ-p00001-A..B\ndef twice(): ...\n"
    (project.config.root / "src" / "twice.py").write_text(twice, encoding="utf-8")
    project.refresh()
    doubts = [each for each in of(project, "REQ-p00001").becomes_suspect if each.path == "src/twice.py"]
    assert [each.cited for each in doubts] == ["REQ-p00001-A", "REQ-p00001-B"]
