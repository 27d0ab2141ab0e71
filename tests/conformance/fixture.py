"""The server the official suite runs against, and the command that serves it until its standard input is closed.

It is Clew's own server, over Clew's own HTTP transport with the settings users get, on a small project. Clew's tools
are listed and answered as ever, three of the suite's tools among them. What the suite asks for and Clew has no use for
(other kinds of content, prompts, sampling and so on) is added as further request handlers of the same server.
"""

import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPDeprecationWarning
from tests.conformance.answers import clew_tools, content, conversation, documents, input_required
from tests.conformance.answers.tool import Context, FixtureTool, Params, Result, text_result

from clew.operation.listing import all_tools
from clew.operation.toolsets import ALL, Choice, choose
from clew.project import Project
from clew.surfaces.mcp.server import Surface, build_server
from clew.surfaces.mcp.transports.http import serve_http
from clew.surfaces.mcp.transports.settings import HttpSettings

SPEC = """# REQ-p00001: The fixture answers

**Level**: PRD | **Status**: Active

## Assertions

A. The system SHALL answer every request of the suite.

*End* *The fixture answers* | **Hash**: 00000000
"""


def fixture_server(folder: Path) -> Server[Any]:
    """Clew's server on the project in a folder, with every capability the suite asks about."""
    # The suite calls the first tool of the listing without arguments, so its own come first.
    listing = choose((*clew_tools.TOOLS, *all_tools()), Choice(toolsets=(ALL,)))
    surface = Surface(Project.open(folder), listing)
    server = build_server(surface, "Answers the official conformance suite.")
    # Whoever lets a client carry state between two calls has to notice when it was changed on the way.
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=server.name))
    bus = InMemorySubscriptionBus()
    _add_tools(server, surface, bus)
    _add_documents(server)
    server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, ListenHandler(bus))
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, _accept_level)
    return server


def _add_tools(server: Server[Any], surface: Surface, bus: InMemorySubscriptionBus) -> None:
    """List the suite's other tools behind Clew's, and answer them; all other calls stay Clew's."""
    others = (*content.TOOLS, *conversation.TOOLS, *input_required.TOOLS, *_announcing(bus))
    tools = {tool.name: tool for tool in others}

    async def list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> dict[str, Any]:
        listed = await surface.list_tools(ctx, params)
        own = [tool.listing().model_dump(by_alias=True, exclude_none=True, mode="json") for tool in others]
        return {**listed, "tools": [*listed["tools"], *own]}

    async def call_tool(ctx: Context, params: Params) -> Result:
        tool = tools.get(params.name)
        return await (surface.call_tool(ctx, params) if tool is None else tool.answer(ctx, params))

    # Clew's own tools want no argument in a header; one of the suite's does.
    server.get_tool_input_schema = lambda name: tools[name].listing().input_schema if name in tools else None
    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)


def _announcing(bus: InMemorySubscriptionBus) -> tuple[FixtureTool, ...]:
    async def tools_changed(_: Context, __: Params) -> types.CallToolResult:
        await bus.publish(ToolsListChanged())
        return text_result("Every listener was told that the tools changed.")

    async def prompts_changed(_: Context, __: Params) -> types.CallToolResult:
        await bus.publish(PromptsListChanged())
        return text_result("Every listener was told that the prompts changed.")

    return (
        FixtureTool("test_trigger_tool_change", "Announces a change of the tools.", tools_changed),
        FixtureTool("test_trigger_prompt_change", "Announces a change of the prompts.", prompts_changed),
    )


def _add_documents(server: Server[Any]) -> None:
    add = server.add_request_handler
    add("resources/list", types.PaginatedRequestParams, documents.list_resources)
    add("resources/templates/list", types.PaginatedRequestParams, documents.list_templates)
    add("resources/read", types.ReadResourceRequestParams, documents.read_resource)
    add("resources/subscribe", types.SubscribeRequestParams, documents.accept_subscription)
    add("resources/unsubscribe", types.UnsubscribeRequestParams, documents.accept_subscription)
    add("prompts/list", types.PaginatedRequestParams, documents.list_prompts)
    add("prompts/get", types.GetPromptRequestParams, documents.get_prompt)
    add("completion/complete", types.CompleteRequestParams, documents.complete)


async def _accept_level(_: Context, __: types.SetLevelRequestParams) -> types.EmptyResult:
    return types.EmptyResult()


async def serve(server: Server[Any]) -> None:
    """Announce the URL on standard output and serve until standard input is closed."""

    def announce(url: str) -> None:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()

    async with anyio.create_task_group() as tasks:

        async def stop_with_parent() -> None:
            await anyio.to_thread.run_sync(sys.stdin.read, abandon_on_cancel=True)
            tasks.cancel_scope.cancel()

        tasks.start_soon(stop_with_parent)
        await serve_http(server, HttpSettings(), ready=announce)
        tasks.cancel_scope.cancel()


def main() -> None:
    # Sampling and log messages are deprecated, but a server that serves 2025-11-25 has to speak them.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    with tempfile.TemporaryDirectory(prefix="clew-conformance-") as folder:
        spec = Path(folder, "spec")
        spec.mkdir()
        (spec / "fixture.md").write_text(SPEC)
        anyio.run(serve, fixture_server(Path(folder)))


if __name__ == "__main__":
    main()
