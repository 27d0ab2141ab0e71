"""Mutations: each leaves nodes, labels, edges and broken references as reading the same content would."""

import pytest

from clew.errors import Conflict, NotFound, WrongKind
from clew.graph import mutations
from clew.graph.changes import Change, History
from clew.graph.graph import Graph
from clew.graph.link import Citation, Contribution, Definition, Linker
from clew.graph.model import BrokenReference, Edge, EdgeKind, Node, NodeKind, Source
from clew.trace.coverage import annotate

X, Y, Z = "REQ-x", "REQ-y", "REQ-z"


def assertion(owner: str, label: str) -> Node:
    return Node(f"{owner}-{label}", NodeKind.ASSERTION, f"It SHALL {label}.", {"label": label})


def definition(id: str, labels: str, *cited: str, kind: NodeKind = NodeKind.REQUIREMENT) -> Definition:
    """A node with one-letter labels that cites what is written: `REQ-x`, `REQ-x-A+B`."""
    citations = []
    for written in cited:
        target, named = written[:5], written[6:].replace("-", "+")
        edge_kind = EdgeKind.VERIFIES if kind is NodeKind.TEST else EdgeKind.IMPLEMENTS
        citations.append(Citation(edge_kind, id, target, tuple(named.split("+")) if named else (), written, "a.md", 1))
    node = Node(id, kind, id, {"labels": tuple(labels)} if labels else {}, Source("a.md", 1, 1))
    return Definition(node, tuple(assertion(id, label) for label in labels), tuple(citations))


def graph_of(*definitions: Definition) -> Graph:
    graph = Graph(annotate)
    Linker(graph).update({("a.md", "test"): Contribution(definitions)})
    return graph


def apply(graph: Graph, *changes: Change) -> None:
    for change in changes:
        History(graph).apply(change)


def broken(graph: Graph) -> set[tuple[str, str, str]]:
    return {(each.source_id, each.target_id, each.fault) for each in graph.broken_references()}


def labels_from(graph: Graph, source: str) -> set[tuple[str, tuple[str, ...]]]:
    return {(edge.target, edge.labels) for edge in graph.iter_outgoing_edges(source)}


def test_deleting_an_assertion_takes_its_label_out_of_the_requirement_and_its_coverage() -> None:
    graph = graph_of(definition(X, "AB"), definition("test:1", "", "REQ-x-A", kind=NodeKind.TEST))
    assert graph.metrics(X)["tested_pct"] == 50.0
    apply(graph, mutations.delete_assertion(graph, "REQ-x-A"))
    node = graph.get_node(X)
    assert node is not None
    assert node.get_field("labels") == ("B",)
    metrics = graph.metrics(X)
    assert (metrics["total_assertions"], metrics["tested"], metrics["untested_labels"]) == (1, 0, ("B",))
    assert broken(graph) == {("test:1", "REQ-x-A", "unknown_assertion")}


def test_relabelling_an_assertion_keeps_its_place_among_the_labels_and_its_coverage() -> None:
    graph = graph_of(definition(X, "ABC"), definition("test:1", "", "REQ-x-B", kind=NodeKind.TEST))
    apply(graph, mutations.relabel_assertion(graph, "REQ-x-B", "REQ-x-Q", "Q"))
    node = graph.get_node(X)
    assert node is not None
    assert node.get_field("labels") == ("A", "Q", "C")
    assert graph.metrics(X)["untested_labels"] == ("A", "C")


def test_relabelling_changes_broken_references_that_name_the_label_and_mends_those_that_name_the_new_one() -> None:
    graph = graph_of(definition(X, "AB"), definition(Y, "", "REQ-x-A+N", "REQ-x-Q"))
    apply(graph, mutations.relabel_assertion(graph, "REQ-x-A", "REQ-x-Q", "Q"))
    assert broken(graph) == {(Y, "REQ-x-Q+N", "unknown_assertion")}
    assert labels_from(graph, Y) == {(X, ("Q",))}


def test_relabelling_to_a_label_that_is_taken_is_refused() -> None:
    graph = graph_of(definition(X, "AB"))
    before = graph.memory.snapshot()
    with pytest.raises(Conflict):
        mutations.relabel_assertion(graph, "REQ-x-A", "REQ-x-other", "B")
    assert graph.memory.snapshot() == before


