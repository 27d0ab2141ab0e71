"""Mutations: each leaves the graph as reading the mutated text would, and changes no other text."""

from collections.abc import Mapping

import msgspec
import pytest

from clew.errors import AlreadyExists, InvalidArgument, NotFound, Refused, WouldCycle, WrongKind
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.settings import ElspaisSettings
from clew.formats.elspais.write.blocks import NewRequirement
from clew.graph.build.link import Linker
from clew.graph.changes import Change, History
from clew.graph.graph import Graph
from clew.graph.model import Edge, EdgeKind
from clew.graph.readers.elspais import ElspaisReader
from clew.graph.readers.markers import MarkerReader
from clew.trace.edit.text import assertions, edges
from clew.trace.edit.text.draft import DraftContext
from clew.trace.edit.text.renaming import ReferenceTarget
from clew.trace.edit.text.requirements import Mutations
from clew.workspace.find import Selection

X, Y, Z = "REQ-d00001", "REQ-d00002", "REQ-d00003"
IMPLEMENTS, REFINES = EdgeKind.IMPLEMENTS, EdgeKind.REFINES


def block(id: str, labels: str = "", implements: str = "", more: str = "") -> str:
    entries = "".join(f"{label}. It SHALL {label}.\n" for label in labels)
    section = f"## Assertions\n\n{entries}\n" if labels else ""
    cites = f" | **Implements**: {implements}" if implements else ""
    return f"## {id}: About {id}\n\n**Level**: DEV | **Status**: Active{cites}\n{more}\n{section}*End* *About {id}*\n\n"


class Desk:
    """A graph built from texts, with a history of mutations."""

    def __init__(self, *blocks: str, tests: str = "", settings: ElspaisSettings | None = None) -> None:
        settings = settings or ElspaisSettings()
        self.files = {"a.md": "".join(blocks).encode(), "test_a.py": tests.encode()}
        self.grammar = IdGrammar(settings)
        everything = Selection(folders=(".",), patterns=("*",))
        self.spec = ElspaisReader(everything, self.grammar, settings)
        self.markers = MarkerReader("tests", everything, self.grammar, settings, is_test=True)
        self.graph, self.linker = self.built(self.files)
        self.history = History(self.graph, lambda: self.linker)
        commenting = frozenset({self.markers.name})
        drafting = self.drafting = DraftContext(
            self.graph, lambda: self.linker, self.original, lambda: self.spec, self.grammar, self.history, commenting
        )
        self.mutations = Mutations(drafting)

    def original(self, path: str) -> bytes:
        if path not in self.files:
            raise NotFound(path)
        return self.files[path]

    def built(self, files: Mapping[str, bytes]) -> tuple[Graph, Linker]:
        graph = Graph()
        linker = Linker(graph)
        readers = {".md": self.spec, ".py": self.markers}
        for path, data in files.items():
            reader = readers[path[-3:]]
            linker.update({(path, reader.name): reader.contribute(reader.read(data, path), path)})
        return graph, linker

    def apply(self, *changes: Change) -> None:
        for change in changes:
            self.history.apply(change)

    def written(self, path: str = "a.md") -> str:
        return self.history.patches.written(path, self.files.get(path, b"")).decode()

    def check(self) -> None:
        """The graph is the one that the written files give, and undoing gives back the one before."""
        paths = {*self.files, *self.history.patches.paths()}
        fresh, _ = self.built({path: self.written(path).encode() for path in sorted(paths)})
        assert said(self.graph) == said(fresh)
        changes = list(self.history)
        while list(self.history):
            self.history.undo_last()
        assert said(self.graph) == said(self.built(self.files)[0])
        self.apply(*changes)

    def broken(self) -> set[tuple[str, str, str]]:
        return {(each.source_id, each.target_id, each.fault) for each in self.graph.memory.broken}

    def cited(self, source: str) -> set[tuple[str, tuple[str, ...]]]:
        return {(edge.target, edge.labels) for edge in self.graph.iter_outgoing_edges(source)}

    def labels(self, id: str) -> tuple[str, ...]:
        node = self.graph.get_node(id)
        assert node is not None
        return node.get_field("labels")


def said(graph: Graph) -> tuple[object, ...]:
    nodes, edges, broken = graph.memory.snapshot()
    return (
        {node.id: msgspec.structs.replace(node, source=None) for node in nodes.values() if node.kind != "remainder"},
        edges,
        {msgspec.structs.replace(each, line=0) for each in broken},
    )


