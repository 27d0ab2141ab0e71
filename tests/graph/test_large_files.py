"""A large file is read in a process of its own; one that takes too long is set aside, and delays nothing else."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from clew.project import Project
from clew.workspace import worker

Open = Callable[[Path], Project]

LARGE = """# REQ-p00007: Large

**Level**: PRD | **Status**: Active

It is long. {0}

## Assertions

A. It SHALL be read.

*End* *Large*
"""


@pytest.fixture
def root(small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(worker, "LARGE_BYTES", 2_000)
    (small / "spec" / "large.md").write_text(LARGE.format("word " * 1_000), encoding="utf-8")
    (small / "docs").mkdir()
    (small / "docs" / "large.md").write_text("# Tides\n\n" + "The spring tide is high.\n" * 200, encoding="utf-8")
    (small / "docs" / "guide.md").write_text("# Guide\n\nThe neap tide is low.\n", encoding="utf-8")
    return small


def findings(project: Project) -> list[tuple[str, str]]:
    project.ensure_graph()
    return [(each.code, each.path) for each in project.trace.findings() if each.code.startswith("file.")]


def edit(root: Path) -> None:
    (root / "spec" / "large.md").write_text(LARGE.format("other " * 1_000), encoding="utf-8")


# Verifies: REQ-d00264-B
def test_a_large_file_is_read_like_any_other(root: Path, opened: Open) -> None:
    project = opened(root)
    assert findings(project) == []
    assert project.trace.requirement("REQ-p00007").title == "Large"
    project.kb.refresh(wait=True)
    assert project.kb.status().problems == ()


# Verifies: REQ-d00264-B
def test_one_that_takes_too_long_is_set_aside_and_tried_again_when_it_changes(
    root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(worker, "WALL_SECONDS", 0.0)
        project = opened(root)
        assert findings(project) == [("file.set_aside", "spec/large.md")]
        assert project.trace.requirement("REQ-p00001").title == "Keep time"
        project.close()
    again = opened(root)
    assert findings(again) == [("file.set_aside", "spec/large.md")]
    edit(root)
    assert findings(again) == []
    assert again.trace.requirement("REQ-p00007").title == "Large"


# Verifies: REQ-d00264-B
def test_a_document_that_takes_too_long_is_a_problem_and_the_others_are_found(
    root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = opened(root)
    with monkeypatch.context() as patch:
        patch.setattr(worker, "WALL_SECONDS", 0.0)
        project.kb.refresh(wait=True)
    (problem,) = project.kb.status().problems
    assert (problem.path, problem.message) == ("docs/large.md", worker.SET_ASIDE)
    assert project.kb.status().documents == 2
    project.kb.refresh(wait=True)
    assert len(project.kb.status().problems) == 1
    with (root / "docs" / "large.md").open("a", encoding="utf-8") as file:
        file.write("It changed.\n")
    project.kb.refresh(wait=True)
    assert project.kb.status().problems == ()


# Verifies: REQ-d00264-C
def test_a_server_answers_without_a_large_file_until_it_is_read(
    root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_answer = threading.Event()
    answer_apart = worker.answer_apart

    def held(function: str, message: bytes) -> bytes | None:
        may_answer.wait()
        return answer_apart(function, message)

    monkeypatch.setattr(worker, "answer_apart", held)
    project = opened(root)
    project.context.builder.large_files.patience = 0.0
    assert findings(project) == [("file.being_read", "spec/large.md")]
    assert project.trace.requirement("REQ-p00001").title == "Keep time"
    may_answer.set()
    project.context.builder.large_files.patience = None
    assert findings(project) == []
    assert project.trace.requirement("REQ-p00007").title == "Large"
