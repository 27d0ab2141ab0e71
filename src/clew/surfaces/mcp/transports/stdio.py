"""Serving one client over standard input and output."""

from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def serve_stdio(server: Server[Any]) -> None:
    """Run until the client closes standard input.

    While serving, the SDK points file descriptor 1 at standard error, so that nothing but protocol reaches the client.
    """
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())