# Verifies: REQ-o00021-D
def test_a_deleted_assertion_leaves_what_named_it_broken() -> None:
    desk = Desk(
        block(X, "AB"), block(Y, "", f"{X}-A+B"), block(Z, "", X), tests=f"# Verifies: {X}-A\ndef test_a(): ...\n"
    )
    desk.apply(assertions.delete(desk.drafting, f"{X}-A", {}))
    assert desk.labels(X) == ("B",)
    assert desk.cited(Y) == {(X, ("B",))}
    assert desk.broken() == {
        (Y, f"{X}-A+B", "unknown_assertion"),
        ("test:test_a.py::test_a", f"{X}-A", "unknown_assertion"),
    }
    desk.check()


# Verifies: REQ-d00046-A, REQ-d00001-C
def test_relabelling_rewrites_the_references_that_name_the_label_and_no_others() -> None:
    other = block(Z, "A", f"{X}-B, {Y}-A")
    desk = Desk(
        block(X, "AB"), block(Y, "A", f"{X}-A+B"), other, tests=f"# Verifies: {X}-A, {Y}-A\ndef test_a(): ...\n"
    )
    desk.apply(assertions.relabel(desk.drafting, f"{X}-A", "Q"))
    assert desk.labels(X) == ("Q", "B")
    assert desk.cited(Y) == {(X, ("Q", "B"))}
    assert f"**Implements**: {X}-Q+B" in desk.written()
    assert other in desk.written()
    assert desk.written("test_a.py") == f"# Verifies: {X}-Q, {Y}-A\ndef test_a(): ...\n"
    assert desk.broken() == set()
    desk.check()


# Verifies: REQ-d00046-A
def test_renaming_takes_references_of_every_spelling_along() -> None:
    desk = Desk(
        block(X, "AB", f"{X}-A"),
        block(Y, "", f"d1-A, req-D00001-B,\n  REQ_d00001-A-B, {Z}"),
        block("JNY-Day-01").replace("**Level**: DEV | **Status**: Active", f"Validates: {X}-B, {Y}"),
        tests=f"# Verifies: d1\ndef test_a(): ...\n\ndef test_b():  # Tests: {X}-A (the first), {X}-B\n    ...\n",
    )
    desk.apply(desk.mutations.rename_node(X, "REQ-d00009"))
    assert desk.cited(Y) == {("REQ-d00009", ("A",)), ("REQ-d00009", ("B",)), ("REQ-d00009", ("A", "B"))}
    assert desk.cited("REQ-d00009") == {("REQ-d00009", ("A",))}
    assert desk.cited("JNY-Day-01") == {("REQ-d00009", ("B",)), (Y, ())}
    assert "# Verifies: REQ-d00009\n" in desk.written("test_a.py")
    assert "# Tests: REQ-d00009-A (the first), REQ-d00009-B\n" in desk.written("test_a.py")
    assert desk.broken() == {(Y, Z, "unknown_requirement")}
    desk.check()


# Verifies: REQ-d00046-B
def test_a_reference_in_the_name_of_a_test_is_left_broken_and_reported() -> None:
    tests = f"def test_REQ_d00001_A_works():\n    ...\n\n\n# Verifies: {X}\ndef test_other():\n    ...\n"
    desk = Desk(block(X, "A"), tests=tests)
    change = desk.mutations.rename_node(X, "REQ-d00009")
    assert len(change.notes) == 1
    assert "test_a.py:1" in change.notes[0]
    desk.apply(change)
    assert {source for source, _, _ in desk.broken()} == {"test:test_a.py::test_REQ_d00001_A_works"}
    assert desk.written("test_a.py") == tests.replace(X, "REQ-d00009")
    desk.check()


def test_what_is_added_mends_the_references_that_waited_for_it() -> None:
    desk = Desk(block(Y, "A", f"{X}, {Y}-B"), block(Z, "", f"{X}-A"))
    desk.apply(desk.mutations.add_requirement(NewRequirement(X, "New", "dev", "Draft"), "a.md"))
    assert desk.broken() == {(Y, f"{Y}-B", "unknown_assertion"), (Z, f"{X}-A", "unknown_assertion")}
    desk.apply(assertions.add(desk.drafting, X, "A", "It SHALL be new."))
    desk.apply(assertions.add(desk.drafting, Y, "B", "It SHALL be two."))
    assert desk.broken() == set()
    assert desk.cited(Z) == {(X, ("A",))}
    assert desk.written().endswith(
        f"## {X}: New\n\n**Level**: DEV | **Status**: Draft\n\n## Assertions\n\nA. It SHALL be new.\n\n"
        "*End* *New* | **Hash**: " + str(desk.graph.get_node(X).get_field("hash")) + "\n\n"
    )
    desk.check()


