"""Coverage in every dimension, with what refining requirements contribute to the requirement they refine.

| dimension | an assertion is covered by |
|---|---|
| `implemented` | code or a requirement that implements it |
| `tested` | a test that cites it |
| `verified` | a test that cites it and passed, while none failed |
| `uat_coverage` | a journey that validates it, or that its requirement addresses |
| `uat_verified` | such a journey with a result that passed |
| `lcov_tested` | implementing code, by the share of its lines that tests executed |

In each dimension an assertion is covered in up to four ways, each from 0 to 1: *directly*, by what names it;
*indirectly*, by what cites its requirement as a whole; and both of these again through requirements that refine it,
where the mean of theirs counts. The best of the four is what is reported. Only `refines` conducts: a requirement that
implements another is an implementation of it and counts as one. A requirement whose status is not active conducts
nothing.
"""

from collections.abc import Iterator, Mapping

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node, NodeKind
from clew.trace.coverage import percent, tier

DIMENSIONS = ("implemented", "tested", "verified", "uat_coverage", "uat_verified", "lcov_tested")

Fractions = dict[str, float]
"""By label of an assertion."""


class Dimension(msgspec.Struct, frozen=True):
    total: int
    """Assertions."""
    covered: float | None
    """The sum of the best ways in which each is covered; null where nothing was read that could tell."""
    pct: float | None
    tier: str | None
    """full, partial, failing or missing."""
    immediate_direct: Mapping[str, float]
    immediate_indirect: Mapping[str, float]
    rolled_direct: Mapping[str, float]
    rolled_indirect: Mapping[str, float]


class _Ways(msgspec.Struct):
    """How the assertions of one requirement are covered in one dimension."""

    labels: tuple[str, ...]
    direct: Fractions = {}
    indirect: Fractions = {}
    rolled_direct: Fractions = {}
    rolled_indirect: Fractions = {}
    whole: float = 0.0
    """What cites the requirement as a whole, for one without assertions."""


_Covered = dict[str, _Ways]
"""By dimension."""


def dimensions(graph: Graph, id: str) -> Mapping[str, Dimension]:
    """The coverage of a requirement in every dimension; empty for anything else.

    Computed for a requirement and all that refine it when it is first asked for, once for each state of the graph.
    """
    node = graph.get_node(id)
    if node is None or node.kind is not NodeKind.REQUIREMENT:
        return {}
    known: dict[str, _Covered] = graph.derived("coverage_rollup", lambda _: {})
    if id not in known:
        _cover(graph, id, known)
    failing = bool(graph.metrics(id)["failed_labels"])
    absent = _absent(graph)
    return {
        name: _dimension(known[id][name], failing=failing and name == "verified", absent=name in absent)
        for name in DIMENSIONS
    }


def _absent(graph: Graph) -> frozenset[str]:
    """The dimensions that nothing was read for: no figure is made up for them."""
    absent: set[str] = set()
    if not graph.evidence.has_results():
        absent.update(("verified", "uat_verified"))
    if not graph.evidence.has_lines():
        absent.add("lcov_tested")
    return frozenset(absent)


def _dimension(ways: _Ways, *, failing: bool, absent: bool) -> Dimension:
    total = len(ways.labels)
    if absent:
        return Dimension(total, None, None, None, {}, {}, {}, {})
    covered = round(sum(_best(ways, label) for label in ways.labels), 6)
    return Dimension(
        total=total,
        covered=covered,
        pct=percent(covered, total),
        tier=tier(covered, total, failing=failing),
        immediate_direct=ways.direct,
        immediate_indirect=ways.indirect,
        rolled_direct=ways.rolled_direct,
        rolled_indirect=ways.rolled_indirect,
    )


def _best(ways: _Ways, label: str) -> float:
    every = (ways.direct, ways.indirect, ways.rolled_direct, ways.rolled_indirect)
    return max(fractions.get(label, 0.0) for fractions in every)


# Of one requirement by itself


def _own(graph: Graph, node: Node) -> _Covered:
    labels: tuple[str, ...] = node.get_field("labels", ())
    covered = {name: _Ways(labels) for name in DIMENSIONS}
    failed = frozenset(graph.metrics(node.id)["failed_labels"])
    for name, cited, share in _citing(graph, node):
        ways = covered[name]
        if cited:
            for label in cited:
                if name != "verified" or label not in failed:
                    ways.direct[label] = max(share, ways.direct.get(label, 0.0))
        else:
            ways.whole = max(share, ways.whole)
            for label in labels:
                ways.indirect[label] = max(share, ways.indirect.get(label, 0.0))
    return covered


