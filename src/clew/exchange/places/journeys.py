"""Journeys of Markdown specs: their fields and sections are attributes, and their steps are criteria.

Steps that are written otherwise than one by one, such as with prose between them, stay the text of their section.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from clew.exchange.model import JOURNEY, Criterion, Item, Relation, attribute, without_attributes
from clew.exchange.places.place import free_name, title_of, writable
from clew.exchange.places.spec_text import FENCE, is_taken, plain
from clew.formats.elspais.journey import JOURNEY_FIELD, LIST_FIELDS, STEP, TEXT_FIELDS
from clew.formats.elspais.lines import plain_heading
from clew.formats.elspais.records import Journey

_STEPS = "Steps"
_NAME = re.compile(r"[^\s#*_][^\n*]{0,79}")
_HEADING = re.compile(r"(#{1,6})\s")
_END = re.compile(r"\*End\*\s*\*(.*)\*\s*")


def journey_item(record: Journey, path: str) -> Item:
    """A journey in the neutral form."""
    texts = {"actor": record.actor, "goal": record.goal, "context": record.context}
    attributes = {name: text for name, text in texts.items() if text}
    steps = tuple(Criterion(str(number), text) for number, text, _ in record.steps)
    written = [section for section in record.sections if plain_heading(section.heading) == "steps"]
    are_steps = len(written) == 1 and written[0].heading == _STEPS and _are_plain(steps, written[0].text)
    for section in record.sections:
        if not (are_steps and section is written[0]):
            attributes[free_name(section.heading, attributes)] = section.text
    return Item(
        id=record.id,
        kind=JOURNEY,
        title=record.title,
        text=record.preamble,
        criteria=steps if are_steps else (),
        attributes=attributes,
        relations=tuple(dict.fromkeys(Relation(each.kind, each.target, each.labels) for each in record.references)),
        path=path,
        line=record.span.line,
    )


def _are_plain(steps: Sequence[Criterion], text: str) -> bool:
    """Whether a section says its steps and nothing else."""
    labels = [each.label for each in steps]
    return len(set(labels)) == len(labels) and "\n".join(_step_lines(steps, ())) == text


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


class _Style(msgspec.Struct, frozen=True):
    """How a journey is written."""

    header: str = "##"
    marks: str = "###"
    """Of the headings in it."""
    ends_with_title: bool = False

    @classmethod
    def of(cls, old: Journey | None) -> "_Style":
        if old is None:
            return cls()
        first, *lines = old.raw.splitlines()
        header = _HEADING.match(first)
        inner = next((found[1] for line in lines if (found := _HEADING.match(line))), None)
        depth = header[1] if header is not None else "##"
        end = next((found[1].strip() for line in reversed(lines) if (found := _END.fullmatch(line.strip()))), "")
        return cls(depth, inner or f"{depth}#"[:6], end == old.title and end != old.id)


def journey_lines(
    item: Item, cited: Sequence[tuple[str, list[str]]], prefixes: tuple[str, ...], old: Journey | None
) -> Iterator[str]:
    """The text of a journey. `cited` are the references of each kind."""
    style, title = _Style.of(old), title_of(item)
    yield from (f"{style.header} {item.id}: {title}", "")
    fields = [(name, " ".join(writable(attribute(item, name)).split())) for name in TEXT_FIELDS]
    written = [f"**{name.capitalize()}**: {value}" for name, value in fields if value]
    yield from (*written, "") if written else ()
    for kind, references in cited:
        if kind in LIST_FIELDS:
            yield from (f"{kind.capitalize()}: {', '.join(references)}", "")
    if text := plain(item.text, prefixes, _begins_field):
        yield from (*text.split("\n"), "")
    if item.criteria:
        yield from (f"{style.marks} {_STEPS}", "", *_step_lines(item.criteria, prefixes), "")
    for name, value in without_attributes(item, *TEXT_FIELDS).items():
        is_taken = bool(item.criteria) and plain_heading(name) == "steps"
        if (text := plain(value, prefixes, lambda _: False)) and _NAME.fullmatch(name) and not is_taken:
            yield from (f"{style.marks} {name.strip()}", "", *text.split("\n"), "")
    yield from (f"*End* *{title if style.ends_with_title else item.id}*", "")


def _begins_field(line: str) -> bool:
    field = JOURNEY_FIELD.match(line)
    return field is not None and (field.signed or field.decorated)


def _step_lines(steps: Sequence[Criterion], prefixes: tuple[str, ...]) -> Iterator[str]:
    for each in steps:
        text = f"{each.title}: {each.text}" if each.title else each.text
        first, *rest = writable(text).strip().split("\n")
        yield f"{each.label}. {first.rstrip()}".rstrip()
        for line in rest:
            # What is indented deeper belongs to the step.
            begins = (STEP.match(line) and not line[0].isspace()) or line.startswith(FENCE) or is_taken(line, prefixes)
            yield f"\\{line.lstrip()}" if begins else line.rstrip()
