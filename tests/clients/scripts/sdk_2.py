"""The official SDK, version 2."""

import asyncio
import sys

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from report import ARGUMENTS, TOOL, report


async def main(kind: str, *words: str) -> None:
    server = words[0] if kind == "http" else StdioServerParameters(command=words[0], args=list(words[1:]))
    async with Client(server) as client:
        listed = await client.list_tools()
        answer = await client.call_tool(TOOL, ARGUMENTS)
        prompts = await client.list_prompts()
        assert "trace_change" in {prompt.name for prompt in prompts.prompts}
        report([tool.name for tool in listed.tools], answer.content[0].text)


asyncio.run(main(*sys.argv[1:]))
