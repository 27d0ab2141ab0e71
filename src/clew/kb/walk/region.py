"""The documents as a region of the graph: nodes and edges that stay in the store and answer by query.

Nothing is loaded before somebody asks for a document, a section, an entity or a file. Edges are read from the tables
when they are asked for; what they lead to is looked up at that moment, so an edge to a requirement appears with the
requirement and goes with it.

| edge | from | to |
|---|---|---|
| structures | section | the section it is below, or its document |
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
from clew.kb.ids import is_own
from clew.kb.ingest.library import Library
from clew.kb.ingest.records import ChunkRecord, DocumentRecord, EntityRecord
from clew.kb.queries import LibraryReader
from clew.kb.walk.cross_references import CrossReferences
from clew.kb.walk.edges import DocumentEdges

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
        if not is_own(id):
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
        if not is_own(id):
            return
        with self._library().reading(self._boundary) as reading:
            found = DocumentEdges(reading, self._cross_references).outgoing((id,))
        yield from found[id]

    def iter_incoming_edges(self, id: str) -> Iterator[Edge]:
        with self._library().reading(self._boundary) as reading:
            found = DocumentEdges(reading, self._cross_references).incoming((id,))
        yield from found[id]

    def neighbours(
        self,
        ids: Sequence[str],
        kinds: Collection[EdgeKind] | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> Iterator[Step[Edge]]:
        with self._library().reading(self._boundary) as reading:
            edges = DocumentEdges(reading, self._cross_references)
            own = [id for id in ids if is_own(id)] if direction != "in" else []
            outgoing = edges.outgoing(own, kinds) if own else {}
            incoming = edges.incoming(ids, kinds) if direction != "out" else {}
        for id in ids:
            yield from steps_out(id, outgoing.get(id, ()), kinds, limit)
            yield from steps_in(id, incoming.get(id, ()), kinds, limit)

    def _node(self, reading: LibraryReader, id: str) -> Node | None:
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


def section_node(section: ChunkRecord, tag: str) -> Node:
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
