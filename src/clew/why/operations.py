"""Toolset core: orientation, and the way to every tool that is not listed."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument, UnknownTool
from clew.operation.call import Answer, Call, carry_out, signature
from clew.operation.discovery import find_tools
from clew.operation.names import by_any_spelling, portable
from clew.operation.registry import Freshness, Request, Tool, Toolset
from clew.text.shortening import shortened
from clew.why import brief as links


class BriefRequest(Request, frozen=True, kw_only=True):
    max_tokens: Annotated[int, Meta(ge=400, le=20_000, description="Size of the answer at most")] = 1_500


class ToolsSearchRequest(Request, frozen=True, kw_only=True):
    query: Annotated[str, Meta(min_length=1, max_length=500, description="What the tool should do, in a few words")]
    limit: Annotated[int, Meta(ge=1, le=50, description="Tools at most")] = 8


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


def run_tools_search(call: Call, request: ToolsSearchRequest) -> ToolsSearchResult:
    hits = find_tools(request.query, call.tools)
    shown = hits[: request.limit]
    return ToolsSearchResult(
        tools=tuple(
            FoundTool(hit.tool.name, hit.tool.toolset.value, signature(hit.tool), hit.tool.description, hit.score)
            for hit in shown
        ),
        total=len(hits),
        truncated=len(shown) < len(hits),
    )


class ToolsCallRequest(Request, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=128, description="The tool's name, as tools_search gives it")]
    arguments: Annotated[dict[str, Any], Meta(description="The tool's own arguments")] = msgspec.field(
        default_factory=dict
    )


class AnyResult(msgspec.Struct, frozen=True):
    """Whatever the called tool returns."""


def run_tools_call(call: Call, request: ToolsCallRequest) -> Answer:
    tool = by_any_spelling(call.tools).get(request.name)
    if tool is None:
        hits = find_tools(portable(request.name).replace("_", " "), call.tools)
        close = f"Did you mean '{hits[0].tool.name}'? " if hits else ""
        raise UnknownTool(
            f"There is no tool '{shortened(request.name)}'.", hint=close + "tools_search finds tools by what they do."
        )
    if tool.name == TOOLS_CALL.name:
        raise InvalidArgument("tools_call cannot call itself.", hint="Name the tool you want directly.")
    return carry_out(tool, request.arguments, call)


CLEW_BRIEF = Tool(
    name="clew_brief",
    toolset=Toolset.CORE,
    title="Brief of this project",
    description=(
        "Start here. Says what this project is, what its graph holds, what needs attention (broken references, stale "
        "hashes, assertions without a test) and which call to make next. Not for details: get_requirement has those. "
        "Returns at most max_tokens (default 1,500)."
    ),
    request=BriefRequest,
    result=links.Brief,
    run=lambda call, request: links.brief(call.project),
    default=True,
    trim=("attention", "next_calls", "notes"),
    text=links.render,
    example={"max_tokens": 600},
)

TOOLS_SEARCH = Tool(
    name="tools_search",
    toolset=Toolset.CORE,
    title="Find a tool",
    description=(
        "Finds tools by what they do, listed or not. Use it when no listed tool fits. Returns at most `limit` tools "
        "with their arguments and descriptions, best first; call one with tools_call."
    ),
    request=ToolsSearchRequest,
    result=ToolsSearchResult,
    run=run_tools_search,
    needs=Freshness.NONE,
    default=True,
    trim=("tools",),
    example={"query": "requirement coverage"},
)

TOOLS_CALL = Tool(
    name="tools_call",
    toolset=Toolset.CORE,
    title="Call any tool",
    description=(
        "Calls a tool by name with its own arguments and returns that tool's result, within that tool's limits. For "
        "tools that tools_search found and the list does not show; call listed tools directly."
    ),
    request=ToolsCallRequest,
    result=AnyResult,
    run=run_tools_call,
    needs=Freshness.NONE,
    read_only=False,
    destructive=True,
    idempotent=False,
    reaches_others=True,
    default=True,
    example={"name": "get_graph_status", "arguments": {}},
)

TOOLS = (CLEW_BRIEF, TOOLS_SEARCH, TOOLS_CALL)
