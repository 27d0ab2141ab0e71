"""openai-agents, without a model."""

import asyncio
import sys

from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from report import ARGUMENTS, TOOL, report


async def main(kind: str, *words: str) -> None:
    if kind == "http":
        server = MCPServerStreamableHttp(params={"url": words[0]})
    else:
        server = MCPServerStdio(
            params={"command": words[0], "args": list(words[1:])}, client_session_timeout_seconds=60
        )
    async with server:
        listed = await server.list_tools()
        answer = await server.call_tool(TOOL, ARGUMENTS)
        report([tool.name for tool in listed], answer.content[0].text)


asyncio.run(main(*sys.argv[1:]))
