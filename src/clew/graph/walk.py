"""The walk: what is reached from some nodes, breadth first, one frontier at a time.

A region answers which nodes are one step from a frontier (`neighbours`); the walk adds depth, scope, limits and the
deadline. It is the only one: hierarchies, subtrees, scopes, impact, circles, documents and paths all use it. What is
new at a distance comes in the order of the frontier and of its neighbours, or in the order that the caller gives.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Generic, Literal, Protocol, TypeVar

import msgspec

Direction = Literal["out", "in", "both"]
"""Along the edges, against them, or either."""

E = TypeVar("E")
K_contra = TypeVar("K_contra", contravariant=True)


class Step(msgspec.Struct, Generic[E], frozen=True, gc=False):
    own: str
    """The node of the frontier."""
    id: str
    """Its neighbour."""
    edge: E
    """The edge that leads there."""


class Neighbours(Protocol[K_contra, E]):
    """A walkable set of links: the graph, one of its regions, or any other part of a project that has links."""

    def neighbours(
        self, ids: Sequence[str], kinds: Collection[K_contra] | None, direction: Direction, limit: int | None
    ) -> Iterable[Step[E]]:
        """The steps from these nodes over edges of these kinds (None: all), at most `limit` from each node over each
        kind, in the order of the nodes."""
        ...


class Walk(Generic[E]):
    """A walk that advances one step per call and knows the path to every node that it reached."""

    def __init__(
        self,
        region: Neighbours[Any, E],
        starts: Iterable[str],
        kinds: Collection[Any] | None = None,
        direction: Direction = "out",
        *,
        scope: Callable[[str], bool] | None = None,
        order: Callable[[Step[E]], Any] | None = None,
        most: int | None = None,
        returns: bool = False,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """`scope` says which nodes may be reached; the walk does not pass through others. `order` is the sort key of
        the steps to one distance. `most` is the number of nodes at most, starts included. With `returns`, a start is
        reached again if a cycle leads back to it."""
        self._region = region
        self._kinds = kinds
        self._direction = direction
        self._scope = scope
        self._order = order
        self._most = most
        self._check = check
        self.frontier = list(dict.fromkeys(starts))
        """The nodes that were reached last."""
        self.came_by: dict[str, Step[E] | None] = {} if returns else dict.fromkeys(self.frontier)
        """The first step to each node that was met; None for a start."""
        self.depth = 0
        """Distance of the frontier from the starts."""
        self.is_cut = False
        """True if there were more nodes than the limit of the walk."""

    def advance(self, limit: int | None = None) -> list[Step[E]]:
        """Go one step further, to at most `limit` neighbours of each node over each kind of edge: the steps to the
        nodes that are new."""
        self._check()
        self.depth += 1
        steps = self._region.neighbours(self.frontier, self._kinds, self._direction, limit)
        if self._order is not None:
            steps = sorted(steps, key=self._order)
        met, scope, most = self.came_by, self._scope, self._most
        found: list[Step[E]] = []
        for step in steps:
            id = step.id
            if id in met or (scope is not None and not scope(id)):
                continue
            if most is not None and len(met) >= most:
                self.is_cut = True
                break
            met[id] = step
            found.append(step)
        self.frontier = [step.id for step in found]
        return found

    def layers(self, depth: int | None = None) -> Iterator[list[Step[E]]]:
        """The steps to each distance, up to `depth`, as long as anything is new."""
        while (depth is None or self.depth < depth) and (layer := self.advance()):
            yield layer

    def path_to(self, id: str) -> list[Step[E]]:
        """The steps from a start to a node that was met."""
        path: list[Step[E]] = []
        while (step := self.came_by[id]) is not None:
            path.append(step)
            id = step.own
        path.reverse()
        return path


def reached(
    region: Neighbours[Any, Any],
    starts: Iterable[str],
    kinds: Collection[Any] | None = None,
    direction: Direction = "out",
    *,
    scope: Callable[[str], bool] | None = None,
    returns: bool = False,
) -> Iterator[str]:
    """The ids of everything that a walk meets beyond its starts, nearest first."""
    for layer in Walk(region, starts, kinds, direction, scope=scope, returns=returns).layers():
        yield from (step.id for step in layer)


def shortest_path(
    region: Neighbours[Any, Any],
    starts: Iterable[str],
    ends: Collection[str],
    kinds: Collection[Any] | None = None,
    direction: Direction = "out",
) -> list[str] | None:
    """The ids on a shortest path from one of the starts to one of the ends, both included; None if there is no path."""
    walk = Walk(region, starts, kinds, direction)
    while walk.frontier and ends:
        end = next((id for id in walk.frontier if id in ends), None)
        if end is not None:
            steps = walk.path_to(end)
            return [*(step.own for step in steps), end]
        walk.advance()
    return None


def meeting_point(one: Walk[E], other: Walk[E]) -> str | None:
    """The node where two walks meet on the frontier of the first, nearest to where the second began."""
    met = other.came_by
    candidates = [id for id in one.frontier if id in met]
    if not candidates:
        return None
    return min(candidates, key=lambda id: (len(other.path_to(id)), id))
