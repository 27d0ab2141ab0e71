"""Changing a journey of a Markdown spec: only what an item says otherwise is written, all else stays as it is.

The headings of the journey keep their place, their level and their words, whatever an import could write itself.
"""

from collections.abc import Callable

import msgspec

from clew.exchange.model import Item, Relation
from clew.exchange.places.journeys import (
    STEPS,
    field_texts,
    is_of_steps,
    journey_item,
    named_sections,
    section_texts,
    step_lines,
)
from clew.exchange.places.place import free_name, title_of
from clew.exchange.places.requirement_edits import with_references
from clew.exchange.places.spec_text import SpecText
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.journey import LIST_FIELDS, TEXT_FIELDS
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Journey, SectionRecord
from clew.formats.elspais.write.blocks import with_title
from clew.formats.elspais.write.sections import (
    with_first_section,
    with_journey_field,
    with_journey_preamble,
    with_section_content,
    with_section_named,
    without_section,
)


def edited_journey(data: bytes, grammar: IdGrammar, item: Item, written: Callable[[Relation], str]) -> bytes:
    """The block of a journey that says what an item says. `written` is how a relation is written."""
    record = next(each for each in read(data, grammar).blocks if isinstance(each, Journey))
    before = journey_item(record, "")
    texts = SpecText(grammar, item.id)
    data = _with_sections(data, grammar, record, item, texts)
    own = {name for name, _ in named_sections(record)}
    others = msgspec.structs.replace(
        item, attributes={name: value for name, value in item.attributes.items() if name not in own}
    )
    for name, text in section_texts(others, texts).items():
        data = with_section_named(data, grammar, name, text)
    if item.text != before.text:
        data = with_journey_preamble(data, grammar, texts.preamble(item.text, before.text))
    data = with_references(data, grammar, LIST_FIELDS, (before, item), written)
    for name, value in field_texts(others).items():
        if value != " ".join(getattr(record, name).split()):
            data = with_journey_field(data, grammar, name, value)
    return with_title(data, grammar, title_of(item)) if item.title != record.title else data


def _with_sections(data: bytes, grammar: IdGrammar, record: Journey, item: Item, texts: SpecText) -> bytes:
    """The block with the steps of an item, and with what it says in the sections that there are."""
    steps = "\n".join(step_lines(item.criteria, texts))
    named = named_sections(record)
    of_steps = [each for name, each in named if name is None or (item.criteria and is_of_steps(each.heading))]
    taken = {name for name in TEXT_FIELDS if name in item.attributes}
    changes: list[tuple[SectionRecord, str, str]] = []
    for name, section in named:
        if section in of_steps:
            changes.append((section, STEPS, steps if section is of_steps[0] else ""))
            continue
        value = item.attributes.get(name or "", "")
        text = value if value == section.text else texts.section(value, section.text) if value.strip() else ""
        # The second of a name keeps its name where the first is gone.
        heading = section.heading if free_name(section.heading, taken) == name else name or ""
        changes.append((section, heading, text))
        taken |= {(name or "").casefold()} if text else set()
    # From the last on, so that the lines of those before stay right.
    for section, heading, text in reversed(changes):
        if not text:
            data = without_section(data, grammar, section)
        elif (heading, text) != (section.heading, section.text):
            renamed = heading if heading != section.heading else None
            data = with_section_content(data, grammar, section, heading=renamed, text=text)
    return with_first_section(data, grammar, STEPS, steps) if steps and not of_steps else data
