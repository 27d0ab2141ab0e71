"""The file that writes down what came from where: `clew.imports.jsonl` in the project.

One line of JSON for each item that was imported, sorted, so that an import changes as few lines as it has to and two
branches merge:

    {"from": "needs.json", "id": "SW_001", "as": "REQ-p00012", "hash": "...", "written": "...", "kept": {...}}

`from` names the import, `id` is the item's own id and `as` the one it got here; without `as` the item has no place here
and is kept whole. `hash` names what the source said, `written` what was made of it, `labels` are those of criteria that
got another one, and `kept` is what had no place. `version` is that of the export which the item came from, and `order`
says which of several imports left its record of a requirement last. `file_hash` names what the file itself said where
it cannot say all that the project has, or says it otherwise, and `hash` then names what that was taken for. `now` is
what the source says of an item that was imported before and does not come in any more, such as one that turned
inactive: what it became stays.
"""

from collections.abc import Container, Iterable, Mapping
from typing import Any

import msgspec

from clew.errors import FormatError
from clew.exchange.model import Criterion, Item, Relation
from clew.text.controls import escaped_json

NAME = "clew.imports.jsonl"
NOW = "in its source now"
"""The field of an exported item that says what `now` says."""


class UnplacedParts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The parts of an item that its new place cannot hold. A part that it holds in another form is here as the source
    has it."""

    kind: str = ""
    title: str = ""
    text: str = ""
    criteria: tuple[Criterion, ...] = ()
    attributes: dict[str, str] = {}
    relations: tuple[Relation, ...] = ()
    parent: str | None = None
    path: str = ""
    line: int = 0
    rich: str = ""
    fields: dict[str, Any] = {}


class ImportRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    source: str = msgspec.field(name="from")
    id: str
    as_: str = msgspec.field(name="as", default="")
    hash: str
    file_hash: str = ""
    written: str = ""
    labels: dict[str, str] = {}
    """The labels that criteria have here by those of the source, as far as they differ."""
    kept: UnplacedParts = UnplacedParts()
    now: UnplacedParts | None = None
    version: str = ""
    """Of the export that the source said; an item with another one comes from another export."""
    order: int = 0
    """Higher than those of the other imports that left a record of the requirement before."""


def read_records(data: bytes | None) -> dict[tuple[str, str], ImportRecord]:
    """The records by import and id. FormatError where a line is none: guessing would import everything twice."""
    found: dict[tuple[str, str], ImportRecord] = {}
    for number, line in enumerate((data or b"").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            record = msgspec.json.decode(line, type=ImportRecord)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise FormatError(
                f"Line {number} of {NAME} cannot be read: {error}.",
                hint="Resolve the merge, or remove the line. Nothing was changed.",
            ) from error
        found[record.source, record.id] = record
    return found


def render_records(records: Iterable[ImportRecord]) -> bytes:
    ordered = sorted(records, key=lambda each: (each.source, each.id))
    return "".join(f"{escaped_json(msgspec.json.encode(each).decode())}\n" for each in ordered).encode()


def left_over(item: Item, wanted: Item, placed: Item) -> UnplacedParts:
    """The parts of an item that cannot be read in its new place. `wanted` is the item in the ids of the project."""
    found = {key.casefold(): _bare(value) for key, value in placed.attributes.items()}
    return UnplacedParts(
        kind=item.kind if item.kind != placed.kind else "",
        title=item.title if _bare(item.title) != placed.title else "",
        text=item.text if _bare(item.text) != _bare(placed.text) else "",
        criteria=wanted.criteria if wanted.criteria != placed.criteria else (),
        attributes={key: value for key, value in item.attributes.items() if found.get(key.casefold()) != _bare(value)},
        relations=tuple(
            given for given, here in zip(item.relations, wanted.relations, strict=True) if here not in placed.relations
        ),
        parent=item.parent if wanted.parent != placed.parent else None,
        rich=item.rich if item.rich != placed.rich else "",
        fields=dict(item.kept),
        line=item.line if item.path != placed.path else 0,
        path=item.path if item.path != placed.path else "",
    )


def _bare(text: str) -> str:
    """A text without spaces at the ends of its lines, which nobody sees."""
    return "\n".join(line.rstrip() for line in text.split("\n")).strip()


def whole(item: Item) -> UnplacedParts:
    """An item that has no place at all."""
    return UnplacedParts(
        kind=item.kind,
        title=item.title,
        text=item.text,
        criteria=item.criteria,
        attributes=dict(item.attributes),
        relations=item.relations,
        parent=item.parent,
        path=item.path,
        line=item.line,
        rich=item.rich,
        fields=dict(item.kept),
    )


def restored(
    item: Item, records: Iterable[ImportRecord], ids: Mapping[str, Mapping[str, str]], now: Container[str]
) -> Item:
    """An item of the project with the parts that its imports kept, the last one over those before. `ids` are the
    project's ids by those of each source; a text is one of `now` if nobody changed it here since, so that the source's
    own may replace it."""
    own = item
    for record in sorted(records, key=lambda each: (each.written in now, each.order)):
        item = _restored(item, own, record, ids[record.source], untouched=record.written in now)
    return item


def _restored(item: Item, own: Item, record: ImportRecord, ids: Mapping[str, str], *, untouched: bool) -> Item:
    """Restore one record; `own` is the item as it is in the project."""
    kept, known = record.kept, {key.casefold() for key in own.attributes}
    again = {key: value for key, value in kept.attributes.items() if untouched or key.casefold() not in known}
    replaced = {key.casefold() for key in again}
    since = {NOW: msgspec.to_builtins(record.now)} if record.now is not None else {}
    changes: dict[str, Any] = {
        "attributes": {key: value for key, value in item.attributes.items() if key.casefold() not in replaced} | again,
        "relations": tuple(dict.fromkeys((*item.relations, *(_renamed(each, ids) for each in kept.relations)))),
        "kept": {**item.kept, **kept.fields, **since},
        "parent": ids.get(kept.parent, kept.parent) if kept.parent and not own.parent else item.parent,
        "kind": kept.kind or item.kind,
    }
    if untouched:
        changes |= {
            "title": kept.title or item.title,
            "text": kept.text or item.text,
            "criteria": kept.criteria or item.criteria,
            "rich": kept.rich or item.rich,
        }
    return msgspec.structs.replace(item, **changes)


def _renamed(relation: Relation, ids: Mapping[str, str]) -> Relation:
    return msgspec.structs.replace(relation, target=ids.get(relation.target, relation.target))
