"""Preparing the listing from the declarations, and the pages of `docs/tools/` from the listing, for `make docs`."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from clew.operation.declare import HelpHeading, Operation, Toolset, description_of, heading_of, overrides, result_of
from clew.operation.defaults import listed_where
from clew.operation.listing import MODULES, ListedOperation
from clew.operation.schemas import arguments_schema, outline, result_schema, without_plain_defaults
from clew.operation.toolsets import ABOUT, ALL, Choice, choose


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


def as_listed(operation: type[Operation]) -> ListedOperation:
    """An operation as the listing has it."""
    about = operation.about
    is_tool = about.tool is not None
    return ListedOperation(
        module=operation.__module__,
        declared=operation.__name__,
        tool=about.tool,
        verb=about.verb,
        aliases=about.aliases,
        toolset=about.toolset,
        heading=heading_of(about) if about.verb is not None else HelpHeading.UNDERSTAND,
        title=about.title,
        summary=about.summary,
        description=description_of(operation),
        arguments=_encoded(_arguments_schema(operation) if is_tool else {}),
        result=_encoded(_result_schema(operation) if is_tool else {}),
        read_only=not about.writes,
        destructive=about.destructive,
        idempotent=about.idempotent,
        reaches_others=about.reaches_others,
        later=about.later,
        links=overrides(operation, "links"),
        schema_version=about.schema_version,
        command_of=about.command_of if about.verb is not None else None,
    )


_TELLING_NULLS = (Toolset.KB, Toolset.GRAPH)
"""Toolsets whose clients are generated from the listing, and send null for arguments that they do not give."""


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


def pages(tools: Sequence[ListedOperation]) -> dict[str, str]:
    """File name and content of every page; tools go by the names under which a server lists them."""
    tools = choose(tools, Choice(toolsets=(ALL,)), {}).shown
    toolsets = [toolset for toolset in Toolset if any(tool.toolset is toolset for tool in tools)]
    made = {"README.md": _index(tools, toolsets)}
    for toolset in toolsets:
        made[f"{toolset.value}.md"] = _page(toolset, [tool for tool in tools if tool.toolset is toolset])
    return made


def write_pages(tools: Sequence[ListedOperation], folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for name, content in pages(tools).items():
        (folder / name).write_text(content, encoding="utf-8", newline="\n")
        written.append(folder / name)
    return written


def _index(tools: Sequence[ListedOperation], toolsets: Iterable[Toolset]) -> str:
    lines = ["# Tools", "", "Made by `make docs` from the declarations; do not edit.", ""]
    lines += ["| toolset | tools | what for |", "|---|---|---|"]
    for toolset in toolsets:
        number = sum(1 for tool in tools if tool.toolset is toolset)
        lines.append(f"| [{toolset.value}]({toolset.value}.md) | {number} | {ABOUT[toolset]} |")
    return "\n".join(lines) + "\n"


def _page(toolset: Toolset, tools: Sequence[ListedOperation]) -> str:
    lines = [
        f"# Toolset {toolset.value}",
        "",
        ABOUT[toolset],
        "",
        "Made by `make docs` from the declarations; do not edit.",
    ]
    for tool in tools:
        lines += ["", f"## {tool.name}", "", tool.description, ""]
        kind = "reads only" if tool.read_only else "may change data" + (", destructively" if tool.destructive else "")
        lines.append(f"Listed by default: {listed_where(tool.name)}. This tool {kind}.")
        lines += _fields("Arguments", tool.input_schema, "The tool takes no arguments.")
        lines += _fields("Result", tool.output_schema, "Whatever the called tool returns.")
        arguments = tool.operation.about.example
        if arguments or not tool.input_schema.get("required"):
            example = msgspec.json.encode(arguments).decode()
            lines += ["", "```sh", f"clew call {tool.name} '{example}' -C examples/demo", "```"]
    return "\n".join(lines) + "\n"


def _fields(heading: str, schema: Mapping[str, Any], nothing: str) -> list[str]:
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    if not properties:
        return ["", nothing]
    required = schema.get("required", ())
    lines = ["", f"| {heading.lower()} | type | about |", "|---|---|---|"]
    for name, field in properties.items():
        about = field.get("description", "")
        if heading == "Arguments":
            default = "" if name in required else f"default {msgspec.json.encode(field.get('default')).decode()}"
            about = "; ".join(part for part in (about, "required" if name in required else default) if part)
        lines.append(f"| `{name}` | {_type(field)} | {about} |".replace("\n", " "))
    return lines


def _type(field: Mapping[str, Any]) -> str:
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"])
    if "anyOf" in field:
        return " or ".join(_type(option) for option in field["anyOf"])
    if field.get("type") == "array":
        # A list of fixed length names its items one by one, and has no others.
        first = field.get("prefixItems", (None,))[0]
        return "list of " + _type(first or field.get("items") or {})
    type_ = field.get("type", "any")
    return " or ".join(type_) if isinstance(type_, list) else str(type_)
