"""Preparing the listing from the declarations; `make docs` runs it."""

from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from clew.operation.declare import Operation, Toolset, description_of, overrides, result_of
from clew.operation.listing import MODULES, Listed
from clew.operation.schemas import arguments_schema, outline, result_schema, without_plain_defaults


def prepared() -> bytes:
    """The content of `listing.json`."""
    made = [as_listed(operation) for module in MODULES for operation in declared_in(module)]
    # One operation a line: small to read, and a change shows what it changed.
    return b"[\n" + b",\n".join(map(msgspec.json.encode, made)) + b"\n]\n"


def write_listing() -> Path:
    """Write the file into the source tree that is imported."""
    path = Path(__file__).with_name("listing.json")
    path.write_bytes(prepared())
    return path


def declared_in(module: str) -> list[type[Operation]]:
    """The operations of a module in the order in which they are written."""
    found = [value for value in vars(import_module(module)).values() if isinstance(value, type)]
    return [
        value
        for value in found
        if issubclass(value, Operation) and value.__module__ == module and (value.about.tool or value.about.verb)
    ]


def as_listed(operation: type[Operation]) -> Listed:
    """An operation as the listing has it."""
    about = operation.about
    is_tool = about.tool is not None
    return Listed(
        module=operation.__module__,
        declared=operation.__name__,
        tool=about.tool,
        verb=about.verb,
        aliases=about.aliases,
        toolset=about.toolset,
        title=about.title,
        summary=about.summary,
        description=description_of(operation),
        arguments=_encoded(_arguments_schema(operation) if is_tool else {}),
        result=_encoded(_result_schema(operation) if is_tool else {}),
        read_only=not about.writes,
        destructive=about.destructive,
        idempotent=about.idempotent,
        reaches_others=about.reaches_others,
        default=about.default,
        in_profile=about.in_profile,
        later=about.later,
        links=overrides(operation, "links"),
        schema_version=about.schema_version,
        command_of=about.command_of if about.verb is not None else None,
    )


_TELLING_NULLS = (Toolset.KB, Toolset.GRAPH)
"""Where clients are made from the listing, and send null for what they do not give."""


def _arguments_schema(operation: type[Operation]) -> dict[str, Any]:
    schema, demands = arguments_schema(operation), operation.about.demands
    about = operation.about
    if about.outlined and about.toolset not in _TELLING_NULLS:
        schema = without_plain_defaults(schema)
    return {**schema, "required": [*schema.get("required", ()), *demands]} if demands else schema


def _result_schema(operation: type[Operation]) -> dict[str, Any]:
    if operation.about.outlined:
        return outline(result_of(operation))
    return result_schema(result_of(operation), in_one_piece=operation.about.schema_version is not None)


def _encoded(schema: dict[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(schema))