def test_an_added_assertion_is_labelled_structured_and_cited_by_what_named_it() -> None:
    graph = graph_of(definition(X, "A"), definition(Y, "", "REQ-x-D"), definition(Z, "", "REQ-x-A-D"))
    assert labels_from(graph, Z) == {(X, ("A",))}
    apply(graph, mutations.add_assertion(graph, X, assertion(X, "D")))
    node = graph.get_node(X)
    assert node is not None
    assert node.get_field("labels") == ("A", "D")
    assert [part.id for part in graph.iter_children(X, (EdgeKind.STRUCTURES,))] == ["REQ-x-A", "REQ-x-D"]
    assert labels_from(graph, Y) == {(X, ("D",))}
    assert labels_from(graph, Z) == {(X, ("A", "D"))}
    assert broken(graph) == set()
    with pytest.raises(Conflict):
        mutations.add_assertion(graph, X, assertion(X, "D"))


def test_deleting_and_adding_an_assertion_restores_the_edges_that_name_it() -> None:
    graph = graph_of(definition(X, "AB"), definition(Y, "", "REQ-x-A+B"), definition(Z, "", "REQ-x"))
    _, edges, _ = graph.memory.snapshot()
    apply(graph, mutations.delete_assertion(graph, "REQ-x-B"))
    assert labels_from(graph, Y) == {(X, ("A",))}
    assert broken(graph) == {(Y, "REQ-x-A+B", "unknown_assertion")}
    apply(graph, mutations.add_assertion(graph, X, assertion(X, "B")))
    assert graph.memory.snapshot()[1] == edges
    assert broken(graph) == set()


def test_deleting_and_adding_a_requirement_restores_the_same_graph() -> None:
    removed = definition(X, "ABC")
    citing = (
        definition(Y, "", "REQ-x-B+A", "REQ-x"),
        definition(Z, "", "REQ-x-A+Q", "REQ-x-N"),
        definition("test:1", "", "REQ-x-A-C", kind=NodeKind.TEST),
    )
    graph = graph_of(removed, *citing)
    before = graph.memory.snapshot()
    apply(graph, mutations.delete_node(graph, X))
    assert broken(graph) == {
        (Y, "REQ-x-B+A", "unknown_requirement"),
        (Y, "REQ-x", "unknown_requirement"),
        (Z, "REQ-x-A+Q", "unknown_requirement"),
        (Z, "REQ-x-N", "unknown_requirement"),
        ("test:1", "REQ-x-A+C", "unknown_requirement"),
    }
    assert not graph.metrics(X)
    apply(graph, mutations.add_node(graph, removed.node, parts=removed.parts))
    assert graph.memory.snapshot() == before
    assert graph.metrics(X) == graph_of(removed, *citing).metrics(X)


def test_an_added_node_takes_the_labels_it_has_and_leaves_the_others_broken() -> None:
    graph = graph_of(definition(Y, "", "REQ-x-A+Q", "REQ-x-D", "REQ-xy"), definition(Z, "", "REQ-x-A-B"))
    added = definition(X, "AB")
    apply(graph, mutations.add_node(graph, added.node, parts=added.parts))
    assert labels_from(graph, Y) == {(X, ("A",))}
    assert labels_from(graph, Z) == {(X, ("A", "B"))}
    assert broken(graph) == {
        (Y, "REQ-x-A+Q", "unknown_assertion"),
        (Y, "REQ-x-D", "unknown_assertion"),
        (Y, "REQ-xy", "unknown_requirement"),
    }


def test_an_edge_that_two_broken_references_share_outlives_the_mending_of_one() -> None:
    graph = graph_of(definition(X, "A"), definition(Y, "", "REQ-x-A+Q", "REQ-x-A+R"))
    apply(graph, mutations.add_assertion(graph, X, assertion(X, "Q")))
    assert labels_from(graph, Y) == {(X, ("A", "Q")), (X, ("A",))}
    assert broken(graph) == {(Y, "REQ-x-A+R", "unknown_assertion")}


def test_renaming_moves_the_broken_references_of_a_node_and_those_to_it() -> None:
    graph = graph_of(definition(X, "A", "REQ-n-B"), definition(Y, "", "REQ-x-A+Q"), definition(Z, "", "REQ-w-A"))
    apply(graph, mutations.rename_node(graph, X, "REQ-w"))
    assert broken(graph) == {
        ("REQ-w", "REQ-n-B", "unknown_requirement"),
        (Y, "REQ-w-A+Q", "unknown_assertion"),
    }
    assert labels_from(graph, Y) == labels_from(graph, Z) == {("REQ-w", ("A",))}
    assert graph.get_node("REQ-x-A") is None
    assert graph.get_node("REQ-w-A") is not None


