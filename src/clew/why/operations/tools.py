"""Toolset core: access to tools that are not listed."""

# Implements: REQ-d00012

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument, UnknownTool
from clew.operation.call import Call, carry_out
from clew.operation.declare import Freshness, Operation, Toolset
from clew.operation.names import by_any_spelling, portable
from clew.text.display import shortened
from clew.why.tools.ranking import find_tools


class FoundTool(msgspec.Struct, frozen=True):
    name: str
    toolset: str
    arguments: str
    """Names in order; a question mark follows optional ones."""
    description: str
    score: float


class ToolsSearchResult(msgspec.Struct, frozen=True):
    tools: tuple[FoundTool, ...]
    total: int
    """Matching tools in all."""
    truncated: bool = False


class SearchTools(
    Operation,
    tool="tools_search",
    toolset=Toolset.CORE,
    title="Find a tool",
    needs=Freshness.NONE,
    trim=("tools",),
    example={"query": "requirement coverage"},
):
    """For a task that no listed tool does. Returns at most `limit` tools by what they do, best first, with arguments
    and descriptions; call one with tools_call."""

    query: Annotated[str, Meta(min_length=1, max_length=500, description="What the tool should do, in a few words")]
    limit: Annotated[int, Meta(ge=1, le=50, description="Tools at most")] = 8

    def run(self, call: Call) -> ToolsSearchResult:
        hits = find_tools(self.query, call.tools)
        shown = hits[: self.limit]
        return ToolsSearchResult(
            tools=tuple(
                FoundTool(hit.tool.name, hit.tool.toolset.value, hit.tool.signature, hit.tool.description, hit.score)
                for hit in shown
            ),
            total=len(hits),
            truncated=len(shown) < len(hits),
        )


class AnyResult(msgspec.Struct, frozen=True):
    """Result of the called tool, in its own form."""


class CallTool(
    Operation,
    tool="tools_call",
    toolset=Toolset.CORE,
    title="Call any tool",
    needs=Freshness.NONE,
    writes=True,
    destructive=True,
    idempotent=False,
    reaches_others=True,
    example={"name": "get_graph_status", "arguments": {}},
):
    """For a tool that tools_search found and the list does not show: calls it with its own arguments. Returns that
    tool's result, within that tool's limits."""

    name: Annotated[str, Meta(min_length=1, max_length=128, description="The tool's name, in either spelling")]
    arguments: Annotated[dict[str, Any], Meta(description="The tool's own arguments")] = msgspec.field(
        default_factory=dict
    )

    def run(self, call: Call) -> AnyResult:
        tool = by_any_spelling(call.tools).get(self.name)
        if tool is None:
            hits = find_tools(portable(self.name).replace("_", " "), call.tools)
            close = f"Did you mean '{hits[0].tool.name}'? " if hits else ""
            raise UnknownTool(
                f"There is no tool '{shortened(self.name)}'.", hint=close + "tools_search finds tools by what they do."
            )
        if tool.name == self.about.tool:
            raise InvalidArgument("tools_call cannot call itself.", hint="Name the tool you want directly.")
        answer: Any = carry_out(tool, self.arguments, call)
        return answer  # type: ignore[no-any-return]
