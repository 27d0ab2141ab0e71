"""needs.json of sphinx-needs.

A need is an item; its content is the text, its parts are the criteria, and its links are relations by the name of the
link field. What sphinx-needs computes itself, such as back links and colours, is not read.
"""

from typing import Any

import msgspec

from clew.errors import FormatError
from clew.exchange.flat import KNOWN_RELATIONS, flattened, relation_name, unflattened
from clew.exchange.model import REQUIREMENT, Criterion, Exchange, Item, Relation, relation_kind
from clew.exchange.sources import ImportSource, json_of, mapping, string
from clew.text.controls import pretty_json
from clew.text.display import shortened

VERSION = "1.0"
_REQUIREMENT_TYPES = frozenset({"req", "requirement", "spec", "need", "story", "feat", "feature", "sysreq", "swreq"})
_NATURAL = ("id", "type", "title", "content", "description", "parts", "parent_need", "docname", "lineno", "clew")
_COMPUTED = frozenset(
    {
        *("is_need", "is_part", "is_import", "is_external", "is_modified", "modifications", "id_complete", "id_parent"),
        *("type_name", "type_color", "type_prefix", "type_style", "lineno_content", "doctype", "section_name"),
        *("has_dead_links", "has_forbidden_dead_links", "constraints_results", "constraints_passed"),
        *("constraints_error", "external_css", "external_url", "hide", "collapse", "style", "layout", "signature"),
        *("jinja_content", "template", "pre_template", "post_template", "pre_content", "post_content", "arch"),
        *("parts_links", "parent_needs", "creator", "constraints", "delete", "target_id", "content_id"),
    }
)
"""Keys that sphinx-needs adds by itself, or that only control the display of a need."""


def read(source: ImportSource) -> Exchange:
    document = mapping(source.json(), f"'{source.name}'")
    if "versions" not in document:
        raise FormatError(
            f"'{source.name}' has no 'versions'; it is not needs.json.",
            hint="Build it with `sphinx-build -b needs`. Nothing was changed.",
        )
    versions = mapping(document["versions"], "'versions'")
    current = string(document.get("current_version"))
    if current not in versions:
        if len(versions) != 1:
            raise FormatError(
                f"The current_version '{current}' is not among the versions {', '.join(versions) or '(none)'}.",
                hint="Name one of them as current_version. Nothing was changed.",
            )
        current = next(iter(versions))
    needs = mapping(mapping(versions[current], f"Version '{current}'").get("needs"), f"'needs' of version '{current}'")
    schema = mapping(versions[current].get("needs_schema") or {}, "'needs_schema'").get("properties") or {}
    known = set(needs)
    items = tuple(_item(id, mapping(each, f"Need '{id}'"), known, schema) for id, each in needs.items())
    others = [each for each in versions if each != current]
    note = f"Read is the current version, {current}, and not {shortened(', '.join(others), 200)}."
    return Exchange(items=items, notes=(note,) if others else ())


def _item(id: str, need: dict[str, Any], known: set[str], schema: dict[str, Any]) -> Item:
    written = json_of(string(need.get("clew") or "{}").encode(), f"'clew' of '{id}'")
    fields = {name: string(value) for name, value in mapping(written, f"'clew' of '{id}'").items()}
    parsed = unflattened({**fields, "id": id}, f"Need '{id}'")
    kind = string(need.get("type"))
    attributes: dict[str, str] = {}
    relations: list[Relation] = []
    for name, value in need.items():
        if name in _NATURAL or name in _COMPUTED or name.endswith("_back") or value in (None, "", [], {}):
            continue
        if _is_link(name, value, known, schema):
            targets = (string(each) for each in (value if isinstance(value, list) else [value]))
            relations += [_relation(name, target, known) for target in targets]
        elif isinstance(value, list) and all(isinstance(each, str) for each in value):
            attributes[name] = ", ".join(value)
        else:
            attributes[name] = string(value)
    is_requirement = kind in _REQUIREMENT_TYPES or not kind
    if kind and kind != _WRITTEN_TYPE and not fields:
        attributes["type"] = kind
    given = fields.get("kind", "")
    return Item(
        id=id,
        kind=given or (REQUIREMENT if is_requirement else kind),
        title=string(need.get("title")),
        text=string(need.get("content") or need.get("description")),
        criteria=parsed.criteria if _same_parts(parsed, need) else _criteria(need.get("parts")),
        attributes={**attributes, **parsed.attributes},
        relations=_joined(tuple(relations), parsed.relations),
        parent=string(need.get("parent_need")) or parsed.parent,
        path=string(need.get("docname")),
        line=need["lineno"] if isinstance(need.get("lineno"), int) else 0,
        rich=parsed.rich,
        kept=parsed.kept,
        version=parsed.version,
    )


