"""Linking: from what files define and cite to nodes and edges.

A file contributes *definitions* (a requirement with its assertions, a test, ...) and *citations* (this cites that). The
linker knows all of both. When files change it takes out exactly what they contributed, puts in what they contribute
now, and decides again only the citations that start or end at an id that appeared or disappeared.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

import msgspec

from clew.formats.results.records import ExecutedLines
from clew.graph.graph import Graph
from clew.graph.model import BrokenReference, Edge, EdgeKind, Node, NodeKind
from clew.graph.region import FileOrder

FileKey = tuple[str, str]
"""Path of the file and name of the reader: two readers may read the same file."""

Place = tuple[str, str, int]
"""Path, reader and position: where a definition stands. Their order decides between duplicates."""


_AUTHORED = frozenset({NodeKind.REQUIREMENT, NodeKind.USER_JOURNEY})


class Citation(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """A reference as a file states it, whether or not its target exists."""

    kind: EdgeKind
    source: str
    target: str
    labels: tuple[str, ...]
    written: str
    path: str
    line: int
    malformed: bool = False
    """The text does not follow the grammar of ids."""
    in_prose: bool = False
    """It stands among other words, which may only speak of an id: without a target it is no citation."""


class Definition(msgspec.Struct, frozen=True):
    """A node with its parts and what it cites."""

    node: Node
    parts: tuple[Node, ...] = ()
    """Nodes whose ids begin with the node's id; each is linked to it by a STRUCTURES edge."""
    citations: tuple[Citation, ...] = ()
    alias: str = ""
    """A shorter name by which it may be cited as long as nothing else has it."""


class Contribution(msgspec.Struct, frozen=True):
    """Contribution of one file to the graph."""

    definitions: tuple[Definition, ...] = ()
    results: tuple[Node, ...] = ()
    """Results of tests in a run. Nothing cites them, and the linker decides to which test each belongs."""
    lines: tuple[ExecutedLines, ...] = ()
    """Lines that a run executed."""


class LinkReport(msgspec.Struct, frozen=True):
    """Counts of one update."""

    nodes_put: int
    nodes_removed: int
    citations_linked: int


