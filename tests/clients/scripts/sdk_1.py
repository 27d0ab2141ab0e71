"""The official SDK, version 1."""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from report import ARGUMENTS, TOOL, report


async def main(kind: str, *words: str) -> None:
    if kind == "http":
        connection = streamablehttp_client(words[0])
    else:
        connection = stdio_client(StdioServerParameters(command=words[0], args=list(words[1:])))
    async with connection as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        listed = await session.list_tools()
        answer = await session.call_tool(TOOL, ARGUMENTS)
        report([tool.name for tool in listed.tools], answer.content[0].text)


asyncio.run(main(*sys.argv[1:]))
