"""Mutations: each leaves the graph as reading the mutated text would, and changes no other text."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.trace.drafted import mutate, said

from clew.errors import AlreadyExists, InvalidArgument, NotFound, Refused, WouldCycle, WrongKind
from clew.graph.model import EdgeKind
from clew.project import Project
from clew.trace.edit.requests import SaveDrafts, UndoTo
from clew.trace.edit.results import MutationResult

X, Y, Z = "REQ-d00001", "REQ-d00002", "REQ-d00003"
SPEC, TESTS = "spec/a.md", "tests/test_a.py"
TEST_A = f"test:{TESTS}::test_a"


def block(id: str, labels: str = "", implements: str = "", more: str = "") -> str:
    entries = "".join(f"{label}. It SHALL {label}.\n" for label in labels)
    section = f"## Assertions\n\n{entries}\n" if labels else ""
    cites = f" | **Implements**: {implements}" if implements else ""
    return f"## {id}: About {id}\n\n**Level**: DEV | **Status**: Active{cites}\n{more}\n{section}*End* *About {id}*\n\n"


class Desk:
    """A project of one spec file and one file of tests, and what was mutated in it."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.root = project.config.root
        project.ensure_graph()
        self._before = said(project.graph)
        self._mutations: list[tuple[str, dict[str, Any]]] = []
        self._first: str | None = None
        self._is_saved = False

    def mutate(self, operation: str, **arguments: Any) -> MutationResult:
        result = mutate(self.project, operation, **arguments)
        self._mutations.append((operation, arguments))
        self._first = self._first or result.mutation.id
        return result

    def written(self, path: str = SPEC) -> str:
        """The file with all that was mutated."""
        self.project.mutations.save()
        self._is_saved = True
        return (self.root / path).read_bytes().decode("utf-8", "surrogateescape")

    def check(self) -> None:
        """The graph is the one that the written files give, and undoing gives back the one before."""
        drafted = said(self.project.graph)
        if not self._is_saved:
            again = list(self._mutations)
            self.undo()
            for operation, arguments in again:
                self.mutate(operation, **arguments)
        self.project.mutations.save()
        fresh = Project.open(self.root, drafts=False)
        try:
            fresh.refresh(full=True)
            assert said(fresh.graph) == drafted
        finally:
            fresh.close()

    def undo(self) -> None:
        """Take everything back."""
        assert self._first is not None
        self.project.mutations.undo_to(UndoTo(mutation_id=self._first))
        assert said(self.project.graph) == self._before
        self.project.mutations.save()
        self._mutations.clear()
        self._first, self._is_saved = None, False

    def broken(self) -> set[tuple[str, str, str]]:
        return {(each.source_id, each.target_id, each.fault) for each in self.project.graph.memory.broken}

    def cited(self, source: str) -> set[tuple[str, tuple[str, ...]]]:
        return {(edge.target, edge.labels) for edge in self.project.graph.iter_outgoing_edges(source)}

    def labels(self, id: str) -> tuple[str, ...]:
        node = self.project.graph.get_node(id)
        assert node is not None
        return node.get_field("labels")


Make = Callable[..., Desk]


@pytest.fixture
def make(tmp_path: Path, opened: Callable[[Path], Project]) -> Make:
    def made(*blocks: str, tests: str = "", end: bytes = b"") -> Desk:
        root = tmp_path / "desk"
        for path, data in {SPEC: "".join(blocks).encode() + end, TESTS: tests.encode()}.items():
            (root / path).parent.mkdir(parents=True)
            (root / path).write_bytes(data)
        return Desk(opened(root))

    return made


# Verifies: REQ-o00021-D
def test_a_deleted_assertion_leaves_what_named_it_broken(make: Make) -> None:
    desk = make(
        block(X, "AB"),
        block(Y, "", f"{X}-A+B"),
        block(Z, "", X),
        tests=f"# Verifies: {X}-A\ndef test_a(): ...\n",
    )
    desk.mutate("delete_assertion", assertion_id=f"{X}-A", compact=False)
    assert desk.labels(X) == ("B",)
    assert desk.cited(Y) == {(X, ("B",))}
    assert desk.broken() == {
        (Y, f"{X}-A+B", "unknown_assertion"),
        (f"test:{TESTS}::test_a", f"{X}-A", "unknown_assertion"),
    }
    desk.check()


