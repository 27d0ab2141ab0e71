"""Recorded changes: applying, undoing, redoing, and touching nothing else."""

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.errors import Conflict, NotFound
from clew.graph.build.link import Citation, Contribution, Definition, Linker, Place
from clew.graph.changes import Change, History, Redefinition, Rewriting, Slot
from clew.graph.graph import Graph
from clew.graph.model import Edge, EdgeKind, Node, NodeKind, Source
from clew.trace.coverage import annotate

IDS = ("REQ-x", "REQ-y", "REQ-z", "REQ-w")
FILE = ("a.md", "test")


def definition(id: str, labels: str, *cited: tuple[str, str], title: str = "", kind: NodeKind = NodeKind.REQUIREMENT):
    """A node with one-letter labels that cites ids, each with some labels."""
    at = Source("a.md", 1, 1)
    edge_kind = EdgeKind.VERIFIES if kind is NodeKind.TEST else EdgeKind.IMPLEMENTS
    return Definition(
        Node(id, kind, title or id, {"labels": tuple(labels)}, at),
        tuple(Node(f"{id}-{label}", NodeKind.ASSERTION, label, {"label": label}, at) for label in labels),
        tuple(Citation(edge_kind, id, target, tuple(named), f"{target}-{named}", "a.md", 1) for target, named in cited),
    )


START = (
    definition("REQ-x", "AB"),
    definition("REQ-y", "A", ("REQ-x", "A"), ("REQ-x", "BC")),
    definition("REQ-z", "", ("REQ-y", ""), ("REQ-w", "A")),
    definition("test:1", "", ("REQ-x", "B"), ("REQ-z", ""), kind=NodeKind.TEST),
)


class Bench:
    """A graph with its linker and its history."""

    def __init__(self) -> None:
        self.graph = Graph(annotate)
        self.linker = Linker(self.graph)
        self.linker.update({FILE: Contribution(START)})
        self.history = History(self.graph, self)
        self._made = 0

    def change(self, place: Place, after: Definition | None, text: bytes | None = b"new") -> Change:
        """A change that puts another definition in a place, with the text behind it."""
        self._made += 1
        slot = Slot("a.md", 10 * place[2], 0, 10 * place[2] + 10)
        return Change(
            f"change-{self._made}",
            "put",
            "REQ-x",
            (Redefinition(place, self.linker.definition_at(place), after),),
            (Rewriting(slot, self.history.patches.get(slot), text),),
        )

    def put(self, position: int, after: Definition | None, text: bytes | None = b"new") -> Change:
        return self.history.apply(self.change((*FILE, position), after, text))

    def state(self) -> tuple[object, ...]:
        written = self.history.patches.written("a.md", bytes(range(100)))
        return self.graph.memory.snapshot(), written, self.figures()

    def figures(self) -> object:
        return {id: self.graph.metrics(id) for id in (*IDS, "test:1")}, self.graph.root_count()


def orders(graph: Graph) -> object:
    """In which order edges are met."""
    ids = (*IDS, "test:1")
    return {id: (list(graph.iter_outgoing_edges(id)), list(graph.iter_incoming_edges(id))) for id in ids}


@pytest.fixture
def bench() -> Bench:
    return Bench()


labels = st.sampled_from(["", "A", "AB", "BC"])
definitions = st.builds(
    lambda id, labels, cited, title: definition(id, labels, *cited, title=title),
    st.sampled_from(IDS),
    labels,
    st.lists(st.tuples(st.sampled_from(IDS), labels), max_size=3, unique=True),
    st.sampled_from(["One", "Two"]),
)
operations = st.tuples(st.integers(0, 6), st.none() | definitions, st.sampled_from([b"one", b"two", b"", None]))


# Verifies: REQ-d00001-A+B, REQ-d00002-E, REQ-d00049-B
@given(st.lists(operations, max_size=15))
@settings(max_examples=examples(200))
def test_undoing_everything_restores_the_graph_and_applying_it_again_restores_the_result(
    operations: list,
) -> None:
    bench = Bench()
    before = bench.state()
    for position, after, text in operations:
        bench.put(position, after, text)
    result = bench.state()
    fresh = Graph(annotate)
    defined = [bench.linker.definition_at((*FILE, position)) for position in range(7)]
    Linker(fresh).update({FILE: Contribution(tuple(each for each in defined if each is not None))})
    assert bench.graph.memory.snapshot() == fresh.memory.snapshot()
    assert orders(bench.graph) == orders(fresh)
    assert bench.figures() == ({id: fresh.metrics(id) for id in (*IDS, "test:1")}, fresh.root_count())
    changes = list(bench.history)
    for _ in operations:
        bench.history.undo_last()
    assert bench.state() == before
    with pytest.raises(NotFound):
        bench.history.undo_last()
    for change in changes:
        bench.history.apply(change)
    assert bench.state() == result


# Verifies: REQ-d00001-C, REQ-d00049-A
def test_a_change_touches_nothing_but_what_it_defines_and_what_cites_that(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes, edges, _ = bench.graph.memory.snapshot()
    decided: list[str] = []
    decide: Callable[[Linker, Citation], Edge | None] = Linker._decided

    def noted(self: Linker, citation: Citation) -> Edge | None:
        decided.append(citation.source)
        return decide(self, citation)

    monkeypatch.setattr(Linker, "_decided", noted)
    bench.put(0, definition("REQ-x", "AB", title="Other"))
    after, edges_after, _ = bench.graph.memory.snapshot()
    assert decided == []
    assert edges_after == edges
    assert [id for id in nodes if after[id] is not nodes[id] and not id.startswith("REQ-x")] == []
    bench.put(0, definition("REQ-x", "ABC"))
    assert set(decided) == {"REQ-y", "test:1"}


# Verifies: REQ-d00001-E
def test_a_change_made_against_another_state_is_refused_and_changes_nothing(bench: Bench) -> None:
    outdated = bench.change((*FILE, 0), definition("REQ-x", "A"))
    bench.put(0, definition("REQ-x", "B"))
    before = bench.state()
    with pytest.raises(Conflict):
        bench.history.apply(outdated)
    text_only = msgspec.structs.replace(outdated, definitions=())
    with pytest.raises(Conflict):
        bench.history.apply(text_only)
    assert bench.state() == before


def test_a_changed_graph_is_another_state_and_so_is_one_that_was_changed_back(bench: Bench) -> None:
    states = {bench.graph.state.fingerprint}
    bench.put(0, None)
    states.add(bench.graph.state.fingerprint)
    bench.history.undo_last()
    states.add(bench.graph.state.fingerprint)
    assert len(states) == 3


def test_patches_are_written_in_the_order_of_the_file_with_insertions_before_what_they_precede() -> None:
    history = History(Graph(), Bench())
    patches = history.patches
    patches.put(Slot("a.md", 4, 0, 6), b"__")
    patches.put(Slot("a.md", 4, -1, 4), b"second ")
    patches.put(Slot("a.md", 4, -2, 4), b"first ")
    patches.put(Slot("a.md", 0, 0, 1), b"")
    assert patches.written("a.md", b"012345678") == b"123first second __678"
    assert patches.written("b.md", b"012") == b"012"
    for slot in list(patches.slots("a.md")):
        patches.put(slot, None)
    assert not patches
