"""JSON Schemas of requests and results, from the types themselves.

A listing is paid for in tokens by every agent that connects, so a result's schema says names and types and nothing that
follows from them: results are always complete, which makes `required` and `default` noise.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec


def result_schema(type_: type[msgspec.Struct], *, in_one_piece: bool) -> dict[str, Any]:
    """The schema of a result, with objects where they are used if it has to be in one piece."""
    return _slim_piece(type_) if in_one_piece else _slim_schema(type_)


def outline(type_: type[msgspec.Struct]) -> dict[str, Any]:
    """The schema of a result with the names of its fields, without their schemas."""
    return {"type": "object", "properties": {name: {} for name in _slim_schema(type_)["properties"]}}


def without_plain_defaults(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of arguments without what follows from an argument being optional: that it may be null, or is empty
    where nobody gives it."""
    fields = {name: _without_plain_default(field) for name, field in schema["properties"].items()}
    return {**schema, "properties": fields}


def _without_plain_default(schema: dict[str, Any]) -> dict[str, Any]:
    kept = {keyword: value for keyword, value in schema.items() if keyword != "default" or value}
    if isinstance(kept.get("type"), list):
        kept["type"] = kept["type"][0]
    options = [option for option in kept.pop("anyOf", ()) if option != {"type": "null"}]
    return {**kept, **options[0]} if len(options) == 1 else kept


@cache
def _slim_schema(type_: type[msgspec.Struct]) -> dict[str, Any]:
    slim: dict[str, Any] = _walk(_schema(type_), _without_noise)
    return slim


@cache
def _slim_piece(type_: type[msgspec.Struct]) -> dict[str, Any]:
    """The same with objects inside it where they are used."""
    schema = dict(_slim_schema(type_))
    inner = schema.pop("$defs", {})
    for name, each in inner.items():
        inner[name] = _walk(each, lambda part: _filled_in(part, inner))
    whole: dict[str, Any] = _walk(schema, lambda each: _filled_in(each, inner))
    return whole


@cache
def arguments_schema(type_: type[msgspec.Struct]) -> dict[str, Any]:
    """The schema of arguments, with objects inside it where they are used. Of what is inside an object only names and
    types are listed. Bounds are still checked: a call that breaks one gets an error that names it."""
    schema = dict(_schema(type_))
    inner = {name: names_and_types(each) for name, each in schema.pop("$defs", {}).items()}
    whole: dict[str, Any] = _walk(schema, lambda each: _filled_in(each, inner)) if inner else schema
    return whole


def names_and_types(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without bounds, defaults and descriptions."""
    plain: dict[str, Any] = _walk(schema, _names_and_types)
    return plain


_INSIDE = ("type", "properties", "items", "enum")


def _names_and_types(schema: dict[str, Any]) -> dict[str, Any]:
    kept = {keyword: value for keyword, value in schema.items() if keyword in _INSIDE}
    options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) == 1:
        kept |= options[0]
    kind = kept.get("type")
    if isinstance(kind, list):
        kept["type"] = kind[0]
    return kept


def _filled_in(schema: dict[str, Any], inner: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A schema with a reference replaced by the schema it names."""
    rest = {keyword: value for keyword, value in schema.items() if keyword not in ("anyOf", "$ref", "default")}
    options = schema.get("anyOf", (schema,))
    name = next((option["$ref"].rpartition("/")[2] for option in options if "$ref" in option), None)
    if name is None or name not in inner or len(options) > 2:
        return schema
    filled = {**inner[name], **rest}
    if {"type": "null"} in options and isinstance(filled.get("type"), str):
        filled["type"] = [filled["type"], "null"]
    return filled


@cache
def _schema(type_: type[msgspec.Struct]) -> dict[str, Any]:
    """The schema of one type with the root inlined: hosts expect `type: object` at the top."""
    _, definitions = msgspec.json.schema_components((type_,), ref_template="#/$defs/{name}")
    root: dict[str, Any] = definitions.pop(type_.__name__)
    if definitions:
        root["$defs"] = definitions
    root.pop("description", None)
    tidy: dict[str, Any] = _walk(root, _nullable_in_short)
    return tidy


def _walk(schema: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Apply a change to every schema inside a schema. Property names are not keywords and stay."""
    if isinstance(schema, list):
        return [_walk(item, change) for item in schema]
    if not isinstance(schema, dict):
        return schema
    walked: dict[str, Any] = {}
    for keyword, value in change(schema).items():
        if keyword in ("properties", "$defs"):
            walked[keyword] = {name: _walk(inner, change) for name, inner in value.items()}
        elif keyword in ("items", "anyOf", "additionalProperties"):
            walked[keyword] = _walk(value, change)
        else:
            walked[keyword] = value
    return walked


def _nullable_in_short(schema: dict[str, Any]) -> dict[str, Any]:
    """`{"type": ["string", "null"]}` instead of an alternative of two schemas, and no title, which repeats a name."""
    short = {keyword: value for keyword, value in schema.items() if keyword != "title"}
    options = short.get("anyOf")
    if options and len(options) == 2 and options[1] == {"type": "null"} and isinstance(options[0].get("type"), str):
        del short["anyOf"]
        short = {**options[0], "type": [options[0]["type"], "null"], **short}
    return short


def _without_noise(schema: dict[str, Any]) -> dict[str, Any]:
    return {
        keyword: value for keyword, value in schema.items() if keyword not in ("required", "default", "description")
    }