class Linker:
    """Keeps the memory region in step with the files' contributions.

    Two definitions of one id: the one that stands first (by path, then position) keeps the id; each further one gets
    `ID#filestem`, then `ID#filestem__2` and so on, and says so in its fields.
    """

    def __init__(self, graph: Graph, readers: Callable[[], Iterable[str]] = tuple) -> None:
        """`readers` names the readers in the order in which they read; the files of each come in theirs."""
        self._graph = graph
        self._region = graph.memory
        self._declared: dict[str, dict[Place, Definition]] = {}
        """By declared id: where it is defined, and how."""
        self._placed: dict[Place, Definition] = {}
        """The definition in the graph for each place: the one of the file, or a renamed duplicate of it."""
        self._by_file: dict[FileKey, dict[int, Definition]] = {}
        """Definitions of a file, by position."""
        self._places: dict[str, Place] = {}
        """By the id of the node that is in the graph for a definition."""
        self._citing: dict[str, dict[Citation, None]] = {}
        """Citations by the id they aim at."""
        self._aliases: dict[str, dict[str, None]] = {}
        """The ids of the nodes that share a shorter name."""
        self._moved_aliases: set[str] = set()
        """Aliases whose meaning changed since citations were last decided."""
        self._by_alias: dict[Citation, str] = {}
        """The id that a citation by a shorter name was resolved to."""
        self._parted: set[str] = set()
        """The ends of what was disconnected in the exchange that is going on."""
        self._doubled: list[Place] = []
        """Places of ids that are defined more than once, in the present update."""
        self._order = FileOrder(self, graph.evidence, readers)

    def duplicate_ids(self) -> list[str]:
        """Ids of requirements and journeys that are defined more than once."""
        return sorted(
            id
            for id, places in self._declared.items()
            if len(places) > 1 and any(each.node.kind in _AUTHORED for each in places.values())
        )

    def definition_at(self, place: Place) -> Definition | None:
        """The definition at a place, under the id that the file declares."""
        return self._by_file.get(place[:2], {}).get(place[2])

    def place_of(self, id: str) -> Place | None:
        """Place at which a node is defined; None for a part of another node, or one that no file defines."""
        return self._places.get(id)

    def placed(self, id: str) -> tuple[Place, Definition] | None:
        """Place of a node's definition, and the definition in the graph; None likewise."""
        place = self._places.get(id)
        return (place, self._placed[place]) if place is not None else None

    def placed_at(self, place: Place) -> Definition:
        """The definition in the graph for a place."""
        return self._placed[place]

    def edges_of(self, definition: Definition) -> Iterator[Edge]:
        """Edges of a definition's citations in the graph, in their order."""
        for citation in definition.citations:
            target = self._region.get_node(self._by_alias.get(citation, citation.target))
            if target is not None and (edge := _edge(citation, target)) is not None:
                yield edge

    def places(self, path: str) -> list[Place]:
        """Places of all definitions in a file, by any reader."""
        return [(*file, position) for file, defined in self._by_file.items() if file[0] == path for position in defined]

    def citations_of(self, id: str) -> list[Citation]:
        """The citations that aim at an id, whether or not it exists."""
        return list(self._citing.get(id, ()))

    def nodes_with(self, definitions: Mapping[Place, Definition | None]) -> dict[str, Node | None]:
        """The nodes that `redefine` would put, and None for those that it would remove, without doing so."""
        there = (self.definition_at(place) for place in definitions)
        new: dict[str, dict[Place, Definition]] = {each.node.id: {} for each in there if each is not None}
        for place, definition in definitions.items():
            if definition is not None:
                new.setdefault(definition.node.id, {})[place] = definition
        found: dict[str, Node | None] = {}
        for id, added in new.items():
            present = self._declared.get(id, {})
            found.update((self._placed[place].node.id, None) for place in present)
            stays = {place: each for place, each in present.items() if place not in definitions}
            found.update((each.node.id, each.node) for _, each in _with_own_ids(id, stays | added))
        return found

    def redefine(self, definitions: Mapping[Place, Definition | None]) -> None:
        """Replace single definitions; None takes one out."""
        declared = (definition for place in definitions if (definition := self.definition_at(place)) is not None)
        changed = dict.fromkeys(definition.node.id for definition in declared)
        changed.update((definition.node.id, None) for definition in definitions.values() if definition is not None)

        def declare() -> None:
            for place, definition in definitions.items():
                self._redeclare(place, definition)

        self._exchange(changed, declare, {})

    def update(self, contributions: Mapping[FileKey, Contribution | None]) -> LinkReport:
        """Replace what these files contribute; None for a file that is gone."""
        # A dictionary keeps the order of the files, and with it that of the nodes, the same in every process.
        changed: dict[str, None] = {}
        for file in contributions:
            for definition in self._by_file.get(file, {}).values():
                changed[definition.node.id] = None
        for contribution in contributions.values():
            if contribution is not None:
                for definition in contribution.definitions:
                    changed[definition.node.id] = None

        def declare() -> None:
            for file, contribution in contributions.items():
                self._declare(file, () if contribution is None else contribution.definitions)

        return self._exchange(changed, declare, contributions)

    def _exchange(
        self,
        changed: Iterable[str],
        declare: Callable[[], None],
        contributions: Mapping[FileKey, Contribution | None],
    ) -> LinkReport:
        """Take out the definitions of these ids, declare what is in their place, and put that in.

        What else cites them is decided again only where it may matter: where an id appears or disappears, or has other
        labels.
        """
        known = [id for id in changed if id in self._declared] if self._declared else []
        before = {node.id: node for node in (self._placed[place].node for id in known for place in self._declared[id])}
        removed = self._withdraw(known)
        declare()
        put, affected, own_citations = self._place(changed)
        touched = removed | affected
        self._graph.touched(removed)
        if before:
            after = {id: self._region.get_node(id) for id in touched}
            moved = {
                id
                for id, node in after.items()
                if node is None or (id in affected and _labels(before.get(id)) != _labels(node))
            }
            # A node whose citations alone changed is unchanged for callers that look at nodes only.
            touched = {id for id in touched if before.get(id) != after[id]}
        else:
            moved = affected
        linked = self._relink(moved, own_citations)
        self._graph.touched(self._parted)
        self._parted.clear()
        self._graph.evidence.update(contributions, touched)
        # Whatever is linked after this is linked out of order. So are second definitions, placed with the first.
        self._region.order = self._order
        for each in (self._placed[place] for place in self._doubled):
            self._region.mix((each.node, *each.parts), self._region.outgoing.get(each.node.id, ()))
        self._doubled.clear()
        return LinkReport(nodes_put=put, nodes_removed=len(removed), citations_linked=linked)

    # Taking out

    def _withdraw(self, declared: Iterable[str]) -> set[str]:
        """Take every definition of these ids out of the graph; returns the ids of the nodes that were removed."""
        removed: set[str] = set()
        for id in declared:
            for place in self._declared[id]:
                definition = self._placed.pop(place)
                del self._places[definition.node.id]
                if definition.alias:
                    self._name(definition, present=False)
                for citation in dict.fromkeys(definition.citations):
                    citing = self._citing[citation.target]
                    citing.pop(citation, None)
                    if not citing:
                        del self._citing[citation.target]
                    self._disconnect(citation)
                for node in (definition.node, *definition.parts):
                    for edge in list(self._region.outgoing.get(node.id, ())):
                        self._region.remove_edge(edge)
                    # A draft may have deleted it already.
                    if self._region.get_node(node.id) is not None:
                        self._region.remove_node(node.id)
                    removed.add(node.id)
        return removed

    def _name(self, definition: Definition, *, present: bool) -> None:
        """Add or remove the id of a definition under its short name."""
        ids = self._aliases.setdefault(definition.alias, {})
        if present:
            ids[definition.node.id] = None
        else:
            ids.pop(definition.node.id, None)
        if not ids:
            del self._aliases[definition.alias]
        self._moved_aliases.add(definition.alias)

    def _disconnect(self, citation: Citation) -> None:
        """Remove what is in the graph for this citation: edges, broken references, or both."""
        target = self._by_alias.pop(citation, citation.target)
        for edge in list(self._region.outgoing.get(citation.source, ())):
            if edge.kind is citation.kind and edge.target == target and set(edge.labels) <= set(citation.labels):
                self._region.remove_edge(edge)
        if self._region.broken:
            for fault in ("unknown_requirement", "unknown_assertion", "malformed"):
                self._region.broken.pop(_broken(citation, fault), None)
        self._parted.update((target, citation.source))

    # Putting in

    def _declare(self, file: FileKey, definitions: tuple[Definition, ...]) -> None:
        for position in list(self._by_file.get(file, ())):
            self._redeclare((*file, position), None)
        if definitions:
            self._by_file[file] = dict(enumerate(definitions))
        for position, definition in enumerate(definitions):
            id, place = definition.node.id, (*file, position)
            places = self._declared.get(id)
            if places is None:
                self._declared[id] = {place: definition}
            else:
                places[place] = definition

    def _redeclare(self, place: Place, definition: Definition | None) -> None:
        """Put another definition in a place, or none."""
        file, position = place[:2], place[2]
        defined = self._by_file.setdefault(file, {})
        before = defined.pop(position, None)
        if before is not None:
            places = self._declared[before.node.id]
            del places[place]
            if not places:
                del self._declared[before.node.id]
        if definition is not None:
            defined[position] = definition
            self._declared.setdefault(definition.node.id, {})[place] = definition
        if not defined:
            del self._by_file[file]

    def _place(self, declared: Iterable[str]) -> tuple[int, set[str], list[Citation]]:
        """Put the definitions of these ids into the graph."""
        nodes: list[Node] = []
        edges: list[Edge] = []
        affected: set[str] = set()
        citations: list[Citation] = []
        for id in declared:
            places = self._declared.get(id)
            if places is None:
                continue
            if len(places) > 1:
                self._doubled.extend(places)
            for place, definition in places.items() if len(places) == 1 else _with_own_ids(id, places):
                own_id = definition.node.id
                self._placed[place] = definition
                self._places[own_id] = place
                if definition.alias:
                    self._name(definition, present=True)
                nodes.append(definition.node)
                for part in definition.parts:
                    nodes.append(part)
                    edges.append(Edge(EdgeKind.STRUCTURES, part.id, own_id))
                affected.add(own_id)
                # The same reference written twice on one line is one citation.
                own = definition.citations
                citations.extend(own if len(own) < 2 else dict.fromkeys(own))
        self._region.put_nodes(nodes)
        self._region.put_edges(edges)
        self._graph.touched(node.id for node in nodes)
        return len(nodes), affected, citations

    def _relink(self, ids: set[str], own: list[Citation]) -> int:
        """Decide the citations that start at what was placed, and those of others that aim at what came or went."""
        aliases, self._moved_aliases = self._moved_aliases, set()
        by_alias = [citation for alias in aliases for citation in self._citing.get(alias, ())]
        # What they were taken to mean may also be cited in full, and then both are behind one edge.
        meant = {self._by_alias[citation] for citation in by_alias if citation in self._by_alias}
        citing = self._citing
        citations = [citation for id in ids | aliases | meant for citation in citing.get(id, ())] if citing else []
        # All are disconnected before any is connected: two citations of one node may be behind the same edge.
        for citation in citations:
            self._disconnect(citation)
        for citation in own:
            others = citing.get(citation.target)
            if others is None:
                citing[citation.target] = {citation: None}
            else:
                others[citation] = None
        citations.extend(own)
        edges = [edge for citation in citations if (edge := self._decided(citation)) is not None]
        self._region.put_edges(edges)
        self._graph.touched(id for edge in edges for id in (edge.target, edge.source))
        return len(citations)

    def _decided(self, citation: Citation) -> Edge | None:
        """The edge that a citation stands for. Without a target, or where it lacks labels, a reference is broken."""
        target = self._region.get_node(citation.target)
        if target is None and (meant := self._meant(citation.target)) is not None:
            self._by_alias[citation] = meant
            target = self._region.get_node(meant)
        labels = citation.labels
        if target is None:
            if not citation.in_prose:
                fault = "malformed" if citation.malformed else "unknown_requirement"
                self._region.broken[_broken(citation, fault)] = None
            return None
        edge = _edge(citation, target)
        if labels and not citation.in_prose and (edge is None or len(edge.labels) < len(labels)):
            self._region.broken[_broken(citation, "unknown_assertion")] = None
        return edge

    def _meant(self, alias: str) -> str | None:
        """The one node that has this as its shorter name."""
        named = self._aliases.get(alias, ())
        return next(iter(named)) if len(named) == 1 else None


