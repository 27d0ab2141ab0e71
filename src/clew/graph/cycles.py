"""Cycles in the hierarchy: files may describe one, but no mutation makes one."""

from collections.abc import Collection, Iterable, Iterator

from clew.errors import WouldCycle
from clew.graph.graph import Graph
from clew.graph.model import HIERARCHY, EdgeKind
from clew.graph.walk import shortest_path


def above(graph: Graph, id: str) -> list[str]:
    """The direct parents of a requirement."""
    return list(dict.fromkeys(edge.target for edge in graph.iter_outgoing_edges(id) if edge.kind in HIERARCHY))


def cycles(graph: Graph, starts: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Cycles that lead up from these requirements, each as a path that ends where it began. Removing the last step of
    each would leave none, so there are at most as many as references to correct."""
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
    """Refuse an edge by which a requirement would be above itself."""
    if source == target:
        raise WouldCycle(f"'{source}' cannot cite itself.", hint="Pass the id of the parent requirement as the target.")
    path = shortest_path(graph, (target,), {source}, HIERARCHY) if kind in HIERARCHY else None
    if path is not None:
        raise WouldCycle(
            f"'{source}' cannot be below '{target}': that would close the cycle {' -> '.join((source, *path))}.",
            hint="get_hierarchy shows the ancestors of each; remove one of these edges first.",
            data={"circle": [source, *path]},
        )


def refuse_appearing(
    graph: Graph, id: str, citing: Collection[str], parents: Iterable[str], *, instead_of: str = ""
) -> None:
    """Refuse an id that closes a cycle because something above it cites it already, though it does not exist yet."""
    path = [instead_of] if instead_of in citing else shortest_path(graph, parents, citing, HIERARCHY)
    if path is not None:
        raise WouldCycle(
            f"'{id}' cannot be there: '{path[-1]}' cites that id, which would close a cycle.",
            hint="Choose another id, or correct the broken reference first.",
            data={"circle": [id, *path]},
        )
