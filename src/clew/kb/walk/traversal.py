"""Walks from documents, and the shortest paths between nodes, as far as one page of an answer needs them."""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from clew.graph.graph import Graph
from clew.graph.walk import Direction, Walk, meeting_point
from clew.kb.queries import LibraryReader
from clew.kb.walk.adjacency import Adjacency
from clew.kb.walk.cross_references import CrossReferences
from clew.kb.walk.projections import resolved
from clew.kb.walk.relationships import check_names
from clew.kb.walk.results import NamedEdge

MOST_REACHED = 4_000
"""A walk ends when it has met so many nodes."""
MOST_OF_START = 2_000
MOST_OF_OTHERS = 100
"""Neighbours of one node over one kind of step: of a node where a walk begins, and of all others."""
MOST_ON_PATHS = 50
"""The same where paths are sought."""

BY_ID = attrgetter("id")


class GraphSnapshot(NamedTuple):
    """One state of the documents and of the graph around them, for as long as a call needs it."""

    reading: LibraryReader
    graph: Graph
    cross_references: CrossReferences
    check: Callable[[], None]

    def adjacency(self) -> Adjacency:
        return Adjacency(self.reading, self.graph, self.cross_references, self.check)

    def resolved(self, wanted: Sequence[str]) -> dict[str, str | None]:
        """Each id with the present id of its node; None if there is no such node."""
        return resolved(self.reading, self.graph, self.cross_references, wanted)


class Reached(NamedTuple):
    id: str
    distance: int
    path: tuple[NamedEdge, ...]
    """One of the shortest ways from where the walk began."""


class WalkResult(NamedTuple):
    reached: tuple[Reached, ...]
    """The nearest first, then by id."""
    has_more: bool
    missing: tuple[str, ...]
    """Ids that nothing has."""
    hubs: tuple[str, ...]
    """Nodes of which only the first neighbours were followed."""
    is_cut: bool
    """True if there was more to reach than a walk may meet."""


def expand(
    snapshot: GraphSnapshot,
    starts: Sequence[str],
    names: Sequence[str] | None = None,
    direction: Direction = "both",
    *,
    hops: int = 1,
    offset: int = 0,
    limit: int = 25,
) -> WalkResult:
    """A page of the nodes within so many steps of some nodes. The walk goes only as far as the page needs."""
    check_names(names)
    current = snapshot.resolved(starts)
    begin = sorted(_present(current, starts))
    adjacency = snapshot.adjacency()
    walk = Walk(adjacency, begin, names, direction, order=BY_ID, most=MOST_REACHED)
    found: list[tuple[str, int]] = []
    is_cut = False
    while walk.frontier and walk.depth < hops and not is_cut and len(found) <= offset + limit:
        layer = walk.advance(MOST_OF_START if walk.depth == 0 else MOST_OF_OTHERS)
        found += [(step.id, walk.depth) for step in layer]
        is_cut = walk.is_cut or adjacency.is_cut
    page = tuple(
        Reached(id, distance, tuple(step.edge for step in walk.path_to(id)))
        for id, distance in found[offset : offset + limit]
    )
    return WalkResult(page, len(found) > offset + limit, _missing(current), tuple(adjacency.hubs), is_cut)


class Path(NamedTuple):
    nodes: tuple[str, ...]
    types: tuple[str, ...]

    @property
    def length(self) -> int:
        return len(self.types)


class PathsFound(NamedTuple):
    paths: tuple[Path, ...]
    """The shortest first, then in the order of the pairs."""
    has_more: bool
    missing: tuple[str, ...]
    hubs: tuple[str, ...]
    is_cut: bool
    """True if the search ended before it had looked everywhere."""


def shortest_paths(
    snapshot: GraphSnapshot,
    starts: Sequence[str],
    ends: Sequence[str],
    names: Sequence[str] | None = None,
    *,
    hops: int = 3,
    offset: int = 0,
    limit: int = 10,
) -> PathsFound:
    """A page of the shortest paths, one for each pair of a start and an end, whatever the directions of their edges."""
    check_names(names)
    current = snapshot.resolved([*starts, *ends])
    adjacency = snapshot.adjacency()
    search = _Search(adjacency, names, _present(current, starts), _present(current, ends))
    found: list[Path] = []
    for _ in range(hops):
        found += search.deepen()
        if len(found) > offset + limit or not search.pairs or adjacency.is_cut:
            break
    page = tuple(found[offset : offset + limit])
    more = len(found) > offset + limit
    return PathsFound(page, more, _missing(current), tuple(adjacency.hubs), adjacency.is_cut)


def _present(current: dict[str, str | None], wanted: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(id for each in wanted if (id := current[each]) is not None))


def _missing(current: dict[str, str | None]) -> tuple[str, ...]:
    return tuple(id for id, now in current.items() if now is None)


class _Search:
    """A walk from each start and one from each end; a path is complete where two of them meet."""

    def __init__(
        self, adjacency: Adjacency, names: Sequence[str] | None, starts: Sequence[str], ends: Sequence[str]
    ) -> None:
        def walk_from(id: str) -> Walk[NamedEdge]:
            return Walk(adjacency, (id,), names, "both", order=BY_ID)

        self._walks = {id: walk_from(id) for id in starts}, {id: walk_from(id) for id in ends}
        self.pairs = [(start, end) for start in starts for end in ends if start != end]
        """The pairs without a path so far."""

    def deepen(self) -> list[Path]:
        """Go one step further from the side where that is less work; the paths that are complete with it."""
        sizes = [sum(len(walk.frontier) for walk in walks.values()) for walks in self._walks]
        side = 0 if sizes[0] <= sizes[1] else 1
        for walk in self._walks[side].values():
            walk.advance(MOST_ON_PATHS)
        complete = {pair: path for pair in self.pairs if (path := self._path(pair, side)) is not None}
        self.pairs = [pair for pair in self.pairs if pair not in complete]
        return sorted(complete.values(), key=lambda path: path.length)

    def _path(self, pair: tuple[str, str], side: int) -> Path | None:
        near, far = self._walks[0][pair[0]], self._walks[1][pair[1]]
        middle = meeting_point(near, far) if side == 0 else meeting_point(far, near)
        if middle is None:
            return None
        there, back = near.path_to(middle), far.path_to(middle)[::-1]
        return Path(
            (*(step.own for step in there), middle, *(step.own for step in back)),
            tuple(step.edge.type for step in (*there, *back)),
        )