# Verifies: REQ-d00046-A, REQ-d00001-C
def test_relabelling_rewrites_the_references_that_name_the_label_and_no_others(make: Make) -> None:
    other = block(Z, "A", f"{X}-B, {Y}-A")
    desk = make(
        block(X, "AB"),
        block(Y, "A", f"{X}-A+B"),
        other,
        tests=f"# Verifies: {X}-A, {Y}-A\ndef test_a(): ...\n",
    )
    desk.mutate("rename_assertion", old_id=f"{X}-A", new_label="Q")
    assert desk.labels(X) == ("Q", "B")
    assert desk.cited(Y) == {(X, ("Q", "B"))}
    assert f"**Implements**: {X}-Q+B" in desk.written()
    assert other in desk.written()
    assert desk.written(TESTS) == f"# Verifies: {X}-Q, {Y}-A\ndef test_a(): ...\n"
    assert desk.broken() == set()
    desk.check()


# Verifies: REQ-d00046-A
def test_renaming_takes_references_of_every_spelling_along(make: Make) -> None:
    desk = make(
        block(X, "AB", f"{X}-A"),
        block(Y, "", f"d1-A, req-D00001-B,\n  REQ_d00001-A-B, {Z}"),
        block("JNY-Day-01").replace("**Level**: DEV | **Status**: Active", f"Validates: {X}-B, {Y}"),
        tests=f"# Verifies: d1\ndef test_a(): ...\n\ndef test_b():  # Tests: {X}-A (the first), {X}-B\n    ...\n",
    )
    desk.mutate("rename_node", old_id=X, new_id="REQ-d00009")
    assert desk.cited(Y) == {("REQ-d00009", ("A",)), ("REQ-d00009", ("B",)), ("REQ-d00009", ("A", "B"))}
    assert desk.cited("REQ-d00009") == {("REQ-d00009", ("A",))}
    assert desk.cited("JNY-Day-01") == {("REQ-d00009", ("B",)), (Y, ())}
    assert "# Verifies: REQ-d00009\n" in desk.written(TESTS)
    assert "# Tests: REQ-d00009-A (the first), REQ-d00009-B\n" in desk.written(TESTS)
    assert desk.broken() == {(Y, Z, "unknown_requirement")}
    desk.check()


# Verifies: REQ-d00046-B
def test_a_reference_in_the_name_of_a_test_is_left_broken_and_reported(make: Make) -> None:
    tests = f"def test_REQ_d00001_A_works():\n    ...\n\n\n# Verifies: {X}\ndef test_other():\n    ...\n"
    desk = make(block(X, "A"), tests=tests)
    change = desk.mutate("rename_node", old_id=X, new_id="REQ-d00009")
    assert len(change.notes) == 1
    assert f"{TESTS}:1" in change.notes[0]
    assert {source for source, _, _ in desk.broken()} == {f"test:{TESTS}::test_REQ_d00001_A_works"}
    assert desk.written(TESTS) == tests.replace(X, "REQ-d00009")
    desk.check()


def test_what_is_added_mends_the_references_that_waited_for_it(make: Make) -> None:
    desk = make(block(Y, "A", f"{X}, {Y}-B"), block(Z, "", f"{X}-A"))
    desk.mutate("add_requirement", req_id=X, title="New", level="dev", file_path=SPEC)
    assert desk.broken() == {(Y, f"{Y}-B", "unknown_assertion"), (Z, f"{X}-A", "unknown_assertion")}
    desk.mutate("add_assertion", req_id=X, label="A", text="It SHALL be new.")
    desk.mutate("add_assertion", req_id=Y, label="B", text="It SHALL be two.")
    assert desk.broken() == set()
    assert desk.cited(Z) == {(X, ("A",))}
    assert desk.written().endswith(
        f"## {X}: New\n\n**Level**: DEV | **Status**: Draft\n\n## Assertions\n\nA. It SHALL be new.\n\n"
        "*End* *New* | **Hash**: " + str(desk.project.graph.get_node(X).get_field("hash")) + "\n\n"
    )
    desk.check()


def test_deleting_a_requirement_takes_its_rule_along_and_breaks_what_cites_it(make: Make) -> None:
    parted = block(X, "A") + "---\n\n"
    desk = make(parted, block(Y, "A", X) + "---\n\n", block(Z, "", f"{Y}-A"))
    desk.mutate("delete_requirement", node_id=Y)
    assert desk.written() == parted + block(Z, "", f"{Y}-A")
    assert desk.broken() == {(Z, f"{Y}-A", "unknown_requirement")}
    assert desk.project.graph.get_node(f"{Y}-A") is None
    desk.check()