def test_deleting_a_requirement_takes_its_rule_along_and_breaks_what_cites_it() -> None:
    parted = block(X, "A") + "---\n\n"
    desk = Desk(parted, block(Y, "A", X) + "---\n\n", block(Z, "", f"{Y}-A"))
    desk.apply(desk.mutations.delete_requirement(Y))
    assert desk.written() == parted + block(Z, "", f"{Y}-A")
    assert desk.broken() == {(Z, f"{Y}-A", "unknown_requirement")}
    assert desk.graph.get_node(f"{Y}-A") is None
    desk.check()


def test_of_two_definitions_each_can_be_changed_and_deleting_the_first_promotes_the_second() -> None:
    desk = Desk(block(X, "A"), block(X, "AB"), block(Y, "", f"{X}-B"))
    desk.apply(desk.mutations.update_title(f"{X}#a", "The second"))
    assert "## REQ-d00001: The second" in desk.written()
    assert desk.broken() == {(Y, f"{X}-B", "unknown_assertion")}
    desk.apply(desk.mutations.rename_node(f"{X}#a", Z))
    assert desk.cited(Y) == set()
    desk.check()
    while list(desk.history):
        desk.history.undo_last()
    desk.apply(desk.mutations.delete_requirement(X))
    assert desk.labels(X) == ("A", "B")
    assert desk.cited(Y) == {(X, ("B",))}
    desk.check()


def test_edges_are_added_turned_and_removed_in_the_lists_of_the_text() -> None:
    desk = Desk(block(X, "AB"), block(Y, "", f"{X}-A"), block(Z, "", "-", more="**Refines**: -"))
    desk.apply(edges.add(desk.drafting, Edge(IMPLEMENTS, Y, X, ("B",))))
    assert f"**Implements**: {X}-A, {X}-B\n" in desk.written()
    desk.apply(edges.change_kind(desk.drafting, Y, X, IMPLEMENTS, REFINES))
    assert f"**Refines**: {X}-A, {X}-B\n" in desk.written()
    desk.apply(edges.add(desk.drafting, Edge(IMPLEMENTS, Z, X)))
    assert f"| **Implements**: {X}\n**Refines**: -" in desk.written()
    desk.apply(edges.delete(desk.drafting, Y, X, REFINES))
    assert desk.cited(Y) == set()
    assert "**Refines**: -\n\n*End* *About REQ-d00002*" in desk.written()
    desk.check()
    assert edges.add(desk.drafting, Edge(IMPLEMENTS, Z, X)).definitions == ()


# Verifies: REQ-d00046-D
def test_a_broken_reference_is_mended_in_a_list_and_in_a_comment() -> None:
    desk = Desk(
        block(X, "AB"),
        block(Y, "", f"{X}-A+Q, REQ-d-nonsense"),
        tests="# Verifies: REQ-d00077-A\n\n\ndef test_a(): ...\n\n\ndef test_b(): ...\n",
    )
    broken = sorted(desk.graph.memory.broken, key=lambda each: (each.source_id, each.target_id))
    assert len(broken) == 4
    desk.apply(edges.fix(desk.drafting, broken[0], ReferenceTarget(X, ("B",))))
    desk.apply(edges.fix(desk.drafting, broken[1], ReferenceTarget(X)))
    desk.apply(edges.fix(desk.drafting, broken[2], ReferenceTarget(X, ("A", "B"))))
    assert desk.broken() == set()
    assert f"**Implements**: {X}, {X}-B\n" in desk.written()
    assert desk.written("test_a.py").startswith(f"# Verifies: {X}-A+B\n")
    assert desk.cited("test:test_a.py::test_b") == {(X, ("A", "B"))}
    desk.check()


# Verifies: REQ-d00045-B
def test_circles_and_references_to_oneself_are_refused() -> None:
    desk = Desk(block(X, "A"), block(Y, "", X), block(Z, "", f"{Y}, REQ-d00008"), block("REQ-d00004", "", Z))
    with pytest.raises(WouldCycle, match=f"{X} -> {Z} -> {Y} -> {X}"):
        edges.add(desk.drafting, Edge(REFINES, X, Z))
    with pytest.raises(WouldCycle, match="itself"):
        edges.add(desk.drafting, Edge(IMPLEMENTS, X, X, ("A",)))
    desk.apply(edges.add(desk.drafting, Edge(EdgeKind.ADDRESSES, X, Z)))
    with pytest.raises(WouldCycle):
        edges.change_kind(desk.drafting, X, Z, EdgeKind.ADDRESSES, IMPLEMENTS)
    new = NewRequirement("REQ-d00008", "New", "dev", "Draft", ("implements", "REQ-d00004"))
    with pytest.raises(WouldCycle, match="REQ-d00008"):
        desk.mutations.add_requirement(new, "a.md", ReferenceTarget("REQ-d00004"))
    with pytest.raises(WouldCycle, match="REQ-d00008"):
        desk.mutations.rename_node("REQ-d00004", "REQ-d00008")
    broken = next(each for each in desk.graph.memory.broken if each.target_id == "REQ-d00008")
    with pytest.raises(WouldCycle):
        edges.fix(desk.drafting, broken, ReferenceTarget("REQ-d00004"))
    desk.check()


