"""How tool names are spelled.

The names are those of the source documents, some of which use dots and slashes. Some hosts accept only letters, digits,
underscores and hyphens and drop a server that lists anything else, so a listing can be spelled portably. A call is
accepted in either spelling, whatever the listing used.
"""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum

from clew.operation.listing import Listed

_NOT_PORTABLE = re.compile(r"[^A-Za-z0-9_-]")

_STRICT_HOSTS = ("claude", "codex", "cursor", "visual studio code", "vscode", "copilot", "windsurf", "openai", "cline")
"""Hosts whose model interface takes only `[A-Za-z0-9_-]` in names, matched at the start of the client's own name."""


class NameStyle(StrEnum):
    AUTO = "auto"
    """Portable for hosts known to need it, original for all others."""
    DOTTED = "dotted"
    """As the source documents spell them."""
    PORTABLE = "portable"
    """Only letters, digits, underscores and hyphens."""


def portable(name: str) -> str:
    return _NOT_PORTABLE.sub("_", name)


def spell(name: str, style: NameStyle, client: str | None = None) -> str:
    """The name as it is listed to this client."""
    if style is NameStyle.DOTTED:
        return name
    if style is NameStyle.PORTABLE or (client or "").casefold().startswith(_STRICT_HOSTS):
        return portable(name)
    return name


def by_any_spelling(tools: Iterable[Listed]) -> Mapping[str, Listed]:
    """The tools under their original and their portable names."""
    spelled: dict[str, Listed] = {}
    for tool in tools:
        spelled[tool.name] = tool
        spelled.setdefault(portable(tool.name), tool)
    return spelled
