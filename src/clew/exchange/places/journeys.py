"""Journeys of Markdown specs: their fields and sections are attributes, and their steps are criteria.

Steps that are written otherwise than one by one, such as with prose between them, stay the text of their section.
"""

import re
from collections.abc import Iterator, Sequence

from clew.exchange.model import JOURNEY, Criterion, Item, Relation, attribute, without_attributes
from clew.exchange.places.place import free_name, title_of, writable
from clew.exchange.places.spec_text import SpecText, criterion_text
from clew.formats.elspais.journey import LIST_FIELDS, TEXT_FIELDS
from clew.formats.elspais.lines import plain_heading
from clew.formats.elspais.records import Journey, SectionRecord

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
    """Whether a section says its steps and nothing else."""
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
    """Steps as they are written; without `texts`, those that were read."""
    for each in steps:
        text = texts.step(each.label, criterion_text(each)) if texts is not None else each.text
        first, *rest = text.split("\n")
        yield from (f"{each.label}. {first}".rstrip() if not first.strip() else f"{each.label}. {first}", *rest)
