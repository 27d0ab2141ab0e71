"""Changing a requirement of a Markdown spec: only what an item says otherwise is written, all else stays as it is.

The headings of the requirement keep their place, their level and their words, whatever an import could write itself.
"""

from collections.abc import Callable, Sequence
from itertools import groupby

import msgspec

from clew.exchange.model import Item, Relation, attribute
from clew.exchange.places.place import free_name, title_of, writable
from clew.exchange.places.requirements import (
    ATTRIBUTES,
    FIELDS,
    Said,
    attribute_texts,
    is_of_assertions,
    is_template,
    listed_line,
    requirement_item,
    said_by,
)
from clew.exchange.places.spec_text import SpecText, criterion_text
from clew.formats.elspais.fields import REFERENCE_FIELDS
from clew.formats.elspais.ids.grammar import IdGrammar
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


def with_references(
    data: bytes, grammar: IdGrammar, kinds: Sequence[str], items: tuple[Item, Item], written: Callable[[Relation], str]
) -> bytes:
    """The block that cites what the second of two items cites, and not any more what only the first does. `written` is
    how a relation is written."""
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
    """What a requirement has in its fields."""

    level: str
    status: str
    written: Callable[[Relation], str]
    """How a relation is written."""


def edited_requirement(data: bytes, grammar: IdGrammar, item: Item, fields: Fields) -> bytes:
    """The block of a requirement that says what an item says."""
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
    """The block with what an item says in sections, those that there are and new ones."""
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


def _section(said: Said, item: Item, taken: set[str], texts: SpecText) -> tuple[str, str]:
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


def _listed(listed: list[Said], item: Item, taken: set[str]) -> tuple[list[str], dict[str, str]]:
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
    """Whether a heading stays where its text goes: assertions stand below it."""
    return not section.depth or is_of_assertions(section.heading)
