"""Mutations of a project: what is accepted, what is refused, and what comes back."""

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.trace.drafted import contents, mutate, said, write_project

from clew.errors import (
    AlreadyExists,
    ClewError,
    Conflict,
    InvalidArgument,
    NotFound,
    OutsideProject,
    Refused,
    WouldCycle,
    WrongKind,
)
from clew.graph.build import builder as build
from clew.graph.model import NodeKind
from clew.project import Project
from clew.trace import coverage
from clew.trace.edit.requests import ListDrafts, UndoLast, UndoTo

Open = Callable[[Path], Project]


@pytest.fixture
def project(tmp_path: Path, opened: Open) -> Project:
    project = opened(write_project(tmp_path / "odd"))
    project.ensure_graph()
    return project


# Verifies: REQ-o00021-A+C
def test_a_mutation_is_in_the_graph_and_in_no_file_and_says_what_it_replaced(project: Project) -> None:
    before = contents(project.config.root)
    result = mutate(project, "update_title", node_id="d2", new_title="Show minutes")
    assert result.mutation.before_state == {"title": "Show the minute"}
    assert result.mutation.after_state == {"title": "Show minutes"}
    assert (result.mutation.operation, result.mutation.target_id) == ("update_title", "REQ-d00002")
    assert result.mutation.affects_hash is False
    assert project.trace.requirement("REQ-d00002").title == "Show minutes"
    assert result.version == project.trace.requirement("REQ-d00002").version
    assert contents(project.config.root) == before


# Verifies: REQ-d00045-A
@pytest.mark.parametrize(
    ("operation", "arguments", "error", "words"),
    [
        ("rename_node", {"old_id": "REQ-d00002", "new_id": "nonsense id"}, InvalidArgument, ("nonsense id", "REQ-")),
        ("rename_node", {"old_id": "REQ-d00002", "new_id": "req-D3"}, AlreadyExists, ("REQ-d00003", "c-journey.md")),
        ("rename_node", {"old_id": "REQ-d00002", "new_id": "REQ-p00007"}, InvalidArgument, ("prd", "dev")),
        ("rename_node", {"old_id": "REQ-d00002", "new_id": "d2"}, InvalidArgument, ("d2",)),
        ("rename_node", {"old_id": "REQ-d00002", "new_id": "REQ-d0000000002"}, InvalidArgument, ("already",)),
        ("rename_node", {"old_id": "JNY-Clock-01", "new_id": "REQ-d00007"}, InvalidArgument, ("journey",)),
        ("rename_node", {"old_id": "REQ-d00077", "new_id": "REQ-d00007"}, NotFound, ("REQ-d00077",)),
        ("update_title", {"node_id": "REQ-d00002", "new_title": "two\nlines"}, InvalidArgument, ("one line",)),
        ("update_title", {"node_id": "REQ-d00002", "new_title": "a *star*"}, InvalidArgument, ("*",)),
        ("update_title", {"node_id": "REQ-d00002", "new_title": "  "}, InvalidArgument, ("one line",)),
        ("update_title", {"node_id": "REQ-d00002", "new_title": "nul\0"}, InvalidArgument, ("x00",)),
        ("update_title", {"node_id": "REQ-p00001-A", "new_title": "x"}, WrongKind, ("mutate_update_assertion",)),
        ("update_title", {"node_id": "test:tests/test_clock.py::test_minute", "new_title": "x"}, WrongKind, ("test",)),
        ("change_status", {"node_id": "REQ-d00002", "new_status": "Banana"}, InvalidArgument, ("Banana", "Active")),
        ("add_requirement", {"req_id": "REQ-d00001", "title": "x", "level": "dev"}, AlreadyExists, ("REQ-d00001",)),
        ("add_requirement", {"req_id": "REQ-d00009", "title": "x", "level": "high"}, InvalidArgument, ("high", "prd")),
        ("add_requirement", {"req_id": "REQ-d00009", "title": "x", "level": "prd"}, InvalidArgument, ("dev",)),
        ("add_requirement", {"req_id": "JNY-X-01", "title": "x", "level": "dev"}, InvalidArgument, ("JNY-X-01",)),
        ("add_assertion", {"req_id": "REQ-p00001", "text": "x", "label": "AA"}, InvalidArgument, ("AA", "A to Z")),
        ("add_assertion", {"req_id": "REQ-p00001", "text": "x", "label": "not a label!"}, InvalidArgument, ("A to Z",)),
        ("add_assertion", {"req_id": "REQ-p00001", "text": " \n "}, InvalidArgument, ("0 characters",)),
        ("add_assertion", {"req_id": "REQ-p00001", "text": "x", "label": "b"}, AlreadyExists, ("'B'", "A, B, C")),
        ("rename_assertion", {"old_id": "REQ-p00001-A", "new_label": "1"}, InvalidArgument, ("A to Z",)),
        ("update_assertion", {"assertion_id": "REQ-p00001-Q", "new_text": "x"}, NotFound, ("'Q'", "A, B, C")),
        ("update_assertion", {"assertion_id": "REQ-p00001", "new_text": "x"}, WrongKind, ("requirement",)),
    ],
)
def test_values_that_break_a_rule_are_refused_and_change_nothing(
    project: Project, operation: str, arguments: dict[str, Any], error: type[ClewError], words: tuple[str, ...]
) -> None:
    before = said(project.graph)
    with pytest.raises(error) as refused:
        mutate(project, operation, **arguments)
    assert refused.value.hint
    assert [word for word in words if word not in str(refused.value)] == []
    assert said(project.graph) == before
    assert project.mutations.log().total == 0


