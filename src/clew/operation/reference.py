"""The reference pages in `docs/tools/`, one for each toolset, made from the listing."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from clew.operation.declare import Toolset
from clew.operation.listing import Listed
from clew.operation.toolsets import ABOUT, ALL, Choice, choose


def pages(tools: Sequence[Listed]) -> dict[str, str]:
    """File name and content of every page; tools go by the names under which a server lists them."""
    tools = choose(tools, Choice(toolsets=(ALL,)), {}).shown
    toolsets = [toolset for toolset in Toolset if any(tool.toolset is toolset for tool in tools)]
    made = {"README.md": _index(tools, toolsets)}
    for toolset in toolsets:
        made[f"{toolset.value}.md"] = _page(toolset, [tool for tool in tools if tool.toolset is toolset])
    return made


def write_pages(tools: Sequence[Listed], folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for name, content in pages(tools).items():
        (folder / name).write_text(content, encoding="utf-8", newline="\n")
        written.append(folder / name)
    return written


def _index(tools: Sequence[Listed], toolsets: Iterable[Toolset]) -> str:
    lines = ["# Tools", "", "Made by `make docs` from the declarations; do not edit.", ""]
    lines += ["| toolset | tools | what for |", "|---|---|---|"]
    for toolset in toolsets:
        number = sum(1 for tool in tools if tool.toolset is toolset)
        lines.append(f"| [{toolset.value}]({toolset.value}.md) | {number} | {ABOUT[toolset]} |")
    return "\n".join(lines) + "\n"


def _page(toolset: Toolset, tools: Sequence[Listed]) -> str:
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
        lines.append(f"Listed by default: {'yes' if tool.default else 'no'}. This tool {kind}.")
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
