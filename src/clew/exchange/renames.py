"""Imported requirements that somebody renamed here since: the next import and the next export find them again.

A record names the id that an item got. Where the project has no such id any more, the requirement is looked for among
those that came from no import: the one of the same title and mostly the same words, or one that says, but for its id,
what was written. Where there is none, or where it could be either of two, the requirement is gone, and the next import
adds the item again.

Labels that criteria got when they were imported stay theirs, whatever comes before them in the source later. A source
whose labels do not fit has its criteria labelled again, and what cites them here cites these labels. The record of the
import says which label became which. Where a source counts its criteria, as lists of boxes do, the label of one changes
when another goes, so in an item that changed the text finds a criterion first.
"""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from clew.exchange.imports_file import ImportRecord
from clew.exchange.model import Item, Relation, version_of

Records = Mapping[tuple[str, str], ImportRecord]

_MOST_COMPARED = 100_000
"""Pairs of a lost requirement and one that it could be; comparing more would take longer than anybody waits."""


def find_renamed(
    here: Mapping[str, Item], records: Records, name: str, there: Mapping[str, Item] | None = None
) -> dict[str, str]:
    """The ids that requirements of an import have now, by those that they got. `there` are the source's items, by their
    ids in the source."""
    lost = [each for (source, _), each in records.items() if source == name and each.as_ and each.as_ not in here]
    if not lost:
        return {}
    known = {record.as_ for record in records.values()}
    free = {id: item for id, item in here.items() if id not in known}
    called: dict[str, list[str]] = {}
    for id, item in free.items():
        called.setdefault(item.title.strip(), []).append(id)
    found: dict[str, str] = {}
    for record in lost:
        source = (there or {}).get(record.id)
        titled = called.get(source.title.strip(), ()) if source is not None and source.title.strip() else ()
        same = [id for id in titled if id in free and (_is_as_written(free[id], record) or _is_alike(free[id], source))]
        if len(same) > 1:
            same = [id for id in same if _is_as_written(free[id], record)]
        if len(same) == 1:
            found[record.as_] = same[0]
            del free[same[0]]
    if len(lost) * len(free) <= _MOST_COMPARED:
        for record in lost:
            same = [id for id in free if record.as_ not in found and _is_as_written(free[id], record)]
            if len(same) == 1:
                found[record.as_] = same[0]
                del free[same[0]]
    return found


def _is_alike(here: Item, there: Item | None) -> bool:
    """True if most words of one are words of the other: the same title alone may belong to something else."""
    if there is None:
        return False
    mine, other = (
        {word for text in (each.text, *(one.text for one in each.criteria)) for word in text.lower().split()}
        for each in (here, there)
    )
    return 2 * len(mine & other) > max(len(mine), len(other))


def _is_as_written(here: Item, record: ImportRecord) -> bool:
    return version_of(msgspec.structs.replace(here, id=record.as_)) == record.written


def with_current_ids(records: Records, renamed: Mapping[str, str], name: str) -> dict[tuple[str, str], ImportRecord]:
    """The records of an import with the ids that its requirements have now."""
    return {
        key: msgspec.structs.replace(record, as_=renamed.get(record.as_, record.as_)) if key[0] == name else record
        for key, record in records.items()
    }


def with_ids(item: Item, ids: Mapping[str, str], labels: Callable[[str, str], str] = lambda _, label: label) -> Item:
    """An item with other ids, its own and those that it cites; `labels` gives another label for one of an item."""

    def renamed(relation: Relation) -> Relation:
        target = ids.get(relation.target, relation.target)
        return Relation(relation.kind, target, tuple(labels(relation.target, label) for label in relation.labels))

    return msgspec.structs.replace(
        item,
        id=ids.get(item.id, item.id),
        parent=ids.get(item.parent, item.parent) if item.parent else item.parent,
        relations=tuple(renamed(each) for each in item.relations),
        criteria=tuple(msgspec.structs.replace(each, label=labels(item.id, each.label)) for each in item.criteria),
    )


def under_original_ids(items: Iterable[Item], records: Iterable[ImportRecord], name: str) -> list[Item]:
    """Items of the project as an import called them: its ids and labels. An item keeps its own where the other one is
    taken by an item that did not come from there."""
    all_items = list(items)
    mine = {record.as_: record for record in records if record.source == name and record.as_}
    present = {item.id for item in all_items}
    foreign = present - mine.keys()
    ids = {here: record.id for here, record in mine.items() if here in present and record.id not in foreign}
    # An item that keeps its own id takes that id away from the item that had it in the source.
    while taken := {here for here, former in ids.items() if former in present - ids.keys()}:
        ids = {here: former for here, former in ids.items() if here not in taken}
    former = {here: {new: old for old, new in record.labels.items()} for here, record in mine.items() if here in ids}

    def label(id: str, given: str) -> str:
        return former.get(id, {}).get(given, given)

    return [with_ids(item, ids, label) for item in all_items]


def labels_by_record(item: Item, record: ImportRecord | None, here: Item | None) -> dict[str, str]:
    """The labels here of the item's criteria by their own, as the last import left them; none where it changed none."""
    if record is None or here is None or not record.labels:
        return {}
    same = {each.label for each in here.criteria} - set(record.labels.values())
    given = (each.label for each in item.criteria)
    return {label: record.labels.get(label, label) for label in given if label in record.labels or label in same}


def labels_by_text(item: Item, known: Mapping[str, str], here: Item) -> dict[str, str]:
    """The labels for an item that changed: first for unchanged criteria, then for those of the same text, then of the
    same label. `known` are those of the record."""
    texts = {each.label: _plain(each.text) for each in here.criteria}
    found = {
        each.label: known[each.label]
        for each in item.criteria
        if each.label in known and texts.get(known[each.label]) == _plain(each.text)
    }
    left = {text: label for label, text in reversed(texts.items()) if label not in found.values()}
    for each in item.criteria:
        if each.label not in found and (label := left.pop(_plain(each.text), None)) is not None:
            found[each.label] = label
    taken = set(found.values())
    found |= {own: label for own, label in known.items() if own not in found and label not in taken}
    return found


def labels_to_record(record: ImportRecord | None, labels: Mapping[str, str]) -> dict[str, str]:
    """The labels that differ, and those of criteria that are gone, which nothing else shall get."""
    gone = record.labels if record is not None else {}
    used = set(labels.values())
    kept = {own: label for own, label in gone.items() if own not in labels and label not in used}
    return kept | {own: label for own, label in labels.items() if own != label}


def _plain(text: str) -> str:
    return " ".join(text.split())
