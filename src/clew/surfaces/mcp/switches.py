"""Switches of the environment by which an operator goes back to how the documents were served before.

| variable | when off |
|---|---|
| `MCP_KB_V2_ENABLED` | `kb.*` and `graph.*` are not there; the older tools are |
| `MCP_STRUCTURED_OUTPUT_ENABLED` | the tools on documents answer with minified JSON as text only |
| `ENABLE_LEGACY_SEARCH_DOCUMENTATION` | `search_documentation` is not there |

All are on unless they are switched off.
"""

from collections.abc import Mapping, Sequence

from clew.surfaces.mcp.registry import Tool, Toolset

KB_V2 = "MCP_KB_V2_ENABLED"
STRUCTURED_OUTPUT = "MCP_STRUCTURED_OUTPUT_ENABLED"
SEARCH_DOCUMENTATION = "ENABLE_LEGACY_SEARCH_DOCUMENTATION"

DOCUMENT_TOOLSETS = (Toolset.KB, Toolset.GRAPH)

_OFF = frozenset({"0", "false", "no", "off"})


def present(tools: Sequence[Tool], environ: Mapping[str, str]) -> tuple[Tool, ...]:
    """The tools that are not switched off."""
    return tuple(tool for tool in tools if tool.toolset not in DOCUMENT_TOOLSETS or _is_present(tool, environ))


def structured_output(environ: Mapping[str, str]) -> bool:
    return _is_on(STRUCTURED_OUTPUT, environ)


def _is_present(tool: Tool, environ: Mapping[str, str]) -> bool:
    if tool.name == "search_documentation":
        return _is_on(SEARCH_DOCUMENTATION, environ)
    is_new = tool.name.startswith(("kb.", "graph."))
    return not is_new or _is_on(KB_V2, environ)


def _is_on(name: str, environ: Mapping[str, str]) -> bool:
    return environ.get(name, "").strip().lower() not in _OFF
