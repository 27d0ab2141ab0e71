"""Linking: from what files define and cite to nodes and edges.

A file contributes *definitions* (a requirement with its assertions, a test, ...) and *citations* (this cites that). The
linker knows all of both. When files change it takes out exactly what they contributed, puts in what they contribute
now, and decides anew only the citations that start or end at an id that appeared or disappeared.
"""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import BrokenReference, Edge, EdgeKind, Node, NodeKind

FileKey = tuple[str, str]
"""Path of the file and name of the reader: two readers may read the same file."""

Place = tuple[str, str, int]
"""Path, reader and position: where a definition stands. Their order decides between duplicates."""


_AUTHORED = frozenset({NodeKind.REQUIREMENT, NodeKind.USER_JOURNEY})


class Citation(msgspec.Struct, frozen=True, gc=False):
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


class Definition(msgspec.Struct, frozen=True):
    """A node with its parts and what it cites."""

    node: Node
    parts: tuple[Node, ...] = ()
    """Nodes whose ids begin with the node's id; each is linked to it by a STRUCTURES edge."""
    citations: tuple[Citation, ...] = ()


class Contribution(msgspec.Struct, frozen=True):
    """What one file adds to the graph."""

    definitions: tuple[Definition, ...] = ()


class LinkReport(msgspec.Struct, frozen=True):
    """How much an update touched."""

    nodes_put: int
    nodes_removed: int
    citations_linked: int


