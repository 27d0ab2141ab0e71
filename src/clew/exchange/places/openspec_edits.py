"""Changing a requirement of a spec: only what an item says otherwise is written, all else stays as it is."""

from clew.exchange.model import Criterion, Item
from clew.exchange.places.openspec_text import (
    CITATION,
    CITED,
    ID,
    METADATA,
    NAME,
    citation_line,
    is_field,
    metadata_line,
    plain_lines,
    scenario_lines,
    scenario_name,
)
from clew.exchange.places.place import free_name, grouped, one_line, title_of
from clew.exchange.places.spec_text import rewritten
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.write.lines import BlockLines
from clew.formats.openspec.records import OtherHeading, Requirement, Scenario
from clew.formats.openspec.slugs import slug


def edited_block(data: bytes, grammar: IdGrammar, record: Requirement, items: tuple[Item, Item]) -> bytes:
    """The lines of a requirement that say what the second of two items says; the first is what they say now."""
    here, item = items
    lines = BlockLines(data, grammar)
    parts: list[Scenario | OtherHeading] = sorted((*record.scenarios, *record.asides), key=lambda each: each.span.start)
    taken = {name.casefold() for name, _ in record.metadata}
    names: dict[int, str] = {}
    for aside in record.asides:
        names[aside.span.start] = free_name(aside.heading, taken)
        taken.add(names[aside.span.start].casefold())
    wanted, behind = _matched(here, item)
    # From the last on, so that the lines of those before stay right.
    for part in reversed(parts):
        first, stop = part.span.line - record.span.line, part.span.end_line - record.span.line + 1
        if isinstance(part, Scenario):
            for each in reversed(behind.get(part.slug, ())):
                _insert(lines, stop, scenario_lines(each))
            _exchange_scenario(lines, first, stop, part, wanted.get(part.slug))
        else:
            _exchange_body(lines, first, stop, item.attributes.get(names[part.span.start], ""))
    if new := behind.get("", []):
        place = parts[0].span.line - record.span.line if parts else len(lines.text)
        for each in reversed(new):
            _insert(lines, place, scenario_lines(each))
    stop = parts[0].span.line - record.span.line if parts else len(lines.read)
    _exchange_head(lines, stop, grammar, record, (here, item))
    return lines.data()


def _matched(here: Item, item: Item) -> tuple[dict[str, Criterion], dict[str, list[Criterion]]]:
    """What becomes of each scenario, and the new ones by the label of the one that they follow."""
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


def _insert(lines: BlockLines, line: int, texts: list[str]) -> None:
    before = [] if lines.is_blank(line - 1) else [""]
    lines.insert(line, *before, *texts)


def _exchange_scenario(lines: BlockLines, first: int, stop: int, part: Scenario, wanted: Criterion | None) -> None:
    if wanted is None:
        lines.remove(first, stop)
        return
    _exchange_body(lines, first, stop, wanted.text)
    name = scenario_name(wanted)
    if wanted.title != part.name and name != part.name:
        lines.text[first] = lines.text[first].replace(part.name, name, 1)


def _exchange_body(lines: BlockLines, first: int, stop: int, text: str) -> None:
    """Put another text below a heading; without one the heading goes too."""
    begin, end = lines.read.trimmed(first + 1, stop)
    former = "\n".join(lines.text[begin:end])
    if former.strip() == text.strip():
        return
    if not text.strip():
        lines.remove(first, stop)
        return
    made = rewritten(former, text, plain_lines)
    if begin == end:
        lines.insert(first + 1, "", *made.split("\n"))
    else:
        lines.exchange(begin, end, made.split("\n"))


_GONE = "\0"
"""Stands in a line that is taken out."""


def _exchange_head(
    lines: BlockLines, stop: int, grammar: IdGrammar, record: Requirement, items: tuple[Item, Item]
) -> None:
    here, item = items
    begin, end = lines.read.trimmed(1, stop)
    fields = [index for index in range(begin, end) if is_field(lines.text[index])]
    said = [index for index in range(begin, end) if index not in fields and not lines.is_blank(index)]
    new = [*_new_citations(lines, fields, grammar, items), *_new_metadata(record, here, item)]
    taken: set[str] = set()
    for index in fields:
        if found := CITATION.match(lines.text[index]):
            _exchange_citation(lines, index, found[1].casefold(), grammar, items, taken)
        elif found := METADATA.match(lines.text[index]):
            _exchange_metadata(lines, index, found[1].strip(), found.start(2), item, taken)
    if new:
        last = max(fields or said or [0]) + 1
        new = new if fields else ["", *new]
        lines.insert(last, *new)
        said = [index + len(new) if index >= last else index for index in said]
        fields = [*fields, *range(last, last + len(new))]
    if here.text != item.text and said:
        former = [lines.text[index] for index in range(said[0], said[-1] + 1) if index not in fields]
        made = rewritten("\n".join(former), item.text, lambda text: plain_lines(text, is_field))
        lines.exchange(said[0], said[-1] + 1, made.split("\n") if item.text.strip() else [], besides=set(fields))
    elif here.text != item.text:
        lines.insert(1, "", *plain_lines(item.text.strip(), is_field)[1])
    for index in reversed([number for number, text in enumerate(lines.text) if text == _GONE]):
        lines.remove(index, index + 1)
    if item.title != here.title:
        lines.text[0] = lines.text[0].replace(record.name, title_of(item), 1)


def _exchange_citation(
    lines: BlockLines, index: int, kind: str, grammar: IdGrammar, items: tuple[Item, Item], taken: set[str]
) -> None:
    """The first line of a kind says all that is cited, where that is something else than before."""
    before, after = (grouped(each.relations).get(kind, []) for each in items)
    if set(before) != set(after):
        lines.text[index] = citation_line(kind, after, grammar) if after and f"{kind}:" not in taken else _GONE
        taken.add(f"{kind}:")


def _exchange_metadata(lines: BlockLines, index: int, name: str, start: int, item: Item, taken: set[str]) -> None:
    if name.casefold() == ID.casefold() or name.casefold() in CITED:
        return
    own = free_name(name, taken)
    taken.add(own.casefold())
    value = one_line(item.attributes.get(own, ""))
    there = lines.text[index][start:]
    if value != one_line(there):
        lines.text[index] = lines.text[index][:start] + value if value else _GONE


def _new_citations(lines: BlockLines, fields: list[int], grammar: IdGrammar, items: tuple[Item, Item]) -> list[str]:
    here, item = items
    written = {found[1].casefold() for index in fields if (found := CITATION.match(lines.text[index]))}
    before = grouped(here.relations)
    return [
        citation_line(kind, each, grammar)
        for kind, each in grouped(item.relations).items()
        if kind in CITED and kind not in written and set(each) != set(before.get(kind, []))
    ]


def _new_metadata(record: Requirement, here: Item, item: Item) -> list[str]:
    own = item.id.rpartition("/")[2]
    changed = item.title != here.title and not record.stated(ID) and slug(title_of(item), "requirement") != own
    new = {ID: own} if changed else {}
    new |= {
        name: value for name, value in item.attributes.items() if name not in here.attributes and NAME.fullmatch(name)
    }
    return [metadata_line(name, value) for name, value in new.items() if value.strip()]
