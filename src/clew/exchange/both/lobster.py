"""LOBSTER: JSON of the schema lobster-req-trace; traces of implementations and activities are read as well."""

from typing import Any

from clew.errors import FormatError
from clew.exchange.flat import flattened, unflattened
from clew.exchange.model import REQUIREMENT, Exchange, Item, Relation
from clew.exchange.sources import ImportSource, listing, mapping, string
from clew.text.controls import pretty_json

_SCHEMAS = {"lobster-req-trace": REQUIREMENT, "lobster-imp-trace": "code", "lobster-act-trace": "test"}
_NAMESPACE = "req"
_VERSION = 4
_TRACES = "implements"
"""The meaning of a reference: LOBSTER has one kind, from an implementation to the thing that it implements."""
_NATURAL = frozenset(
    {"tag", "location", "name", "text", "status", "refs", "clew", "framework", "kind", "messages", "language"}
)


def read(source: ImportSource) -> Exchange:
    document = mapping(source.json(), f"'{source.name}'")
    schema = document.get("schema")
    if schema not in _SCHEMAS:
        raise FormatError(
            f"The schema of '{source.name}' is {schema!r}, not one of {', '.join(_SCHEMAS)}.",
            hint="Name a file that a LOBSTER tool wrote. Nothing was changed.",
        )
    data = listing(document.get("data"), "'data'")
    return Exchange(items=tuple(_item(mapping(each, "An item of 'data'"), _SCHEMAS[schema]) for each in data))


def _item(raw: dict[str, Any], kind: str) -> Item:
    fields = {name: string(value) for name, value in mapping(raw.get("clew") or {}, "'clew'").items()}
    id = fields.get("id") or _target(string(raw.get("tag")))
    parsed = unflattened({"kind": kind, **fields, "id": id}, f"Item '{id}'")
    targets = [_target(string(each)) for each in listing(raw.get("refs") or [], f"'refs' of '{id}'")]
    known = {_target(_tag(each.target)) for each in parsed.relations}
    relations = tuple(each for each in parsed.relations if _target(_tag(each.target)) in targets)
    relations += tuple(Relation(_TRACES, target) for target in targets if target not in known)
    attributes = dict(parsed.attributes)
    if status := string(raw.get("status")):
        attributes["status"] = status
    name = string(raw.get("name"))
    place = raw.get("location") if isinstance(raw.get("location"), dict) else {}
    others = {name: value for name, value in raw.items() if name not in _NATURAL and value}
    if not fields:
        others |= {name: raw[name] for name in ("framework", "language", "kind") if raw.get(name)}
    return Item(
        id=id,
        kind=parsed.kind,
        title=parsed.title if fields and name == (parsed.title or id) else name,
        text=string(raw.get("text")),
        criteria=parsed.criteria,
        attributes=attributes,
        relations=relations,
        parent=parsed.parent,
        path=string(place.get("file")) if place else "",
        line=place["line"] if place and isinstance(place.get("line"), int) else 0,
        rich=parsed.rich,
        kept={**parsed.kept, **others},
        version=parsed.version,
    )


def _target(tag: str) -> str:
    """`req NAME@VERSION` without the namespace and the version."""
    return (tag.partition(" ")[2] or tag).partition("@")[0]


def write(exchange: Exchange, project: str) -> bytes:
    data = [_raw(item) for item in exchange.items]
    document = {"data": data, "generator": "clew", "schema": "lobster-req-trace", "version": _VERSION}
    return pretty_json(document).encode() + b"\n"


def _raw(item: Item) -> dict[str, Any]:
    flat = flattened(item)
    status = flat.pop("status", None)
    rest = {name: value for name, value in flat.items() if name not in ("title", "text")}
    place = {"kind": "file", "file": item.path, "line": item.line or None, "column": None}
    return {
        "tag": _tag(item.id),
        "location": place if item.path else {"kind": "void"},
        "name": item.title or item.id,
        "messages": [],
        "just_up": [],
        "just_down": [],
        "just_global": [],
        "refs": list(dict.fromkeys(_tag(each.target) for each in item.relations)),
        "framework": "Clew",
        "kind": item.kind,
        "text": item.text,
        "status": status,
        "clew": {**rest, "title": item.title},
    }


def _tag(id: str) -> str:
    return f"{_NAMESPACE} {id.replace('@', '_')}"
