"""Ending a server that still has requests open, without an error on either side."""

from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

import anyio
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clew.surfaces.mcp.transports.guard import Refusal

if TYPE_CHECKING:
    from socket import socket

_STOPPING = Refusal(503, "stopping", "The server is shutting down.", "Send the request again when it is back.")


class Draining:
    """Wraps an ASGI application and knows its open requests, so that each can be brought to a proper end."""

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app = app
        self._seconds = seconds
        self._open: dict[anyio.CancelScope, str] = {}
        self._one_less: anyio.Event | None = None
        """There while somebody waits for open requests to end."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reply = _Reply(send)
        with anyio.CancelScope() as exchange:
            self._open[exchange] = scope["method"]
            try:
                await self._app(scope, receive, reply.send)
            finally:
                del self._open[exchange]
                if self._one_less is not None:
                    self._one_less.set()
        if exchange.cancelled_caught:
            await reply.finish(scope, receive)

    async def close(self) -> None:
        """End streams at once, since they have no end of their own, and calls after the time they are given."""
        self._cut("GET")
        with anyio.move_on_after(self._seconds):
            while self._open:
                self._one_less = anyio.Event()
                await self._one_less.wait()
        self.cut()

    def cut(self) -> None:
        for exchange in list(self._open):
            exchange.cancel()

    def _cut(self, method: str) -> None:
        for exchange, used in list(self._open.items()):
            if used == method:
                exchange.cancel()


class _Reply:
    """How far the answer to one request has come."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._started = False
        self._complete = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started = True
        elif message["type"] == "http.response.body":
            self._complete = not message.get("more_body", False)
        await self._send(message)

    async def finish(self, scope: Scope, receive: Receive) -> None:
        if not self._started:
            await _STOPPING.response()(scope, receive, self._send)
        elif not self._complete:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


class DrainingServer(uvicorn.Server):
    """uvicorn, except that it ends open streams itself and takes a signal as a request to stop, not as an error."""

    def __init__(self, config: uvicorn.Config, draining: Draining, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._draining = draining
        self._on_started = on_started

    async def startup(self, sockets: "list[socket] | None" = None) -> None:
        await super().startup(sockets)
        self._on_started()

    async def shutdown(self, sockets: "list[socket] | None" = None) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._draining.close)
            await super().shutdown(sockets)
            # Reached early only when a second signal asked to hurry.
            self._draining.cut()
            tasks.cancel_scope.cancel()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # The inherited method would raise the signal again after the shutdown and end in a KeyboardInterrupt.
        self.force_exit = self.should_exit
        self.should_exit = True
