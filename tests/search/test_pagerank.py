"""Personalised PageRank by local push, against the same walk computed by brute force."""

import math
import random
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.errors import InvalidArgument
from clew.search.rank.pagerank import personalised_pagerank, seeds_from

Graph = Mapping[int, list[tuple[int, float]]]


def brute_force(seeds: Mapping[int, float], graph: Graph, alpha: float) -> dict[int, float]:
    """Power iteration until nothing moves any more."""
    total = sum(seeds.values())
    start = {node: weight / total for node, weight in seeds.items() if weight > 0}
    scores = dict(start)
    for _ in range(math.ceil(math.log(1e-13) / math.log(1 - alpha)) if alpha < 1 else 1):
        moved = {node: alpha * weight for node, weight in start.items()}
        for node, score in scores.items():
            edges = graph.get(node) or list(start.items())
            out = sum(weight for _, weight in edges)
            for target, weight in edges:
                moved[target] = moved.get(target, 0.0) + (1 - alpha) * score * weight / out
        scores = moved
    return scores


NODES = st.integers(0, 11)
WEIGHTS = st.floats(0.01, 100)
DIRECTED = st.lists(st.tuples(NODES, NODES, WEIGHTS), max_size=40)
SEEDS = st.dictionaries(NODES, WEIGHTS, min_size=1, max_size=4)


def directed(edges: list[tuple[int, int, float]]) -> Graph:
    graph: dict[int, list[tuple[int, float]]] = {}
    for source, target, weight in edges:
        graph.setdefault(source, []).append((target, weight))
    return graph


# Verifies: REQ-d00033-A
@settings(max_examples=examples(300))
@given(DIRECTED, SEEDS, st.floats(0.1, 1.0), st.floats(1e-5, 0.1))
def test_no_score_is_too_high_and_together_they_are_too_low_by_what_is_missing(
    edges: list[tuple[int, int, float]], seeds: dict[int, float], alpha: float, eps: float
) -> None:
    """With weights, self loops, repeated edges, dead ends and parts that cannot be reached."""
    graph = directed(edges)
    ranks = personalised_pagerank(seeds, lambda node: graph.get(node, ()), alpha=alpha, eps=eps)
    exact = brute_force(seeds, graph, alpha)
    for node in exact.keys() | ranks.scores.keys():
        short = exact.get(node, 0.0) - ranks.scores.get(node, 0.0)
        assert -1e-9 <= short <= ranks.missing + 1e-9
    assert sum(ranks.scores.values()) + ranks.missing == pytest.approx(1.0)
    reached = sum(len(graph.get(node, ())) or len(seeds) for node in ranks.scores)
    assert ranks.missing <= (1 - alpha) * eps * reached + 1e-9
    assert ranks.complete
    assert ranks.edges <= 1 / (alpha * eps) + 1e-9


# Verifies: REQ-d00033-A
@settings(max_examples=examples(200))
@given(st.sets(st.tuples(NODES, NODES), min_size=1, max_size=40), st.data(), st.floats(0.1, 1.0), st.floats(1e-4, 0.1))
def test_in_an_undirected_graph_no_score_is_too_low_by_more_than_eps_per_edge(
    pairs: set[tuple[int, int]], data: st.DataObject, alpha: float, eps: float
) -> None:
    graph = directed([(one, other, 1.0) for pair in sorted(pairs) for one, other in {pair, pair[::-1]}])
    seeds = dict.fromkeys(data.draw(st.sets(st.sampled_from(sorted(graph)), min_size=1)), 1.0)
    ranks = personalised_pagerank(seeds, graph.__getitem__, alpha=alpha, eps=eps)
    for node, exact in brute_force(seeds, graph, alpha).items():
        assert exact - ranks.scores.get(node, 0.0) <= eps * len(graph[node]) + 1e-9


# Verifies: REQ-d00033-A
@settings(max_examples=examples(100))
@given(DIRECTED, SEEDS, st.floats(1e-6, 1e6))
def test_the_scale_of_weights_does_not_matter(
    edges: list[tuple[int, int, float]], seeds: dict[int, float], scale: float
) -> None:
    graph, scaled = directed(edges), directed([(source, target, weight * scale) for source, target, weight in edges])
    one = personalised_pagerank(seeds, lambda node: graph.get(node, ()), eps=1e-8)
    other = personalised_pagerank(
        {node: weight * scale for node, weight in seeds.items()}, lambda node: scaled.get(node, ()), eps=1e-8
    )
    assert one.scores == pytest.approx(other.scores, abs=1e-6)


# Verifies: REQ-d00033-A
def test_scores_come_best_first_and_the_same_every_time() -> None:
    graph = directed([(0, node, 1.0) for node in (3, 1, 2)])
    first = personalised_pagerank({0: 1.0}, lambda node: graph.get(node, ()))
    assert list(first.scores) == [0, 3, 1, 2]
    assert list(personalised_pagerank({0: 1.0}, lambda node: graph.get(node, ())).scores.items()) == list(
        first.scores.items()
    )


# Verifies: REQ-d00033-A
def test_direction_is_what_the_caller_says() -> None:
    forward = directed([(0, 1, 1.0)])
    assert 0 not in personalised_pagerank({1: 1.0}, lambda node: forward.get(node, ())).scores
    assert personalised_pagerank({0: 1.0}, lambda node: forward.get(node, ())).scores[1] > 0