# Verifies: REQ-d00045-B
@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"target_id": "REQ-p00042", "edge_kind": "refines"}, NotFound, ("REQ-p00042",)),
        ({"target_id": "REQ-p00001", "edge_kind": "refines", "assertion_targets": ["Q"]}, NotFound, ("'Q'", "A, B, C")),
        ({"target_id": "REQ-d00001", "edge_kind": "refines"}, WouldCycle, ("itself",)),
        ({"target_id": "REQ-d00002", "edge_kind": "implements"}, WouldCycle, ("REQ-d00002 -> REQ-d00001",)),
        ({"target_id": "REQ-p00001", "edge_kind": "verifies"}, InvalidArgument, ("verifies", "implements, refines")),
        ({"target_id": "gibberish", "edge_kind": "refines"}, InvalidArgument, ("gibberish",)),
        ({"target_id": "REQ-d00001#d-twice", "edge_kind": "refines"}, Refused, ("mutate_rename_node",)),
    ],
)
def test_references_that_lead_nowhere_or_in_a_circle_are_refused(
    project: Project, arguments: dict[str, Any], error: type[ClewError], words: tuple[str, ...]
) -> None:
    before = said(project.graph)
    with pytest.raises(error) as refused:
        mutate(project, "add_edge", source_id="REQ-d00001", **arguments)
    assert [word for word in words if word not in str(refused.value)] == []
    assert said(project.graph) == before


def test_values_are_taken_in_any_accepted_spelling_and_kept_in_the_canonical_one(project: Project) -> None:
    result = mutate(project, "add_requirement", req_id="req-D9", title=" New ", level="D", parent_id="p1-a+b")
    assert result.mutation.after_state == {
        "id": "REQ-d00009",
        "title": "New",
        "level": "dev",
        "status": "Draft",
        "parent_id": "REQ-p00001-A+B",
        "edge_kind": "implements",
        "path": "spec/a-tidy.md",
    }
    assert mutate(project, "change_status", node_id="d9", new_status="active").mutation.after_state == {
        "status": "Active"
    }
    (parent,) = project.trace.requirement("REQ-d00009").parents
    assert (parent.id, parent.edge_kind, parent.assertion_targets) == ("REQ-p00001", "implements", ("A", "B"))


# Verifies: REQ-d00045-A
def test_labels_end_with_the_style_of_the_project(project: Project) -> None:
    for number in range(3, 26):
        result = mutate(project, "add_assertion", req_id="REQ-p00001", text=f"It SHALL {number}.")
        assert result.label == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number]
    with pytest.raises(Refused, match="at most 26"):
        mutate(project, "add_assertion", req_id="REQ-p00001", text="It SHALL fail.")
    assert project.trace.requirement("REQ-p00001").coverage["total_assertions"] == 26


