"""JSON Schemas of requests and results, from the types themselves.

A listing is paid for in tokens by every agent that connects, so a result's schema says names and types and nothing that
follows from them: results are always complete, which makes `required` and `default` noise.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from clew.surfaces.mcp.registry import Tool


def input_schema(tool: Tool) -> dict[str, Any]:
    return _schema(tool.request)


def output_schema(tool: Tool) -> dict[str, Any]:
    return _slim_schema(tool.result)


@cache
def _slim_schema(type_: type[msgspec.Struct]) -> dict[str, Any]:
    slim: dict[str, Any] = _walk(_schema(type_), _without_noise)
    return slim


@cache
def _schema(type_: type[msgspec.Struct]) -> dict[str, Any]:
    """The schema of one type with the root inlined: hosts expect `type: object` at the top."""
    schema = msgspec.json.schema(type_, ref_template="#/$defs/{name}")
    definitions = schema.pop("$defs", {})
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
