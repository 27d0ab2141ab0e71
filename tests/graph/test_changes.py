"""Recorded changes: applying, undoing, redoing, and touching nothing else."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import ClewError, Conflict, NotFound
from clew.graph import mutations
from clew.graph.changes import Change, History
from clew.graph.graph import Graph
from clew.graph.model import BrokenReference, Edge, EdgeKind, Node, NodeKind
from clew.trace.coverage import annotate

REQUIREMENTS = [f"REQ-d0000{number}" for number in range(5)]
LABELS = ("A", "B", "C")
KINDS = (EdgeKind.IMPLEMENTS, EdgeKind.REFINES, EdgeKind.VERIFIES)


def requirement(id: str, labels: tuple[str, ...] = LABELS) -> Node:
    return Node(id, NodeKind.REQUIREMENT, f"Title of {id}", {"labels": labels, "status": "Active"})


def assertion(id: str, label: str) -> Node:
    return Node(f"{id}-{label}", NodeKind.ASSERTION, f"It SHALL {label}.", {"label": label})


def broken(source: str, written: str, fault: str) -> BrokenReference:
    return BrokenReference(source, written, EdgeKind.IMPLEMENTS, fault, "a.md", 3)


def small_graph() -> Graph:
    graph = Graph(annotate)
    for id in REQUIREMENTS:
        graph.memory.put_node(requirement(id))
        for label in LABELS:
            graph.memory.put_node(assertion(id, label))
            graph.memory.put_edge(Edge(EdgeKind.STRUCTURES, f"{id}-{label}", id))
        graph.memory.put_node(Node(f"test:{id}", NodeKind.TEST, "", {}))
        graph.memory.put_edge(Edge(EdgeKind.VERIFIES, f"test:{id}", id, ("B",)))
    for child, parent in zip(REQUIREMENTS[1:], REQUIREMENTS, strict=False):
        graph.memory.put_edge(Edge(EdgeKind.IMPLEMENTS, child, parent, ("A", "B")))
    graph.memory.put_edge(Edge(EdgeKind.REFINES, REQUIREMENTS[4], REQUIREMENTS[0]))
    graph.memory.put_broken(broken(REQUIREMENTS[2], "REQ-p00099", "unknown_requirement"))
    graph.memory.put_broken(broken(REQUIREMENTS[2], "REQ-d00007-A+D", "unknown_requirement"))
    graph.memory.put_broken(broken(REQUIREMENTS[3], "REQ-d00008", "unknown_requirement"))
    graph.memory.put_edge(Edge(EdgeKind.IMPLEMENTS, REQUIREMENTS[4], REQUIREMENTS[1], ("A",)))
    graph.memory.put_broken(broken(REQUIREMENTS[4], f"{REQUIREMENTS[1]}-A+D", "unknown_assertion"))
    return graph


def same_content(graph: Graph) -> Graph:
    """A graph that never knew anything else than what this one holds now."""
    fresh = Graph(annotate)
    nodes, edges, references = graph.memory.snapshot()
    for node in nodes.values():
        fresh.memory.put_node(node)
    for edge in edges:
        fresh.memory.put_edge(edge)
    for reference in references:
        fresh.memory.put_broken(reference)
    return fresh


def figures(graph: Graph) -> tuple[object, ...]:
    requirements = sorted(node.id for node in graph.nodes_by_kind(NodeKind.REQUIREMENT))
    cited = graph.derived(
        "cited", lambda graph: sorted(id for id in requirements for _ in graph.iter_incoming_edges(id))
    )
    return {id: graph.metrics(id) for id in requirements}, graph.root_count(), cited


ids = st.sampled_from([*REQUIREMENTS, "REQ-d00007", "REQ-d00008"])
labels = st.sampled_from([*LABELS, "D", "E"])
operations = st.one_of(
    st.tuples(st.just("title"), ids, st.sampled_from(["One", "Two"])),
    st.tuples(st.just("status"), ids, st.sampled_from(["Draft", "Active", None])),
    st.tuples(st.just("rename"), ids, ids),
    st.tuples(st.just("add"), ids, ids),
    st.tuples(st.just("delete"), ids, ids),
    st.tuples(st.just("relabel"), ids, st.tuples(labels, labels)),
    st.tuples(st.just("add_assertion"), ids, labels),
    st.tuples(st.just("drop_assertion"), ids, labels),
    st.tuples(st.just("link"), ids, st.tuples(ids, st.sampled_from(KINDS), st.sets(labels))),
    st.tuples(st.just("unlink"), ids, st.integers(0, 3)),
    st.tuples(st.just("mend"), ids, ids),
)


def change_for(graph: Graph, operation: tuple[str, str, object]) -> Change:
    """The change an operation stands for. Raises a ClewError where the graph does not allow it."""
    name, id, detail = operation
    if name == "title":
        return mutations.update_title(graph, id, str(detail))
    if name == "status":
        return mutations.set_fields(graph, id, {"status": detail})
    if name == "rename":
        return mutations.rename_node(graph, id, str(detail))
    if name == "add":
        return mutations.add_node(graph, requirement(id), parts=tuple(assertion(id, label) for label in LABELS))
    if name == "delete":
        return mutations.delete_node(graph, id)
    if name == "relabel":
        old, new = detail  # type: ignore[misc]
        return mutations.relabel_assertion(graph, f"{id}-{old}", f"{id}-{new}", new)
    if name == "add_assertion":
        return mutations.add_assertion(graph, id, assertion(id, str(detail)))
    if name == "drop_assertion":
        return mutations.delete_assertion(graph, f"{id}-{detail}")
    return edge_change_for(graph, name, id, detail)


def edge_change_for(graph: Graph, name: str, id: str, detail: object) -> Change:
    if name == "link":
        target, kind, named = detail  # type: ignore[misc]
        return mutations.add_edge(graph, Edge(kind, id, target, tuple(sorted(named))))
    if name == "unlink":
        edges = sorted(graph.iter_outgoing_edges(id), key=repr)
        if not edges:
            raise NotFound("no edge")
        return mutations.replace_edge(graph, edges[int(str(detail)) % len(edges)], None)
    reference = next(graph.broken_references(), None)
    if reference is None:
        raise NotFound("nothing broken")
    return mutations.mend_reference(graph, reference, Edge(reference.edge_kind, reference.source_id, str(detail)))


def apply_all(graph: Graph, history: History, sequence: list[tuple[str, str, object]]) -> int:
    done = 0
    for operation in sequence:
        before = graph.memory.snapshot()
        try:
            change = change_for(graph, operation)
        except ClewError:
            assert graph.memory.snapshot() == before
            continue
        history.apply(change)
        done += 1
    return done


# Verifies: REQ-d00001-A+B
@given(st.lists(operations, max_size=25))
@settings(max_examples=300, deadline=None)
def test_undoing_everything_restores_an_identical_graph_and_redoing_restores_the_result(
    sequence: list[tuple[str, str, object]],
) -> None:
    graph = small_graph()
    before = graph.memory.snapshot()
    figures_before = figures(graph)
    history = History(graph)
    done = apply_all(graph, history, sequence)
    after = graph.memory.snapshot()
    assert figures(graph) == figures(same_content(graph))
    for _ in range(done):
        history.undo_last()
        assert figures(graph) == figures(same_content(graph))
    assert graph.memory.snapshot() == before
    assert figures(graph) == figures_before
    for _ in range(done):
        history.redo()
    assert graph.memory.snapshot() == after
    assert figures(graph) == figures(same_content(graph))


@given(st.lists(operations, max_size=25))
@settings(max_examples=300, deadline=None)
def test_labels_edges_and_broken_references_agree_after_any_sequence_of_mutations(
    sequence: list[tuple[str, str, object]],
) -> None:
    graph = small_graph()
    apply_all(graph, History(graph), sequence)
    nodes, edges, references = graph.memory.snapshot()
    labels_of = {id: node.get_field("labels", ()) for id, node in nodes.items()}
    for node in graph.nodes_by_kind(NodeKind.REQUIREMENT):
        parts = {part.get_field("label") for part in graph.iter_children(node.id, (EdgeKind.STRUCTURES,))}
        assert set(labels_of[node.id]) == parts
    for edge in edges:
        assert edge.source in nodes
        assert set(edge.labels) <= set(labels_of[edge.target])
    for reference in references:
        assert reference.source_id in nodes
        id, _, named = reference.target_id.replace("REQ-", "REQ", 1).partition("-")
        known = labels_of.get(id.replace("REQ", "REQ-"))
        assert reference.fault == ("unknown_requirement" if known is None else "unknown_assertion")
        assert known is None or not set(named.split("+")) <= set(known)


# Verifies: REQ-d00001-C
@given(st.lists(operations, max_size=8), operations)
@settings(max_examples=300, deadline=None)
def test_no_mutation_touches_an_edge_or_label_of_an_unrelated_node(
    sequence: list[tuple[str, str, object]], last: tuple[str, str, object]
) -> None:
    graph = small_graph()
    history = History(graph)
    apply_all(graph, history, sequence)
    nodes_before, edges_before, broken_before = graph.memory.snapshot()
    try:
        change = change_for(graph, last)
    except ClewError:
        return
    history.apply(change)
    about = {last[1], change.target_id} | ({str(last[2])} if last[0] in ("rename", "mend") else set())
    nodes_after, edges_after, broken_after = graph.memory.snapshot()

    def related(id: str) -> bool:
        return any(id == one or id.startswith(f"{one}-") for one in about)

    for edge in edges_before ^ edges_after:
        assert related(edge.source) or related(edge.target), edge
    for reference in broken_before ^ broken_after:
        assert related(reference.source_id) or related(reference.target_id), reference
    for id in nodes_before.keys() | nodes_after.keys():
        if not related(id):
            assert nodes_before.get(id) == nodes_after.get(id)


# Verifies: REQ-d00001-C, REQ-o00001-C
def test_relabelling_an_assertion_changes_only_the_edges_that_name_it_on_its_own_requirement() -> None:
    graph = small_graph()
    first, second, third = REQUIREMENTS[:3]
    History(graph).apply(mutations.relabel_assertion(graph, f"{first}-A", f"{first}-Z", "Z"))
    assert [edge.labels for edge in graph.iter_outgoing_edges(second)] == [("Z", "B")]
    assert graph.metrics(first)["untested_labels"] == ("Z", "C")
    assert [edge.labels for edge in graph.iter_outgoing_edges(third)] == [("A", "B")]


# Verifies: REQ-d00001-D
def test_undo_to_takes_back_the_named_change_and_every_later_one() -> None:
    graph = small_graph()
    history = History(graph)
    states = [graph.memory.snapshot()]
    changes = []
    for number, id in enumerate(REQUIREMENTS[:4]):
        changes.append(history.apply(mutations.update_title(graph, id, f"New {number}")))
        states.append(graph.memory.snapshot())
    undone = history.undo_to(changes[1].id)
    assert [change.id for change in undone] == [change.id for change in reversed(changes[1:])]
    assert graph.memory.snapshot() == states[1]
    assert [change.id for change in history] == [changes[0].id]


# Verifies: REQ-d00001-D
def test_undo_of_an_unknown_change_is_refused_and_changes_nothing() -> None:
    graph = small_graph()
    history = History(graph)
    history.apply(mutations.update_title(graph, REQUIREMENTS[0], "New"))
    before = graph.memory.snapshot()
    with pytest.raises(NotFound):
        history.undo_to("no such id")
    assert graph.memory.snapshot() == before
    history.undo_last()
    with pytest.raises(NotFound):
        history.undo_last()


# Verifies: REQ-d00001-E
def test_a_change_made_against_another_state_is_refused_and_changes_nothing() -> None:
    graph = small_graph()
    history = History(graph)
    late = mutations.delete_node(graph, REQUIREMENTS[1])
    history.apply(mutations.update_title(graph, REQUIREMENTS[1], "Meanwhile"))
    before = graph.memory.snapshot()
    with pytest.raises(Conflict):
        history.apply(late)
    assert graph.memory.snapshot() == before


# Verifies: REQ-d00001-E
def test_a_change_whose_edges_are_gone_is_refused_and_changes_nothing() -> None:
    graph = small_graph()
    history = History(graph)
    edge = next(graph.iter_outgoing_edges(REQUIREMENTS[1]))
    late = mutations.replace_edge(graph, edge, msgspec.structs.replace(edge, kind=EdgeKind.REFINES))
    history.apply(mutations.replace_edge(graph, edge, None))
    before = graph.memory.snapshot()
    with pytest.raises(Conflict):
        history.apply(late)
    assert graph.memory.snapshot() == before


def test_metrics_are_computed_once_and_again_after_a_change_nearby() -> None:
    calls: list[str] = []

    def counting(graph: Graph, node: Node) -> dict[str, int]:
        calls.append(node.id)
        return {"citing": sum(1 for _ in graph.iter_incoming_edges(node.id))}

    graph = Graph(counting)
    for id in REQUIREMENTS[:2]:
        graph.memory.put_node(requirement(id))
    assert graph.metrics(REQUIREMENTS[0]) == {"citing": 0}
    assert graph.metrics(REQUIREMENTS[0]) == {"citing": 0}
    assert calls == [REQUIREMENTS[0]]
    History(graph).apply(mutations.add_edge(graph, Edge(EdgeKind.IMPLEMENTS, REQUIREMENTS[1], REQUIREMENTS[0])))
    assert graph.metrics(REQUIREMENTS[0]) == {"citing": 1}
