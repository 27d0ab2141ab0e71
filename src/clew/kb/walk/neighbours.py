"""The direct neighbours of nodes: parents and children, what sections mention and which sections mention it."""

from collections.abc import Sequence
from typing import NamedTuple

from clew.graph.walk import Direction
from clew.kb.walk.projections import NodeView, shown
from clew.kb.walk.relationships import TREE, ways
from clew.kb.walk.results import NamedEdge
from clew.kb.walk.traversal import GraphSnapshot

MOST_MENTIONED = 500
"""The most mentions of one section."""
MOST_MENTIONING = 1_000
"""Sections that are looked at for one entity; of those, the ones that come first are shown."""

_MENTIONS = ("MENTIONS",)


class NeighbourLists(NamedTuple):
    """For each id that was asked for, the neighbours of its node, in order."""

    found: dict[str, list[NodeView]]
    missing: tuple[str, ...]
    hubs: tuple[str, ...]


def children(snapshot: GraphSnapshot, parent: str, *, offset: int, limit: int) -> tuple[NeighbourLists, bool]:
    """A page of the parts of a node, in their order, and whether there are more."""
    around = _neighbours(snapshot, [parent], TREE, "out", offset + limit)
    parts = around.found.get(parent, [])
    return around._replace(found={parent: parts[offset:]}, hubs=()), bool(around.hubs)


def parents(snapshot: GraphSnapshot, wanted: Sequence[str]) -> NeighbourLists:
    """The parents of each node: the section above and the document, a procedure, a requirement, a spec."""
    return _neighbours(snapshot, wanted, TREE, "in", MOST_MENTIONED)


def mentioned(
    snapshot: GraphSnapshot, sections: Sequence[str], labels: Sequence[str] | None, most: int
) -> NeighbourLists:
    """The nodes that each section mentions, most often first; with labels, only nodes that have one of them."""
    around = _neighbours(snapshot, sections, _MENTIONS, "out", MOST_MENTIONED)
    wanted = frozenset(labels or ())
    return around._replace(
        found={
            id: [each for each in others if not wanted or each.label in wanted][:most]
            for id, others in around.found.items()
        }
    )


def mentioning(snapshot: GraphSnapshot, entities: Sequence[str], most: int) -> NeighbourLists:
    """The sections that mention each node, those of high rank first, then by title."""
    around = _neighbours(snapshot, entities, _MENTIONS, "in", MOST_MENTIONING)
    return around._replace(found={id: sorted(others, key=_rank)[:most] for id, others in around.found.items()})


class NodeEdges(NamedTuple):
    """The edges of one node, at most so many of each kind."""

    links: tuple[NamedEdge, ...]
    labels: dict[str, tuple[str, ...]]
    """Of nodes at the other end: which parts the mention names, where it names some."""
    is_cut: bool


def edges_of(snapshot: GraphSnapshot, wanted: Sequence[str], most: int) -> dict[str, NodeEdges]:
    """For each node that is there, the edges from it and to it."""
    current = snapshot.resolved(wanted)
    adjacency = snapshot.adjacency()
    known = adjacency.load([id for id in current.values() if id is not None], ways(None), most)
    return {
        id: NodeEdges(
            tuple(dict.fromkeys(step.edge for step in adjacency.of(id))),
            _labels(snapshot, id, most),
            id in adjacency.hubs,
        )
        for id in known
    }


def _labels(snapshot: GraphSnapshot, id: str, most: int) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    own = ((cite.target, cite.labels) for cite in snapshot.reading.cites_of(id))
    others = ((cite.section, cite.labels) for cite in snapshot.reading.citing(id, most))
    for other, labels in (*own, *others):
        found[other] = tuple(dict.fromkeys((*found.get(other, ()), *labels)))
    return found


def _rank(section: NodeView) -> tuple[int, str, str]:
    return (section.level or 0, section.title, section.id)


def _neighbours(
    snapshot: GraphSnapshot, wanted: Sequence[str], names: Sequence[str], direction: Direction, most: int
) -> NeighbourLists:
    current = snapshot.resolved(wanted)
    adjacency = snapshot.adjacency()
    known = frozenset(adjacency.load([id for id in current.values() if id is not None], ways(names, direction), most))
    near = {
        asked: list(dict.fromkeys(step.id for step in adjacency.of(id))) if id in known else []
        for asked, id in current.items()
        if id is not None
    }
    nodes = shown(snapshot.reading, snapshot.graph, list(dict.fromkeys(id for ids in near.values() for id in ids)))
    # What a walk would not look at any more is reported like a node whose neighbours are too many.
    left = [asked for asked, id in current.items() if id is not None and id not in known]
    return NeighbourLists(
        found={asked: [nodes[id] for id in ids if id in nodes] for asked, ids in near.items()},
        missing=tuple(asked for asked, id in current.items() if id is None),
        hubs=(*adjacency.hubs, *left),
    )
