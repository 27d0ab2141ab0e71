"""Incremental building: only what changed is read, and the result is that of a fresh build."""

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.properties import examples
from tests.removing import remove
from tests.trace.drafted import mutate

from clew.errors import Cancelled
from clew.graph.model import NodeKind
from clew.project import Project
from clew.workspace.follow import RACY_NS

Open = Callable[[Path], Project]

AHEAD = 4_000_000_000
"""A time that no clock has reached, so that a file of this time is never settled, however slow the machine."""


def block(id: str, title: str, implements: str = "-", assertions: str = "A. It SHALL work.\n") -> str:
    return (
        f"## {id}: {title}\n\n**Level**: DEV | **Status**: Active | **Implements**: {implements}\n\n"
        f"## Assertions\n\n{assertions}\n*End* *{title}*\n\n"
    )


def age(*paths: Path) -> None:
    """Make files old enough for their times to be trusted."""
    for path in paths:
        old = path.stat().st_mtime_ns - 10 * RACY_NS
        os.utime(path, ns=(old, old))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "spec").mkdir(parents=True)
    (folder / "clew.toml").write_text("", encoding="utf-8")
    for number in range(1, 4):
        (folder / "spec" / f"{number}.md").write_text(
            block(f"REQ-d0000{number}", f"Number {number}", f"REQ-d0000{number - 1}-A"), encoding="utf-8"
        )
    age(*(folder / "spec").iterdir(), folder / "spec")
    return folder


def build_and_close(root: Path) -> None:
    """Build the graph as an earlier process would have; closing waits until the cache is written."""
    project = Project.open(root)
    project.refresh()
    project.close()


# Verifies: REQ-d00003-A
def test_a_warm_start_parses_nothing_and_gives_the_same_graph(root: Path, opened: Open) -> None:
    first = opened(root)
    assert first.refresh().parsed == 3
    first.close()
    second = opened(root)
    report = second.refresh()
    assert (report.parsed, report.from_cache) == (0, 3)
    assert second.graph.memory.snapshot() == first.graph.memory.snapshot()
    assert second.graph.state.fingerprint == first.graph.state.fingerprint