_WRITTEN_TYPE = "req"


def _is_link(name: str, value: Any, known: set[str], schema: dict[str, Any]) -> bool:
    """True for a field of links: by the file's schema, by its usual name, or because every word in it is a need."""
    described = schema.get(name)
    if isinstance(described, dict) and described.get("field_type") in ("links", "link"):
        return True
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return False
    return name in KNOWN_RELATIONS or all(each.partition(".")[0] in known for each in value)


def _relation(name: str, target: str, known: set[str]) -> Relation:
    """`NEED.1` is a part of a need."""
    need, dot, part = target.rpartition(".")
    kind = relation_kind(name)
    return Relation(kind, need, (part,)) if dot and target not in known and need in known else Relation(kind, target)


def _joined(read: tuple[Relation, ...], own: tuple[Relation, ...]) -> tuple[Relation, ...]:
    """The links as they are, with the labels of those that were written by Clew."""
    known = {(each.kind, each.target): each for each in own}
    return tuple(dict.fromkeys((*(known.get((each.kind, each.target), each) for each in read), *own)))


def _criteria(parts: Any) -> tuple[Criterion, ...]:
    if not isinstance(parts, dict):
        return ()
    return tuple(
        Criterion(str(label), string(part.get("content")) if isinstance(part, dict) else string(part))
        for label, part in parts.items()
    )


def _same_parts(parsed: Item, need: dict[str, Any]) -> bool:
    said = {each.label: each.text for each in parsed.criteria}
    # Parts have no label twice.
    return bool(said) and said == {each.label: each.text for each in _criteria(need.get("parts"))}


def write(exchange: Exchange, project: str) -> bytes:
    needs = {item.id: _need(item) for item in exchange.items}
    version = {"needs": needs, "needs_amount": len(needs), "creator": {"program": "clew", "version": VERSION}}
    document = {"project": project, "current_version": VERSION, "versions": {VERSION: version}}
    return pretty_json(document).encode() + b"\n"


def _need(item: Item) -> dict[str, Any]:
    """The item as a need: sphinx-needs gets every value that it has a field for, and the field `clew` keeps the
    rest."""
    links: dict[str, list[str]] = {}
    for each in item.relations:
        # To whole needs: a part exists only where the text of a need marks it. The labels are in `clew`.
        targets = links.setdefault(each.kind, [])
        targets += [each.target] if each.target not in targets else []
    flat = flattened(item)
    rest = {name: value for name, value in flat.items() if name not in ("id", "title", "text", "parent")}
    for kind in links:
        if not any(each.labels for each in item.relations if each.kind == kind) and kind in KNOWN_RELATIONS:
            rest.pop(relation_name(kind), None)
    status = rest.pop("status", None)
    if item.kind == REQUIREMENT:
        rest.pop("kind", None)
    parts = {each.label: {"id": each.label, "content": each.text} for each in item.criteria}
    unique = len(parts) == len(item.criteria)
    if unique and not any(each.title for each in item.criteria):
        rest.pop("criteria", None)
    return {
        "id": item.id,
        "type": item.attributes.get("type") or _WRITTEN_TYPE,
        "title": item.title,
        "content": item.text,
        "status": status,
        **({"docname": item.path} if item.path else {}),
        **({"lineno": item.line} if item.line else {}),
        "parts": parts if unique else {},
        **({"parent_need": item.parent} if item.parent else {}),
        **{kind: targets for kind, targets in links.items() if kind in KNOWN_RELATIONS},
        # As a text, which is what a field of sphinx-needs is.
        **({"clew": msgspec.json.encode(rest).decode()} if rest else {}),
    }
