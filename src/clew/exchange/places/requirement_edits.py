"""Changing a requirement of a Markdown spec: only what an item says otherwise is written, all else stays as it is.

The headings of the requirement keep their place, their level and their words, whatever an import could write itself.
"""

from collections.abc import Callable
from functools import partial
from itertools import groupby

import msgspec

from clew.exchange.model import Item, Relation, attribute
from clew.exchange.places.place import free_name, title_of, writable
from clew.exchange.places.reference_edits import with_references
from clew.exchange.places.requirements import (
    ATTRIBUTES,
    FIELDS,
    Said,
    attribute_texts,
    is_of_assertions,
    listed_line,
    requirement_item,
    said_by,
)
from clew.exchange.places.spec_text import (
    criterion_text,
    entry,
    entry_lines,
    group_lines,
    plain,
    plain_lines,
    rewritten,
)
from clew.formats.elspais.fields import REFERENCE_FIELDS
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Requirement, SectionRecord
from clew.formats.elspais.write.assertions import places_taken, with_assertions
from clew.formats.elspais.write.blocks import with_level, with_status, with_title
from clew.formats.elspais.write.sections import (
    empty_headings,
    with_preamble,
    with_section_content,
    with_section_named,
    with_template_mark,
    without_section,
)


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
    data = with_assertions(data, grammar, record, _assertions(record, item, grammar))
    data = _with_attributes(data, grammar, item)
    text = rewritten(before.text, item.text, lambda text: plain_lines(text, grammar.header_prefixes))
    if text != before.text:
        data = with_preamble(data, grammar, text)
    data = with_references(data, grammar, REFERENCE_FIELDS, (before, item), fields.written)
    if attribute(item, "status") != record.status != fields.status:
        data = with_status(data, grammar, fields.status)
    if attribute(item, "level").casefold() != record.level.casefold() != fields.level.casefold():
        data = with_level(data, grammar, fields.level)
    if (is_template := attribute(item, "template") == "true") != record.template:
        data = with_template_mark(data, grammar, is_template)
    return with_title(data, grammar, title_of(item)) if item.title != record.title else data


def _record(data: bytes, grammar: IdGrammar) -> Requirement:
    return next(each for each in read(data, grammar).blocks if isinstance(each, Requirement))


def _assertions(record: Requirement, item: Item, grammar: IdGrammar) -> list[tuple[str, str]]:
    """The labels and texts that an item wants, in the lines that the requirement has where they say the same."""
    prefixes = grammar.header_prefixes
    there: dict[str, list[str]] = {}
    for assertion in record.assertions:
        there.setdefault(assertion.label, []).append(assertion.text)
    found: list[tuple[str, str]] = []
    for each, place in zip(item.criteria, places_taken(record, [each.label for each in item.criteria]), strict=True):
        if own := there.get(each.label):
            former = own.pop(0)
        elif place is not None:
            former = place.text
        else:
            found.append((each.label, entry(each, prefixes)))
            continue
        # Below a letter, numbers are a list, unless labels are numbers here.
        with_numbers = not each.label.isdigit() and not grammar.is_label("1")
        lines_of = partial(entry_lines, prefixes=prefixes, with_numbers=with_numbers)
        is_same = not each.title and each.text == former
        found.append((each.label, former if is_same else rewritten(former, criterion_text(each), lines_of)))
    return found


def _with_attributes(data: bytes, grammar: IdGrammar, item: Item) -> bytes:
    """The block with what an item says in sections, those that there are and new ones."""
    prefixes = grammar.header_prefixes
    said = list(said_by(_record(data, grammar)))
    own = {each.name for each in said}
    sections, listed = attribute_texts(
        msgspec.structs.replace(
            item, attributes={name: text for name, text in item.attributes.items() if name not in own}
        ),
        prefixes,
    )
    empty = empty_headings(data, grammar)
    sections |= {name: plain(listed.pop(name), prefixes) for name in list(listed) if name.casefold() in empty}
    changes: list[tuple[SectionRecord, str, str]] = []
    taken = set(FIELDS)
    """The names of those before that stay."""
    lists: list[int] = []
    for section, parts in groupby(said, lambda each: each.section):
        every = list(parts)
        if every[0].line is None:
            changes.append((section, *_section(every[0], item, taken, prefixes)))
            continue
        lines, moved = _listed(every, item, taken)
        lists += [len(changes)] if lines else []
        sections |= {name: plain(text, prefixes) for name, text in moved.items()}
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


def _section(said: Said, item: Item, taken: set[str], prefixes: tuple[str, ...]) -> tuple[str, str]:
    """The heading and the text that a section gets."""
    value = item.attributes.get(said.name, "")
    text = said.text
    if value != text:
        lines = group_lines if _holds_assertions(said.section) else plain_lines
        text = rewritten(text, value, lambda each: lines(each, prefixes)) if value.strip() else ""
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
