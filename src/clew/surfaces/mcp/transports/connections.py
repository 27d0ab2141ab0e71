"""Limits for connections: their number, and the time to send a request.

Both are limited before a request is complete, so before any token can be checked. A connection on which no complete
request is being answered is *waiting*: for a request, or for the rest of one. It is closed when it has begun a request
and does not finish its headers in time. When there are too many connections, one that waits makes room for a new one:
of the address with the most connections the one that has made no progress for longest, and one that has been answered
before and is idle only where there is no other.
"""

import asyncio
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from clew.surfaces.mcp.transports.access.ratelimit import household
from clew.surfaces.mcp.transports.settings import HttpSettings

_FULL_BODY = (
    b'{"error":{"code":"too_many_connections","message":"All connections of this server are in use.",'
    b'"hint":"Try again in a moment."}}'
)
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\nRetry-After: 1\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_FULL_BODY), _FULL_BODY)
)


class ConnectionLimit:
    """The connections of one server."""

    def __init__(self, settings: HttpSettings) -> None:
        self._most = settings.max_connections
        self._open = Counter[str]()
        # Of each address, in the order in which they began to wait; a dictionary keeps it.
        self._waiting: dict[str, dict[LimitedProtocol, None]] = {}

    def opened(self, connection: "LimitedProtocol") -> "LimitedProtocol | None":
        """Count a new connection; returns the one to close for it, which is the new one if no other can be closed."""
        self._open[connection.address] += 1
        self.waits(connection)
        if self._open.total() <= self._most:
            return None
        of_address = self._waiting[max(self._waiting, key=self._open.__getitem__)]
        loser = next((each for each in of_address if not each.is_idle), None) or next(iter(of_address))
        self.answers(loser)
        return loser

    def closed(self, connection: "LimitedProtocol") -> None:
        self._open[connection.address] -= 1
        if not self._open[connection.address]:
            del self._open[connection.address]
        self.answers(connection)

    def waits(self, connection: "LimitedProtocol") -> None:
        self._waiting.setdefault(connection.address, {}).setdefault(connection)

    def progresses(self, connection: "LimitedProtocol") -> None:
        """It waits still, but the next part of its body has arrived."""
        self.answers(connection)
        self.waits(connection)

    def answers(self, connection: "LimitedProtocol") -> None:
        of_address = self._waiting.get(connection.address, {})
        of_address.pop(connection, None)
        if not of_address:
            self._waiting.pop(connection.address, None)


class _OneLength(h11.Connection):
    """HTTP in which the length of a body has one meaning: a request with Content-Length and Transfer-Encoding is
    refused and its connection closed (RFC 9112, 6.3), since a proxy may have believed the other one. So is one of
    HTTP/1.0 with Transfer-Encoding, which that version does not know."""

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if b"transfer-encoding" in names and (b"content-length" in names or event.http_version < b"1.1"):
                raise h11.RemoteProtocolError("the length of the body is said in two ways")
        return event


class LimitedProtocol(H11Protocol):
    """uvicorn's HTTP, within the limits above. `limited` makes the class for one server."""

    everybody: ConnectionLimit
    header_seconds: float

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = _OneLength(h11.SERVER, self.config.h11_max_incomplete_event_size or 0)
        self.address = ""
        self._too_late: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """True if a request was answered on this connection, and the next has not begun."""
        return self.cycle is not None and self.cycle.response_complete and self._too_late is None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = household(self.client[0]) if self.client else ""
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
            if self.conn.their_state is h11.SEND_BODY:
                self.everybody.progresses(self)
            else:
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
    shared = {"everybody": ConnectionLimit(settings), "header_seconds": settings.header_seconds}
    return type("Limited", (LimitedProtocol,), shared)
