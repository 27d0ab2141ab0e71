"""Linking: what files define and cite becomes nodes, edges and broken references, whatever the order of edits."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.graph.build.link import Citation, Contribution, Definition, Linker
from clew.graph.graph import Graph
from clew.graph.model import Edge, EdgeKind, Node, NodeKind, Source


def definition(id: str, path: str, line: int, labels: tuple[str, ...], cites: tuple[tuple[str, tuple[str, ...]], ...]):
    def at(line: int) -> Source:
        return Source(path, line, line, line, line + 1)

    return Definition(
        node=Node(id, NodeKind.REQUIREMENT, f"{id} in {path}", {"labels": labels}, at(line)),
        parts=tuple(Node(f"{id}-{label}", NodeKind.ASSERTION, label, {"label": label}, at(line)) for label in labels),
        citations=tuple(
            Citation(EdgeKind.IMPLEMENTS, id, target, named, "-".join((target, *named)), path, line)
            for target, named in cites
        ),
    )


PATHS = ("a.md", "b.md", "c.md")
names = st.sampled_from(["R1", "R2", "R3", "R4"])
label_sets = st.sampled_from([(), ("A",), ("A", "B")])
definitions = st.tuples(names, label_sets, st.lists(st.tuples(names, label_sets), max_size=2, unique=True).map(tuple))
files = st.lists(definitions, max_size=3)
edits = st.lists(st.tuples(st.sampled_from(PATHS), st.one_of(st.none(), files)), max_size=12)


def contribution(path: str, content: list[tuple[str, tuple[str, ...], tuple]] | None) -> Contribution | None:
    if content is None:
        return None
    return Contribution(
        tuple(definition(id, path, line, labels, cites) for line, (id, labels, cites) in enumerate(content, 1))
    )


def orders(graph: Graph) -> dict[str, tuple[list[Edge], list[Edge], list[str]]]:
    """In which order everything is met that stands at a node or in a file."""
    region = graph.memory
    places = (*PATHS, *region.snapshot()[0])
    return {
        each: (
            list(graph.iter_outgoing_edges(each)),
            list(graph.iter_incoming_edges(each)),
            [node.id for node in graph.nodes_in_file(each)],
        )
        for each in places
    }


# Verifies: REQ-d00002-C+E
@given(edits)
@settings(max_examples=examples(400))
def test_any_sequence_of_edits_gives_the_graph_of_the_final_files(edits: list) -> None:
    graph = Graph()
    linker = Linker(graph)
    final: dict[str, list | None] = {}
    for path, content in edits:
        linker.update({(path, "test"): contribution(path, content)})
        final[path] = content
    fresh = Graph()
    Linker(fresh).update({(path, "test"): contribution(path, content) for path, content in sorted(final.items())})
    assert graph.memory.snapshot() == fresh.memory.snapshot()
    assert orders(graph) == orders(fresh)


# Verifies: REQ-d00002-A
def test_a_broken_reference_names_its_place_and_becomes_an_edge_when_its_target_appears() -> None:
    graph = Graph()
    linker = Linker(graph)
    linker.update({("a.md", "test"): contribution("a.md", [("R1", (), (("R2", ("A",)),))])})
    (broken,) = graph.memory.broken
    assert (broken.source_id, broken.target_id, broken.fault, broken.path, broken.line) == (
        "R1",
        "R2-A",
        "unknown_requirement",
        "a.md",
        1,
    )
    linker.update({("b.md", "test"): contribution("b.md", [("R2", ("A",), ())])})
    assert list(graph.memory.broken) == []
    assert list(graph.iter_outgoing_edges("R1")) == [Edge(EdgeKind.IMPLEMENTS, "R1", "R2", ("A",))]
    linker.update({("b.md", "test"): None})
    assert list(graph.memory.broken) == [broken]
    assert list(graph.iter_outgoing_edges("R1")) == []


# Verifies: REQ-d00002-D, REQ-o00001-C
def test_labels_that_exist_are_linked_and_the_others_reported() -> None:
    graph = Graph()
    Linker(graph).update(
        {
            ("a.md", "test"): contribution("a.md", [("R1", (), (("R2", ("A", "B")),))]),
            ("b.md", "test"): contribution("b.md", [("R2", ("A",), ())]),
        }
    )
    assert list(graph.iter_outgoing_edges("R1")) == [Edge(EdgeKind.IMPLEMENTS, "R1", "R2", ("A",))]
    (broken,) = graph.memory.broken
    assert (broken.target_id, broken.fault) == ("R2-A-B", "unknown_assertion")


# Verifies: REQ-d00002-B
def test_of_two_definitions_the_first_by_path_keeps_the_id() -> None:
    graph = Graph()
    linker = Linker(graph)
    linker.update({("b.md", "test"): contribution("b.md", [("R1", ("A",), ())])})
    linker.update({("a.md", "test"): contribution("a.md", [("R1", ("B",), ())])})
    kept, other = graph.get_node("R1"), graph.get_node("R1#b")
    assert kept is not None
    assert kept.title == "R1 in a.md"
    assert other is not None
    assert other.title == "R1 in b.md"
    assert other.get_field("original_id") == "R1"
    assert other.get_field("is_duplicate") is True
    assert graph.get_node("R1#b-A") is not None
    assert linker.duplicate_ids() == ["R1"]
    linker.update({("a.md", "test"): None})
    assert graph.get_node("R1#b") is None
    assert linker.duplicate_ids() == []


# Verifies: REQ-o00001-A+B
def test_parents_are_cited_children_cite_and_counts_need_no_walk() -> None:
    graph = Graph()
    Linker(graph).update(
        {
            ("a.md", "test"): contribution("a.md", [("R1", ("A", "B"), ())]),
            ("b.md", "test"): contribution("b.md", [("R2", (), (("R1", ("A",)), ("R1", ("B",))))]),
        }
    )
    assert [node.id for node in graph.iter_parents("R2")] == ["R1"]
    assert [node.id for node in graph.iter_children("R1", [EdgeKind.IMPLEMENTS])] == ["R2"]
    assert {node.id for node in graph.iter_children("R1")} == {"R1-A", "R1-B", "R2"}
    assert [node.id for node in graph.iter_roots()] == ["R1"]
    assert graph.count(NodeKind.REQUIREMENT) == 2
    assert {node.id for node in graph.nodes_in_file("a.md")} == {"R1", "R1-A", "R1-B"}
    assert graph.node_counts() == {"requirement": 2, "assertion": 2}
