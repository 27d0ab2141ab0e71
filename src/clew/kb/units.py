"""Sections as the search engine sees them."""

from collections.abc import Iterator

from clew.kb import ids
from clew.kb.queries import Reading
from clew.kb.records import DocumentRecord, SectionRecord
from clew.search.units import Unit

PART = "section"
_TAG = "tag:"


def tag_filter(tag: str) -> str:
    """How the index spells the tag of a document."""
    return f"{_TAG}{tag}"


def section_unit(section: SectionRecord, document: DocumentRecord, text: str) -> Unit:
    return Unit(
        id=section.id,
        part=PART,
        title=section.trail,
        body=text,
        document=ids.document_id(document.path),
        tags=(tag_filter(document.tag),),
        path=document.path,
        time=document.updated_at,
        links=(section.id,),
    )


def units_of(reading: Reading, path: str) -> Iterator[Unit]:
    """The units of one document; none where it is not there."""
    document = reading.document(path)
    if document is None:
        return
    for section in reading.sections_of(path):
        yield section_unit(section, document, reading.text(section.id) or "")
