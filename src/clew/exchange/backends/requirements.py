"""Requirements of Markdown specs: their fields and sections are attributes, and their assertions are criteria.

An attribute of one line is in the section `Attributes`, one of several lines is a section of its own. A change of a
requirement writes only what an item says otherwise: headings keep their place, their level and their words, whatever an
import could write itself, and all else stays as it is.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import msgspec

from clew.exchange.backends.backend import LONGEST_TITLE, free_name, title_of, writable
from clew.exchange.backends.spec_text import SpecText, criterion_text
from clew.exchange.model import Criterion, Item, Relation, attribute, without_attributes
from clew.formats.elspais.fields import REFERENCE_FIELDS
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.lines import plain_heading
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Requirement, SectionRecord
from clew.formats.elspais.write.blocks import places_taken, with_assertions, with_level, with_status, with_title
from clew.formats.elspais.write.references import with_added, with_removed
from clew.formats.elspais.write.sections import (
    empty_headings,
    with_preamble,
    with_section_content,
    with_section_named,
    with_template_mark,
    without_empty_assertions,
    without_section,
)

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


class SectionAttribute(msgspec.Struct, frozen=True):
    """An attribute and its place."""

    name: str
    written: str
    """Its name as it is there, which another attribute may have too."""
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


def said_by(record: Requirement) -> Iterator[SectionAttribute]:
    """The attributes in the sections of a requirement, each under a name that no other has in any case."""
    taken = set(FIELDS)
    for section in record.sections:
        for written, text, line in _parts(section):
            name = free_name(written, taken)
            taken.add(name.casefold())
            yield SectionAttribute(name, written, text, section, line)


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
    """True if the item is a template; if the item says neither true nor false, the present value counts."""
    said = attribute(item, "template").strip().casefold()
    return old.template if old is not None and said not in ("", "true", "false") else said == "true"


def is_of_assertions(heading: str) -> bool:
    return plain_heading(heading) == "assertions"


def listed_line(name: str, text: str) -> str:
    return f"- {name}: {text}"


def _is_heading(name: str, texts: SpecText) -> bool:
    is_one = name == writable(name).strip() and "\n" not in name and 0 < len(name) <= LONGEST_TITLE
    return is_one and texts.is_heading(name)


def with_references(
    data: bytes, grammar: IdGrammar, kinds: Sequence[str], items: tuple[Item, Item], written: Callable[[Relation], str]
) -> bytes:
    """The block with the citations of the second of two items, and without those that only the first has. `written` is
    the notation of a relation."""
    before, after = items
    for kind in kinds:
        former = [each for each in before.relations if each.kind == kind]
        wanted = [each for each in after.relations if each.kind == kind]
        gone = {each.target for each in former if each not in wanted}
        for target in sorted(gone):
            data = with_removed(data, grammar, kind, target)
        for each in wanted:
            if each not in former or each.target in gone:
                data = with_added(data, grammar, kind, written(each))
    return data


class Fields(msgspec.Struct, frozen=True):
    """The fields of a requirement's header."""

    level: str
    status: str
    written: Callable[[Relation], str]
    """The notation of a relation."""


def edited_requirement(data: bytes, grammar: IdGrammar, item: Item, fields: Fields) -> bytes:
    """The block of a requirement with the content of an item."""
    record = _record(data, grammar)
    before = requirement_item(record, "")
    texts = SpecText(grammar, item.id, are_assertions_behind=bool(item.criteria))
    data = with_assertions(data, grammar, record, _assertions(record, item, texts))
    data = _with_attributes(data, grammar, item, texts)
    if record.assertions and not item.criteria:
        data = without_empty_assertions(data, grammar)
    if item.text != before.text:
        data = with_preamble(data, grammar, texts.preamble(item.text, before.text))
    data = with_references(data, grammar, REFERENCE_FIELDS, (before, item), fields.written)
    if attribute(item, "status") != record.status != fields.status:
        data = with_status(data, grammar, fields.status)
    if attribute(item, "level").casefold() != record.level.casefold() != fields.level.casefold():
        data = with_level(data, grammar, fields.level)
    if is_template(item, record) != record.template:
        data = with_template_mark(data, grammar, not record.template)
    return with_title(data, grammar, title_of(item)) if item.title != record.title else data