@pytest.mark.parametrize(
    ("style", "labels", "following"),
    [("numeric_1based", "1 2", "3"), ("numeric", "0 1", "2"), ("alphanumeric", "8 9", "A")],
)
def test_labels_of_every_style_have_a_next_one_and_close_up(
    tmp_path: Path, opened: Open, style: str, labels: str, following: str
) -> None:
    first, second = labels.split()
    root = tmp_path / "styled"
    (root / "spec").mkdir(parents=True)
    (root / ".elspais.toml").write_text(f'[id-patterns.assertions]\nlabel_style = "{style}"\n', encoding="utf-8")
    (root / "spec" / "a.md").write_text(
        "## REQ-d00001: One\n\n**Level**: DEV | **Status**: Active\n\n## Assertions\n\n"
        f"{first}. It SHALL one.\n{second}. It SHALL two.\n\n*End* *One*\n",
        encoding="utf-8",
    )
    project = opened(root)
    assert mutate(project, "add_assertion", req_id="d1", text="It SHALL three.").label == following
    mutate(project, "delete_assertion", assertion_id=f"REQ-d00001-{first}")
    detail = project.trace.requirement("REQ-d00001")
    assert [(each.label, each.text) for each in detail.assertions] == [
        (first, "It SHALL two."),
        (second, "It SHALL three."),
    ]


# Verifies: REQ-d00046-C
def test_labels_close_up_only_where_no_reference_changes_its_meaning(project: Project) -> None:
    with pytest.raises(Refused, match=r"REQ-p00001-A.*compact=False"):
        mutate(project, "delete_assertion", assertion_id="REQ-p00001-A", compact=True)
    result = mutate(project, "delete_assertion", assertion_id="REQ-p00001-A")
    assert result.mutation.after_state == {"relabelled": {}}
    assert "still says" in result.message
    assert [each.label for each in project.trace.requirement("REQ-p00001").assertions] == ["B", "C"]


# Verifies: REQ-d00046-C
def test_labels_that_the_names_of_tests_hold_do_not_close_up(tmp_path: Path, opened: Open) -> None:
    root = write_project(tmp_path / "named")
    (root / "tests" / "test_bell.py").write_text("def test_REQ_o00002_B_rings(): ...\n", encoding="utf-8")
    project = opened(root)
    for text in ("It SHALL hang.", "It SHALL ring."):
        mutate(project, "add_assertion", req_id="REQ-o00002", text=text)
    with pytest.raises(Refused, match=r"test_bell\.py:1 says test_REQ_o00002_B_rings"):
        mutate(project, "delete_assertion", assertion_id="REQ-o00002-A", compact=True)
    mutate(project, "delete_assertion", assertion_id="REQ-o00002-A", compact=False)
    assert project.graph.metrics("REQ-o00002")["untested_labels"] == ()


# Verifies: REQ-d00046-A+C
def test_labels_that_close_up_take_their_references_along(project: Project) -> None:
    mutate(project, "add_assertion", req_id="REQ-d00001", text="It SHALL two.")
    mutate(project, "add_assertion", req_id="REQ-d00001", text="It SHALL three.")
    mutate(project, "add_edge", source_id="REQ-d00003", target_id="REQ-d00001-C", edge_kind="refines")
    result = mutate(project, "delete_assertion", assertion_id="REQ-d00001-B", compact=True)
    assert result.mutation.after_state == {"relabelled": {"C": "B"}}
    cited = {(each.id, each.assertion_targets) for each in project.trace.requirement("REQ-d00003").parents}
    assert ("REQ-d00001", ("B",)) in cited
    assert [each.text for each in project.trace.requirement("REQ-d00001").assertions][1] == "It SHALL three."


def test_an_edge_that_is_there_already_changes_nothing_and_says_so(project: Project) -> None:
    before = said(project.graph)
    result = mutate(project, "add_edge", source_id="REQ-d00001", target_id="REQ-p00001-A", edge_kind="Implements")
    assert result.mutation.after_state["duplicate"] is True
    assert said(project.graph) == before


