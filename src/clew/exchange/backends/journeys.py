"""Journeys of Markdown specs: their fields and sections are attributes, and their steps are criteria.

Steps that are written otherwise than one by one, such as with prose between them, stay the text of their section. A
change of a journey writes only what an item says otherwise: headings keep their place, their level and their words, and
all else stays as it is.
"""

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from clew.exchange.backends.backend import free_name, title_of, writable
from clew.exchange.backends.requirements import with_references
from clew.exchange.backends.spec_text import SpecText, criterion_text
from clew.exchange.model import JOURNEY, Criterion, Item, Relation, attribute, without_attributes
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.journey import LIST_FIELDS, TEXT_FIELDS
from clew.formats.elspais.lines import plain_heading
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

STEPS = "Steps"
_NAME = re.compile(r"[^\s#*_][^\n*]{0,79}")


def journey_item(record: Journey, path: str) -> Item:
    """A journey in the neutral form."""
    attributes: dict[str, str] = {name: text for name in TEXT_FIELDS if (text := getattr(record, name))}
    sections = named_sections(record)
    attributes |= {name: section.text for name, section in sections if name is not None}
    has_steps = any(name is None for name, _ in sections)
    return Item(
        id=record.id,
        kind=JOURNEY,
        title=record.title,
        text=record.preamble,
        criteria=_steps(record) if has_steps else (),
        attributes=attributes,
        relations=tuple(dict.fromkeys(Relation(each.kind, each.target, each.labels) for each in record.references)),
        path=path,
        line=record.span.line,
    )


def named_sections(record: Journey) -> list[tuple[str | None, SectionRecord]]:
    """The sections under the names that they have as attributes; None is the one that says the steps."""
    written = [section for section in record.sections if is_of_steps(section.heading)]
    are_steps = len(written) == 1 and written[0].heading == STEPS and _are_plain(_steps(record), written[0].text)
    taken = {name for name in TEXT_FIELDS if getattr(record, name)}
    found: list[tuple[str | None, SectionRecord]] = []
    for section in record.sections:
        name = None if are_steps and section is written[0] else free_name(section.heading, taken)
        taken |= {name.casefold()} if name is not None else set()
        found.append((name, section))
    return found


def is_of_steps(heading: str) -> bool:
    return plain_heading(heading) == "steps"


def _steps(record: Journey) -> tuple[Criterion, ...]:
    return tuple(Criterion(str(number), text) for number, text, _ in record.steps)


def _are_plain(steps: Sequence[Criterion], text: str) -> bool:
    """True if a section has no text besides its steps."""
    labels = [each.label for each in steps]
    return len(set(labels)) == len(labels) and "\n".join(step_lines(steps)) == text


def fresh_journey_id(item: Item, taken: set[str], highest: dict[str, int]) -> str:
    """`highest` is the last number that was given to each name, and is kept."""
    words = re.findall(r"[A-Za-z0-9]+", item.title or item.id)[:3] or ["Imported"]
    name = "".join(word[:1].upper() + word[1:] for word in words)[:40]
    number = highest.get(name, 0) + 1
    while (id := f"JNY-{name}-{number:02}") in taken:
        number += 1
    highest[name] = number
    return id


def journey_labels(item: Item) -> tuple[str, ...]:
    """Steps are numbered."""
    given = tuple(each.label for each in item.criteria)
    numbered = all(re.fullmatch("[1-9][0-9]{0,5}", label) for label in given)
    if numbered and len(set(given)) == len(given):
        return given
    return tuple(str(number) for number in range(1, len(given) + 1))


def journey_lines(item: Item, cited: Sequence[tuple[str, list[str]]], texts: SpecText) -> Iterator[str]:
    """The text of a new journey. `cited` are the references of each kind."""
    yield from (f"## {item.id}: {title_of(item)}", "")
    written = [f"**{name.capitalize()}**: {value}" for name, value in field_texts(item).items() if value]
    yield from (*written, "") if written else ()
    for kind, references in cited:
        if kind in LIST_FIELDS:
            yield from (f"{kind.capitalize()}: {', '.join(references)}", "")
    if text := texts.preamble(item.text):
        yield from (*text.split("\n"), "")
    if item.criteria:
        yield from (f"### {STEPS}", "", *step_lines(item.criteria, texts), "")
    for name, text in section_texts(item, texts).items():
        yield from (f"### {name}", "", *text.split("\n"), "")
    yield from (f"*End* *{item.id}*", "")


def field_texts(item: Item) -> dict[str, str]:
    """Actor, goal and context, in one line each."""
    return {name: " ".join(writable(attribute(item, name)).split()) for name in TEXT_FIELDS}


def section_texts(item: Item, texts: SpecText) -> dict[str, str]:
    """The attributes that become sections, by their headings."""
    found: dict[str, str] = {}
    for name, value in without_attributes(item, *TEXT_FIELDS).items():
        is_taken = bool(item.criteria) and is_of_steps(name)
        if (text := texts.section(value)) and _NAME.fullmatch(name) and not is_taken and texts.is_heading(name.strip()):
            found[name.strip()] = text
    return found


def step_lines(steps: Sequence[Criterion], texts: SpecText | None = None) -> Iterator[str]:
    """The lines of steps. `texts` writes new texts; without it, the steps keep theirs."""
    for each in steps:
        text = texts.step(each.label, criterion_text(each)) if texts is not None else each.text
        first, *rest = text.split("\n")
        yield from (f"{each.label}. {first}".rstrip() if not first.strip() else f"{each.label}. {first}", *rest)


def edited_journey(data: bytes, grammar: IdGrammar, item: Item, written: Callable[[Relation], str]) -> bytes:
    """The block of a journey with the content of an item. `written` is the notation of a relation."""
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
    """The block with the steps of an item, and with its texts in the present sections."""
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
