"""The least a server on this SDK can be: one tool, over standard input and output, or over HTTP with the argument http.
What Clew is measured against."""

import sys
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    tool = types.Tool(name="echo", description="Returns the text it is given.", input_schema=schema)
    return types.ListToolsResult(tools=[tool])


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    text = str((params.arguments or {}).get("text", ""))
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


def make() -> Server[Any]:
    return Server("bare", version="1.0.0", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve() -> None:
    server = make()
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())


def serve_http() -> None:
    """On a free port, which is printed. Everything is as the SDK and its web server do it by default."""
    import socket

    import uvicorn

    listener = socket.create_server(("127.0.0.1", 0))
    # Says nothing about requests, as Clew does not.
    config = uvicorn.Config(make().streamable_http_app(), log_level="warning", access_log=False)
    print(f"Serving at http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    serve_http() if sys.argv[1:] == ["http"] else anyio.run(serve)
