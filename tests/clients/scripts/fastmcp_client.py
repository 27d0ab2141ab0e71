"""fastmcp."""

import asyncio
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from report import ARGUMENTS, TOOL, report


async def main(kind: str, *words: str) -> None:
    transport = StreamableHttpTransport(words[0]) if kind == "http" else StdioTransport(words[0], list(words[1:]))
    async with Client(transport) as client:
        listed = await client.list_tools()
        answer = await client.call_tool(TOOL, ARGUMENTS)
        report([tool.name for tool in listed], answer.content[0].text)


asyncio.run(main(*sys.argv[1:]))
