"""The edges between documents, sections and entities, as one state of the store has them."""

from collections.abc import Iterator

from clew.graph.model import Edge, EdgeKind
from clew.kb import ids
from clew.kb.ingest.records import SectionRecord
from clew.kb.queries import LinkOf, Reading


def around(reading: Reading, section: SectionRecord) -> Iterator[Edge]:
    """What stands above a section, and what comes after it."""
    above = reading.section_at(section.document, section.parent) if section.parent >= 0 else None
    target = above.id if above is not None else ids.document_id(section.document)
    yield Edge(EdgeKind.STRUCTURES, section.id, target)
    following = reading.section_at(section.document, section.place + 1)
    if following is not None:
        yield Edge(EdgeKind.NEXT, section.id, following.id)


def said(reading: Reading, section: SectionRecord) -> Iterator[Edge]:
    """What a section mentions and what it links to."""
    for mention in reading.mentioned_in(section.id):
        yield Edge(EdgeKind.MENTIONS, section.id, mention.id)
    for link in reading.links_of(section.id):
        target = _target(reading, link)
        if target is not None and target != section.id:
            yield Edge(EdgeKind.REFERENCES, section.id, target)


def into_section(reading: Reading, section: SectionRecord) -> Iterator[Edge]:
    """What stands below a section, what comes before it, and who links to it."""
    if section.ordinal == 1:
        for below in reading.below(section.document, section.place):
            yield Edge(EdgeKind.STRUCTURES, below.id, section.id)
    before = reading.section_at(section.document, section.place - 1)
    if before is not None:
        yield Edge(EdgeKind.NEXT, before.id, section.id)
    labels = reading.labels_of(section.document, section.place)
    yield from _links_into(reading, section.document, labels, section.id)


def into_document(reading: Reading, path: str) -> Iterator[Edge]:
    """The outermost sections of a document, and who links to all of it."""
    id = ids.document_id(path)
    for section in reading.below(path, -1):
        yield Edge(EdgeKind.STRUCTURES, section.id, id)
    yield from _links_into(reading, path, None, id)


def into_entity(reading: Reading, id: str) -> Iterator[Edge]:
    """Who mentions an entity, and the steps of a procedure."""
    for mention in reading.mentioning(id):
        yield Edge(EdgeKind.MENTIONS, mention.id, id)
    for step in reading.steps_of(id):
        yield Edge(EdgeKind.STRUCTURES, step, id)


def _links_into(reading: Reading, path: str, labels: list[str] | None, id: str) -> Iterator[Edge]:
    for link in reading.linking(path, labels):
        if link.section != id and _target(reading, link) == id:
            yield Edge(EdgeKind.REFERENCES, link.section, id)


def _target(reading: Reading, link: LinkOf) -> str | None:
    """The section or document that a link leads to."""
    found = reading.target_of(link)
    if found is None:
        return None
    path, place = found
    section = reading.section_at(path, place) if place is not None else None
    return section.id if section is not None else ids.document_id(path)