def _citing(graph: Graph, node: Node) -> Iterator[tuple[str, tuple[str, ...], float]]:
    """Dimension, named assertions (none: all of it) and share of everything that covers a requirement."""
    for edge in graph.iter_incoming_edges(node.id):
        if edge.kind is EdgeKind.STRUCTURES:
            continue
        citing = graph.get_node(edge.source)
        if citing is None:
            continue
        if citing.kind is NodeKind.TEST:
            yield "tested", edge.labels, 1.0
            if graph.evidence.verdict(citing.id) == "passed":
                yield "verified", edge.labels, 1.0
        elif edge.kind is EdgeKind.IMPLEMENTS:
            yield "implemented", edge.labels, 1.0
            lines = graph.metrics(citing.id) if citing.kind is NodeKind.CODE else {}
            if lines.get("executed_lines"):
                yield "lcov_tested", edge.labels, lines["executed_lines"] / lines["executable_lines"]
        elif edge.kind is EdgeKind.VALIDATES:
            yield from _by_journey(graph, citing.id, edge.labels)
    for edge in graph.iter_outgoing_edges(node.id):
        if edge.kind is EdgeKind.ADDRESSES:
            yield from _by_journey(graph, edge.target, ())


def _by_journey(graph: Graph, id: str, labels: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...], float]]:
    yield "uat_coverage", labels, 1.0
    if graph.evidence.verdict(id) == "passed":
        yield "uat_verified", labels, 1.0


# Through refinement


def _refining(graph: Graph, id: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The requirements that refine this one, each with the assertions it names."""
    for edge in graph.iter_incoming_edges(id):
        if edge.kind is EdgeKind.REFINES:
            node = graph.get_node(edge.source)
            if node is not None and node.kind is NodeKind.REQUIREMENT and node.get_field("role", "active") == "active":
                yield node.id, edge.labels


def _cover(graph: Graph, start: str, known: dict[str, _Covered]) -> None:
    """Cover a requirement and all below it, the lowest first. Requirements that refine each other in a circle are
    found together, and conduct nothing around the circle."""
    for circle in _lowest_first(graph, start, known):
        members = frozenset(circle)
        nodes = [node for id in circle if (node := graph.get_node(id)) is not None]
        found = {node.id: _own(graph, node) for node in nodes}
        for node in nodes:
            refining = [(known[id], labels) for id, labels in _refining(graph, node.id) if id not in members]
            _conduct(found[node.id], node, refining)
        known.update(found)


def _conduct(covered: _Covered, node: Node, refining: list[tuple[_Covered, tuple[str, ...]]]) -> None:
    """Add what refining requirements contribute; one that names no assertion contributes to all."""
    labels: tuple[str, ...] = node.get_field("labels", ())
    for name in DIMENSIONS if refining else ():
        shares: dict[str, list[tuple[float, float]]] = {}
        for below, cited in refining:
            for label in cited or labels:
                shares.setdefault(label, []).append(_share(below[name]))
        ways = covered[name]
        for label, each in shares.items():
            direct, indirect = (sum(values) / len(each) for values in zip(*each, strict=True))
            if direct:
                ways.rolled_direct[label] = direct
            if indirect:
                ways.rolled_indirect[label] = indirect


def _share(ways: _Ways) -> tuple[float, float]:
    """How much of a requirement is covered directly and indirectly, from 0 to 1."""
    if not ways.labels:
        return 0.0, ways.whole
    direct = sum(max(ways.direct.get(label, 0.0), ways.rolled_direct.get(label, 0.0)) for label in ways.labels)
    indirect = sum(max(ways.indirect.get(label, 0.0), ways.rolled_indirect.get(label, 0.0)) for label in ways.labels)
    return direct / len(ways.labels), indirect / len(ways.labels)


def _lowest_first(graph: Graph, start: str, known: Mapping[str, object]) -> Iterator[list[str]]:
    """What refines a requirement, directly or not, in an order in which everything comes after what refines it.

    Requirements in a circle come together. (Tarjan's algorithm, with a stack of its own: chains may be long.)
    """
    number: dict[str, int] = {start: 0}
    lowest: dict[str, int] = {start: 0}
    waiting = [start]
    inside = {start}
    work = [(start, iter([child for child, _ in _refining(graph, start)]))]
    while work:
        id, children = work[-1]
        for child in children:
            if child in known:
                continue
            if child not in number:
                number[child] = lowest[child] = len(number)
                waiting.append(child)
                inside.add(child)
                work.append((child, iter([each for each, _ in _refining(graph, child)])))
                break
            if child in inside:
                lowest[id] = min(lowest[id], number[child])
        else:
            work.pop()
            if work:
                lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[id])
            if lowest[id] == number[id]:
                circle = [waiting.pop()]
                while circle[-1] != id:
                    circle.append(waiting.pop())
                inside.difference_update(circle)
                yield circle