def test_where_two_requirements_are_tied_in_several_ways_the_kind_decides(project: Project) -> None:
    mutate(project, "add_edge", source_id="REQ-d00001", target_id="REQ-p00001", edge_kind="refines")
    for operation in ("delete_edge", "change_edge_kind"):
        kind = {"new_kind": "satisfies"} if operation == "change_edge_kind" else {}
        with pytest.raises(InvalidArgument, match=r"implements, refines.*edge_kind"):
            mutate(project, operation, source_id="REQ-d00001", target_id="REQ-p00001", **kind)
    mutate(project, "delete_edge", source_id="REQ-d00001", target_id="REQ-p00001", edge_kind="refines")
    with pytest.raises(NotFound, match="It cites REQ-p00001"):
        mutate(project, "delete_edge", source_id="REQ-d00001", target_id="REQ-o00001")


def test_a_broken_reference_is_named_as_written_or_in_another_spelling(project: Project) -> None:
    with pytest.raises(NotFound, match="REQ-p00099"):
        mutate(project, "fix_broken_reference", source_id="REQ-d00001", old_target_id="x", new_target_id="REQ-p00001")
    result = mutate(
        project, "fix_broken_reference", source_id="REQ-d00001", old_target_id="p99", new_target_id="REQ-p00001-B"
    )
    assert result.mutation.before_state == {"target_id": "REQ-p00099", "edge_kind": "implements"}
    assert project.trace.requirement("REQ-d00001").broken_references == ()


def test_a_new_requirement_goes_to_the_file_asked_for_or_to_where_its_like_stand(project: Project) -> None:
    def path_of(**arguments: Any) -> str:
        return str(mutate(project, "add_requirement", title="x", **arguments).mutation.after_state["path"])

    assert path_of(req_id="REQ-d00011", level="dev", parent_id="REQ-o00001") == "spec/b-windows.md"
    assert path_of(req_id="REQ-o00012", level="ops") == "spec/b-windows.md"
    assert path_of(req_id="REQ-d00013", level="dev", file_path="spec/deep/new.md") == "spec/deep/new.md"
    for path, error in (("src/x.md", InvalidArgument), ("spec/x.txt", InvalidArgument), ("../x.md", OutsideProject)):
        with pytest.raises(error):
            mutate(project, "add_requirement", req_id="REQ-d00014", title="x", level="dev", file_path=path)


# Verifies: REQ-d00045-E
def test_a_mutation_that_demands_a_version_is_refused_on_another(project: Project) -> None:
    version = project.trace.requirement("REQ-d00002").version
    first = mutate(project, "update_title", node_id="d2", new_title="One", if_version=version)
    with pytest.raises(Conflict) as refused:
        mutate(project, "update_title", node_id="d2", new_title="Two", if_version=version)
    assert refused.value.data["current_version"] == first.version
    assert project.trace.requirement("REQ-d00002").title == "One"
    owner = project.trace.requirement("REQ-p00001").version
    mutate(project, "update_assertion", assertion_id="REQ-p00001-A", new_text="It SHALL.", if_version=owner)


# Verifies: REQ-d00045-E, REQ-o00021-B, REQ-d00001-D
def test_undo_goes_back_one_by_one_or_to_a_mutation_and_minds_the_tip(project: Project) -> None:
    start = said(project.graph)
    ids = [
        mutate(project, "update_title", node_id="REQ-d00002", new_title=title).mutation.id for title in ("A", "B", "C")
    ]
    with pytest.raises(Conflict) as refused:
        project.mutations.undo_last(UndoLast(if_mutation_id=ids[0]))
    assert refused.value.data["current_tip"] == ids[2]
    assert [entry["id"] for entry in refused.value.data["unseen"]] == ids[1:]
    undone = project.mutations.undo_last(UndoLast(if_mutation_id=ids[2]))
    assert (undone.mutation.id, undone.current_tip, undone.reverts_saved) == (ids[2], ids[1], False)
    result = project.mutations.undo_to(UndoTo(mutation_id=ids[0]))
    assert [entry.id for entry in result.mutations] == [ids[1], ids[0]]
    assert result.current_tip == ""
    assert said(project.graph) == start
    with pytest.raises(NotFound, match="no mutation"):
        project.mutations.undo_last(UndoLast(if_mutation_id=""))
    with pytest.raises(NotFound, match=ids[0]):
        project.mutations.undo_to(UndoTo(mutation_id=ids[0]))