# Verifies: REQ-d00033-A
def test_a_heavier_edge_is_followed_more() -> None:
    graph = directed([(0, 1, 3.0), (0, 2, 1.0)])
    scores = personalised_pagerank({0: 1.0}, lambda node: graph.get(node, ()), eps=1e-9).scores
    assert scores[1] == pytest.approx(3 * scores[2])


# Verifies: REQ-d00033-A
def test_what_no_seed_reaches_has_no_score() -> None:
    graph = directed([(0, 1, 1.0), (1, 0, 1.0), (2, 3, 1.0), (3, 2, 1.0)])
    assert set(personalised_pagerank({0: 1.0}, graph.__getitem__).scores) == {0, 1}


# Verifies: REQ-d00033-A
def test_a_lonely_seed_keeps_everything() -> None:
    ranks = personalised_pagerank({"only": 2.0}, lambda node: ())
    assert ranks.scores["only"] == pytest.approx(1.0, abs=1e-3)


# Verifies: REQ-d00033-A
def test_work_stays_small_in_a_large_graph_and_every_node_is_asked_once() -> None:
    draws = random.Random(7)
    graph: dict[int, list[tuple[int, float]]] = {node: [] for node in range(20_000)}
    for _ in range(100_000):
        one, other = draws.randrange(20_000), draws.randrange(20_000)
        graph[one].append((other, 1.0))
        graph[other].append((one, 1.0))
    asked: list[int] = []

    def neighbours(node: int) -> list[tuple[int, float]]:
        asked.append(node)
        return graph[node]

    ranks = personalised_pagerank({5: 1.0}, neighbours, alpha=0.5, eps=1e-4)
    assert ranks.edges <= 1 / (0.5 * 1e-4)
    assert len(asked) == len(set(asked)) < 2_000


# Verifies: REQ-d00033-A
def test_a_hub_does_not_make_the_walk_expensive() -> None:
    graph: dict[int, list[tuple[int, float]]] = {0: [(node, 1.0) for node in range(1, 50_000)], 1: [(0, 1.0)]}
    ranks = personalised_pagerank({1: 1.0}, lambda node: graph.get(node, ()), eps=1e-4)
    assert ranks.edges < 100
    assert ranks.scores[0] > 0


# Verifies: REQ-d00033-A
def test_a_limit_on_edges_ends_the_walk_early_and_says_so() -> None:
    graph = {node: [((node + step) % 100, 1.0) for step in (1, 2, 3)] for node in range(100)}
    ranks = personalised_pagerank({0: 1.0}, graph.__getitem__, eps=1e-9, max_edges=30)
    assert not ranks.complete
    assert 30 <= ranks.edges < 33
    assert sum(ranks.scores.values()) + ranks.missing == pytest.approx(1.0)


# Verifies: REQ-d00033-A
def test_neighbours_may_be_any_iterable() -> None:
    graph = {"a": {"b": 1.0}, "b": {"a": 1.0}}
    assert personalised_pagerank({"a": 1.0}, lambda node: iter(graph[node].items())).scores.keys() == {"a", "b"}


# Verifies: REQ-d00033-A
def test_seeds_are_weighted_by_rank_and_what_is_named_weighs_as_much_as_all_of_them() -> None:
    assert seeds_from(["a", "b", "c"], 2) == {"a": 1.0, "b": 0.5}
    assert seeds_from(["a", "b"], 2, ["b", "x", "x"]) == {"a": 1.0, "b": 0.5 + 0.75, "x": 0.75}
    assert seeds_from(["a"], 5, ["x"], 0.5) == {"a": 1.0, "x": 0.5}
    assert seeds_from(["a"], 5, ["x"], 0.0) == {"a": 1.0}
    assert seeds_from([], 5, ["x"], 2.0) == {"x": 2.0}


# Verifies: REQ-d00033-A
@pytest.mark.parametrize(
    ("seeds", "settings", "reason"),
    [
        ({}, {}, "0 seeds"),
        ({1: 0.0}, {}, "add up to 0"),
        ({1: -1.0, 2: 3.0}, {}, "2 seeds"),
        ({1: math.nan}, {}, "nan"),
        ({1: math.inf}, {}, "inf"),
        ({1: 1.0}, {"alpha": 0.0}, "alpha is 0.0"),
        ({1: 1.0}, {"alpha": 1.5}, "alpha is 1.5"),
        ({1: 1.0}, {"eps": 0.0}, "eps is 0.0"),
        ({1: 1.0}, {"max_edges": 0}, "max_edges is 0"),
    ],
)
def test_walks_that_cannot_start_are_refused(seeds: dict[int, float], settings: dict[str, float], reason: str) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        personalised_pagerank(seeds, lambda node: (), **settings)  # type: ignore[arg-type]


# Verifies: REQ-d00033-A
@pytest.mark.parametrize("weight", [0.0, -1.0, math.nan, math.inf])
def test_edges_without_a_proper_weight_are_refused(weight: float) -> None:
    with pytest.raises(InvalidArgument, match="An edge from 1"):
        personalised_pagerank({1: 1.0}, lambda node: [(2, 1.0), (3, weight)])
