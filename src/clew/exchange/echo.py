"""What a format spells otherwise is no change: an item that comes back as the format says it is what it was.

No table has tabs at the ends of its cells, and no XML has form feeds. So what was exported from here is compared with
what the format makes of it now, and each part that is the same is taken from the project.
"""

from collections.abc import Callable, Mapping
from difflib import SequenceMatcher

import msgspec

from clew.exchange.model import Criterion, Exchange, Item, Relation

_PARTS = ("kind", "title", "parent", "rich", "kept")


def unspelled(exchange: Exchange, here: Mapping[str, Item], spelled: Callable[[Exchange], Exchange]) -> Exchange:
    """The items of a file, in which what did not change since the export says what it says here. `here` are the items
    as they are exported now, and `spelled` is what a format makes of them."""
    own = {item.id: here[item.id] for item in exchange.items if _is_own(item, here.get(item.id))}
    if not own:
        return exchange
    known = {item.id: item for item in spelled(Exchange(items=tuple(here.values()))).items}
    items = tuple(
        _as_here(item, own[item.id], known[item.id]) if item.id in own and item.id in known else item
        for item in exchange.items
    )
    return msgspec.structs.replace(exchange, items=items)


def _is_own(item: Item, here: Item | None) -> bool:
    return bool(item.version) and here is not None and here.version == item.version


def _as_here(item: Item, here: Item, known: Item) -> Item:
    same = {name: getattr(here, name) for name in _PARTS if getattr(item, name) == getattr(known, name)}
    return msgspec.structs.replace(
        item,
        **same,
        text=_text(item.text, here.text, known.text),
        criteria=tuple(_criteria(item, here, known)),
        attributes=_attributes(item.attributes, here.attributes, known.attributes),
        relations=_relations(item.relations, here.relations, known.relations),
    )


def _text(text: str, here: str, known: str) -> str:
    """A text whose lines are those of here, as far as they are what the format makes of them."""
    if text == known:
        return here
    own, spelled, said = here.split("\n"), known.split("\n"), text.split("\n")
    if own == spelled or len(own) != len(spelled):
        return text
    lines: list[str] = []
    for kind, start, end, begin, until in SequenceMatcher(None, spelled, said).get_opcodes():
        lines += own[start:end] if kind == "equal" else said[begin:until]
    return "\n".join(lines)


def _criteria(item: Item, here: Item, known: Item) -> list[Criterion]:
    if item.criteria == known.criteria:
        return list(here.criteria)
    if len(here.criteria) != len(known.criteria):
        return list(item.criteria)
    pairs = list(zip(here.criteria, known.criteria, strict=True))
    found: list[Criterion] = []
    for each in item.criteria:
        at = next((number for number, (_, spelled) in enumerate(pairs) if spelled.label == each.label), None)
        if at is None:
            found.append(each)
            continue
        own, spelled = pairs.pop(at)
        title = own.title if each.title == spelled.title else each.title
        found.append(Criterion(own.label, _text(each.text, own.text, spelled.text), title))
    return found


def _attributes(attributes: Mapping[str, str], here: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """In the order of here. What the format leaves out is there still."""
    found = {
        name: _text(attributes[name], value, known[name]) if name in known and name in attributes else value
        for name, value in here.items()
        if name in attributes or name not in known
    }
    return found | {name: value for name, value in attributes.items() if name not in found}


def _relations(
    relations: tuple[Relation, ...], here: tuple[Relation, ...], known: tuple[Relation, ...]
) -> tuple[Relation, ...]:
    if len(here) != len(known) or set(here) == set(known):
        return relations
    own = dict(zip(known, here, strict=True))
    return tuple(own.get(each, each) for each in relations)