def _record(data: bytes, grammar: IdGrammar) -> Requirement:
    return next(each for each in read(data, grammar).blocks if isinstance(each, Requirement))


def _assertions(record: Requirement, item: Item, texts: SpecText) -> list[tuple[str, str]]:
    """The labels and texts that an item wants, in the lines that the requirement has where they say the same."""
    there: dict[str, list[str]] = {}
    for assertion in record.assertions:
        there.setdefault(assertion.label, []).append(assertion.text)
    found: list[tuple[str, str]] = []
    for each, place in zip(item.criteria, places_taken(record, [each.label for each in item.criteria]), strict=True):
        own = there.get(each.label)
        former = own.pop(0) if own else place.text if place is not None else None
        text = criterion_text(each)
        found.append((each.label, text if text == former else texts.assertion(each.label, text, former)))
    return found


def _with_attributes(data: bytes, grammar: IdGrammar, item: Item, texts: SpecText) -> bytes:
    """The block with the attributes of an item in sections, present ones and new ones."""
    said = list(said_by(_record(data, grammar)))
    own = {each.name for each in said}
    sections, listed = attribute_texts(
        msgspec.structs.replace(
            item, attributes={name: text for name, text in item.attributes.items() if name not in own}
        ),
        texts,
    )
    empty = empty_headings(data, grammar)
    sections |= {name: texts.section(listed.pop(name)) for name in list(listed) if name.casefold() in empty}
    changes: list[tuple[SectionRecord, str, str]] = []
    taken = set(FIELDS)
    """The names of those before that stay."""
    lists: list[int] = []
    for section, parts in groupby(said, lambda each: each.section):
        every = list(parts)
        if every[0].line is None:
            changes.append((section, *_section(every[0], item, taken, texts)))
            continue
        lines, moved = _listed(every, item, taken)
        lists += [len(changes)] if lines else []
        sections |= {name: texts.section(text) for name, text in moved.items()}
        changes.append((section, section.heading, "\n".join(lines)))
    if listed and lists:
        section, heading, text = changes[lists[-1]]
        changes[lists[-1]] = (section, heading, "\n".join((text, *(listed_line(*each) for each in listed.items()))))
    elif listed:
        sections[ATTRIBUTES] = "\n".join(listed_line(*each) for each in listed.items())
    # From the last on, so that the lines of those before stay right.
    for section, heading, text in reversed(changes):
        if (heading, text) == (section.heading, section.text):
            continue
        if text or _holds_assertions(section):
            renamed = heading if heading != section.heading else None
            data = with_section_content(data, grammar, section, heading=renamed, text=text)
        else:
            data = without_section(data, grammar, section)
    for heading, text in sections.items():
        data = with_section_named(data, grammar, heading, text)
    return data


def _section(said: SectionAttribute, item: Item, taken: set[str], texts: SpecText) -> tuple[str, str]:
    """The heading and the text that a section gets."""
    value = item.attributes.get(said.name, "")
    text = said.text
    if value != text:
        written = texts.group if _holds_assertions(said.section) else texts.section
        text = written(value, text) if value.strip() else ""
    heading = said.written
    if text:
        # The second of a name keeps its name where the first is gone.
        is_same = free_name(heading, taken) == said.name or is_of_assertions(heading)
        heading = heading if is_same else said.name
    if text or not said.section.depth:
        taken.add(said.name.casefold())
    return heading, text


def _listed(listed: list[SectionAttribute], item: Item, taken: set[str]) -> tuple[list[str], dict[str, str]]:
    """The lines of a list of attributes, and those that are too long to stay in it."""
    lines: list[str] = []
    moved: dict[str, str] = {}
    for said, line in zip(listed, listed[0].section.text.split("\n"), strict=True):
        value = writable(item.attributes.get(said.name, "")).strip()
        if "\n" in value:
            moved[said.name] = value
        elif value or not said.text:
            name = said.written if free_name(said.written, taken) == said.name else said.name
            lines.append(line if (name, value) == (said.written, said.text) else listed_line(name, value))
        if value:
            taken.add(said.name.casefold())
    return lines, moved


def _holds_assertions(section: SectionRecord) -> bool:
    """True if assertions follow below a heading, so that it stays when its text is removed."""
    return not section.depth or is_of_assertions(section.heading)
