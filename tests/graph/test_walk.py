"""The walk, held against a plain breadth-first search."""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.errors import Cancelled
from clew.graph.graph import Graph
from clew.graph.model import Edge, EdgeKind, Node, NodeKind
from clew.graph.walk import Direction, Walk, reached, shortest_path

KINDS = (EdgeKind.IMPLEMENTS, EdgeKind.REFINES, EdgeKind.VERIFIES)
NODES = tuple(f"N{number}" for number in range(8))
EDGES = st.lists(
    st.builds(Edge, st.sampled_from(KINDS), st.sampled_from(NODES), st.sampled_from(NODES)), max_size=20, unique=True
)
DIRECTIONS = st.sampled_from(("out", "in", "both"))
SOME_KINDS = st.one_of(st.none(), st.sets(st.sampled_from(KINDS)))
SOME_NODES = st.sets(st.sampled_from(NODES))
DEPTHS = st.one_of(st.none(), st.integers(1, 4))

Step = tuple[str, str]


def graph_of(edges: Iterable[Edge]) -> Graph:
    graph = Graph()
    graph.memory.put_nodes([Node(id, NodeKind.REQUIREMENT, "", {}) for id in NODES])
    graph.memory.put_edges(list(edges))
    return graph


def steps_of(edges: Iterable[Edge], kinds: set[EdgeKind] | None, direction: Direction) -> list[Step]:
    wanted = [edge for edge in edges if kinds is None or edge.kind in kinds]
    out = [(edge.source, edge.target) for edge in wanted if direction != "in"]
    return out + [(edge.target, edge.source) for edge in wanted if direction != "out"]


def distances(
    steps: Iterable[Step], starts: Iterable[str], depth: int | None = None, without: Iterable[str] = ()
) -> dict[str, int]:
    """How far everything is, one node after the other."""
    found = dict.fromkeys(starts, 0)
    steps, without = list(steps), set(without)
    waiting = deque(found)
    while waiting:
        id = waiting.popleft()
        for own, other in steps:
            if own == id and other not in found and other not in without and (depth is None or found[id] < depth):
                found[other] = found[id] + 1
                waiting.append(other)
    return found


def walked(walk: Walk[Edge], depth: int | None) -> Iterator[tuple[str, int]]:
    for layer in walk.layers(depth):
        for step in layer:
            assert len(walk.path_to(step.id)) == walk.depth
            yield step.id, walk.depth


# Verifies: REQ-d00181-A, REQ-d00075-A
@given(EDGES, SOME_NODES, SOME_KINDS, DIRECTIONS, DEPTHS, SOME_NODES)
@settings(max_examples=examples(200))
def test_a_walk_reaches_what_a_plain_search_reaches_as_far_away(
    edges: list[Edge],
    starts: set[str],
    kinds: set[EdgeKind] | None,
    direction: Direction,
    depth: int | None,
    without: set[str],
) -> None:
    graph = graph_of(edges)
    expected = distances(steps_of(edges, kinds, direction), starts, depth, without)
    for region in (graph, graph.memory):
        walk = Walk(region, starts, kinds, direction, scope=lambda id: id not in without)
        found = list(walked(walk, depth))
        assert dict(found) == {id: distance for id, distance in expected.items() if distance}
        assert len(found) == len(dict(found))


# Verifies: REQ-d00181-C
@given(EDGES, SOME_NODES, DIRECTIONS, st.integers(0, 8))
def test_a_walk_meets_at_most_so_many_nodes_the_nearest_first_and_says_so(
    edges: list[Edge], starts: set[str], direction: Direction, most: int
) -> None:
    expected = distances(steps_of(edges, None, direction), starts)
    order = sorted(expected, key=lambda id: (expected[id], id))
    walk = Walk(graph_of(edges), starts, None, direction, order=lambda step: step.id, most=most)
    found = [id for id, _ in walked(walk, None)]
    assert found == order[len(starts) : max(most, len(starts))]
    assert walk.is_cut == (len(order) > max(most, len(starts)))


# Verifies: REQ-d00181-C
@given(EDGES, st.sampled_from(NODES), st.integers(0, 3))
def test_of_a_node_with_many_neighbours_the_first_of_each_kind_are_given(
    edges: list[Edge], own: str, limit: int
) -> None:
    region = graph_of(edges).memory
    for kind in KINDS:
        outgoing = [edge.target for edge in edges if (edge.kind, edge.source) == (kind, own)]
        incoming = [edge.source for edge in edges if (edge.kind, edge.target) == (kind, own)]
        found = [step.id for step in region.neighbours([own], None, "both", limit) if step.edge.kind is kind]
        assert found == outgoing[:limit] + incoming[:limit]


# Verifies: REQ-d00181-B
@given(EDGES, SOME_NODES, SOME_NODES, SOME_KINDS, DIRECTIONS)
def test_a_shortest_path_is_as_long_as_the_nearest_end_is_far(
    edges: list[Edge], starts: set[str], ends: set[str], kinds: set[EdgeKind] | None, direction: Direction
) -> None:
    steps = steps_of(edges, kinds, direction)
    far = distances(steps, starts)
    path = shortest_path(graph_of(edges), starts, ends, kinds, direction)
    if path is None:
        assert not far.keys() & ends
        return
    assert len(path) - 1 == min(far[id] for id in far.keys() & ends)
    assert path[0] in starts
    assert path[-1] in ends
    assert set(pairwise(path)) <= set(steps)


# Verifies: REQ-o00024-C
@given(EDGES, SOME_NODES)
def test_a_start_is_reached_where_a_circle_leads_back_to_it_if_that_is_asked_for(
    edges: list[Edge], starts: set[str]
) -> None:
    steps = steps_of(edges, None, "out")
    first = {other for own, other in steps if own in starts}
    assert set(reached(graph_of(edges), starts, returns=True)) == distances(steps, first).keys()


# Verifies: REQ-d00181-C
def test_a_walk_looks_at_the_deadline_before_every_step() -> None:
    looked: list[int] = []

    def check() -> None:
        looked.append(len(looked))
        if len(looked) == 3:
            raise Cancelled("The call was cancelled.")

    edges = [Edge(EdgeKind.REFINES, one, other) for one, other in pairwise(NODES)]
    walk = Walk(graph_of(edges), NODES[:1], check=check)
    with pytest.raises(Cancelled):
        list(walk.layers())
    assert walk.frontier == [NODES[2]]
