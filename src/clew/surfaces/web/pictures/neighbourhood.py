"""The neighbourhood of a requirement on a grid of levels: its parents above it, its children below it, and the code and
tests that cite it. No layout is computed: every node has a cell."""

# Implements: REQ-d00419

from collections.abc import Iterable, Iterator

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import HIERARCHY, Edge, EdgeKind, Node, NodeKind
from clew.surfaces.web import addresses

MOST_NODES = 60
MOST_IN_ROW = 12
WIDTH, HEIGHT = 190, 46
_GAP_X, _GAP_Y = 14, 44
_PER_LINE = 5
_ROWS = ("ancestors", "parents", "this one", "children", "code", "tests", "journeys and memories")
_SHOWN = 24


class Cell(msgspec.Struct, frozen=True):
    id: str
    kind: str
    title: str
    name: str
    """A short label: an id, or a file and line."""
    said: str
    """As much of the title as a cell has room for."""
    state: str
    """Of a requirement how far it is proved, of a test its verdict; empty for others."""
    x: int
    y: int
    to: str


class Arrow(msgspec.Struct, frozen=True):
    source: str
    target: str
    kind: str
    labels: str
    points: str


class Drawing(msgspec.Struct, frozen=True):
    nodes: tuple[Cell, ...]
    arrows: tuple[Arrow, ...]
    rows: tuple[tuple[str, int], ...]
    """The label of each row of cells, and the height at which it begins."""
    width: int
    height: int
    left_out: int


def neighbourhood(graph: Graph, id: str) -> Drawing:
    """The drawing around a requirement. The caller holds the graph's lock."""
    rows = _rows(graph, id)
    cells: dict[str, Cell] = {}
    names: list[tuple[str, int]] = []
    y, left_out = 24, 0
    for name, nodes in zip(_ROWS, rows, strict=True):
        shown = nodes[: min(MOST_IN_ROW, MOST_NODES - len(cells))]
        left_out += len(nodes) - len(shown)
        if not shown:
            continue
        names.append((name, y))
        for place, node in enumerate(shown):
            column, line = place % _PER_LINE, place // _PER_LINE
            x = column * (WIDTH + _GAP_X)
            cells[node.id] = _cell(graph, node, x, y + 8 + line * (HEIGHT + _GAP_X))
        y += 8 + ((len(shown) - 1) // _PER_LINE + 1) * (HEIGHT + _GAP_X) - _GAP_X + _GAP_Y
    columns = max((cell.x for cell in cells.values()), default=0) + WIDTH
    arrows = tuple(_arrows(graph, cells))
    return Drawing(tuple(cells.values()), arrows, tuple(names), columns + 2, y - _GAP_Y + 10, left_out)


def _rows(graph: Graph, id: str) -> tuple[list[Node], ...]:
    own = graph.get_node(id)
    if own is None:
        return tuple([] for _ in _ROWS)
    above = _different(graph.iter_parents(id, HIERARCHY), {id})
    known = {id, *(node.id for node in above)}
    higher = _different((up for node in above for up in graph.iter_parents(node.id, HIERARCHY)), known)
    citing = _different(graph.iter_children(id, frozenset(EdgeKind) - {EdgeKind.STRUCTURES, EdgeKind.NEXT}), known)
    by_kind = {
        kind: [node for node in citing if node.kind is kind]
        for kind in (NodeKind.REQUIREMENT, NodeKind.CODE, NodeKind.TEST)
    }
    others = [node for node in citing if node.kind in (NodeKind.USER_JOURNEY, NodeKind.MEMORY)]
    return higher, above, [own], by_kind[NodeKind.REQUIREMENT], by_kind[NodeKind.CODE], by_kind[NodeKind.TEST], others


def _different(nodes: Iterable[Node], known: set[str]) -> list[Node]:
    found = {node.id: node for node in nodes if node.id not in known}
    return sorted(found.values(), key=lambda node: node.id)


def _cell(graph: Graph, node: Node, x: int, y: int) -> Cell:
    state = ""
    if node.kind is NodeKind.REQUIREMENT:
        state = graph.metrics(node.id).get("tier", "")
    elif node.kind is NodeKind.TEST:
        state = graph.evidence.verdict(node.id) or "not run"
    return Cell(node.id, node.kind.value, node.title, _cut(_name(node)), _cut(node.title), state, x, y, _address(node))


def _name(node: Node) -> str:
    if node.kind in (NodeKind.CODE, NodeKind.TEST) and node.source is not None:
        return f"{node.source.path.rpartition('/')[2]}:{node.source.line}"
    return node.id.removeprefix("memory:")


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _address(node: Node) -> str:
    if node.kind in (NodeKind.CODE, NodeKind.TEST, NodeKind.USER_JOURNEY) and node.source is not None:
        return addresses.of_place(f"{node.source.path}:{node.source.line}")
    return addresses.of_node(node.id)


def _arrows(graph: Graph, cells: dict[str, Cell]) -> Iterator[Arrow]:
    for cell in cells.values():
        for edge in _edges(graph, cell.id, cells):
            target = cells[edge.target]
            half = WIDTH // 2
            down = cell.y > target.y
            start = (cell.x + half, cell.y if down else cell.y + HEIGHT)
            end = (target.x + half, target.y + HEIGHT if down else target.y)
            middle = (start[1] + end[1]) // 2
            points = f"M{start[0]},{start[1]} C{start[0]},{middle} {end[0]},{middle} {end[0]},{end[1]}"
            yield Arrow(edge.source, edge.target, edge.kind.value, ", ".join(edge.labels), points)


def _edges(graph: Graph, id: str, cells: dict[str, Cell]) -> Iterator[Edge]:
    met: set[tuple[str, EdgeKind]] = set()
    for edge in graph.iter_outgoing_edges(id):
        key = (edge.target, edge.kind)
        if edge.target in cells and edge.target != id and edge.kind is not EdgeKind.STRUCTURES and key not in met:
            met.add(key)
            yield edge