# Verifies: REQ-d00045-F
def test_the_spec_of_another_tool_is_refused_with_the_way_to_change_it(demo: Path, opened: Open) -> None:
    project = opened(demo)
    with pytest.raises(WrongKind, match="which the mutations cannot change") as refused:
        mutate(project, "update_title", node_id="passage-windows/windows-of-a-day", new_title="Windows")
    assert "openspec/specs/passage-windows/spec.md" in str(refused.value)
    assert "req_update changes a register" in str(refused.value.hint)


# Verifies: REQ-d00045-A
def test_an_id_that_a_draft_has_taken_is_told_as_such(project: Project) -> None:
    new = {"title": "New", "level": "dev", "file_path": "spec/new.md"}
    mutate(project, "add_requirement", req_id="REQ-d00777", **new)
    with pytest.raises(AlreadyExists, match=r"taken by a draft for spec/new\.md"):
        mutate(project, "add_requirement", req_id="REQ-D777", **new)


def test_the_log_is_paged_newest_first(project: Project) -> None:
    ids = [mutate(project, "update_title", node_id="d2", new_title=f"T{n}").mutation.id for n in range(5)]
    page = project.mutations.log(ListDrafts(limit=2), offset=1)
    assert [entry.id for entry in page.mutations] == [ids[3], ids[2]]
    assert (page.total, page.count, page.truncated, page.current_tip) == (5, 2, True, ids[4])


# Verifies: REQ-d00049-B
def test_every_figure_follows_a_mutation_and_its_undo(project: Project) -> None:
    def figures() -> list[object]:
        graph = project.graph
        return [
            coverage.count_by_coverage(graph),
            coverage.coverage_by_level(graph),
            coverage.uncovered_assertion_count(graph),
            coverage.stale_hash_count(graph),
            graph.root_count(),
            {node.id: dict(graph.metrics(node.id)) for node in graph.nodes_by_kind(NodeKind.REQUIREMENT)},
        ]

    before = figures()
    mutate(project, "add_assertion", req_id="REQ-d00002", text="It SHALL be untested.")
    mutate(project, "delete_assertion", assertion_id="REQ-p00001-B", compact=False)
    mutate(project, "delete_requirement", node_id="REQ-o00002")
    mutate(project, "change_status", node_id="REQ-d00001", new_status="Active")
    after = figures()
    assert all(one != other for one, other in zip(before[:4], after[:4], strict=True))
    project.mutations.undo_to(UndoTo(mutation_id=project.mutations.log().mutations[-1].id))
    assert figures() == before


# Verifies: REQ-d00049-B+C
def test_sums_that_follow_a_mutation_are_those_of_counting_everything(project: Project) -> None:
    graph = project.graph

    def counted() -> dict[str, object]:
        nodes = list(graph.nodes_by_kind(NodeKind.REQUIREMENT))
        metrics = {node.id: graph.metrics(node.id) for node in nodes}
        citing = [node for kind in (NodeKind.TEST, NodeKind.CODE) for node in graph.nodes_by_kind(kind)]
        levels = Counter(node.get_field("level") for node in nodes)
        expected = [metrics[node.id] for node in nodes if node.get_field("role") == "active"]
        return {
            "levels": dict(sorted(levels.items())),
            "assertions": sum(each["total_assertions"] for each in expected),
            "tested": sum(each["tested"] for each in expected),
            "untested": sum(len(each["untested_labels"]) for each in metrics.values()),
            "full": sum(1 for each in expected if each["tested"] and not each["untested_labels"]),
            "stale": sum(1 for node in nodes if node.get_field("hash_state") == "stale"),
            "orphans": sum(1 for node in citing if not list(graph.iter_outgoing_edges(node.id))),
            "roots": len(list(graph.iter_roots())),
        }

    def kept() -> dict[str, object]:
        levels = coverage.coverage_by_level(graph)
        return {
            "levels": dict(coverage.count_by_level(graph).all),
            "assertions": sum(each.assertions for each in levels),
            "tested": sum(each.tested_assertions for each in levels),
            "untested": coverage.uncovered_assertion_count(graph),
            "full": coverage.count_by_coverage(graph).full_coverage,
            "stale": coverage.stale_hash_count(graph),
            "orphans": coverage.orphan_count(graph),
            "roots": graph.root_count(),
        }

    seen = [kept()]
    assert seen[0] == counted()
    for operation, arguments in (
        ("delete_requirement", {"node_id": "REQ-o00001"}),
        ("add_requirement", {"req_id": "REQ-o00001", "title": "Again", "level": "ops", "parent_id": "REQ-p00001"}),
        ("add_assertion", {"req_id": "REQ-o00001", "text": "It SHALL be there again."}),
        ("delete_assertion", {"assertion_id": "REQ-p00001-B", "compact": False}),
        ("rename_node", {"old_id": "REQ-p00001", "new_id": "REQ-p00077"}),
        ("delete_requirement", {"node_id": "REQ-d00002"}),
    ):
        mutate(project, operation, **arguments)
        seen.append(kept())
        assert seen[-1] == counted()
    assert len({msgspec.json.encode(each) for each in seen}) > 4
    for before in reversed(seen[:-1]):
        project.mutations.undo_last()
        assert kept() == counted() == before


