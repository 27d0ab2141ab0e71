"""pydantic-ai, without a model."""

import asyncio
import sys

from fastmcp.client.transports import StdioTransport
from pydantic_ai.mcp import MCPToolset
from report import ARGUMENTS, TOOL, report


async def main(kind: str, *words: str) -> None:
    server = MCPToolset(words[0] if kind == "http" else StdioTransport(words[0], list(words[1:])))
    async with server:
        listed = await server.list_tools()
        answer = await server.direct_call_tool(TOOL, ARGUMENTS)
        report([tool.name for tool in listed], str(answer))


asyncio.run(main(*sys.argv[1:]))
