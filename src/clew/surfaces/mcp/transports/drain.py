"""Ending a server that still has requests open, without an error on either side."""

from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

import anyio
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clew.surfaces.mcp.transports.refusal import Refusal

if TYPE_CHECKING:
    from socket import socket

_STOPPING = Refusal(503, "stopping", "The server is shutting down.", "Send the request again when it is back.")


class OpenRequest:
    """A request that is being answered; it can be brought to a proper end from outside."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.method: str = scope["method"]
        self._scope = scope
        self._receive = receive
        self._send = send
        self._until = anyio.CancelScope()
        self._refusal = _STOPPING
        self._started = False
        self._complete = False

    async def run(self, app: ASGIApp) -> None:
        with self._until:
            await app(self._scope, self._receive, self._watched)
        if self._until.cancelled_caught:
            await self._finish()

    def end(self, refusal: Refusal = _STOPPING) -> None:
        """End a request: with this refusal if no answer was begun."""
        self._refusal = refusal
        self._until.cancel()

    async def _watched(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started = True
        elif message["type"] == "http.response.body":
            self._complete = not message.get("more_body", False)
        await self._send(message)

    async def _finish(self) -> None:
        if not self._started:
            await self._refusal.response()(self._scope, self._receive, self._send)
        elif not self._complete:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


class Draining:
    """An ASGI application with a list of its open requests. Each request finds its own as `open_request` in its
    state."""

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app = app
        self._seconds = seconds
        self._open: dict[OpenRequest, None] = {}
        self._one_less: anyio.Event | None = None
        """There while somebody waits for open requests to end."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        open_request = OpenRequest(scope, receive, send)
        scope.setdefault("state", {})["open_request"] = open_request
        self._open[open_request] = None
        try:
            await open_request.run(self._app)
        finally:
            del self._open[open_request]
            if self._one_less is not None:
                self._one_less.set()

    async def close(self) -> None:
        """End streams at once, since they have no end of their own, and calls after the time they are given."""
        self._cut("GET")
        with anyio.move_on_after(self._seconds):
            while self._open:
                self._one_less = anyio.Event()
                await self._one_less.wait()
        self.cut()

    def cut(self) -> None:
        for open_request in list(self._open):
            open_request.end()

    def _cut(self, method: str) -> None:
        for open_request in list(self._open):
            if open_request.method == method:
                open_request.end()


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
