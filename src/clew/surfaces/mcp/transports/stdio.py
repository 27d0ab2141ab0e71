"""The stdio transport: one JSON-RPC message a line, and an answer to every line.

The SDK reads and writes the streams. It is given only lines that hold a message; every other line is answered here,
with the error that JSON-RPC has for it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, Self, cast

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import WriteStream
from mcp.shared.message import SessionMessage

from clew.surfaces.mcp.transports.messages import check_message

_STDIN = 0


async def serve_stdio(server: Server[Any]) -> None:
    """Run until the client closes standard input.

    While serving, file descriptor 0 is empty and 1 leads to standard error, so that nothing but protocol reaches the
    client, and no program that is started reads what the client sent.
    """
    with _own_input() as source:
        lines = MessageLines(source)
        async with stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (read_stream, write_stream):
            lines.answer_to(write_stream)
            await server.run(read_stream, write_stream, server.create_initialization_options())


class MessageLines:
    """The lines of standard input with a message. Any other line is answered here and left out."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = anyio.wrap_file(source)
        self._answers: WriteStream[SessionMessage] | None = None
        self._connected = anyio.Event()

    def answer_to(self, answers: WriteStream[SessionMessage]) -> None:
        self._answers = answers
        self._connected.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        await self._connected.wait()
        while line := await self._source.readline():
            if line.isspace():
                continue
            problem = check_message(line)
            if problem is None:
                return line.decode()
            if not problem.is_response and self._answers is not None:
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await self._answers.send(SessionMessage(problem.error()))
        raise StopAsyncIteration


@contextmanager
def _own_input() -> Iterator[BinaryIO]:
    """Standard input under another descriptor, which no program that is started inherits."""
    own = os.dup(_STDIN)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, _STDIN)
    os.close(empty)
    try:
        # Never closed: when the server ends, a thread may still wait for a line.
        yield os.fdopen(own, "rb", closefd=False)
    finally:
        os.dup2(own, _STDIN)