# Verifies: REQ-d00003-A
def test_a_warm_start_opens_no_file_that_did_not_change(
    root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_and_close(root)

    def opened_a_file(*args: object, **kwargs: object) -> bytes:
        raise AssertionError("a file was opened")

    for module in ("clew.graph.build.reading", "clew.workspace.follow"):
        monkeypatch.setattr(f"{module}.read_bytes", opened_a_file)
    assert opened(root).refresh().from_cache == 3


# Verifies: REQ-d00003-A
def test_a_touched_file_with_the_same_content_is_not_parsed_again(root: Path, opened: Open) -> None:
    build_and_close(root)
    os.utime(root / "spec" / "1.md")
    report = opened(root).refresh()
    assert (report.parsed, report.from_cache) == (0, 3)


# Verifies: REQ-d00003-B
def test_one_changed_file_parses_that_file_and_relinks_only_what_it_touches(root: Path, opened: Open) -> None:
    project = opened(root)
    project.refresh()
    before, edges_before, _ = project.graph.memory.snapshot()
    (root / "spec" / "2.md").write_text(block("REQ-d00002", "Renamed", "REQ-d00001-A"), encoding="utf-8")
    report = project.refresh()
    assert report.parsed == 1
    assert report.links.citations_linked == 1
    after, edges_after, _ = project.graph.memory.snapshot()
    assert after["REQ-d00002"].title == "Renamed"
    assert edges_after == edges_before
    for id in before.keys() - {"REQ-d00002", "REQ-d00002-A"}:
        assert after[id] is before[id]


# Verifies: REQ-d00003-C
def test_deleting_and_renaming_a_file_removes_exactly_its_nodes(root: Path, opened: Open) -> None:
    project = opened(root)
    project.refresh()
    (root / "spec" / "1.md").unlink()
    assert project.refresh().removed == 1
    assert project.graph.get_node("REQ-d00001") is None
    assert project.graph.get_node("REQ-d00001-A") is None
    assert project.graph.count(NodeKind.REQUIREMENT) == 2
    assert [reference.target_id for reference in project.graph.memory.broken] == ["REQ-d00001-A"]
    (root / "spec" / "2.md").rename(root / "spec" / "moved.md")
    project.refresh()
    moved = project.graph.get_node("REQ-d00002")
    assert moved is not None
    assert moved.source is not None
    assert moved.source.path == "spec/moved.md"
    assert list(project.graph.nodes_in_file("spec/2.md")) == []


# Verifies: REQ-d00003-D
def test_a_full_refresh_parses_everything(root: Path, opened: Open) -> None:
    project = opened(root)
    project.refresh()
    assert project.refresh().parsed == 0
    assert project.refresh(full=True).parsed == 3


# Verifies: REQ-d00003-E
def test_a_change_of_the_same_size_at_the_same_time_is_noticed(root: Path, opened: Open) -> None:
    path = root / "spec" / "1.md"
    path.write_text(block("REQ-d00001", "Number 1", "-"), encoding="utf-8")
    os.utime(path, (AHEAD, AHEAD))
    project = opened(root)
    project.refresh()
    assert not project.context.builder.is_stale()
    path.write_text(block("REQ-d00001", "Number 7", "-"), encoding="utf-8")
    os.utime(path, (AHEAD, AHEAD))
    assert project.context.builder.is_stale()
    project.refresh()
    node = project.graph.get_node("REQ-d00001")
    assert node is not None
    assert node.title == "Number 7"


# Verifies: REQ-d00003-E
def test_a_file_that_comes_without_another_time_of_its_folder_is_read(
    root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = opened(root)
    # The folder is read right after it changed, and looked at again much later.
    with monkeypatch.context() as patched:
        patched.setattr("clew.workspace.follow.is_settled", lambda *times: False)
        project.refresh()
    monkeypatch.setattr("clew.workspace.follow.is_settled", lambda *times: True)
    mark = (root / "spec").stat().st_mtime_ns
    (root / "spec" / "4.md").write_text(block("REQ-d00004", "Four"), encoding="utf-8")
    os.utime(root / "spec", ns=(mark, mark))
    project.ensure_graph()
    assert project.graph.get_node("REQ-d00004") is not None


# Verifies: REQ-d00003-E
def test_files_that_come_and_go_make_the_graph_stale(root: Path, opened: Open) -> None:
    project = opened(root)
    project.refresh()
    assert not project.context.builder.is_stale()
    (root / "spec" / "new").mkdir()
    (root / "spec" / "new" / "4.md").write_text(block("REQ-d00004", "Four"), encoding="utf-8")
    assert project.context.builder.is_stale()
    assert project.refresh().parsed == 1
    assert not project.context.builder.is_stale()
    (root / "spec" / "new" / "4.md").unlink()
    assert project.context.builder.is_stale()


def test_a_cancelled_build_changes_nothing_and_can_be_repeated(root: Path, opened: Open) -> None:
    project = opened(root)

    def stop(done: int, total: int, message: str) -> None:
        if done == 1:
            raise Cancelled("stop")

    with pytest.raises(Cancelled):
        project.refresh(progress=stop)
    assert project.graph.memory.snapshot()[0] == {}
    assert project.refresh().parsed == 3


contents = st.sampled_from(
    [
        None,
        block("REQ-d00001", "One"),
        block("REQ-d00001", "One again", "REQ-d00002-A+B"),
        block("REQ-d00002", "Two", "REQ-d00001, REQ-d00001-A", "A. First.\nB. Second.\n"),
        block("REQ-d00002", "Two") + block("REQ-d00003", "Three", "REQ-d00002-B"),
        "only prose\n",
        "",
    ]
)


# Verifies: REQ-d00002-C
@given(st.lists(st.tuples(st.sampled_from("abc"), contents), max_size=6))
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_sequence_of_edits_on_disk_gives_the_graph_of_a_fresh_build(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, str | None]]
) -> None:
    root = tmp_path_factory.mktemp("edits")
    (root / "clew.toml").touch()
    (root / "spec").mkdir()
    project = Project.open(root)
    project.refresh()
    for name, content in edits:
        path = root / "spec" / f"{name}.md"
        if content is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(content, encoding="utf-8")
        project.refresh()
    figures = project.trace.summary()
    project.close()
    warm, fresh = Project.open(root), Project.open(root)
    warm.refresh()
    fresh.refresh(full=True)
    assert project.graph.memory.snapshot() == fresh.graph.memory.snapshot() == warm.graph.memory.snapshot()
    assert figures == fresh.trace.summary()
    assert project.graph.root_count() == fresh.graph.root_count()
    for opened in (warm, fresh):
        opened.close()


# Verifies: REQ-d00002-C
def test_the_same_reference_twice_on_one_line_is_one_and_the_file_can_be_edited(root: Path, opened: Open) -> None:
    path = root / "spec" / "2.md"
    path.write_text(block("REQ-d00002", "Two", "REQ-d00001-A, REQ-d00001-A"), encoding="utf-8")
    project = opened(root)
    project.refresh()
    path.write_text(block("REQ-d00002", "Three", "REQ-d00001"), encoding="utf-8")
    project.refresh()
    (edge,) = [edge for edge in project.graph.iter_outgoing_edges("REQ-d00002") if edge.target == "REQ-d00001"]
    assert edge.labels == ()


