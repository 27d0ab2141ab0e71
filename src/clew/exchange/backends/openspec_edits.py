"""Changes of a requirement in a spec: only the differences of an item are written, all else stays as it is."""

import re
from collections.abc import Mapping, Sequence

from clew.exchange.backends.backend import one_line
from clew.exchange.backends.openspec_text import (
    CITED,
    ID,
    METADATA,
    attribute_names,
    can_be_metadata,
    citation,
    citation_line,
    cited_relations,
    exchanged,
    field_lines,
    is_own,
    metadata_line,
    misread,
    name_of,
    plain_lines,
    references,
    renamed,
    scenario_lines,
    scenario_name,
    trimmed,
)
from clew.exchange.backends.spec_text import rewritten
from clew.exchange.model import Criterion, Item, Relation
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.write.lines import BlockLines, as_read
from clew.formats.openspec.lines import SpecLines
from clew.formats.openspec.names import slug
from clew.formats.openspec.records import OtherHeading, Requirement, Scenario


class _Block(BlockLines):
    """The lines of a requirement of a spec."""

    def __init__(self, data: bytes, grammar: IdGrammar) -> None:
        super().__init__(data, grammar)
        self.grammar = grammar
        self.there = SpecLines(data)
        """The lines as specs are read, before any change."""


def edited_block(data: bytes, grammar: IdGrammar, record: Requirement, items: tuple[Item, Item]) -> bytes:
    """The lines of a requirement with the content of the second of two items; the first is the present content."""
    here, item = items
    lines = _Block(data, grammar)
    parts: list[Scenario | OtherHeading] = sorted((*record.scenarios, *record.asides), key=lambda each: each.span.start)
    names = dict(zip(reversed(record.asides), reversed(attribute_names(record)), strict=False))
    wanted, behind = _matched(here, item)
    moved = _moved(lines, record, here, wanted)
    # From the last on, so that the lines of those before stay right.
    for part in reversed(parts):
        first, stop = _range(part, record)
        if isinstance(part, Scenario):
            for each in reversed(behind.get(part.slug, ())):
                _insert(lines, stop, moved.get(each) or scenario_lines(each))
            _exchange_scenario(lines, first, stop, part, wanted.get(part.slug))
        else:
            _exchange_aside(lines, first, stop, item.attributes.get(names[part], ""))
    stop = parts[0].span.line - record.span.line if parts else len(lines.there)
    for each in reversed(behind.get("", ())):
        _insert(lines, stop, moved.get(each) or scenario_lines(each))
    _exchange_head(lines, stop, record, (here, item))
    return lines.data()


def _range(part: Scenario | OtherHeading, record: Requirement) -> tuple[int, int]:
    return part.span.line - record.span.line, part.span.end_line - record.span.line + 1


def _matched(here: Item, item: Item) -> tuple[dict[str, Criterion], dict[str, list[Criterion]]]:
    """The new text of each scenario that stays, and the new ones by the label of the scenario that they follow."""
    from difflib import SequenceMatcher  # only for what is edited

    there, wanted = [each.label for each in here.criteria], item.criteria
    same: dict[str, Criterion] = {}
    behind: dict[str, list[Criterion]] = {}
    changes = SequenceMatcher(None, there, [each.label for each in wanted], autojunk=False).get_opcodes()
    for _, start, end, begin, until in changes:
        same |= dict(zip(there[start:end], wanted[begin:until], strict=False))
        last = min(end, start + until - begin)
        behind.setdefault(there[last - 1] if last else "", []).extend(wanted[begin + last - start : until])
    return same, behind


def _moved(
    lines: _Block, record: Requirement, here: Item, wanted: Mapping[str, Criterion]
) -> dict[Criterion, Sequence[str]]:
    """The unchanged lines of scenarios that have another position now."""
    found: dict[Criterion, Sequence[str]] = {}
    for part, criterion in zip(record.scenarios, here.criteria, strict=True):
        if part.slug not in wanted:
            first, stop = _range(part, record)
            found[criterion] = [*lines.text[first : lines.there.trimmed(first, stop)[1]], ""]
    return found


def _insert(lines: _Block, line: int, texts: Sequence[str]) -> None:
    before = [] if lines.is_blank(line - 1) else [""]
    lines.insert(line, *before, *texts)


def _exchange_scenario(lines: _Block, first: int, stop: int, part: Scenario, wanted: Criterion | None) -> None:
    if wanted is None:
        lines.remove(first, stop)
        return
    _exchange_body(lines, first, stop, wanted.text)
    name = scenario_name(wanted)
    if name != one_line(part.name) and (wanted.title or wanted.label != part.slug):
        lines.text[first] = renamed(as_read(lines.text[first]), "scenario" if part.labelled else "", part.name, name)