# Verifies: REQ-d00049-A
def test_a_mutation_reads_only_the_files_whose_text_it_changes(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    original = type(project.context.builder).original
    monkeypatch.setattr(
        type(project.context.builder),
        "original",
        lambda self, path, kept: (read.append(path), original(self, path, kept))[1],
    )
    mutate(project, "update_title", node_id="REQ-o00001", new_title="Wind it")
    assert set(read) == {"spec/b-windows.md"}
    read.clear()
    mutate(project, "rename_node", old_id="REQ-o00001", new_id="REQ-o00009")
    spec = {"spec/a-tidy.md", "spec/b-windows.md", "spec/c-journey.md"}
    assert set(read) == {*spec, "src/clock.py", "tests/test_clock.py"}


# Verifies: REQ-d00049-A
def test_a_second_draft_on_a_file_opens_it_only_where_somebody_wrote_to_it(
    tmp_path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_project(tmp_path / "odd")
    spec = root / "spec" / "a-tidy.md"
    os.utime(spec, (1_700_000_000, 1_700_000_000))
    project = opened(root)
    project.ensure_graph()
    mutate(project, "update_title", node_id="REQ-d00002", new_title="One")
    read: list[bytes] = []
    hashed = build.content_hash
    monkeypatch.setattr(build, "content_hash", lambda data: (read.append(data), hashed(data))[1])
    mutate(project, "update_title", node_id="REQ-d00002", new_title="Two")
    mutate(project, "change_status", node_id="REQ-p00001", new_status="Draft")
    assert not read
    # Somebody else writes, though not where the drafts are: both sides are kept.
    spec.write_bytes(spec.read_bytes().replace(b"Time flies.", b"Time dies. "))
    mutate(project, "update_title", node_id="REQ-d00001", new_title="Three")
    assert read
    project.mutations.save()
    for text in (b"REQ-d00001: Three", b"REQ-d00002: Two", b"Time dies. "):
        assert text in spec.read_bytes()


def test_a_requirement_that_ten_thousand_cite_is_mutated_all_the_same(tmp_path: Path, opened: Open) -> None:
    root = write_project(tmp_path / "many")
    lines = "".join(f"# Verifies: REQ-o00001-A\ndef test_{number}(): ...\n" for number in range(10_000))
    (root / "tests" / "test_many.py").write_text(lines, encoding="utf-8")
    project = opened(root)
    mutate(project, "update_title", node_id="REQ-o00001", new_title="Wind it")
    mutate(project, "rename_assertion", old_id="REQ-o00001-A", new_label="Q")
    assert project.graph.metrics("REQ-o00001")["tests"] > 10_000
    assert "Q" not in project.graph.metrics("REQ-o00001")["untested_labels"]
    project.mutations.undo_last()
    assert msgspec.to_builtins(project.trace.requirement("REQ-o00001").title) == "Wind it"