def _labels(node: Node | None) -> tuple[str, ...] | None:
    """Labels of a node that can be cited; None if there is no such node."""
    labels: tuple[str, ...] | None = node.fields.get("labels", ()) if node is not None else None
    return labels


def _edge(citation: Citation, target: Node) -> Edge | None:
    """The edge of a citation; None if its target has none of the labels."""
    labels = citation.labels
    if not labels:
        return Edge(citation.kind, citation.source, target.id)
    there = target.fields.get("labels", ())
    known = tuple(label for label in labels if label in there) if len(labels) > 1 or labels[0] not in there else labels
    return Edge(citation.kind, citation.source, target.id, known) if known else None


def _broken(citation: Citation, fault: str) -> BrokenReference:
    return BrokenReference(
        source_id=citation.source,
        target_id=citation.written,
        edge_kind=citation.kind,
        fault=fault,
        path=citation.path,
        line=citation.line,
    )


def _with_own_ids(id: str, places: Mapping[Place, Definition]) -> Iterator[tuple[Place, Definition]]:
    """Several definitions of one id, the first under that id and every further one under an id of its own."""
    taken: set[str] = set()
    for place in sorted(places):
        definition = places[place]
        if taken:
            definition = _as_duplicate(definition, _free_id(id, place[0], taken))
        taken.add(definition.node.id)
        yield place, definition


def _free_id(id: str, path: str, taken: set[str]) -> str:
    candidate = f"{id}#{PurePosixPath(path).stem}"
    number = 1
    while (candidate if number == 1 else f"{candidate}__{number}") in taken:
        number += 1
    return candidate if number == 1 else f"{candidate}__{number}"


def _as_duplicate(definition: Definition, new_id: str) -> Definition:
    old_id = definition.node.id
    fields = {**definition.node.fields, "is_duplicate": True, "original_id": old_id}
    return Definition(
        node=msgspec.structs.replace(definition.node, id=new_id, fields=fields),
        parts=tuple(
            msgspec.structs.replace(part, id=new_id + part.id.removeprefix(old_id)) for part in definition.parts
        ),
        citations=tuple(msgspec.structs.replace(citation, source=new_id) for citation in definition.citations),
    )