def test_a_store_that_vanishes_costs_the_cache_and_nothing_else(root: Path, opened: Open) -> None:
    project = opened(root)
    project.refresh()
    remove(root / ".clew")
    (root / "spec" / "1.md").write_text(block("REQ-d00001", "After all"), encoding="utf-8")
    project.ensure_graph()
    assert project.trace.requirement("REQ-d00001").title == "After all"


def test_a_cached_record_that_cannot_be_read_is_parsed_again(root: Path, opened: Open) -> None:
    build_and_close(root)
    with closing(sqlite3.connect(root / ".clew" / "parsed.db")) as cache, cache:
        cache.execute("UPDATE files SET payload = x'c1ff'")
    assert opened(root).refresh().parsed == 3


def test_a_fault_in_a_reader_costs_one_file(root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    from clew.graph.readers.elspais import ElspaisReader

    original = ElspaisReader.read

    def faulty(self: ElspaisReader, data: bytes, path: str) -> object:
        if path == "spec/2.md":
            raise ZeroDivisionError
        return original(self, data, path)

    monkeypatch.setattr(ElspaisReader, "read", faulty)
    project = opened(root)
    project.ensure_graph()
    assert project.graph.count(NodeKind.REQUIREMENT) == 2
    assert [item.code for path, item in project.context.builder.diagnostics() if path == "spec/2.md"] == [
        "file.reader_failed"
    ]


@pytest.mark.parametrize("settled", [False, True])
def test_an_update_that_fails_is_made_good_by_the_next(
    root: Path, opened: Open, monkeypatch: pytest.MonkeyPatch, settled: bool
) -> None:
    from clew.graph.build.link import Linker

    monkeypatch.setattr("clew.workspace.follow.is_settled", lambda *times: settled)
    project = opened(root)
    project.refresh()
    before = project.graph.memory.snapshot()
    path = root / "spec" / "1.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "\nmore\n", encoding="utf-8")
    with monkeypatch.context() as patched:
        patched.setattr(Linker, "_relink", lambda *arguments: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            project.refresh()
    path.write_text(text, encoding="utf-8")
    project.ensure_graph()
    assert project.graph.memory.snapshot() == before


# Verifies: REQ-d00015-B
def test_progress_counts_all_files_towards_one_total_and_never_goes_back(root: Path, opened: Open) -> None:
    for folder in ("tests", "src"):
        (root / folder).mkdir()
        for number in range(3):
            (root / folder / f"test_{number}.py").write_text("def test_x(): pass\n", encoding="utf-8")
    seen: list[tuple[int, int]] = []
    opened(root).refresh(progress=lambda done, total, message: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert len({total for _, total in seen}) == 1


# Verifies: REQ-d00013-I
def test_a_call_during_a_refresh_sees_what_changed_before_it(root: Path, opened: Open) -> None:
    project = opened(root)
    project.refresh()
    path = root / "spec" / "1.md"
    titles: list[str] = []
    entered, leave = threading.Event(), threading.Event()

    def slowly(done: int, total: int, message: str) -> None:
        entered.set()
        leave.wait()

    path.write_text(block("REQ-d00001", "First"), encoding="utf-8")
    slow = threading.Thread(target=lambda: project.refresh(progress=slowly))
    slow.start()
    entered.wait()
    path.write_text(block("REQ-d00001", "Second"), encoding="utf-8")

    def call() -> None:
        project.ensure_graph(lambda *progress: leave.set())
        titles.append(project.trace.requirement("REQ-d00001").title)

    caller = threading.Thread(target=call)
    caller.start()
    for thread in (caller, slow):
        thread.join()
    assert titles == ["Second"]


def test_a_file_can_be_read_again_after_a_draft_deleted_what_it_defines(root: Path, opened: Open) -> None:
    project = opened(root)
    project.refresh()
    mutate(project, "delete_requirement", node_id="REQ-d00001")
    (root / "spec" / "1.md").write_text(block("REQ-d00001", "Still here"), encoding="utf-8")
    project.ensure_graph()
    fresh = opened(root)
    fresh.refresh(full=True)
    assert project.graph.get_node("REQ-d00001") == fresh.graph.get_node("REQ-d00001")
    assert fresh.graph.memory.snapshot() == project.graph.memory.snapshot()
