"""Items that come back from a format unchanged, although the format writes them otherwise.

No table has tabs at the ends of its cells, and no XML has form feeds. So what was exported from here is compared with
what the format makes of it now, and each part that is the same is taken from the project. After an import the same
holds for its file, until somebody changes the item here.
"""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from clew.exchange.model import Criterion, Exchange, Item, Relation, relation_kind
from clew.text.lines import matched

_PARTS = ("kind", "title", "parent", "rich", "kept")


def keep_unchanged(
    exchange: Exchange,
    here: Mapping[str, Item],
    written: Mapping[str, str],
    after_the_format: Callable[[Exchange], Exchange],
) -> Exchange:
    """The items of a file, with the project's own text in each part that did not change since the export. `here` are
    the items as they are exported now, `written` the versions at the last import of the file, and `after_the_format`
    gives items as they are after writing and reading them in the format."""
    own = {
        item.id: here[item.id]
        for item in exchange.items
        if item.version and item.id in here and here[item.id].version in (item.version, written.get(item.id))
    }
    if not own:
        return exchange
    exported = {item.id: item for item in after_the_format(Exchange(items=tuple(here.values()))).items}
    items = tuple(
        _as_here(item, own[item.id], exported[item.id]) if item.id in own and item.id in exported else item
        for item in exchange.items
    )
    return msgspec.structs.replace(exchange, items=items)


def _as_here(item: Item, here: Item, exported: Item) -> Item:
    same = {name: getattr(here, name) for name in _PARTS if getattr(item, name) == getattr(exported, name)}
    return msgspec.structs.replace(
        item,
        **same,
        text=_text(item.text, here.text, exported.text),
        criteria=tuple(_criteria(item, here, exported)),
        attributes=_attributes(item.attributes, here.attributes, exported.attributes),
        relations=_relations(item.relations, here.relations, exported.relations),
    )


def _text(text: str, here: str, exported: str) -> str:
    """A text with the project's own lines, if they are the same after the format."""
    if text == exported:
        return here
    own, before, given = here.split("\n"), exported.split("\n"), text.split("\n")
    if own == before or len(own) != len(before):
        return text
    lines: list[str] = []
    for is_same, (start, end, begin, until) in matched(before, given):
        lines += own[start:end] if is_same else given[begin:until]
    return "\n".join(lines)


def _criteria(item: Item, here: Item, exported: Item) -> list[Criterion]:
    if item.criteria == exported.criteria:
        return list(here.criteria)
    if len(here.criteria) != len(exported.criteria):
        return list(item.criteria)
    pairs = list(zip(here.criteria, exported.criteria, strict=True))
    found: list[Criterion] = []
    for each in item.criteria:
        at = next((number for number, (_, before) in enumerate(pairs) if before.label == each.label), None)
        if at is None:
            found.append(each)
            continue
        own, before = pairs.pop(at)
        title = own.title if each.title == before.title else each.title
        found.append(Criterion(own.label, _text(each.text, own.text, before.text), title))
    return found


def _attributes(attributes: Mapping[str, str], here: Mapping[str, str], exported: Mapping[str, str]) -> dict[str, str]:
    """In the order of here. What the format leaves out is there still."""
    found = {
        name: _text(attributes[name], value, exported.get(name, "")) if name in attributes else value
        for name, value in here.items()
        if name in attributes or name not in exported
    }
    return found | {name: value for name, value in attributes.items() if name not in found}


def _relations(
    relations: tuple[Relation, ...], here: tuple[Relation, ...], exported: tuple[Relation, ...]
) -> tuple[Relation, ...]:
    """The project's own relations, if they are the same after the format, which may join those of one target or order
    them."""
    if set(relations) == set(exported):
        return here
    given, own, before = map(_by_target, (relations, here, exported))
    keeps_order = list(own) == list(before)
    order = given if keeps_order else dict.fromkeys((*(key for key in own if key in given), *given))
    return tuple(each for key in order for each in _cited(given[key], own.get(key, []), before.get(key, [])))


def _by_target(relations: Iterable[Relation]) -> dict[tuple[str, str], list[Relation]]:
    found: dict[tuple[str, str], list[Relation]] = {}
    for each in relations:
        found.setdefault((relation_kind(each.kind), each.target), []).append(each)
    return found


def _cited(given: list[Relation], here: list[Relation], exported: list[Relation]) -> list[Relation]:
    """The relations to one target: those of the project, without the labels that were removed and with those that were
    added."""
    if set(given) == set(exported):
        return here
    if set(here) == set(exported):
        return given
    labels = dict.fromkeys(label for each in given for label in each.labels)
    whole = not all(each.labels for each in given)
    found: list[Relation] = []
    for each in here:
        left = tuple(label for label in each.labels if label in labels)
        if left or (whole and not each.labels):
            found.append(msgspec.structs.replace(each, labels=left))
    new = tuple(label for label in labels if not any(label in each.labels for each in found))
    kind, target = (here or given)[0].kind, given[0].target
    found += [Relation(kind, target)] if whole and all(each.labels for each in found) else []
    return found + ([Relation(kind, target, new)] if new else [])