def test_renaming_is_refused_where_the_id_of_a_part_is_taken() -> None:
    graph = graph_of(definition(X, "AB"))
    graph.memory.put_node(Node("REQ-w-B", NodeKind.REMAINDER, "", {}))
    before = graph.memory.snapshot()
    with pytest.raises(Conflict, match="REQ-w-B"):
        mutations.rename_node(graph, X, "REQ-w")
    assert graph.memory.snapshot() == before


def test_what_belongs_to_an_assertion_is_not_done_to_it_as_to_a_node() -> None:
    graph = graph_of(definition(X, "A"), definition(Y, ""))
    for refused in (
        lambda: mutations.delete_node(graph, "REQ-x-A"),
        lambda: mutations.rename_node(graph, "REQ-x-A", "REQ-x-B"),
        lambda: mutations.add_node(graph, assertion(X, "D")),
        lambda: mutations.add_assertion(graph, "REQ-x-A", assertion(X, "D")),
        lambda: mutations.add_assertion(graph, X, definition(Z, "").node),
        lambda: mutations.delete_assertion(graph, X),
        lambda: mutations.add_edge(graph, Edge(EdgeKind.IMPLEMENTS, Y, "REQ-x-A")),
    ):
        with pytest.raises(WrongKind):
            refused()


def test_an_edge_to_a_label_that_the_target_lacks_is_refused() -> None:
    graph = graph_of(definition(X, "A"), definition(Y, "", X))
    unknown = Edge(EdgeKind.IMPLEMENTS, Y, X, ("A", "Q"))
    with pytest.raises(NotFound, match="'Q'"):
        mutations.add_edge(graph, unknown)
    with pytest.raises(NotFound, match="'Q'"):
        mutations.replace_edge(graph, Edge(EdgeKind.IMPLEMENTS, Y, X), unknown)
    with pytest.raises(NotFound, match="'Q'"):
        mutations.add_node(graph, definition(Z, "").node, edges=(Edge(EdgeKind.IMPLEMENTS, Z, X, ("Q",)),))


def test_removing_the_followed_part_of_a_broken_reference_leaves_the_rest_of_it() -> None:
    graph = graph_of(definition(X, "A"), definition(Y, "", "REQ-x-A+Q"))
    apply(graph, mutations.replace_edge(graph, Edge(EdgeKind.IMPLEMENTS, Y, X, ("A",)), None))
    assert broken(graph) == {(Y, "REQ-x-Q", "unknown_assertion")}
    apply(graph, mutations.rename_node(graph, X, "REQ-w"))
    assert labels_from(graph, Y) == set()
    assert broken(graph) == {(Y, "REQ-w-Q", "unknown_assertion")}


def test_mending_a_reference_puts_one_edge_in_its_place() -> None:
    graph = graph_of(definition(X, "A"), definition(Y, "", "REQ-x-A+Q"), definition(Z, "B"))
    reference = next(graph.broken_references())
    apply(graph, mutations.mend_reference(graph, reference, Edge(EdgeKind.IMPLEMENTS, Y, Z, ("B",))))
    assert labels_from(graph, Y) == {(Z, ("B",))}
    assert broken(graph) == set()
    with pytest.raises(NotFound):
        mutations.mend_reference(graph, reference, Edge(EdgeKind.IMPLEMENTS, Y, Z, ("B",)))


def test_a_malformed_reference_stays_as_written() -> None:
    graph = graph_of(definition(Y, ""))
    graph.memory.put_broken(BrokenReference(Y, "REQ-x-A", EdgeKind.IMPLEMENTS, "malformed", "a.md", 1))
    apply(graph, mutations.add_node(graph, definition(X, "A").node))
    assert broken(graph) == {(Y, "REQ-x-A", "malformed")}
    apply(graph, mutations.rename_node(graph, Y, "REQ-w"))
    assert broken(graph) == {("REQ-w", "REQ-x-A", "malformed")}


@pytest.mark.parametrize(
    ("written", "labels"),
    [
        ("REQ-x", ()),
        ("REQ-x-D", ("D",)),
        ("REQ-x-A+B", ("A", "B")),
        ("REQ-x-A-B", ("A", "B")),
        ("REQ-x-A+A", ("A",)),
        ("REQ-x-", None),
        ("REQ-xy", None),
        ("REQ-y-A", None),
    ],
)
def test_the_labels_of_a_reference_follow_the_id(written: str, labels: tuple[str, ...] | None) -> None:
    assert mutations.named_labels(written, "REQ-x") == labels
    if labels is not None:
        assert mutations.named_labels(mutations.written_reference("REQ-x", labels), "REQ-x") == labels
