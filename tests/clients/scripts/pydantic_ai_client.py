"""pydantic-ai, without a model."""

import asyncio
import sys

import pydantic_ai.mcp as pydantic_mcp
from report import ARGUMENTS, TOOL, report


async def main(kind: str, *words: str) -> None:
    if kind == "http":
        server = pydantic_mcp.MCPServerStreamableHTTP(words[0])
    else:
        server = pydantic_mcp.MCPServerStdio(words[0], args=list(words[1:]))
    async with server:
        listed = await server.list_tools()
        answer = await server.direct_call_tool(TOOL, ARGUMENTS)
        report([tool.name for tool in listed], str(answer))


asyncio.run(main(*sys.argv[1:]))
