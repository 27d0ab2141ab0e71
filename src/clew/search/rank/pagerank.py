"""Personalised PageRank by local push: the nodes that a walk with restarts at its seeds visits most often.

A walker starts at a seed. At every step it returns to a seed with probability `alpha`, otherwise it follows one edge,
chosen by weight. The score of a node is the share of its time the walker spends there; all scores add up to 1.

The push method of Andersen, Chung and Lang never looks at the whole graph. Each node has a *score* and a *residue*,
which is mass that has arrived but has not been passed on. As long as some node holds more than `eps` per edge, it keeps
`alpha` of its residue and passes the rest on. Three things follow:

- Work is bounded, whatever the size of the graph: at most 1 / (alpha * eps) edges are followed.
- Scores are never too high, and together they are too low by exactly `Ranks.missing`.
- In an unweighted graph where every node has edges and all run both ways, no score is too low by more than eps times
  the node's edges.

The bounds do not depend on the scale of the weights. Direction is the caller's: pass neighbours in one direction to
walk one way, in both to walk both. A node without neighbours sends the walker back to the seeds.
"""

import math
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Generic, TypeVar

import msgspec

from clew.errors import InvalidArgument

Node = TypeVar("Node", bound=Hashable)


class Ranks(msgspec.Struct, Generic[Node], frozen=True):
    """The nodes the walk touched, best first, and how far it got."""

    scores: dict[Node, float]
    missing: float
    """The difference between all scores together and their true sum of 1; so no score is further below its true
    value."""
    edges: int
    """The number of edges that were followed."""
    complete: bool
    """False when `max_edges` ended the walk before every residue was small enough."""


def personalised_pagerank(
    seeds: Mapping[Node, float],
    neighbours: Callable[[Node], Iterable[tuple[Node, float]]],
    *,
    alpha: float = 0.5,
    eps: float = 1e-4,
    max_edges: int | None = None,
) -> Ranks[Node]:
    """The walk from `seeds` (node to weight), over the edges that `neighbours` gives for a node.

    `neighbours` is asked at most once per node, and only for seeds and nodes that hold more than `eps`. The same
    input gives the same scores in the same order. With `max_edges` the walk ends after the push that reaches it.
    """
    starts = _normalised(seeds)
    _check_settings(alpha, eps, max_edges)
    known: dict[Node, Sequence[tuple[Node, float]]] = {}
    homeward = list(starts.items())
    scores: dict[Node, float] = {}
    residues = dict(starts)
    waiting = deque(residues)
    # What a node may hold before it joins the queue. One that is in the queue may hold anything until its turn.
    limits = dict.fromkeys(residues, math.inf)
    followed = 0
    while waiting and (max_edges is None or followed < max_edges):
        node = waiting.popleft()
        edges = known.get(node)
        if edges is None:
            edges = known[node] = _listed(neighbours(node)) or homeward
        limit = limits[node] = eps * len(edges)
        residue = residues[node]
        if residue <= limit:
            continue
        scores[node] = scores.get(node, 0.0) + alpha * residue
        residues[node] = 0.0
        share = (1.0 - alpha) * residue / _total_weight(node, edges)
        for target, weight in edges:
            held = residues[target] = residues.get(target, 0.0) + share * weight
            if held > limits.get(target, eps):
                limits[target] = math.inf
                waiting.append(target)
        followed += len(edges)
    return _settled(scores, residues, alpha, followed, complete=not waiting)


def seeds_from(ranked: Sequence[Node], count: int, named: Iterable[Node] = (), share: float = 1.0) -> dict[Node, float]:
    """Seeds for a walk: the first `count` of a ranking by 1 / rank, and units named in the query with equal weights.

    All named nodes together weigh `share` times as much as all ranked ones.
    """
    seeds = {node: 1.0 / rank for rank, node in enumerate(ranked[:count], start=1)}
    found = tuple(dict.fromkeys(named))
    part = share * (math.fsum(seeds.values()) or 1.0) / len(found) if found else 0.0
    for node in found if part > 0 else ():
        seeds[node] = seeds.get(node, 0.0) + part
    return seeds


def _settled(
    scores: dict[Node, float], residues: dict[Node, float], alpha: float, followed: int, *, complete: bool
) -> Ranks[Node]:
    """Scores of nodes after the last step: a node keeps at least `alpha` of its residue, without following another
    edge."""
    for node, residue in residues.items():
        if residue > 0:
            scores[node] = scores.get(node, 0.0) + alpha * residue
    ranked = sorted(scores.items(), key=itemgetter(1), reverse=True)
    missing = (1.0 - alpha) * math.fsum(residues.values())
    return Ranks(dict(ranked), missing, followed, complete)


def _listed(edges: Iterable[tuple[Node, float]]) -> Sequence[tuple[Node, float]]:
    """Most nodes are only counted, never followed: what is a list already is not copied."""
    return edges if isinstance(edges, list | tuple) else list(edges)


def _total_weight(node: Node, edges: Sequence[tuple[Node, float]]) -> float:
    weights = [weight for _, weight in edges]
    total = math.fsum(weights)
    if not math.isfinite(total) or min(weights) <= 0:
        raise InvalidArgument(
            f"An edge from {node!r} has the weight {min(weights)}, or the weights there add up to {total}.",
            hint="Give edges finite weights above 0, and leave out those that are not to be followed.",
        )
    return total


def _normalised(seeds: Mapping[Node, float]) -> dict[Node, float]:
    total = math.fsum(seeds.values())
    if not math.isfinite(total) or total <= 0 or any(weight < 0 for weight in seeds.values()):
        raise InvalidArgument(
            f"The weights of {len(seeds)} seeds add up to {total}, but a walk needs somewhere to start.",
            hint="Give at least one seed, with finite weights above 0.",
        )
    return {node: weight / total for node, weight in seeds.items() if weight > 0}


def _check_settings(alpha: float, eps: float, max_edges: int | None) -> None:
    for name, value, fits, rule in (
        ("alpha", alpha, 0 < alpha <= 1, "above 0 and at most 1"),
        ("eps", eps, 0 < eps < 1, "above 0 and below 1"),
        ("max_edges", max_edges, max_edges is None or max_edges >= 1, "at least 1, or None for no limit"),
    ):
        if not fits:
            raise InvalidArgument(f"{name} is {value}, but must be {rule}.", hint="Pass a value in that range.")
