"""A requirement for an agent that knows no other system's fields: each fact once, and nothing empty."""

# Implements: REQ-d00852

from collections.abc import Mapping
from typing import Any

from clew.operation.budget import without_empty

_ELSEWHERE = ("properties", "keywords")
"""Fields that elspais has beside others that say the same."""
_SAID_EMPTY = ("assertions", "parents", "children")
"""That there are none is said."""
_HEADING = "## Assertions"


def requirement_said_once(data: Mapping[str, Any]) -> Mapping[str, Any]:
    kept = {name: value for name, value in data.items() if name not in _ELSEWHERE}
    kept["body"] = _without_assertions(data["body"], data["assertions"])
    inherited = {name: value for name, value in data["coverage"].items() if name == "integrated"}
    kept["coverage"] = inherited
    prefix = f"{data['id']}-"
    kept["assertions"] = [
        {name: value for name, value in each.items() if name != "label" or each["id"] != prefix + value}
        for each in data["assertions"]
    ]
    kept["children"] = [
        {name: value for name, value in each.items() if name != "title" or not each["id"].endswith(value)}
        for each in data["children"]
    ]
    kept["sections"] = [each for each in data["sections"] if f"## {each}" not in data["body"]]
    nothing = {name: () for name in _SAID_EMPTY if not kept[name]}
    return {**nothing, **without_empty(kept)}


def _without_assertions(body: str, assertions: list[Mapping[str, Any]]) -> str:
    """The text of a requirement without the lines that its assertions repeat."""
    lines = body.splitlines()
    for each in assertions:
        line = f"{each['label']}. {each['text']}"
        if line in lines:
            lines.remove(line)
    text = "\n".join(lines)
    head, found, rest = text.partition(_HEADING)
    if found and (not rest.strip() or rest.strip().startswith("## ")):
        text = f"{head}{rest.lstrip()}"
    return text.strip()
