"""langchain-mcp-adapters, without a model."""

import asyncio
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient
from report import ARGUMENTS, TOOL, report


async def main(kind: str, *words: str) -> None:
    if kind == "http":
        server = {"transport": "streamable_http", "url": words[0]}
    else:
        server = {"transport": "stdio", "command": words[0], "args": list(words[1:])}
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"clew": server}).get_tools()}
    report(list(tools), str(await tools[TOOL].ainvoke(ARGUMENTS)))


asyncio.run(main(*sys.argv[1:]))
