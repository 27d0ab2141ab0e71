"""The sections of a requirement or journey, with their ids.

A section is named as elspais names it: `REQ-d00001:section:0`, counted from 0, the text below the fields first where
there is one.
"""

import re

import msgspec

from clew.errors import NotFound
from clew.formats.elspais.records import Requirement, SectionRecord
from clew.trace.edit.text.blocks import Record

PREAMBLE = "preamble"
_PLACE = re.compile(r"(?P<owner>.+):section:m?(?P<number>\d{1,6})")


class BodySection(msgspec.Struct, frozen=True):
    """A section, or the text below the fields, of a requirement or journey."""

    id: str
    heading: str
    text: str
    line: int
    """In the block."""
    record: SectionRecord | None = None
    """None for the text below the fields."""


def parsed_section(id: str) -> tuple[str, int] | None:
    """The requirement and the number that the id of a section names."""
    found = _PLACE.fullmatch(id.strip())
    return (found["owner"], int(found["number"])) if found is not None else None


def sections_of(record: Record) -> tuple[BodySection, ...]:
    """The sections in the order of the text, each with its id."""
    found: list[tuple[str, str, int, SectionRecord | None]] = []
    if isinstance(record, Requirement) and record.preamble:
        found.append((PREAMBLE, record.preamble, record.span.line + 1, None))
    found += [(each.heading, each.text, each.span.line, each) for each in record.sections]
    return tuple(BodySection(f"{record.id}:section:{number}", *each) for number, each in enumerate(found))


def section_named(record: Record, name: str) -> BodySection:
    """The section with a heading, in any case."""
    found = sections_of(record)
    for each in found:
        if each.heading.casefold() == name.strip().casefold():
            return each
    known = ", ".join(each.heading for each in found) or "none"
    raise NotFound(f"'{record.id}' has no section '{name}'.", hint=f"It has: {known}.")
