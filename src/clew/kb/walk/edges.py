"""The edges between documents, sections and entities, as one state of the store has them.

They are asked for a whole frontier at a time: one question for each kind and direction, however many nodes there are.
Only documents about the same things are looked for document by document; those share entities which few others mention.
That is computed when it is asked for, so it is always right, whichever document was read last.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

from clew.graph.model import Edge, EdgeKind
from clew.kb import ids
from clew.kb.queries import LibraryReader, LinkOf, spellings
from clew.kb.walk import batches
from clew.kb.walk.cross_references import CrossReferences

ByNode = dict[str, dict[Edge, None]]
"""The edges at each of some nodes, in order."""
_ALL = frozenset(EdgeKind)
_EVERY = -1
"""No limit of rows."""


class DocumentEdges:
    """Edges from and to nodes of the documents. Without cross references, edges to other parts of the graph are left
    out."""

    def __init__(self, reading: LibraryReader, cross_references: CrossReferences | None = None) -> None:
        self._reading = reading
        self._cross_references = cross_references
        self._target = batches.LinkTargets(reading).of

    def outgoing(self, wanted: Sequence[str], kinds: Collection[EdgeKind] | None = None) -> ByNode:
        found: ByNode = {id: {} for id in wanted}
        reading, of = self._reading, _ALL if kinds is None else kinds
        places = batches.places(reading, [id for id in wanted if id.startswith(ids.DOCUMENT)])
        numbers = [place.number for place in places]
        if EdgeKind.STRUCTURES in of:
            above = dict(batches.beside(reading, "above", numbers))
            pairs = [(place.id, above.get(place.id) or ids.document_id(place.path)) for place in places]
            entities = batches.entity_numbers(reading, [id for id in wanted if id.startswith(ids.ENTITY)])
            _note(found, EdgeKind.STRUCTURES, (*pairs, *batches.procedures(reading, [*entities.values()])))
        if EdgeKind.NEXT in of:
            _note(found, EdgeKind.NEXT, batches.beside(reading, "after", numbers))
        if EdgeKind.MENTIONS in of:
            for own, other in batches.beside(reading, "mentions", numbers):
                named = self._cross_references.code_named(other) if self._cross_references is not None else ()
                _note(found, EdgeKind.MENTIONS, ((own, each) for each in (other, *named)))
        if EdgeKind.REFERENCES in of:
            links = batches.links_of(reading, numbers)
            pairs = [(link.section, target) for link in links if (target := self._target(link)) is not None]
            _note(found, EdgeKind.REFERENCES, (pair for pair in pairs if pair[0] != pair[1]))
        if EdgeKind.MENTIONS in of and self._cross_references is not None:
            for id, cites in groupby(batches.cites_of(reading, numbers), key=lambda cite: cite.section):
                found[id].update(dict.fromkeys(self._cross_references.cited(reading, list(cites))))
        if EdgeKind.RELATED in of:
            for id, path in self._documents(found, {place.id for place in places}).items():
                others = related_documents(reading, path)
                _note(found, EdgeKind.RELATED, ((id, ids.document_id(other)) for other in others))
        return found

    def incoming(self, wanted: Sequence[str], kinds: Collection[EdgeKind] | None = None) -> ByNode:
        found: ByNode = {id: {} for id in wanted}
        reading, of = self._reading, _ALL if kinds is None else kinds
        entities = [id for id in wanted if id.startswith(ids.ENTITY)]
        places = batches.places(reading, [id for id in wanted if id.startswith(ids.DOCUMENT)])
        numbers = [place.number for place in places]
        documents = self._documents(found, {place.id for place in places})
        if EdgeKind.MENTIONS in of:
            _note(found, EdgeKind.MENTIONS, batches.all_mentioning(reading, entities), into=True)
        if EdgeKind.STRUCTURES in of:
            below = batches.beside(reading, "below", numbers)
            outermost = batches.outermost(reading, list(documents))
            steps = batches.all_steps(reading, entities)
            _note(found, EdgeKind.STRUCTURES, (*below, *outermost, *steps), into=True)
        if EdgeKind.NEXT in of:
            _note(found, EdgeKind.NEXT, batches.beside(reading, "before", numbers), into=True)
        if EdgeKind.REFERENCES in of:
            links = (*self._linking_sections(places), *self._linking_documents(documents.values()))
            pairs = [(target, link.section) for link in links if (target := self._target(link)) in found]
            _note(found, EdgeKind.REFERENCES, (pair for pair in pairs if pair[0] != pair[1]), into=True)
        if EdgeKind.MENTIONS in of and self._cross_references is not None:
            for id, path in documents.items():
                found[id].update(dict.fromkeys(self._cross_references.citing(reading, ids.file_id(path))))
            for id in found.keys() - set(entities) - documents.keys() - {place.id for place in places}:
                found[id].update(dict.fromkeys(self._cross_references.citing(reading, id)))
                found[id].update(dict.fromkeys(self._cross_references.naming(reading, id)))
        if EdgeKind.RELATED in of:
            for id, path in documents.items():
                others = relating_documents(reading, path)
                _note(found, EdgeKind.RELATED, ((id, ids.document_id(other)) for other in others), into=True)
        return found

    def _documents(self, wanted: Iterable[str], sections: Collection[str]) -> dict[str, str]:
        """The paths of the documents among the ids."""
        rest = [id for id in wanted if id.startswith(ids.DOCUMENT) and id not in sections]
        return batches.document_paths(self._reading, rest) if rest else {}

    def _linking_sections(self, places: Sequence[batches.SectionPlace]) -> list[LinkOf]:
        """The links whose label may name one of these sections."""
        labels: dict[str, list[str]] = {}
        for id, label in batches.labels(self._reading, [place.number for place in places]):
            labels.setdefault(id, []).append(label)
        ways = dict.fromkeys(
            (spelled, label)
            for place in places
            for spelled in (*spellings(place.path), "")
            for label in labels.get(place.id, ())
        )
        return batches.linking(self._reading, ways, _EVERY) if ways else []

    def _linking_documents(self, paths: Collection[str]) -> list[LinkOf]:
        spelled = list(dict.fromkeys(each for path in paths for each in spellings(path)))
        return batches.linking_paths(self._reading, spelled, _EVERY) if spelled else []


def _note(found: ByNode, kind: EdgeKind, pairs: Iterable[tuple[str, str]], *, into: bool = False) -> None:
    """Note an edge for each pair of a node and its neighbour."""
    for own, other in pairs:
        found[own][Edge(kind, other, own) if into else Edge(kind, own, other)] = None


MOST_RELATED = 5
MOST_DOCUMENTS = 20
"""An entity in more documents than this says nothing about what they have in common."""
MOST_SECTIONS = 60
"""Nor does one in more sections than this; such an entity is not even looked at."""
LEAST_SHARED = 2


def related_documents(reading: LibraryReader, path: str) -> list[str]:
    """The nearest documents, best first."""
    return _by_nearness(reading, path)[:MOST_RELATED]


def relating_documents(reading: LibraryReader, path: str, most: int | None = None) -> list[str]:
    """The documents that have this one among their nearest; if they are many, only some are asked."""
    return [other for other in _by_nearness(reading, path)[:most] if path in related_documents(reading, other)]


def _by_nearness(reading: LibraryReader, path: str) -> list[str]:
    weights: dict[str, float] = {}
    shared: dict[str, int] = {}
    for other, _, documents in reading.shared_entities(path, MOST_DOCUMENTS, MOST_SECTIONS):
        weights[other] = weights.get(other, 0.0) + 1 / math.log2(1 + documents)
        shared[other] = shared.get(other, 0) + 1
    return sorted(
        (other for other in weights if shared[other] >= LEAST_SHARED), key=lambda other: (-weights[other], other)
    )
