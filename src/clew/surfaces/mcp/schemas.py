"""JSON Schemas of requests and results, from the types themselves."""

from functools import cache
from typing import Any

import msgspec

from clew.surfaces.mcp.registry import Tool


@cache
def _schema(type_: type[msgspec.Struct]) -> dict[str, Any]:
    """The schema of one type with the root inlined: hosts expect `type: object` at the top."""
    schema = msgspec.json.schema(type_, ref_template="#/$defs/{name}")
    definitions = schema.pop("$defs", {})
    root: dict[str, Any] = definitions.pop(type_.__name__)
    root.pop("title", None)
    root.pop("description", None)
    for definition in definitions.values():
        definition.pop("title", None)
    if definitions:
        root["$defs"] = definitions
    return root


def input_schema(tool: Tool) -> dict[str, Any]:
    return _schema(tool.request)


def output_schema(tool: Tool) -> dict[str, Any]:
    return _schema(tool.result)