def test_of_two_definitions_each_can_be_changed_and_deleting_the_first_promotes_the_second(make: Make) -> None:
    desk = make(block(X, "A"), block(X, "AB"), block(Y, "", f"{X}-B"))
    desk.mutate("update_title", node_id=f"{X}#a", new_title="The second")
    assert "## REQ-d00001: The second" in desk.written()
    assert desk.broken() == {(Y, f"{X}-B", "unknown_assertion")}
    desk.mutate("rename_node", old_id=f"{X}#a", new_id=Z)
    assert desk.cited(Y) == set()
    desk.check()
    desk.undo()
    desk.mutate("delete_requirement", node_id=X)
    assert desk.labels(X) == ("A", "B")
    assert desk.cited(Y) == {(X, ("B",))}
    desk.check()


def test_edges_are_added_turned_and_removed_in_the_lists_of_the_text(make: Make) -> None:
    desk = make(block(X, "AB"), block(Y, "", f"{X}-A"), block(Z, "", "-", more="**Refines**: -"))
    desk.mutate("add_edge", source_id=Y, target_id=X, edge_kind="implements", assertion_targets=("B",))
    assert f"**Implements**: {X}-A, {X}-B\n" in desk.written()
    desk.mutate("change_edge_kind", source_id=Y, target_id=X, new_kind="refines")
    assert f"**Refines**: {X}-A, {X}-B\n" in desk.written()
    desk.mutate("add_edge", source_id=Z, target_id=X, edge_kind="implements")
    assert f"| **Implements**: {X}\n**Refines**: -" in desk.written()
    desk.mutate("delete_edge", source_id=Y, target_id=X)
    assert desk.cited(Y) == set()
    assert "**Refines**: -\n\n*End* *About REQ-d00002*" in desk.written()
    desk.check()
    assert desk.mutate("add_edge", source_id=Z, target_id=X, edge_kind="implements").mutation.after_state["duplicate"]
    assert desk.project.mutations.save(SaveDrafts(dry_run=True)).files_modified == ()


# Verifies: REQ-d00046-D
def test_a_broken_reference_is_mended_in_a_list_and_in_a_comment(make: Make) -> None:
    desk = make(
        block(X, "AB"),
        block(Y, "", f"{X}-A+Q, REQ-d-nonsense"),
        tests="# Verifies: REQ-d00077-A\n\n\ndef test_a(): ...\n\n\ndef test_b(): ...\n",
    )
    broken = sorted(desk.project.graph.memory.broken, key=lambda each: (each.source_id, each.target_id))
    assert len(broken) == 4
    for reference, target in zip(broken, (f"{X}-B", X, f"{X}-A+B"), strict=False):
        ends = {"source_id": reference.source_id, "old_target_id": reference.target_id}
        desk.mutate("fix_broken_reference", **ends, new_target_id=target)
    assert desk.broken() == set()
    assert f"**Implements**: {X}, {X}-B\n" in desk.written()
    assert desk.written(TESTS).startswith(f"# Verifies: {X}-A+B\n")
    assert desk.cited(f"test:{TESTS}::test_b") == {(X, ("A", "B"))}
    desk.check()


# Verifies: REQ-d00045-B
def test_circles_and_references_to_oneself_are_refused(make: Make) -> None:
    desk = make(block(X, "A"), block(Y, "", X), block(Z, "", f"{Y}, REQ-d00008"), block("REQ-d00004", "", Z))
    with pytest.raises(WouldCycle, match=f"{X} -> {Z} -> {Y} -> {X}"):
        desk.mutate("add_edge", source_id=X, target_id=Z, edge_kind="refines")
    with pytest.raises(WouldCycle, match="itself"):
        desk.mutate("add_edge", source_id=X, target_id=X, edge_kind="implements", assertion_targets=("A",))
    desk.mutate("add_edge", source_id=X, target_id=Z, edge_kind="addresses")
    with pytest.raises(WouldCycle):
        desk.mutate("change_edge_kind", source_id=X, target_id=Z, new_kind="implements")
    with pytest.raises(WouldCycle, match="REQ-d00008"):
        desk.mutate("add_requirement", req_id="REQ-d00008", title="New", level="dev", parent_id="REQ-d00004")
    with pytest.raises(WouldCycle, match="REQ-d00008"):
        desk.mutate("rename_node", old_id="REQ-d00004", new_id="REQ-d00008")
    with pytest.raises(WouldCycle):
        desk.mutate("fix_broken_reference", source_id=Z, old_target_id="REQ-d00008", new_target_id="REQ-d00004")
    desk.check()


