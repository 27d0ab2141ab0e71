"""A server process for test_serving: prints its URL, serves until a signal, then says that it ended in order."""

import logging
import sys
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server

from clew.surfaces.mcp.transports.http import serve_http
from clew.surfaces.mcp.transports.settings import HttpSettings


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool(name="hold", input_schema={"type": "object"})])


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    if params.name == "hold":
        await ctx.session.report_progress(1.0)
        await anyio.sleep_forever()
    return types.CallToolResult(content=[types.TextContent(text=str(params.arguments))])


async def main(transport: str, token: str | None) -> None:
    logging.basicConfig(level=logging.DEBUG)
    server = Server("signalled", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    settings = HttpSettings(sse=transport == "sse", token=token, drain_seconds=0.1, heartbeat_events=True)
    await serve_http(server, settings, lambda url: print(url, flush=True))  # noqa: T201
    print("ended in order", flush=True)  # noqa: T201


anyio.run(main, sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
