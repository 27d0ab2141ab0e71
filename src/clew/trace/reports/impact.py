"""Impact: the items that a change to a requirement, an assertion or a file affects.

Each question is answered with a count and a bounded list. What it *stands for* is what it cites, and what that stands
below. What *depends* on it cites it, or cites what does. What *proves* it are the tests among those; for code, the
tests of what the code cites. What becomes *suspect* are the links that cite it directly: they were reviewed with the
text as it is now.
"""

# Implements: REQ-d00053

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import Edge, EdgeKind, Node, NodeKind
from clew.graph.walk import Direction, Step, Walk
from clew.trace.read.assertions import written
from clew.trace.read.resolve import Subject
from clew.trace.reports.citations import links_citing
from clew.trace.reports.suspect import Suspect

_NO_CITATIONS = frozenset({EdgeKind.STRUCTURES, EdgeKind.YIELDS})
_MENTIONS = frozenset({EdgeKind.MENTIONS})


class Affected(msgspec.Struct, frozen=True):
    id: str
    kind: str
    title: str
    path: str
    line: int
    how: str
    """The first citation on the way, such as `verifies REQ-d00001-A`."""
    distance: int
    """1 for what cites the subject itself."""


class Proof(msgspec.Struct, frozen=True):
    id: str
    path: str
    line: int
    proves: str
    """The assertion or requirement that the test cites."""
    result: str | None
    """The outcome that was read last; null where no results are known."""


class Doubt(msgspec.Struct, frozen=True):
    citing: str
    kind: str
    cited: str
    path: str
    line: int
    suspect_now: bool
    """It is suspect already."""


class Impact(msgspec.Struct, frozen=True):
    subject: str
    kind: str
    title: str
    stands_for: tuple[Affected, ...]
    """The nodes that it cites, and those above them, nearest first."""
    stands_for_total: int
    dependents: tuple[Affected, ...]
    """Nearest first."""
    dependents_total: int
    dependents_by_kind: dict[str, int]
    proofs: tuple[Proof, ...]
    proofs_total: int
    becomes_suspect: tuple[Doubt, ...]
    becomes_suspect_total: int
    suspect_now: int
    documented: tuple[Affected, ...] = ()
    """Sections of documents that mention it, as they were read last."""
    documented_total: int = 0


def impact(graph: Graph, subject: Subject, suspects: Iterable[Suspect], *, limit: int) -> Impact:
    """The lists hold at most `limit` items each; the totals count all."""
    above = list(_above(graph, subject.ids))
    below = list(_below(graph, subject.ids))
    proofs = list(_proofs(graph, subject.ids, below))
    doubts = list(_doubts(graph, subject.ids, suspects))
    return Impact(
        subject=subject.name,
        kind=subject.kind,
        title=subject.title,
        stands_for=tuple(above[:limit]),
        stands_for_total=len(above),
        dependents=tuple(below[:limit]),
        dependents_total=len(below),
        dependents_by_kind=dict(sorted(Counter(found.kind for found in below).items())),
        proofs=tuple(proofs[:limit]),
        proofs_total=len(proofs),
        becomes_suspect=tuple(doubts[:limit]),
        becomes_suspect_total=len(doubts),
        suspect_now=sum(1 for doubt in doubts if doubt.suspect_now),
    )


def documented(graph: Graph, subject: Subject) -> list[Affected]:
    """The sections of documents that mention the subject. Asks the store of documents."""
    edges = [edge for id in subject.ids for edge in _naming(graph, id, _mentioning(graph, _whole(graph, id)))]
    if subject.kind == NodeKind.FILE.value:
        edges += _mentioning(graph, f"file:{subject.name}")
    first: dict[str, Edge] = {}
    for edge in sorted(edges, key=_place):
        first.setdefault(edge.source, edge)
    return [_affected(graph, node, edge, 1) for id, edge in first.items() if (node := graph.get_node(id)) is not None]


def _mentioning(graph: Graph, id: str) -> list[Edge]:
    return [step.edge for step in graph.neighbours((id,), _MENTIONS, "in")]


class _Citations(msgspec.Struct, frozen=True):
    """The citations of the graph. An assertion is cited by nodes that name it, and by nodes that cite the whole
    requirement."""

    graph: Graph

    def neighbours(
        self, ids: Sequence[str], kinds: Collection[EdgeKind] | None, direction: Direction, limit: int | None
    ) -> Iterator[Step[Edge]]:
        for id in ids:
            if direction == "out":
                yield from (Step(id, edge.target, edge) for edge in _cited_by(self.graph, id))
            else:
                yield from (Step(id, edge.source, edge) for edge in _citing(self.graph, id))


def _above(graph: Graph, ids: Iterable[str]) -> Iterator[Affected]:
    """The cited nodes, and the nodes that they cite."""
    return _reached(graph, {_whole(graph, id) for id in ids}, frozenset(), "out")


