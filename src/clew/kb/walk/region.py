"""The documents as a region of the graph: nodes and edges that stay in the store and answer by query.

Nothing is loaded before somebody asks for a document, a section, an entity or a file. Edges are read from the tables
when they are asked for; what they lead to is looked up at that moment, so an edge to a requirement appears with the
requirement and goes with it.

| edge | from | to |
|---|---|---|
| structures | section | the section it stands below, or its document |
| structures | step | its procedure |
| next | section | the section after it |
| mentions | section | entity, requirement, part of a spec, spec, file, code |
| references | section | the document or section that a link leads to |
| related | document | a document about the same things |
"""

from collections.abc import Callable, Collection, Iterator, Sequence

from clew.graph.model import Edge, EdgeKind, Node, NodeKind, Source
from clew.graph.region import steps_in, steps_out
from clew.graph.walk import Direction, Step
from clew.kb import ids
from clew.kb.boundary import EVERYTHING, Boundary
from clew.kb.ingest.library import Library
from clew.kb.ingest.records import DocumentRecord, EntityRecord, SectionRecord
from clew.kb.queries import Reading
from clew.kb.walk import edges
from clew.kb.walk.cross_references import CrossReferences
from clew.kb.walk.edges import related_documents, relating_documents

_TABLES = {NodeKind.DOCUMENT: "documents", NodeKind.SECTION: "sections", NodeKind.ENTITY: "entities"}
"""The kinds of which this region can list all nodes. Files are nodes only when something names them."""


class DocumentRegion:
    def __init__(
        self, library: Callable[[], Library], cross_references: CrossReferences, boundary: Boundary = EVERYTHING
    ) -> None:
        self._library = library
        """Opens the store when it is first asked."""
        self._cross_references = cross_references
        self._boundary = boundary

    # Nodes

    def get_node(self, id: str) -> Node | None:
        if not ids.is_own(id):
            return None
        with self._library().reading(self._boundary) as reading:
            return self._node(reading, id)

    def nodes_by_kind(self, kind: NodeKind) -> Iterator[Node]:
        if kind not in _TABLES:
            return
        with self._library().reading(self._boundary) as reading:
            if kind is NodeKind.DOCUMENT:
                found = [document_node(document) for document in reading.documents()]
            elif kind is NodeKind.ENTITY:
                found = [entity_node(entity) for entity in reading.entities()]
            else:
                tags = {document.path: document.tag for document in reading.documents()}
                found = [
                    section_node(section, tag) for path, tag in tags.items() for section in reading.sections_of(path)
                ]
        yield from found

    def count(self, kind: NodeKind) -> int:
        if kind not in _TABLES:
            return 0
        with self._library().reading(self._boundary) as reading:
            return reading.count(_TABLES[kind])

    def nodes_in_file(self, path: str) -> Iterator[Node]:
        with self._library().reading(self._boundary) as reading:
            document = reading.document(path)
            if document is None:
                return
            found = [document_node(document), *(section_node(each, document.tag) for each in reading.sections_of(path))]
        yield from found

    # Edges

    def iter_outgoing_edges(self, id: str) -> Iterator[Edge]:
        if not ids.is_own(id):
            return
        with self._library().reading(self._boundary) as reading:
            found = list(dict.fromkeys(self._outgoing(reading, id)))
        yield from found

    def iter_incoming_edges(self, id: str) -> Iterator[Edge]:
        with self._library().reading(self._boundary) as reading:
            found = list(dict.fromkeys(self._incoming(reading, id)))
        yield from found

    def neighbours(
        self,
        ids: Sequence[str],
        kinds: Collection[EdgeKind] | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> Iterator[Step[Edge]]:
        for id in ids:
            if direction != "in":
                yield from steps_out(id, self.iter_outgoing_edges(id), kinds, limit)
            if direction != "out":
                yield from steps_in(id, self.iter_incoming_edges(id), kinds, limit)

    def _node(self, reading: Reading, id: str) -> Node | None:
        if id.startswith(ids.ENTITY):
            entity = reading.entity(id)
            return None if entity is None else entity_node(entity)
        if id.startswith(ids.FILE):
            return self._cross_references.file_node(id) if self._cross_references.is_named(reading, id) else None
        if (section := reading.section(id)) is not None:
            document = reading.document(section.document)
            return section_node(section, document.tag if document is not None else "")
        document = reading.document_by_id(id)
        return None if document is None else document_node(document)

    def _outgoing(self, reading: Reading, id: str) -> Iterator[Edge]:
        if id.startswith(ids.ENTITY):
            procedure = reading.procedure_of(id)
            if procedure is not None:
                yield Edge(EdgeKind.STRUCTURES, id, procedure)
        elif (section := reading.section(id)) is not None:
            yield from edges.around(reading, section)
            for edge in edges.said(reading, section):
                yield edge
                for code in self._cross_references.code_named(edge.target):
                    yield Edge(EdgeKind.MENTIONS, id, code)
            yield from self._cross_references.cited(reading, reading.cites_of(id))
        elif (document := reading.document_by_id(id)) is not None:
            for path in related_documents(reading, document.path):
                yield Edge(EdgeKind.RELATED, id, ids.document_id(path))

    def _incoming(self, reading: Reading, id: str) -> Iterator[Edge]:
        if id.startswith(ids.ENTITY):
            yield from edges.into_entity(reading, id)
        elif (section := reading.section(id)) is not None:
            yield from edges.into_section(reading, section)
        elif (document := reading.document_by_id(id)) is not None:
            yield from edges.into_document(reading, document.path)
            yield from self._cross_references.citing(reading, ids.file_id(document.path))
            for path in relating_documents(reading, document.path):
                yield Edge(EdgeKind.RELATED, ids.document_id(path), id)
        else:
            yield from self._cross_references.citing(reading, id)
            yield from self._cross_references.naming(reading, id)


def document_node(document: DocumentRecord) -> Node:
    fields = {
        "format": document.format,
        "tag": document.tag,
        "front_matter": document.front_matter,
        "updated_at": document.updated_at,
        "version": document.content_hash,
        "problems": document.problems,
    }
    id = ids.document_id(document.path)
    return Node(id, NodeKind.DOCUMENT, document.title, fields, Source(document.path, 1, 1))


def section_node(section: SectionRecord, tag: str) -> Node:
    fields = {
        "document": ids.document_id(section.document),
        "tag": tag,
        "trail": section.trail,
        "level": section.level,
        "anchor": section.anchor,
        "place": section.place,
        "ordinal": section.ordinal,
        "tokens": section.tokens,
        "version": section.version,
        "kinds": section.kinds.split(),
        "characters": (section.start, section.end),
    }
    source = Source(section.document, section.line, section.end_line)
    return Node(section.id, NodeKind.SECTION, section.title, fields, source)


def entity_node(entity: EntityRecord) -> Node:
    fields = {"type": entity.kind, "normal": entity.normal, "count": entity.count}
    return Node(entity.id, NodeKind.ENTITY, entity.name, fields)
