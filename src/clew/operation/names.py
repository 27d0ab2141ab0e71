"""How tool names are spelled.

The names are those of the source documents, some of which use dots and slashes. Many hosts and model interfaces accept
only letters, digits, underscores and hyphens, and drop a server that lists anything else. So a listing is spelled
portably unless the operator wants the original spelling. A call is accepted in either, whatever the listing used.
"""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum

from clew.operation.listing import Listed

_NOT_PORTABLE = re.compile(r"[^A-Za-z0-9_-]")


class NameStyle(StrEnum):
    PORTABLE = "portable"
    """Only letters, digits, underscores and hyphens."""
    DOTTED = "dotted"
    """As the source documents spell them."""


def portable(name: str) -> str:
    return _NOT_PORTABLE.sub("_", name)


def spell(name: str, style: NameStyle) -> str:
    """The name as it is listed."""
    return name if style is NameStyle.DOTTED else portable(name)


def by_any_spelling(tools: Iterable[Listed]) -> Mapping[str, Listed]:
    """The tools under their original and their portable names."""
    spelled: dict[str, Listed] = {}
    for tool in tools:
        original = tool.original or tool.name
        spelled[original] = tool
        spelled.setdefault(portable(original), tool)
    return spelled
