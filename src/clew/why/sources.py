"""Source files with their citations: the share of each file that serves a requirement, by lines."""

# Implements: REQ-d00423

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from clew.errors import NotFound
from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node, NodeKind
from clew.text.display import shortened
from clew.trace.read.assertions import written
from clew.why.target import is_ignored, read_text
from clew.workspace.files import path_inside

if TYPE_CHECKING:
    from clew.project import Project

_PLACES = (NodeKind.CODE, NodeKind.TEST)
_CITING = (EdgeKind.IMPLEMENTS, EdgeKind.VERIFIES, EdgeKind.VALIDATES, EdgeKind.SATISFIES, EdgeKind.REFINES)
SECONDS = 2.0
"""Time for reading source files; after it the answer is given without the rest."""


class SourceFigures(msgspec.Struct, frozen=True):
    path: str
    size: int
    """In bytes."""
    symbols: int
    """Functions, classes and methods."""
    cited: int
    """Number of its functions, classes, methods and tests that cite a requirement."""
    requirements: int
    """Different requirements that are cited from here."""
    tests: int
    failing: int


class SourceTree(msgspec.Struct, frozen=True):
    files: tuple[SourceFigures, ...]
    notes: tuple[str, ...] = ()


class CitingPlace(msgspec.Struct, frozen=True):
    """A place in a file that cites a requirement."""

    line: int
    end_line: int
    kind: str
    """code or test."""
    name: str
    edge: str
    target: str
    """The requirement."""
    written: str
    """With the labels: REQ-d00001-A."""
    title: str
    verdict: str | None


class SourceText(msgspec.Struct, frozen=True):
    path: str
    lines: tuple[str, ...]
    citations: tuple[CitingPlace, ...]
    symbols: tuple[tuple[int, str], ...]
    """Line and name of functions and classes."""


def source_tree(project: "Project") -> SourceTree:
    """All source files, and other files that cite a requirement. The caller holds the graph's lock."""
    notes = project.code.ensure(SECONDS)
    file = project.code.file
    counts = file.symbol_counts()
    sizes = {each.path: each.size for each in file.files()}
    citing = _citing(project.graph)
    figures = (
        _figures(path, sizes.get(path, 0), counts.get(path, 0), citing.get(path, _CITES_NOTHING))
        for path in sorted(sizes.keys() | citing.keys())
    )
    return SourceTree(tuple(figures), notes)


class _Citing(NamedTuple):
    """Counts of the places and tests in a file that cite something."""

    places: int
    requirements: int
    tests: int
    failing: int


_CITES_NOTHING = _Citing(0, 0, 0, 0)


def _citing(graph: Graph) -> dict[str, _Citing]:
    """By file, counted once for each state of the graph: a large project has tens of thousands of places."""

    def compute(graph: Graph) -> dict[str, _Citing]:
        found: dict[str, list[Node]] = {}
        for kind in _PLACES:
            for node in graph.memory.nodes_by_kind(kind):
                if node.source is not None:
                    found.setdefault(node.source.path, []).append(node)
        return {path: _counted(graph, nodes) for path, nodes in found.items()}

    return graph.derived("citing_places_by_file", compute)


def _counted(graph: Graph, nodes: Iterable[Node]) -> _Citing:
    places: set[str] = set()
    targets: set[str] = set()
    tests = failing = 0
    for node in nodes:
        cited = {edge.target for edge in graph.memory.iter_outgoing_edges(node.id) if edge.kind in _CITING}
        targets |= cited
        if cited:
            places.add(node.get_field("owner") or node.id)
        if node.kind is NodeKind.TEST:
            tests += 1
            failing += graph.evidence.verdict(node.id) == "failed"
    return _Citing(len(places), len(targets), tests, failing)


def _figures(path: str, size: int, symbols: int, cites: _Citing) -> SourceFigures:
    return SourceFigures(
        path, size, max(symbols, cites.places), cites.places, cites.requirements, cites.tests, cites.failing
    )


def source_text(project: "Project", path: str) -> SourceText:
    """A file with its citations at their lines. The caller holds the graph's lock."""
    text = read_text(project, path)
    if text is None or is_ignored(project, path_inside(project.config.root, path)):
        raise NotFound(
            f"There is no readable file '{shortened(path)}'.",
            hint="It may have been deleted or renamed since; the list of sources shows what there is.",
        )
    graph = project.graph
    found: list[CitingPlace] = []
    for node in graph.memory.nodes_in_file(path):
        if node.kind in _PLACES and node.source is not None:
            found += _citations(graph, node)
    found.sort(key=lambda each: (each.line, each.written))
    symbols = tuple((symbol.line, symbol.qualname) for symbol in text.outline.symbols)
    return SourceText(path, text.lines, tuple(found), symbols)


def _citations(graph: Graph, node: Node) -> Iterable[CitingPlace]:
    assert node.source is not None  # noqa: S101 - looked at by the caller
    for edge in graph.memory.iter_outgoing_edges(node.id):
        target = graph.memory.get_node(edge.target)
        if edge.kind in _CITING and target is not None:
            yield CitingPlace(
                line=node.get_field("line") or node.source.line,
                end_line=node.source.end_line,
                kind=node.kind.value,
                name=node.title,
                edge=edge.kind.value,
                target=target.id,
                written=written(graph, edge),
                title=target.title,
                verdict=graph.evidence.verdict(node.id),
            )
