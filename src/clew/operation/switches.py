"""Switches of the environment by which an operator goes back to how the documents were served before.

| variable | when off |
|---|---|
| `MCP_KB_V2_ENABLED` | `kb.*` and `graph.*` are not there; the older tools are |
| `MCP_STRUCTURED_OUTPUT_ENABLED` | the tools on documents answer with minified JSON as text only |
| `ENABLE_LEGACY_SEARCH_DOCUMENTATION` | `search_documentation` is not there |

All are on unless they are switched off. `MCP_TOOL_NAME_STYLE` says how names with dots are listed: dot for the original
spelling, underscore or auto for the portable one.
"""

from collections.abc import Mapping, Sequence

from clew.errors import ConfigError
from clew.operation.declare import Toolset
from clew.operation.listing import ListedOperation
from clew.operation.names import NameStyle
from clew.text.display import shortened

KB_V2 = "MCP_KB_V2_ENABLED"
STRUCTURED_OUTPUT = "MCP_STRUCTURED_OUTPUT_ENABLED"
SEARCH_DOCUMENTATION = "ENABLE_LEGACY_SEARCH_DOCUMENTATION"
NAME_STYLE = "MCP_TOOL_NAME_STYLE"

DOCUMENT_TOOLSETS = (Toolset.KB, Toolset.GRAPH)

_OFF = frozenset({"0", "false", "no", "off"})
_STYLES = {"auto": NameStyle.PORTABLE, "dot": NameStyle.DOTTED, "underscore": NameStyle.PORTABLE}


def present(tools: Sequence[ListedOperation], environ: Mapping[str, str]) -> tuple[ListedOperation, ...]:
    """The tools that are not switched off."""
    return tuple(tool for tool in tools if tool.toolset not in DOCUMENT_TOOLSETS or _is_present(tool, environ))


def structured_output(environ: Mapping[str, str]) -> bool:
    return _is_on(STRUCTURED_OUTPUT, environ)


def name_style(environ: Mapping[str, str]) -> NameStyle | None:
    """The spelling of names that the environment asks for; None without one."""
    said = environ.get(NAME_STYLE, "").strip().lower()
    if said and said not in _STYLES:
        raise ConfigError(f"{NAME_STYLE} is '{shortened(said)}'.", hint=f"Set it to one of: {', '.join(_STYLES)}.")
    return _STYLES.get(said)


def _is_present(tool: ListedOperation, environ: Mapping[str, str]) -> bool:
    if tool.name == "search_documentation":
        return _is_on(SEARCH_DOCUMENTATION, environ)
    is_new = tool.name.startswith(("kb.", "graph."))
    return not is_new or _is_on(KB_V2, environ)


def _is_on(name: str, environ: Mapping[str, str]) -> bool:
    return environ.get(name, "").strip().lower() not in _OFF
