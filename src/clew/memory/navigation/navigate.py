"""Walking from memory to memory: neighbourhoods, causal chains, generalisations, recent memories."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from clew.graph.walk import Direction, Step, Walk
from clew.memory.judging.memories import judge_memories
from clew.memory.model import EdgeType, Link, Memory, MemoryLinkKind
from clew.memory.navigation.requests import (
    CausalPathQuery,
    EntailmentQuestion,
    NeighborhoodQuery,
    PathType,
    RecentQuery,
)
from clew.memory.scope import MemoryFilters
from clew.memory.storage.changes import spelled_time
from clew.memory.storage.library import MemoryReader
from clew.memory.views import NeighbourMemory, RecentMemory, shown_as
from clew.text.keywords import stems

MOST_NODES = 500
_CONTAINED = 0.8
_MOST_CANDIDATES = 50
_MOST_PATHS = 5


class MemoryWalk:
    """The links between memories that may be seen, as something that can be walked."""

    def __init__(
        self, library: MemoryReader, min_weight: float = 0.0, types: Collection[EdgeType] | None = None
    ) -> None:
        self._library = library
        self._min_weight = min_weight
        self._types = types

    def neighbours(
        self,
        ids: Sequence[str],
        kinds: Collection[MemoryLinkKind] | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> Iterable[Step[Link]]:
        index, own = self._library.index, set(ids)
        links = index.links(ids, kinds, outward=direction != "in", inward=direction != "out")
        steps: list[Step[Link]] = []
        for link in links:
            if link.weight < self._min_weight or (self._types is not None and link.edge_type not in self._types):
                continue
            if link.source in own and direction != "in":
                steps.append(Step(link.source, link.target, link))
            if link.target in own and direction != "out":
                steps.append(Step(link.target, link.source, link))
        seen = index.visible((step.id for step in steps), self._library.viewer)
        return [step for step in steps if step.id in seen]


class CitedNode(msgspec.Struct, frozen=True):
    node: str
    link: str


class Neighborhood(msgspec.Struct, frozen=True, kw_only=True):
    node_id: str
    neighbors: tuple[NeighbourMemory, ...]
    count: int
    """Neighbours on all pages."""
    cited: tuple[CitedNode, ...]
    """Nodes of the project that the memory cites."""
    truncated: bool = False
    next_cursor: str | None = None


class Hop(msgspec.Struct, frozen=True, kw_only=True):
    node_id: str
    name: str
    edge_type: EdgeType | None
    """Kind of the link from the memory before; null for the first."""
    link: str | None
    edge_weight: float | None
    confidence: float | None


class CausalPath(msgspec.Struct, frozen=True, kw_only=True):
    path_found: bool
    path: tuple[Hop, ...]
    hop_count: int
    path_confidence: float
    path_type: PathType
    """Kind of the links that were followed."""
    narrative: str
    cycle_detected: bool


class Relative(msgspec.Struct, frozen=True, kw_only=True):
    node_id: str
    title: str
    score: float
    depth: int
    by: Literal["link", "terms"]


class Entailment(msgspec.Struct, frozen=True, kw_only=True):
    node_id: str
    ancestors: tuple[Relative, ...]
    descendants: tuple[Relative, ...]
    method: str
    truncated: bool = False


class Recent(msgspec.Struct, frozen=True, kw_only=True):
    memories: tuple[RecentMemory, ...]
    count: int
    """Memories on all pages; those beyond `limit` do not count."""
    session_id: str | None
    truncated: bool = False
    next_cursor: str | None = None


def neighborhood(library: MemoryReader, asked: NeighborhoodQuery) -> Neighborhood:
    memory = library.get(asked.node_id)
    links = MemoryWalk(library, asked.min_weight, asked.edge_types)
    walk: Walk[Link] = Walk(links, (memory.id,), direction="both", most=MOST_NODES)
    found: list[tuple[Step[Link], int]] = []
    while walk.depth < asked.depth and (own := walk.frontier):
        new = {step.id for step in walk.advance()}
        # Two memories may be linked in several ways, and each is shown.
        found += [(step, walk.depth) for step in links.neighbours(own) if step.id in new]
    memories = library.get_all(step.id for step, _ in found)
    neighbours = tuple(
        shown_as(
            NeighbourMemory,
            memories[step.id],
            edge_type=step.edge.edge_type,
            link=step.edge.kind.value,
            weight=step.edge.weight,
            confidence=step.edge.confidence,
            direction="outgoing" if step.edge.source == step.own else "incoming",
            hop=hop,
            via=step.own,
        )
        for step, hop in found
        if step.id in memories
    )
    cited = tuple(CitedNode(cite.node, cite.kind.value) for cite in memory.cites)
    return Neighborhood(
        node_id=memory.id,
        neighbors=neighbours,
        count=len(neighbours),
        cited=cited,
        truncated=walk.is_cut,
    )


def page_of(found: Neighborhood, offset: int) -> Neighborhood:
    """The neighbours from one on."""
    return msgspec.structs.replace(found, neighbors=found.neighbors[offset:])


def paths_of(found: Neighborhood) -> list[tuple[str, ...]]:
    """The longest paths from a memory to its neighbours, a few of them."""
    before = {each.node_id: each.via for each in found.neighbors}
    farthest = max((each.hop for each in found.neighbors), default=0)
    ends = [each.node_id for each in found.neighbors if each.hop == farthest]
    paths: list[tuple[str, ...]] = []
    for end in list(dict.fromkeys(ends))[:_MOST_PATHS]:
        path = [end]
        while path[-1] in before:
            path.append(before[path[-1]])
        paths.append(tuple(reversed(path)))
    return paths


_CONNECTING = tuple(kind for kind in MemoryLinkKind if kind is not MemoryLinkKind.NEXT)
_DIRECTIONS: dict[str, Direction] = {"forward": "out", "backward": "in", "bidirectional": "both"}


def causal_path(library: MemoryReader, asked: CausalPathQuery, check: Callable[[], None]) -> CausalPath:
    """The shortest chain of causes between two memories; on request, of any links but the mere order of a session."""
    start, end, path_type = library.named(asked.source_id), library.named(asked.target_id), asked.path_type
    kinds = (MemoryLinkKind.CAUSES,) if path_type == "causal" else _CONNECTING
    way = _DIRECTIONS[asked.direction] if path_type == "causal" else "both"
    walk: Walk[Link] = Walk(MemoryWalk(library), (start.id,), kinds, way, most=MOST_NODES, check=check)
    steps = _steps_to(walk, end.id, asked.max_hops)
    cycle = _has_cycle(library, kinds, walk.came_by)
    if steps is not None:
        return _path(library, start, steps, path_type, cycle=cycle)
    links = "causes lead" if path_type == "causal" else "links lead"
    return CausalPath(
        path_found=False,
        path=_into_cycle(library, start, kinds) if cycle else (),
        hop_count=0,
        path_confidence=0.0,
        path_type=path_type,
        narrative=f"No {links} from '{start.title}' to '{end.title}' within {asked.max_hops} hops.",
        cycle_detected=cycle,
    )


def _steps_to(walk: Walk[Link], end: str, max_hops: int) -> list[Step[Link]] | None:
    if end in walk.came_by:
        return []
    for _ in walk.layers(max_hops):
        if end in walk.came_by:
            return walk.path_to(end)
    return None


def _has_cycle(library: MemoryReader, kinds: Collection[MemoryLinkKind], ids: Collection[str]) -> bool:
    """True if directed links among these memories lead in a circle."""
    after: dict[str, list[str]] = {id: [] for id in ids}
    for link in library.index.links(list(ids), tuple(kinds), inward=False):
        if link.target in after:
            after[link.source].append(link.target)
    left = Counter(target for targets in after.values() for target in targets)
    free = [id for id in after if not left[id]]
    # What nothing leads to is taken away, again and again; what remains is a circle, or lies behind one.
    while free:
        for target in after[free.pop()]:
            left[target] -= 1
            if not left[target]:
                free.append(target)
    return any(left.values())


def _into_cycle(library: MemoryReader, start: Memory, kinds: Collection[MemoryLinkKind]) -> tuple[Hop, ...]:
    """The way from a memory into the circle, up to the first memory that comes again."""
    links: list[Link] = []
    way = [start.id]
    ahead = {start.id: _after(library, start.id, kinds)}
    # Depth first: a branch that ends is left again.
    while way:
        step = next(ahead[way[-1]], None)
        if step is None:
            way.pop()
            links = links[: max(len(way) - 1, 0)]
        elif step.target in way:
            return _hops(library, start, [*links, step])
        elif step.target not in ahead and len(ahead) < MOST_NODES:
            way.append(step.target)
            links.append(step)
            ahead[step.target] = _after(library, step.target, kinds)
    return ()


def _after(library: MemoryReader, id: str, kinds: Collection[MemoryLinkKind]) -> Iterator[Link]:
    links = library.index.links([id], tuple(kinds), inward=False)
    seen = library.index.visible([link.target for link in links], library.viewer)
    return iter([link for link in links if link.target in seen])


def _hops(library: MemoryReader, start: Memory, links: Sequence[Link]) -> tuple[Hop, ...]:
    memories = library.get_all([link.target for link in links])
    first = Hop(node_id=start.id, name=start.title, edge_type=None, link=None, edge_weight=None, confidence=None)
    return (
        first,
        *(
            Hop(
                node_id=link.target,
                name=memories[link.target].title,
                edge_type=link.edge_type,
                link=link.kind.value,
                edge_weight=link.weight,
                confidence=link.confidence,
            )
            for link in links
        ),
    )


def _path(
    library: MemoryReader, start: Memory, steps: list[Step[Link]], path_type: PathType, *, cycle: bool
) -> CausalPath:
    memories = library.get_all(step.id for step in steps)
    hops = [Hop(node_id=start.id, name=start.title, edge_type=None, link=None, edge_weight=None, confidence=None)]
    confidence = 1.0
    for step in steps:
        confidence *= step.edge.confidence * step.edge.weight
        hops.append(
            Hop(
                node_id=step.id,
                name=memories[step.id].title,
                edge_type=step.edge.edge_type,
                link=step.edge.kind.value,
                edge_weight=step.edge.weight,
                confidence=step.edge.confidence,
            )
        )
    return CausalPath(
        path_found=True,
        path=tuple(hops),
        hop_count=len(steps),
        path_confidence=round(confidence, 4),
        path_type=path_type,
        narrative=" → ".join(hop.name for hop in hops),
        cycle_detected=cycle,
    )


def entailment(library: MemoryReader, asked: EntailmentQuestion, near: Callable[[str], list[str]]) -> Entailment:
    """The more general and the more special memories of one: by `part_of` links, and by terms of one that are contained
    in the other. `near` gives the ids of memories that are like a text."""
    memory = library.get(asked.node_id)
    found: dict[str, list[Relative]] = {"out": [], "in": []}
    sides: dict[str, tuple[Direction, ...]] = {"ancestors": ("out",), "descendants": ("in",), "both": ("out", "in")}
    for side in sides[asked.direction]:
        walk: Walk[Link] = Walk(MemoryWalk(library), (memory.id,), (MemoryLinkKind.PART_OF,), side, most=MOST_NODES)
        for depth, layer in enumerate(walk.layers(), start=1):
            for each in library.get_many(step.id for step in layer).values():
                found[side].append(
                    Relative(node_id=each.id, title=each.title, score=round(0.9**depth, 3), depth=depth, by="link")
                )
    linked = {each.node_id for side in found.values() for each in side} | {memory.id}
    for other in library.get_many(id for id in near(memory.text)[:_MOST_CANDIDATES] if id not in linked).values():
        if judge_memories(memory, other, None).kind in ("contradicts", "replaces", "other_thing"):
            continue
        way, score = _contained(memory, other)
        if way in sides[asked.direction]:
            found[way].append(Relative(node_id=other.id, title=other.title, score=score, depth=1, by="terms"))
    return Entailment(
        node_id=memory.id,
        ancestors=tuple(found["out"]),
        descendants=tuple(found["in"]),
        method="part_of links, then containment of terms among the most similar memories",
    )


def _contained(memory: Memory, other: Memory) -> tuple[str, float]:
    """The direction to the more general of two memories, and the share of terms. The more general one has few terms,
    most of which are among the many of the other."""
    own, others = (stems(each.text) for each in (memory, other))
    if len(own) < 2 or len(others) < 2:
        return "", 0.0
    share = len(own & others) / min(len(own), len(others))
    if share < _CONTAINED or max(len(own), len(others)) < 2 * min(len(own), len(others)):
        return "", 0.0
    return ("out" if len(others) < len(own) else "in"), round(share, 3)


def recent(library: MemoryReader, asked: RecentQuery, offset: int = 0) -> Recent:
    """The memories that were stored or shown last, the latest first."""
    session, limit = library.viewer.session if asked.session_only else None, asked.limit
    filters = MemoryFilters(since=spelled_time(asked.since), session=session)
    found = library.latest(limit + 1, filters)
    shown = tuple(
        shown_as(RecentMemory, memory, last_accessed=row.shown_at or memory.recorded_at, access_count=row.shown)
        for memory, row in found[offset:limit]
    )
    return Recent(
        memories=shown,
        count=min(len(found), limit),
        session_id=session,
        truncated=len(found) > limit,
    )
