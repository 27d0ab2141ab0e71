"""Circles in the hierarchy: files may describe one, but no mutation makes one."""

from collections.abc import Iterable, Iterator

from clew.errors import WouldCycle
from clew.graph.graph import Graph
from clew.graph.model import HIERARCHY, EdgeKind
from clew.trace.edit.text.author import Author


def above(graph: Graph, id: str) -> list[str]:
    """What a requirement stands directly below."""
    return list(dict.fromkeys(edge.target for edge in graph.iter_outgoing_edges(id) if edge.kind in HIERARCHY))


def circles(graph: Graph, starts: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Circles that lead up from these requirements, each as the way that ends where it began. Without the last step of
    each there would be none left; so there are no more of them than references to correct."""
    finished: set[str] = set()
    for start in sorted(starts):
        # The way from the start, in order, each with what is above it and was not looked at yet.
        way = {start: iter(above(graph, start))} if start not in finished else {}
        while way:
            id = next(reversed(way))
            parent = next(way[id], None)
            if parent is None:
                del way[id]
                finished.add(id)
            elif parent in way:
                ids = list(way)
                yield (*ids[ids.index(parent) :], parent)
            elif parent not in finished:
                way[parent] = iter(above(graph, parent))


def refuse(graph: Graph, source: str, target: str, kind: EdgeKind) -> None:
    """Refuse an edge by which a requirement would stand above itself."""
    if source == target:
        raise WouldCycle(
            f"'{source}' cannot cite itself.", hint="Pass the id of the requirement that it stands below as the target."
        )
    way = _way(graph, [target], {source}) if kind in HIERARCHY else None
    if way is not None:
        raise WouldCycle(
            f"'{source}' cannot stand below '{target}': that would close the circle {' -> '.join((source, *way))}.",
            hint="get_hierarchy shows what stands above each of them; remove one of these edges first.",
            data={"circle": [source, *way]},
        )


def refuse_appearing(author: Author, id: str, parents: list[str], *, instead_of: str = "") -> None:
    """Refuse an id that closes a circle because something above it cites it already, though it does not exist yet."""
    citing = {citation.source for citation in author.linker().citations_of(id) if citation.kind in HIERARCHY}
    way = [instead_of] if instead_of in citing else _way(author.graph, parents, citing)
    if way is not None:
        raise WouldCycle(
            f"'{id}' cannot stand there: '{way[-1]}' cites that id, which would close a circle.",
            hint="Choose another id, or correct the broken reference first.",
            data={"circle": [id, *way]},
        )


def _way(graph: Graph, starts: Iterable[str], goals: set[str]) -> list[str] | None:
    """The shortest way up from one of the starts to one of the goals, both included."""
    if not goals:
        return None
    came_from: dict[str, str | None] = dict.fromkeys(starts)
    queue = list(came_from)
    for id in queue:
        if id in goals:
            way: list[str] = []
            step: str | None = id
            while step is not None:
                way.append(step)
                step = came_from[step]
            return way[::-1]
        for parent in above(graph, id):
            if parent not in came_from:
                came_from[parent] = id
                queue.append(parent)
    return None
