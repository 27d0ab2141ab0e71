"""The edges between documents, sections and entities, as one state of the store has them.

Documents about the same things: those that share entities which few others mention.

Computed when it is asked for, so it is always right, whichever document was read last.
"""

import math
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


MOST_RELATED = 5
MOST_DOCUMENTS = 20
"""An entity in more documents than this says nothing about what they have in common."""
MOST_SECTIONS = 60
"""Nor does one in more sections than this; such an entity is not even looked at."""
LEAST_SHARED = 2


def related_documents(reading: Reading, path: str) -> list[str]:
    """The nearest documents, best first."""
    return _by_nearness(reading, path)[:MOST_RELATED]


def relating_documents(reading: Reading, path: str, most: int | None = None) -> list[str]:
    """The documents that count this one among their nearest; of many, only so many of the nearest are asked."""
    return [other for other in _by_nearness(reading, path)[:most] if path in related_documents(reading, other)]


def _by_nearness(reading: Reading, path: str) -> list[str]:
    weights: dict[str, float] = {}
    shared: dict[str, int] = {}
    for other, _, documents in reading.shared_entities(path, MOST_DOCUMENTS, MOST_SECTIONS):
        weights[other] = weights.get(other, 0.0) + 1 / math.log2(1 + documents)
        shared[other] = shared.get(other, 0) + 1
    return sorted(
        (other for other in weights if shared[other] >= LEAST_SHARED), key=lambda other: (-weights[other], other)
    )
