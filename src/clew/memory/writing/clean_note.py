"""Checking a note, and taking the secrets out of its texts."""

from typing import Any

import msgspec

from clew.errors import InvalidArgument
from clew.memory.model import LONGEST_TEXT
from clew.memory.texts.admit import (
    SAYS_NOTHING,
    Details,
    check_lists,
    check_rationale,
    check_text,
    details_of,
    other_metadata,
)
from clew.memory.texts.scrub import Redaction, scrub_value
from clew.memory.writing.requests import Note
from clew.text.display import shortened
from clew.text.words import storable


class CleanNote(msgspec.Struct, frozen=True):
    """The texts of a note without secrets, and what was removed from which text."""

    text: str
    rationale: str
    tags: tuple[str, ...]
    title: str | None
    metadata: dict[str, Any]
    """Metadata beside the details."""
    details: Details
    found: tuple[Redaction, ...]


def cleaned(note: Note) -> CleanNote:
    """Check the texts of a note, and remove secrets from every one."""
    found: list[Redaction] = []

    def clean(value: Any, field: str) -> Any:
        return scrub_value(value, field, found)

    rationale = check_rationale(note.rationale)
    text = check_text("content", note.content, LONGEST_TEXT)
    if SAYS_NOTHING.fullmatch(text):
        raise InvalidArgument(
            f"The argument 'content' is '{shortened(text)}', which has no word.", hint="Say what to remember."
        )
    check_lists(tags=note.tags, link_to=note.link_to, about=note.about_)
    details = details_of(note.metadata)
    return CleanNote(
        text=clean(text, "content"),
        rationale=clean(rationale, "rationale"),
        tags=tuple(dict.fromkeys(clean([storable(tag) for tag in note.tags], "tags"))),
        title=clean(storable(details.title), "metadata.title") if details.title else None,
        metadata=clean(other_metadata(note.metadata), "metadata"),
        details=details,
        found=tuple(found),
    )