def test_an_edge_in_a_circle_that_the_files_describe_can_still_be_changed_and_removed() -> None:
    desk = Desk(block(X, "", Y), block(Y, "", X))
    desk.apply(edges.change_kind(desk.drafting, X, Y, IMPLEMENTS, REFINES))
    desk.apply(edges.delete(desk.drafting, Y, X, IMPLEMENTS))
    assert [(edge.kind, edge.target) for edge in desk.graph.iter_outgoing_edges(X)] == [(REFINES, Y)]
    assert list(desk.graph.iter_outgoing_edges(Y)) == []
    desk.check()


# Verifies: REQ-d00045-A+B
def test_what_is_taken_or_missing_is_refused() -> None:
    desk = Desk(block(X, "AB"), block(Y))
    with pytest.raises(AlreadyExists, match=f"{Y}.*a.md"):
        desk.mutations.rename_node(X, Y)
    with pytest.raises(AlreadyExists):
        desk.mutations.add_requirement(NewRequirement(X, "New", "dev", "Draft"), "a.md")
    with pytest.raises(AlreadyExists, match="'B'"):
        assertions.add(desk.drafting, X, "B", "It SHALL.")
    with pytest.raises(AlreadyExists):
        assertions.relabel(desk.drafting, f"{X}-A", "B")
    with pytest.raises(NotFound, match=Z):
        edges.add(desk.drafting, Edge(IMPLEMENTS, Y, Z))
    with pytest.raises(NotFound, match="'Q'"):
        edges.add(desk.drafting, Edge(IMPLEMENTS, Y, X, ("Q",)))
    for refused in (
        lambda: edges.add(desk.drafting, Edge(IMPLEMENTS, Y, f"{X}-A")),
        lambda: desk.mutations.delete_requirement(f"{X}-A"),
        lambda: assertions.update(desk.drafting, X, "It SHALL."),
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
def test_a_text_that_would_read_as_something_else_is_refused(text: str) -> None:
    desk = Desk(block(X, "A"), block(Y, "A"))
    for plan in (
        lambda: assertions.update(desk.drafting, f"{X}-A", text),
        lambda: assertions.add(desk.drafting, X, "B", text),
    ):
        with pytest.raises(InvalidArgument, match="must not hold"):
            plan()


def test_a_fence_that_is_closed_and_a_list_are_part_of_an_assertion() -> None:
    text = "It SHALL run:\n\n```sh\n# not a heading\nB. not a label\n```\n\n- one\n- two"
    desk = Desk(block(X, "A"), block(Y, "A", X))
    desk.apply(assertions.update(desk.drafting, f"{X}-A", text))
    node = desk.graph.get_node(f"{X}-A")
    assert node is not None
    assert node.title == text
    desk.check()


def test_letters_beyond_ascii_are_not_mixed_into_a_file_of_another_encoding() -> None:
    desk = Desk(block(X, "A"))
    desk.files["a.md"] += b"caf\xe9\n"
    with pytest.raises(Refused, match="UTF-8"):
        desk.mutations.update_title(X, "Café")
    desk.apply(desk.mutations.update_title(X, "Coffee"))
    assert desk.history.patches.written("a.md", desk.files["a.md"]).endswith(b"caf\xe9\n")


def test_a_requirement_is_not_put_behind_a_code_block_that_never_ends() -> None:
    desk = Desk("```\nnever closed\n")
    with pytest.raises(Refused, match="never closed"):
        desk.mutations.add_requirement(NewRequirement(X, "New", "dev", "Draft"), "a.md")


def test_a_new_file_holds_nothing_but_the_new_requirement() -> None:
    desk = Desk(block(X, "A"))
    desk.apply(
        desk.mutations.add_requirement(
            NewRequirement(Y, "New", "dev", "Draft", ("refines", X)), "b.md", ReferenceTarget(X)
        )
    )
    assert desk.written("b.md").startswith(f"## {Y}: New\n\n**Level**: DEV | **Status**: Draft | **Refines**: {X}\n")
    desk.check()