def _exchange_aside(lines: _Block, first: int, stop: int, text: str) -> None:
    """Without a text the heading goes too."""
    if text.strip() or not "".join(lines.text[first + 1 : stop]).strip():
        _exchange_body(lines, first, stop, text)
    else:
        lines.remove(first, stop)


def _exchange_body(lines: _Block, first: int, stop: int, text: str) -> None:
    """Put another text below a heading."""
    begin, end = lines.there.trimmed(first + 1, stop)
    former = "\n".join(map(as_read, lines.text[begin:end]))
    if trimmed(former) == trimmed(text):
        return
    made = rewritten(former, text, plain_lines).split("\n") if text.strip() else []
    if begin == end:
        lines.insert(first + 1, "", *made)
    else:
        lines.exchange(begin, end, made)


_GONE = "\0"
"""Stands in a line that is taken out."""


def _exchange_head(lines: _Block, stop: int, record: Requirement, items: tuple[Item, Item]) -> None:
    here, item = items
    begin, end = lines.there.trimmed(1, stop)
    fields = field_lines(lines.there, begin, end, lines.grammar)
    said = [index for index in range(begin, end) if index not in set(fields) and not lines.is_blank(index)]
    new = [*_new_citations(lines, fields, items), *_new_metadata(record, here, item)]
    _exchange_fields(lines, fields, record, items)
    if new:
        last = max(fields or said or [0]) + 1
        while last < end and lines.text[last - 1].rstrip().endswith(","):
            last += 1  # what a line cites goes on in the next
        new = new if fields else ["", *new]
        lines.insert(last, *new)
        said = [index + len(new) if index >= last else index for index in said]
        fields = [*fields, *range(last, last + len(new))]
    is_misread = misread(item, lines.grammar)
    if here.text != item.text and said:
        former = [as_read(lines.text[index]) for index in range(said[0], said[-1] + 1) if index not in set(fields)]
        made = rewritten("\n".join(former), item.text, lambda text: plain_lines(text, is_misread))
        lines.exchange(said[0], said[-1] + 1, made.split("\n") if item.text.strip() else [], besides=set(fields))
    elif here.text != item.text:
        lines.insert(1, "", *plain_lines(trimmed(item.text), is_misread)[1])
    for index in reversed([number for number, text in enumerate(lines.text) if text == _GONE]):
        lines.remove(index, index + 1)
    if item.title != here.title:
        lines.text[0] = renamed(as_read(lines.text[0]), "requirement", record.name, name_of(item))


def _exchange_fields(lines: _Block, fields: list[int], record: Requirement, items: tuple[Item, Item]) -> None:
    names = iter(attribute_names(record))
    cited: set[str] = set()
    """The kinds of citations whose first line is done."""
    for index in fields:
        line = lines.text[index]
        if (found := citation(line)) is not None:
            kind = _kind(found)
            new = _new_relations(kind, items) if kind not in cited else []
            cited.add(kind)
            before = cited_relations(as_read(line), lines.grammar)
            after = [*(each for each in before if each in items[1].relations), *new]
            is_same, value = after == [*before], references(after, lines.grammar)
        elif (found := METADATA.match(line)) is not None and not is_own(found[1].strip()):
            value = one_line(items[1].attributes.get(next(names), ""))
            is_same = value == one_line(as_read(line[found.start(2) :]))
        else:
            continue
        if not is_same:
            lines.text[index] = exchanged(line, found.start(2), found[2], value) if value else _GONE


def _new_relations(kind: str, items: tuple[Item, Item]) -> list[Relation]:
    here, item = items
    return [each for each in item.relations if each.kind == kind and each not in here.relations]


def _new_citations(lines: _Block, fields: list[int], items: tuple[Item, Item]) -> list[str]:
    written = {_kind(found) for index in fields if (found := citation(lines.text[index])) is not None}
    new = {kind: _new_relations(kind, items) for kind in CITED if kind not in written}
    return [citation_line(kind, each, lines.grammar) for kind, each in new.items() if each]


def _kind(found: re.Match[str]) -> str:
    return found[1].strip().casefold()


def _new_metadata(record: Requirement, here: Item, item: Item) -> list[str]:
    own = item.id.rpartition("/")[2]
    changed = item.title != here.title and not record.stated(ID) and slug(name_of(item), "requirement") != own
    new = {ID: own} if changed else {}
    new |= {
        name: value for name, value in item.attributes.items() if name not in here.attributes and can_be_metadata(name)
    }
    return [metadata_line(name, value) for name, value in new.items() if value.strip()]
