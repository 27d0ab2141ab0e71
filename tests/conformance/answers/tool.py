"""What a tool of the fixture is: a listing entry and the coroutine that answers its calls."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext

Context = ServerRequestContext[Any, Any]
Params = types.CallToolRequestParams
Result = types.CallToolResult | types.InputRequiredResult

NO_ARGUMENTS: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class FixtureTool:
    """A tool the suite calls by name."""

    name: str
    description: str
    answer: Callable[[Context, Params], Awaitable[Result]]
    input_schema: Mapping[str, Any] = field(default_factory=lambda: NO_ARGUMENTS)

    def listing(self) -> types.Tool:
        return types.Tool(name=self.name, description=self.description, input_schema=dict(self.input_schema))


def text_result(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


def one_argument(name: str, description: str) -> Mapping[str, Any]:
    """The schema of a tool that takes one required string."""
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": description}},
        "required": [name],
        "additionalProperties": False,
    }
