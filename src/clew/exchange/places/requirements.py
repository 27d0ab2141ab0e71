"""Requirements of Markdown specs: their fields and sections are attributes, and their assertions are criteria.

An attribute of one line stands in the section `Attributes`, one of several lines is a section of its own.
"""

import re
from collections.abc import Iterator

import msgspec

from clew.exchange.model import Criterion, Item, Relation, attribute, without_attributes
from clew.exchange.places.place import LONGEST_TITLE, free_name, writable
from clew.exchange.places.spec_text import SpecText
from clew.formats.elspais.lines import plain_heading
from clew.formats.elspais.records import Requirement, SectionRecord

ATTRIBUTES = "Attributes"
"""The section of attributes that are one line each."""
FIELDS = ("level", "status", "template")
"""Attributes that are fields of the requirement."""
_RESERVED = frozenset({"assertions", "changelog", "attributes"})
_LINE = re.compile(r"- ([^:\n]+): (.*)")
_NAME = re.compile(r"[^\s:#*_][^:\n*]{0,79}")
_PROSE = frozenset({"rationale", "comment", "comments", "note", "notes", "description"})
"""Attributes that are sections, however short."""
_LONGEST_LISTED = 100


class Said(msgspec.Struct, frozen=True):
    """An attribute, where it stands."""

    name: str
    written: str
    """Its name as it stands there, which another attribute may have too."""
    text: str
    section: SectionRecord
    line: int | None = None
    """In the text of a section that lists attributes, counted from 0; None for a section of its own."""


def requirement_item(record: Requirement, path: str) -> Item:
    """A requirement in the neutral form."""
    attributes = {"level": record.level, "status": record.status}
    if record.template:
        attributes["template"] = "true"
    attributes |= {each.name: each.text for each in said_by(record)}
    return Item(
        id=record.id,
        title=record.title,
        text=record.preamble,
        criteria=tuple(Criterion(each.label, each.text) for each in record.assertions),
        attributes=attributes,
        relations=tuple(dict.fromkeys(Relation(each.kind, each.target, each.labels) for each in record.references)),
        path=path,
        line=record.span.line,
    )


def said_by(record: Requirement) -> Iterator[Said]:
    """What the sections say, each under a name that no other has in any case."""
    taken = set(FIELDS)
    for section in record.sections:
        for written, text, line in _parts(section):
            name = free_name(written, taken)
            taken.add(name.casefold())
            yield Said(name, written, text, section, line)


def _parts(section: SectionRecord) -> list[tuple[str, str, int | None]]:
    """The attributes of a list; the whole section where a line is something else."""
    if plain_heading(section.heading) == ATTRIBUTES.casefold():
        found = [_LINE.fullmatch(line) for line in section.text.split("\n")]
        listed: list[tuple[str, str, int | None]] = [
            (each[1].strip(), each[2].strip(), number) for number, each in enumerate(found) if each
        ]
        if len(listed) == len(found) and all(name for name, _, _ in listed):
            return listed
    return [(section.heading, section.text, None)]


def attribute_texts(item: Item, texts: SpecText) -> tuple[dict[str, str], dict[str, str]]:
    """The attributes that become sections, by their headings, and those that are listed."""
    sections: dict[str, str] = {}
    listed: dict[str, str] = {}
    for name, value in without_attributes(item, *FIELDS).items():
        bare = writable(value).strip()
        if not bare or plain_heading(name) in _RESERVED:
            continue
        is_short = "\n" not in bare and len(bare) <= _LONGEST_LISTED and name.casefold() not in _PROSE
        if is_short and _NAME.fullmatch(name):
            listed[name.strip()] = bare
        elif _is_heading(name, texts):
            sections[name] = texts.section(value)
    return sections, listed


def is_template(item: Item, old: Requirement | None) -> bool:
    """What the item says; where that is neither true nor false, what is here already."""
    said = attribute(item, "template").strip().casefold()
    return old.template if old is not None and said not in ("", "true", "false") else said == "true"


def is_of_assertions(heading: str) -> bool:
    return plain_heading(heading) == "assertions"


def listed_line(name: str, text: str) -> str:
    return f"- {name}: {text}"


def _is_heading(name: str, texts: SpecText) -> bool:
    is_one = name == writable(name).strip() and "\n" not in name and 0 < len(name) <= LONGEST_TITLE
    return is_one and texts.is_heading(name)
