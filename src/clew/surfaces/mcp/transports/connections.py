"""How many connections there may be, and how long one may take to say what it wants.

Both are limited before a request is complete, so before any token can be checked. A connection on which no request is
being answered is *waiting*. It is closed when it has begun a request and does not finish its headers in time; and when
there are too many connections, the one that has waited longest makes room for a new one.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from clew.surfaces.mcp.transports.settings import HttpSettings

_FULL_BODY = (
    b'{"error":{"code":"too_many_connections","message":"All connections of this server are in use.",'
    b'"hint":"Try again in a moment."}}'
)
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\nRetry-After: 1\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_FULL_BODY), _FULL_BODY)
)


class Connections:
    """The connections of one server."""

    def __init__(self, settings: HttpSettings) -> None:
        self._most = settings.max_connections
        self._open = 0
        # In the order in which they began to wait; a dictionary keeps it.
        self._waiting: dict[LimitedProtocol, None] = {}

    def opened(self, connection: "LimitedProtocol") -> "LimitedProtocol | None":
        """Count a new connection; returns the one that has to go for it, which is itself where all others are being
        answered."""
        self._open += 1
        self.waits(connection)
        if self._open <= self._most:
            return None
        longest = next(iter(self._waiting))
        self.answers(longest)
        return longest

    def closed(self, connection: "LimitedProtocol") -> None:
        self._open -= 1
        self.answers(connection)

    def waits(self, connection: "LimitedProtocol") -> None:
        self._waiting.setdefault(connection)

    def answers(self, connection: "LimitedProtocol") -> None:
        self._waiting.pop(connection, None)


class LimitedProtocol(H11Protocol):
    """uvicorn's HTTP, within the limits above. `limited` makes the class for one server."""

    everybody: Connections
    header_seconds: float

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._too_late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        excess = self.everybody.opened(self)
        if excess is self:
            transport.write(_FULL)
            transport.close()
            return
        if excess is not None:
            excess.transport.abort()
        self._begin_to_wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self.everybody.closed(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # A request that was sent ahead may be under way already.
        self._look()

    def _look(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
            self.everybody.answers(self)
        else:
            self.everybody.waits(self)
            # Between two requests nothing is late; uvicorn closes a connection that stays idle for long.
            if self.conn.trailing_data[0] or self.conn.their_state is not self.conn.our_state:
                self._begin_to_wait()

    def _begin_to_wait(self) -> None:
        if self._too_late is None:
            self._too_late = self.loop.call_later(self.header_seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._too_late is not None:
            self._too_late.cancel()
            self._too_late = None


def limited(settings: HttpSettings) -> type[LimitedProtocol]:
    """The protocol of a server with these settings."""
    shared = {"everybody": Connections(settings), "header_seconds": settings.header_seconds}
    return type("Limited", (LimitedProtocol,), shared)