def _below(graph: Graph, ids: Iterable[str]) -> Iterator[Affected]:
    """The citing nodes, and the nodes that cite them."""
    return _reached(graph, ids, frozenset(_whole(graph, id) for id in ids), "in")


def _reached(graph: Graph, starts: Iterable[str], without: Collection[str], direction: Direction) -> Iterator[Affected]:
    def exists(id: str) -> bool:
        return id not in without and graph.get_node(id) is not None

    walk = Walk(_Citations(graph), starts, None, direction, scope=exists, order=lambda step: _place(step.edge))
    for layer in walk.layers():
        for step in layer:
            if (node := graph.get_node(step.id)) is not None:
                yield _affected(graph, node, step.edge, walk.depth)


def _place(edge: Edge) -> tuple[str, str, tuple[str, ...]]:
    """An order that is the same however the graph came about."""
    return edge.source, edge.target, edge.labels


def _cited_by(graph: Graph, id: str) -> list[Edge]:
    return [edge for edge in graph.iter_outgoing_edges(id) if edge.kind not in _NO_CITATIONS]


def _citing(graph: Graph, id: str) -> list[Edge]:
    """The citations of a node; for an assertion, those that name it, and those of its whole requirement."""
    edges = graph.iter_incoming_edges(_whole(graph, id))
    return [edge for edge in _naming(graph, id, edges) if edge.kind not in _NO_CITATIONS]


def _naming(graph: Graph, id: str, edges: Iterable[Edge]) -> list[Edge]:
    """The edges that concern a node: for an assertion, those that name it or no assertion at all."""
    node = graph.get_node(id)
    label = node.get_field("label") if node is not None and node.kind is NodeKind.ASSERTION else None
    return [edge for edge in edges if label is None or not edge.labels or label in edge.labels]


def _whole(graph: Graph, id: str) -> str:
    """The requirement of an assertion; any other node itself."""
    node = graph.get_node(id)
    if node is None or node.kind is not NodeKind.ASSERTION:
        return id
    return next((parent.id for parent in graph.iter_parents(id, (EdgeKind.STRUCTURES,))), id)


def _affected(graph: Graph, node: Node, edge: Edge, distance: int) -> Affected:
    path, line = place_of(node)
    return Affected(node.id, node.kind.value, node.title, path, line, _how(graph, edge), distance)


def _how(graph: Graph, edge: Edge) -> str:
    return f"{edge.kind.value} {written(graph, edge)}"


def _proofs(graph: Graph, ids: Iterable[str], below: Iterable[Affected]) -> Iterator[Proof]:
    tests = {found.id: found.how for found in below if found.kind == NodeKind.TEST.value}
    for id in ids:
        node = graph.get_node(id)
        if node is not None and node.kind is NodeKind.TEST:
            tests[id] = ", ".join(written(graph, edge) for edge in _cited_by(graph, id))
        elif node is not None and node.kind is NodeKind.CODE:
            for cited in _cited_by(graph, id):
                tests.update(
                    (edge.source, _how(graph, edge))
                    for edge in _citing(graph, cited.target)
                    if _same(cited, edge) and _is_test(graph, edge.source)
                )
    for id, how in tests.items():
        test = graph.get_node(id)
        if test is not None:
            path, line = place_of(test)
            yield Proof(id, path, line, how, _result(graph, id))


def _same(one: Edge, other: Edge) -> bool:
    """True if two citations of a requirement can concern the same assertion."""
    return not one.labels or not other.labels or not set(one.labels).isdisjoint(other.labels)


def _is_test(graph: Graph, id: str) -> bool:
    node = graph.get_node(id)
    return node is not None and node.kind is NodeKind.TEST


def _result(graph: Graph, test_id: str) -> str | None:
    statuses = [
        result.get_field("status")
        for result in graph.iter_children(test_id, (EdgeKind.YIELDS,))
        if result.kind is NodeKind.TEST_RESULT
    ]
    return next((status for status in statuses if status != "passed"), statuses[0]) if statuses else None


def _doubts(graph: Graph, ids: Iterable[str], suspects: Iterable[Suspect]) -> Iterator[Doubt]:
    doubtful = {suspect.link.key for suspect in suspects}
    # A comment may name an assertion twice, by itself and within a range: that is one link.
    found = {(link.cited, link.citing_id, link.kind): link for link in links_citing(graph, ids)}
    for _, link in sorted(found.items()):
        citing = graph.get_node(link.citing_id)
        path, line = place_of(citing) if citing is not None else ("", 0)
        yield Doubt(link.citing_id, link.kind, link.cited, path, line, link.key in doubtful)


def place_of(node: Node) -> tuple[str, int]:
    return (node.source.path, node.source.line) if node.source is not None else ("", 0)
