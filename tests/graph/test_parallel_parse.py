"""Parsing on several cores: the same graph as on one, whatever becomes of the other processes."""

import io
import os
import select
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from clew.errors import Cancelled
from clew.graph.build import parallel_parse
from clew.graph.build.parse_messages import Answer, Request, receive, send
from clew.project import Project

Open = Callable[[Path], Project]

FILES = 120


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with spec, code, tests and a result for each of them."""
    (tmp_path / "clew.toml").write_text('[tests]\nresults = ["junit.xml"]\n[search]\nbackground = false\n')
    for folder in ("spec", "src", "tests"):
        (tmp_path / folder).mkdir()
    cases = []
    for number in range(FILES):
        head = f"## REQ-d{number:05}: Number {number}\n\n**Level**: DEV\n\n"
        (tmp_path / "spec" / f"{number}.md").write_text(
            f"{head}## Assertions\n\nA. It SHALL.\n\n*End* *Number {number}*\n"
        )
        (tmp_path / "src" / f"m{number}.py").write_text(f"# Implements: REQ-d{number:05}-A\ndef f(): ...\n")
        (tmp_path / "tests" / f"test_{number}.py").write_text(f"# Verifies: REQ-d{number:05}-A\ndef test_f(): ...\n")
        cases.append(f"<testcase classname='tests.test_{number}' name='test_f'/>")
    (tmp_path / "junit.xml").write_text(f"<testsuite>{''.join(cases)}</testsuite>")
    return tmp_path


def read_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The project as one process reads it; nothing stays behind."""
    with monkeypatch.context() as patch:
        patch.setattr(parallel_parse, "other_cores", lambda: 0)
        project = Project.open(root)
        project.refresh()
        project.close()
    shutil.rmtree(root / ".clew")
    return project


@pytest.fixture
def sharing(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Makes every pass worth sharing, with one process; collects how many files that process delivered."""
    monkeypatch.setattr(parallel_parse, "WORTHWHILE_BYTES", 1)
    monkeypatch.setattr(parallel_parse, "other_cores", lambda: 1)
    delivered: list[int] = []
    finish = parallel_parse.ParallelParse.finish

    def counted(self: parallel_parse.ParallelParse) -> object:
        found = finish(self)
        delivered.append(len(found))
        return found

    monkeypatch.setattr(parallel_parse.ParallelParse, "finish", counted)
    return delivered


# Verifies: REQ-d00044-A
def test_several_processes_give_the_same_graph_as_one(
    root: Path, opened: Open, sharing: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = read_alone(root, monkeypatch)
    # Here the own process leaves all files to the other one.
    monkeypatch.setattr(parallel_parse.ParallelParse, "claim", lambda self, key: False)
    project = opened(root)
    report = project.refresh()
    assert report.parsed == 3 * FILES + 1
    assert sharing[-1] == 3 * FILES + 1
    assert project.graph.memory.snapshot() == alone.graph.memory.snapshot()
    ids = [[node.id for node in each.graph.memory.snapshot()[0].values()] for each in (project, alone)]
    assert ids[0] == ids[1]


# Verifies: REQ-d00044-A
def test_what_another_process_parsed_is_cached_like_everything_else(
    root: Path, opened: Open, sharing: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel_parse.ParallelParse, "claim", lambda self, key: False)
    first = opened(root)
    first.refresh()
    first.close()
    report = opened(root).refresh()
    assert report.from_cache == 3 * FILES + 1


# Verifies: REQ-d00044-B
@pytest.mark.parametrize(
    "program",
    ["raise SystemExit(3)", "import sys; sys.stdin.buffer.read(10)", "print('nonsense' * 99)"],
)
def test_a_process_that_fails_costs_no_file(
    root: Path, opened: Open, sharing: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str
) -> None:
    alone = read_alone(root, monkeypatch)
    broken = tmp_path / "broken-python"
    broken.write_text(f"#!{sys.executable}\n{program}\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    project = opened(root)
    assert project.refresh().parsed == 3 * FILES + 1
    assert sharing == [0]
    assert project.graph.memory.snapshot() == alone.graph.memory.snapshot()


# Verifies: REQ-d00044-B
def test_a_process_that_died_before_it_was_asked_costs_no_file(
    root: Path, opened: Open, sharing: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "broken-python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)

    def send_late(stream: IO[bytes], message: Request | Answer) -> None:
        reader = select.poll()
        reader.register(stream.fileno(), 0)
        reader.poll()  # until nobody reads what is sent
        send(stream, message)

    monkeypatch.setattr(sys, "executable", str(broken))
    monkeypatch.setattr(parallel_parse, "send", send_late)
    assert opened(root).refresh().parsed == 3 * FILES + 1
    assert sharing == [0]


# Verifies: REQ-d00044-B
def test_a_process_that_does_not_start_costs_no_file(
    root: Path, opened: Open, sharing: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "nowhere/python")
    assert opened(root).refresh().parsed == 3 * FILES + 1
    assert sharing == [0]


# Verifies: REQ-d00044-B
def test_whoever_gives_up_leaves_no_process_behind(root: Path, opened: Open, sharing: list[int]) -> None:
    def give_up(done: int, total: int, message: str) -> None:
        if done == 3:
            raise Cancelled("enough")

    project = opened(root)
    with pytest.raises(Cancelled):
        project.refresh(progress=give_up)
    assert project.refresh().parsed == 3 * FILES + 1


# Verifies: REQ-d00044-A
def test_a_small_project_is_parsed_alone(root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    def unexpected(*args: object) -> None:
        raise AssertionError("another process was asked")

    monkeypatch.setattr(parallel_parse, "shared", unexpected)
    assert opened(root).refresh().parsed == 3 * FILES + 1


def test_a_message_that_was_cut_off_is_none() -> None:
    stream = io.BytesIO()
    send(stream, ())
    whole = stream.getvalue()
    assert receive(io.BytesIO(whole)) is not None
    assert receive(io.BytesIO(whole[:-1])) is None
    assert receive(io.BytesIO(whole[:2])) is None


# Verifies: REQ-d00044-C
def test_a_changed_file_is_read_alone_and_no_folder_is_walked_for_it(
    root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / ".clew").mkdir()
    old = 1_700_000_000
    for path in (*root.rglob("*"), root):
        os.utime(path, (old, old))
    project = opened(root)
    project.refresh()

    def walked(*args: object) -> None:
        raise AssertionError("a folder was walked")

    with monkeypatch.context() as patch:
        patch.setattr("clew.workspace.follow.scan", walked)
        path = root / "tests" / "test_7.py"
        path.write_text(path.read_text().replace("test_f", "test_g"))
        report = project.refresh()
    assert (report.parsed, report.links.citations_linked) == (1, 1)
    assert project.graph.get_node("test:tests/test_7.py::test_g") is not None
    (root / "tests" / "test_new.py").write_text("def test_h(): ...\n")
    assert project.refresh().parsed == 1
    assert project.graph.get_node("test:tests/test_new.py::test_h") is not None
