"""Toolset core: orientation, and the way to every tool that is not listed."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument, UnknownTool
from clew.operation.call import Call, carry_out
from clew.operation.declare import Freshness, Operation, Option, Toolset
from clew.operation.discovery import find_tools
from clew.operation.names import by_any_spelling, portable
from clew.text.shortening import shortened
from clew.why import brief


class ShowBrief(
    Operation,
    tool="clew_brief",
    verb="brief",
    toolset=Toolset.CORE,
    title="Brief of this project",
    summary="what this project is, what needs attention, what to do next",
    epilog="clew brief",
    folder="argument",
    default=True,
    trim=("attention", "next_calls", "notes"),
    example={"max_tokens": 600},
):
    """Start here. Says what this project is, what its graph holds, what needs attention (broken references, stale
    hashes, assertions without a test) and which call to make next. Not for details: get_requirement has those. Returns
    at most max_tokens (default 1,500)."""

    max_tokens: Annotated[
        int, Meta(ge=400, le=20_000, description="Size of the answer at most"), Option(metavar="N")
    ] = 1_500

    def run(self, call: Call) -> brief.Brief:
        return brief.brief(call.project)

    def render(self, result: brief.Brief) -> str:
        return brief.render(result)

    def text(self, result: brief.Brief) -> str:
        return brief.render(result)


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
    default=True,
    trim=("tools",),
    example={"query": "requirement coverage"},
):
    """Finds tools by what they do, listed or not. Use it when no listed tool fits. Returns at most `limit` tools with
    their arguments and descriptions, best first; call one with tools_call."""

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
    """Whatever the called tool returns."""


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
    default=True,
    example={"name": "get_graph_status", "arguments": {}},
):
    """Calls a tool by name with its own arguments and returns that tool's result, within that tool's limits. For tools
    that tools_search found and the list does not show; call listed tools directly."""

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
