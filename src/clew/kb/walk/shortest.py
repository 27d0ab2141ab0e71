"""The shortest ways between nodes, searched from both ends at once."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clew.kb.walk.adjacency import Adjacency
from clew.kb.walk.projections import resolved
from clew.kb.walk.relationships import Called, Way, ways
from clew.kb.walk.results import Link
from clew.kb.walk.walking import Ground, named

MOST_NEIGHBOURS = 50
"""Of one node over one kind of step."""


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
    """Whether the search ended before it had looked everywhere."""


class _Ball:
    """Everything within a distance of one node."""

    def __init__(self, centre: str) -> None:
        self.came_from: dict[str, Link | None] = {centre: None}
        self.distances = {centre: 0}
        self.surface = [centre]
        self.radius = 0

    def grow(self, adjacency: Adjacency, over: dict[Way, Called]) -> None:
        self.radius += 1
        new: dict[str, Link] = {}
        for id in adjacency.load(self.surface, MOST_NEIGHBOURS):
            for neighbour in adjacency.of(id):
                if neighbour.id not in self.distances and neighbour.id not in new:
                    new[neighbour.id] = named(id, neighbour, over)
        self.surface = sorted(new)
        self.came_from.update(new)
        self.distances.update(dict.fromkeys(new, self.radius))

    def way_back(self, id: str) -> tuple[list[str], list[str]]:
        """The nodes from here to the centre, and the names of the steps between them."""
        nodes, types = [id], []
        while (link := self.came_from[id]) is not None:
            id = link.src if link.dst == id else link.dst
            nodes.append(id)
            types.append(link.type)
        return nodes, types


def shortest_paths(
    ground: Ground,
    starts: Sequence[str],
    ends: Sequence[str],
    names: Sequence[str] | None = None,
    *,
    hops: int = 3,
    offset: int = 0,
    limit: int = 10,
) -> PathsFound:
    """A page of the shortest paths, one for each pair of a start and an end, whatever the directions of their edges."""
    over = ways(names)
    current = resolved(ground.reading, ground.graph, ground.crossing, [*starts, *ends])
    missing = tuple(id for id, now in current.items() if now is None)
    search = _Search(ground.adjacency(over), over, _present(current, starts), _present(current, ends))
    found: list[Path] = []
    for _ in range(hops):
        found += search.deepen()
        if len(found) > offset + limit or not search.goes_on:
            break
    page = tuple(found[offset : offset + limit])
    adjacency = search.adjacency
    return PathsFound(page, len(found) > offset + limit, missing, tuple(adjacency.hubs), adjacency.is_cut)


def _present(current: dict[str, str | None], wanted: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(id for each in wanted if (id := current[each]) is not None))


class _Search:
    def __init__(
        self, adjacency: Adjacency, over: dict[Way, Called], starts: Sequence[str], ends: Sequence[str]
    ) -> None:
        self.adjacency = adjacency
        self._over = over
        self._balls = {id: _Ball(id) for id in starts}, {id: _Ball(id) for id in ends}
        self._open = [(start, end) for start in starts for end in ends if start != end]

    @property
    def goes_on(self) -> bool:
        return bool(self._open) and not self.adjacency.is_cut

    def deepen(self) -> list[Path]:
        """Go one step further from the side where that is less work; the paths that are complete with it."""
        sizes = [sum(len(ball.surface) for ball in balls.values()) for balls in self._balls]
        side = 0 if sizes[0] <= sizes[1] else 1
        for ball in self._balls[side].values():
            ball.grow(self.adjacency, self._over)
        found: list[Path] = []
        left = []
        for pair in self._open:
            path = self._path(pair, side)
            if path is None:
                left.append(pair)
            else:
                found.append(path)
        self._open = left
        return sorted(found, key=lambda path: path.length)

    def _path(self, pair: tuple[str, str], side: int) -> Path | None:
        """The path over a node that both balls hold, if there is one on the surface of the one that grew."""
        near, far = self._balls[0][pair[0]], self._balls[1][pair[1]]
        grown, other = (near, far) if side == 0 else (far, near)
        meeting = other.distances.keys() & grown.surface
        if not meeting:
            return None
        middle = min(meeting, key=lambda id: (other.distances[id], id))
        nodes, types = near.way_back(middle)
        onwards, more = far.way_back(middle)
        return Path((*reversed(nodes), *onwards[1:]), (*reversed(types), *more))
