"""Walks through the whole graph: documents, sections and entities of the store, and everything they mention."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from clew.graph.graph import Graph
from clew.kb.queries import Reading
from clew.kb.walk.adjacency import Adjacency, Neighbour
from clew.kb.walk.crossing import Crossing
from clew.kb.walk.projections import resolved
from clew.kb.walk.relationships import Called, Direction, Way, ways
from clew.kb.walk.results import Link

MOST_REACHED = 4_000
"""A walk ends when it has met so many nodes."""
MOST_OF_START = 2_000
MOST_OF_OTHERS = 100
"""Neighbours of one node over one kind of step: of a node where a walk begins, and of all others."""


class Reached(NamedTuple):
    id: str
    distance: int
    path: tuple[Link, ...]
    """One of the shortest ways from where the walk began."""


class Walked(NamedTuple):
    reached: tuple[Reached, ...]
    """The nearest first, then by id."""
    has_more: bool
    missing: tuple[str, ...]
    """Ids that nothing has."""
    hubs: tuple[str, ...]
    """Nodes of which only the first neighbours were followed."""
    is_cut: bool
    """Whether there was more to reach than a walk may meet."""


class Ground(NamedTuple):
    """Where walks go."""

    reading: Reading
    graph: Graph
    crossing: Crossing
    check: Callable[[], None]

    def adjacency(self, over: dict[Way, Called]) -> Adjacency:
        return Adjacency(self.reading, self.graph, self.crossing, over, self.check)


def expand(
    ground: Ground,
    starts: Sequence[str],
    names: Sequence[str] | None = None,
    direction: Direction = "both",
    *,
    hops: int = 1,
    offset: int = 0,
    limit: int = 25,
) -> Walked:
    """A page of what is reached from some nodes within so many steps. Only as far is walked as the page needs."""
    over = ways(names, direction)
    current = resolved(ground.reading, ground.graph, ground.crossing, starts)
    begin = list(dict.fromkeys(id for id in current.values() if id is not None))
    missing = tuple(id for id, now in current.items() if now is None)
    adjacency = ground.adjacency(over)
    walk = _Walk(adjacency, over, begin)
    found: list[tuple[str, int]] = []
    for distance in range(1, hops + 1):
        layer = walk.step(MOST_OF_START if distance == 1 else MOST_OF_OTHERS)
        found += [(id, distance) for id in layer]
        if not layer or walk.is_cut or len(found) > offset + limit:
            break
    page = tuple(Reached(id, distance, walk.path_to(id)) for id, distance in found[offset : offset + limit])
    return Walked(page, len(found) > offset + limit, missing, tuple(adjacency.hubs), walk.is_cut)


class _Walk:
    """Breadth first, one layer at a time."""

    def __init__(self, adjacency: Adjacency, over: dict[Way, Called], begin: Sequence[str]) -> None:
        self._adjacency = adjacency
        self._over = over
        self._came_from: dict[str, Link | None] = dict.fromkeys(begin)
        self._frontier = sorted(begin)
        self.is_cut = False

    def step(self, most: int) -> list[str]:
        """The nodes of the next layer, by id."""
        new: dict[str, Link] = {}
        for id in self._adjacency.load(self._frontier, most):
            for neighbour in self._adjacency.of(id):
                if neighbour.id not in self._came_from and neighbour.id not in new:
                    new[neighbour.id] = named(id, neighbour, self._over)
        room = MOST_REACHED - len(self._came_from)
        layer = sorted(new)[: max(0, room)]
        self.is_cut = self._adjacency.is_cut or len(new) > room
        self._came_from.update((id, new[id]) for id in layer)
        self._frontier = layer
        return layer

    def path_to(self, id: str) -> tuple[Link, ...]:
        path: list[Link] = []
        while (link := self._came_from[id]) is not None:
            path.append(link)
            id = link.src if link.dst == id else link.dst
        return tuple(reversed(path))


def named(own: str, neighbour: Neighbour, over: dict[Way, Called]) -> Link:
    """The step to a neighbour under the name and in the direction that users know."""
    called = over[neighbour.way]
    ends = (own, neighbour.id) if called.forward else (neighbour.id, own)
    return Link(*ends, called.name)
