"""Sections as the search engine sees them."""

from collections.abc import Iterator

import msgspec

from clew.kb import ids
from clew.kb.boundary import Boundary
from clew.kb.ingest.records import ChunkRecord, DocumentRecord, PreparedDocument
from clew.kb.queries import LibraryReader
from clew.search.units import Filters, Unit

PART = "section"
_TAG, _ENVIRONMENT, _REPOSITORY = "tag:", "environment:", "repository:"


def tag_filter(tag: str) -> str:
    """The tag of a document as the index spells it."""
    return f"{_TAG}{tag}"


def narrowed(boundary: Boundary, filters: Filters, tags: tuple[str, ...] = ()) -> Filters:
    """The filters, narrowed to the boundary."""
    within = boundary.tags_within(tags)
    demanded = [f"{_ENVIRONMENT}{boundary.environment}"] if boundary.environment is not None else []
    demanded += [f"{_REPOSITORY}{boundary.repository}"] if boundary.repository is not None else []
    return msgspec.structs.replace(
        filters,
        tags=tuple(map(tag_filter, within)) if within is not None else None,
        all_tags=tuple(demanded) or None,
    )


def section_unit(section: ChunkRecord, document: DocumentRecord, text: str) -> Unit:
    return Unit(
        id=section.id,
        part=PART,
        title=section.trail,
        body=text,
        document=ids.document_id(document.path),
        tags=_tags(document),
        path=document.path,
        time=document.updated_at,
        links=(section.id,),
        place=section.place,
        quoted=True,
    )


def _tags(document: DocumentRecord) -> tuple[str, ...]:
    return (
        tag_filter(document.tag),
        f"{_ENVIRONMENT}{document.environment}",
        f"{_REPOSITORY}{document.repository}",
    )


def prepared_units(prepared: PreparedDocument) -> Iterator[Unit]:
    """The units of a document that was just read."""
    for section, text in zip(prepared.sections, prepared.texts, strict=True):
        yield section_unit(section, prepared.document, text)


def units_of(reading: LibraryReader, path: str) -> Iterator[Unit]:
    """The units of one document; none if it does not exist."""
    document = reading.document(path)
    if document is None:
        return
    for section in reading.sections_of(path):
        yield section_unit(section, document, reading.text(section.id) or "")
