"""Labels that criteria got when they were imported stay theirs, whatever comes before them in the source later.

A source whose labels do not fit has its criteria labelled anew, and what cites them here cites these labels. The record
of the import says which label became which. Where a source counts its criteria, as lists of boxes do, the label of one
changes when another goes, so in an item that changed the text finds a criterion first.
"""

from collections.abc import Mapping

from clew.exchange.imports_file import ImportRecord
from clew.exchange.model import Item


def labels_by_record(item: Item, record: ImportRecord | None, here: Item | None) -> dict[str, str]:
    """The labels here of the item's criteria by their own, as the last import left them; none where it changed none."""
    if record is None or here is None or not record.labels:
        return {}
    same = {each.label for each in here.criteria} - set(record.labels.values())
    given = (each.label for each in item.criteria)
    return {label: record.labels.get(label, label) for label in given if label in record.labels or label in same}


def labels_by_text(item: Item, known: Mapping[str, str], here: Item) -> dict[str, str]:
    """The same for an item that changed: first those that say what they said, then those of the same text, then those
    of the same label. `known` is what the record says."""
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