def test_an_edge_in_a_circle_that_the_files_describe_can_still_be_changed_and_removed(make: Make) -> None:
    desk = make(block(X, "", Y), block(Y, "", X))
    desk.mutate("change_edge_kind", source_id=X, target_id=Y, new_kind="refines")
    desk.mutate("delete_edge", source_id=Y, target_id=X)
    assert [(edge.kind, edge.target) for edge in desk.project.graph.iter_outgoing_edges(X)] == [(EdgeKind.REFINES, Y)]
    assert list(desk.project.graph.iter_outgoing_edges(Y)) == []
    desk.check()


# Verifies: REQ-d00045-A+B
def test_what_is_taken_or_missing_is_refused(make: Make) -> None:
    desk = make(block(X, "AB"), block(Y))
    with pytest.raises(AlreadyExists, match=f"{Y}.*a.md"):
        desk.mutate("rename_node", old_id=X, new_id=Y)
    with pytest.raises(AlreadyExists):
        desk.mutate("add_requirement", req_id=X, title="New", level="dev", file_path=SPEC)
    with pytest.raises(AlreadyExists, match="'B'"):
        desk.mutate("add_assertion", req_id=X, label="B", text="It SHALL.")
    with pytest.raises(AlreadyExists):
        desk.mutate("rename_assertion", old_id=f"{X}-A", new_label="B")
    with pytest.raises(NotFound, match=Z):
        desk.mutate("add_edge", source_id=Y, target_id=Z, edge_kind="implements")
    with pytest.raises(NotFound, match="'Q'"):
        desk.mutate("add_edge", source_id=Y, target_id=X, edge_kind="implements", assertion_targets=("Q",))
    for refused in (
        lambda: desk.mutate("delete_requirement", node_id=f"{X}-A"),
        lambda: desk.mutate("update_assertion", assertion_id=X, new_text="It SHALL."),
    ):
        with pytest.raises(WrongKind):
            refused()


# Verifies: REQ-d00045-C
@pytest.mark.parametrize(
    "text",
    [
        "It SHALL.\n## Heading",
        "It SHALL.\nB. Another",
        "It SHALL.\n*End* *About REQ-d00001*",
        "It SHALL.\n```\nopen",
        "It SHALL.\n**alone**",
        "It SHALL.\n## REQ-d00009: Another",
    ],
)
def test_a_text_that_would_read_as_something_else_is_refused(make: Make, text: str) -> None:
    desk = make(block(X, "A"), block(Y, "A"))
    for plan in (
        lambda: desk.mutate("update_assertion", assertion_id=f"{X}-A", new_text=text),
        lambda: desk.mutate("add_assertion", req_id=X, label="B", text=text),
    ):
        with pytest.raises(InvalidArgument, match="must not hold"):
            plan()


def test_a_fence_that_is_closed_and_a_list_are_part_of_an_assertion(make: Make) -> None:
    text = "It SHALL run:\n\n```sh\n# not a heading\nB. not a label\n```\n\n- one\n- two"
    desk = make(block(X, "A"), block(Y, "A", X))
    desk.mutate("update_assertion", assertion_id=f"{X}-A", new_text=text)
    node = desk.project.graph.get_node(f"{X}-A")
    assert node is not None
    assert node.title == text
    desk.check()


def test_letters_beyond_ascii_are_not_mixed_into_a_file_of_another_encoding(make: Make) -> None:
    desk = make(block(X, "A"), end=b"caf\xe9\n")
    with pytest.raises(Refused, match="UTF-8"):
        desk.mutate("update_title", node_id=X, new_title="Café")
    desk.mutate("update_title", node_id=X, new_title="Coffee")
    assert desk.written().encode("utf-8", "surrogateescape").endswith(b"caf\xe9\n")


def test_a_requirement_is_not_put_behind_a_code_block_that_never_ends(make: Make) -> None:
    desk = make("```\nnever closed\n")
    with pytest.raises(Refused, match="never closed"):
        desk.mutate("add_requirement", req_id=X, title="New", level="dev", file_path=SPEC)


def test_a_new_file_holds_nothing_but_the_new_requirement(make: Make) -> None:
    desk = make(block(X, "A"))
    where = {"parent_id": X, "edge_kind": "refines", "file_path": "spec/b.md"}
    desk.mutate("add_requirement", req_id=Y, title="New", level="dev", **where)
    assert desk.written("spec/b.md").startswith(
        f"## {Y}: New\n\n**Level**: DEV | **Status**: Draft | **Refines**: {X}\n"
    )
    desk.check()