class Linker:
    """Keeps the memory region in step with the files' contributions.

    Two definitions of one id: the one that stands first (by path, then position) keeps the id; each further one gets
    `ID#filestem`, then `ID#filestem__2` and so on, and says so in its fields.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._region = graph.memory
        self._declared: dict[str, dict[Place, Definition]] = {}
        """By declared id: where it is defined, and how."""
        self._placed: dict[Place, Definition] = {}
        """What stands in the graph for a definition: the same, or a renamed duplicate."""
        self._by_file: dict[FileKey, tuple[Definition, ...]] = {}
        self._citing: dict[str, dict[Citation, None]] = {}
        """Citations by the id they aim at."""

    def duplicate_ids(self) -> list[str]:
        """Ids of requirements and journeys that are defined more than once."""
        return sorted(
            id
            for id, places in self._declared.items()
            if len(places) > 1 and any(each.node.kind in _AUTHORED for each in places.values())
        )

    def update(self, contributions: Mapping[FileKey, Contribution | None]) -> LinkReport:
        """Replace what these files contribute; None for a file that is gone."""
        # A dictionary keeps the order of the files, and with it that of the nodes, the same in every process.
        changed: dict[str, None] = {}
        for file in contributions:
            changed.update((definition.node.id, None) for definition in self._by_file.get(file, ()))
        for contribution in contributions.values():
            if contribution is not None:
                changed.update((definition.node.id, None) for definition in contribution.definitions)

        removed = self._withdraw(changed)
        for file, contribution in contributions.items():
            self._declare(file, () if contribution is None else contribution.definitions)
        put, affected, own_citations = self._place(changed)
        self._graph.touched(removed | affected)
        linked = self._relink(removed | affected, own_citations)
        return LinkReport(nodes_put=put, nodes_removed=len(removed), citations_linked=linked)

    # Taking out

    def _withdraw(self, declared: Iterable[str]) -> set[str]:
        """Take every definition of these ids out of the graph; returns the ids of the nodes that were removed."""
        removed: set[str] = set()
        for id in declared:
            for place in self._declared.get(id, ()):
                definition = self._placed.pop(place)
                for citation in dict.fromkeys(definition.citations):
                    self._unlink(citation)
                for node in (definition.node, *definition.parts):
                    for edge in list(self._region.iter_outgoing_edges(node.id)):
                        self._region.remove_edge(edge)
                    # A draft may have deleted it already.
                    if self._region.get_node(node.id) is not None:
                        self._region.remove_node(node.id)
                    removed.add(node.id)
        return removed

    def _unlink(self, citation: Citation) -> None:
        citing = self._citing[citation.target]
        citing.pop(citation, None)
        if not citing:
            del self._citing[citation.target]
        self._disconnect(citation)

    def _disconnect(self, citation: Citation) -> None:
        """Remove what stands in the graph for this citation: edges, broken references, or both."""
        for edge in list(self._region.iter_outgoing_edges(citation.source)):
            if (
                edge.kind is citation.kind
                and edge.target == citation.target
                and set(edge.labels) <= set(citation.labels)
            ):
                self._region.remove_edge(edge)
        for reference in self._broken_forms(citation):
            if self._region.has_broken(reference):
                self._region.remove_broken(reference)
        self._graph.touched((citation.target,))

    # Putting in

    def _declare(self, file: FileKey, definitions: tuple[Definition, ...]) -> None:
        for position, definition in enumerate(self._by_file.pop(file, ())):
            places = self._declared[definition.node.id]
            del places[*file, position]
            if not places:
                del self._declared[definition.node.id]
        if definitions:
            self._by_file[file] = definitions
        for position, definition in enumerate(definitions):
            self._declared.setdefault(definition.node.id, {})[*file, position] = definition

    def _place(self, declared: Iterable[str]) -> tuple[int, set[str], list[Citation]]:
        """Put the definitions of these ids into the graph."""
        put = 0
        affected: set[str] = set()
        citations: list[Citation] = []
        region = self._region
        for id in declared:
            places = self._declared.get(id)
            if places is None:
                continue
            taken: set[str] = set()
            for place in sorted(places) if len(places) > 1 else places:
                definition = places[place]
                if taken:
                    definition = _as_duplicate(definition, _free_id(id, place[0], taken))
                taken.add(definition.node.id)
                self._placed[place] = definition
                region.put_node(definition.node)
                for part in definition.parts:
                    region.put_node(part)
                    region.put_edge(Edge(EdgeKind.STRUCTURES, part.id, definition.node.id))
                put += 1 + len(definition.parts)
                affected.add(definition.node.id)
                # The same reference written twice on one line is one citation.
                citations.extend(dict.fromkeys(definition.citations))
        return put, affected, citations

    def _relink(self, ids: set[str], own: list[Citation]) -> int:
        """Decide the citations that start at what was placed, and those of others that aim at what came or went."""
        citations = [citation for id in ids for citation in self._citing.get(id, ())]
        # All are disconnected before any is connected: two citations of one node may stand behind the same edge.
        for citation in citations:
            self._disconnect(citation)
        for citation in own:
            self._citing.setdefault(citation.target, {})[citation] = None
        citations.extend(own)
        for citation in citations:
            self._connect(citation)
        return len(citations)

    def _connect(self, citation: Citation) -> None:
        """Turn a citation into an edge, a broken reference, or, where only some labels exist, both."""
        known = self._known_labels(citation)
        if known is not None and (known or not citation.labels):
            self._region.put_edge(Edge(citation.kind, citation.source, citation.target, known))
            self._graph.touched((citation.target,))
        if known is None or len(known) < len(citation.labels):
            fault = "malformed" if citation.malformed else "unknown_requirement"
            self._region.put_broken(_broken(citation, fault if known is None else "unknown_assertion"))

    def _known_labels(self, citation: Citation) -> tuple[str, ...] | None:
        """The cited labels that the target has; None where there is no such target."""
        target = self._region.get_node(citation.target)
        if target is None:
            return None
        if not citation.labels:
            return ()
        labels = target.get_field("labels", ())
        return tuple(label for label in citation.labels if label in labels)

    def _broken_forms(self, citation: Citation) -> tuple[BrokenReference, ...]:
        return tuple(_broken(citation, fault) for fault in ("unknown_requirement", "unknown_assertion", "malformed"))


def _broken(citation: Citation, fault: str) -> BrokenReference:
    return BrokenReference(
        source_id=citation.source,
        target_id=citation.written,
        edge_kind=citation.kind,
        fault=fault,
        path=citation.path,
        line=citation.line,
    )


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
