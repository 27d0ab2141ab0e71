"""HTTP+SSE: `GET /sse` carries a session's events, `POST /messages` carries what the client says.

A session survives the loss of its stream for a grace period, in which its calls go on. A client that comes back with
the id of the last event it has (`Last-Event-ID`) gets every later one, in order and once. A client that gives only
`?session_id=` continues after the last event the server wrote, which is exact unless the connection swallowed some.
"""

import json
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import INVALID_REQUEST
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from clew.surfaces.mcp.transports.clock import Clock
from clew.surfaces.mcp.transports.messages import Malformed, is_json, read_message, refused
from clew.surfaces.mcp.transports.refusal import Refusal
from clew.surfaces.mcp.transports.settings import HttpSettings
from clew.surfaces.mcp.transports.sse.sessions import SseSession, SseSessions, parse_event_id

SSE_SESSION_EXPIRED = -32016
STREAM_PATH = "/sse"
MESSAGES_PATH = "/messages"

_STREAM_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class SseEndpoints:
    """The two endpoints and the sessions behind them; `sessions.running()` belongs in the application's lifespan."""

    def __init__(self, server: Server[Any], settings: HttpSettings, clock: Clock) -> None:
        self.sessions = SseSessions(server, settings, clock)
        self._settings = settings
        self._clock = clock

    def routes(self) -> list[Route]:
        return [
            Route(STREAM_PATH, self._stream, methods=["GET"]),
            Route(MESSAGES_PATH, self._message, methods=["POST"]),
        ]

    async def _stream(self, request: Request) -> "EventStream | Response":
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        session_id = request.query_params.get("session_id")
        last_event_id = request.headers.get("last-event-id")
        if session_id is None and last_event_id is None:
            return self._new_stream(request)
        heard = None
        if last_event_id is not None:
            parsed = parse_event_id(last_event_id)
            if parsed is None or session_id not in (None, parsed[0]):
                return _session_expired("The Last-Event-ID names no event of this session.")
            session_id, heard = parsed
        session = self.sessions.find(session_id or "", request.state.owner)
        if session is None:
            return _session_expired("No such session, or its grace period is over.")
        if heard is None:
            heard = session.outbox.heard
        if not session.outbox.log.holds_all_after(heard):
            return _session_expired("Events after the last one this client has are no longer kept.")
        return self._open_stream(request, session, heard)

    def _new_stream(self, request: Request) -> "EventStream | Response":
        session = self.sessions.open(request.state.owner)
        if session is not None:
            return self._open_stream(request, session, 0)
        wait = str(round(self._settings.grace_seconds))
        return Refusal(
            503,
            "too_many_sessions",
            f"There are already {self._settings.max_sessions} open sessions.",
            "Close one, or wait until an abandoned one has expired.",
            (("Retry-After", wait),),
        ).response()

    def _open_stream(self, request: Request, session: SseSession, heard: int) -> "EventStream":
        endpoint = f"{request.scope.get('root_path', '')}{MESSAGES_PATH}?session_id={session.id}"
        asked = request.query_params.get("heartbeat") == "event"
        heartbeat = Heartbeat(self._settings.heartbeat_seconds, self._settings.heartbeat_events or asked, self._clock)
        return EventStream(self.sessions, session, heard, endpoint, heartbeat)

    async def _message(self, request: Request) -> Response:
        session = self.sessions.find(request.query_params.get("session_id", ""), request.state.owner)
        if session is None:
            return _session_expired("No such session, or its grace period is over.")
        if not is_json(request.scope):
            return _rpc_error(415, INVALID_REQUEST, "The body has to be JSON.", "Send Content-Type: application/json.")
        message = read_message(await request.body())
        if isinstance(message, Malformed):
            return refused(message)
        metadata = ServerMessageMetadata(request_context=request)
        if not await session.hear(SessionMessage(message, metadata=metadata)):
            return _session_expired("The session has ended.")
        return Response("Accepted", status_code=202)


class Heartbeat:
    """Tells both sides that a silent stream is alive: as an event, or as a comment, which no client takes for one."""

    def __init__(self, seconds: float, is_event: bool, clock: Clock) -> None:
        self._seconds = seconds
        self._is_event = is_event
        self._clock = clock

    async def wait(self) -> None:
        await self._clock.sleep(self._seconds)

    async def send(self, send: Send, connection_id: str) -> None:
        if self._is_event:
            ping = {"type": "ping", "timestamp": int(self._clock.time()), "connection_id": connection_id}
            await _emit(send, "heartbeat", json.dumps(ping).encode())
        else:
            await send({"type": "http.response.body", "body": b": heartbeat\n\n", "more_body": True})


class EventStream:
    """The response to `GET /sse`: endpoint, heartbeat, then the session's events until one side goes away."""

    def __init__(
        self, sessions: SseSessions, session: SseSession, heard: int, endpoint: str, heartbeat: Heartbeat
    ) -> None:
        self._sessions = sessions
        self._session = session
        self._heard = heard
        self._endpoint = endpoint
        self._heartbeat = heartbeat

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        stream = anyio.CancelScope()
        self._sessions.attach(self._session, stream, self._heard)
        try:
            with stream:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_when_gone, receive, stream.cancel)
                    await self._greet(send)
                    tasks.start_soon(self._beat, send)
                    await self._relay(send, stream)
        finally:
            self._sessions.detach(self._session, stream)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _greet(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": _STREAM_HEADERS})
        # With an id, so that a client cut off before its first message can come back too.
        await _emit(send, "endpoint", self._endpoint.encode(), self._session.event_id(self._heard))
        await self._heartbeat.send(send, self._session.id)

    async def _beat(self, send: Send) -> None:
        while True:
            await self._heartbeat.wait()
            await self._heartbeat.send(send, self._session.id)

    async def _relay(self, send: Send, stream: anyio.CancelScope) -> None:
        outbox, number = self._session.outbox, self._heard
        while True:
            data = await outbox.beyond(number)
            if stream.cancel_called:
                # Another stream took over between the event and this wake-up; the event is its to deliver.
                return
            number += 1
            await _emit(send, "message", data, self._session.event_id(number))
            # A connection already known to be lost swallows what it is sent; let that news arrive first.
            await anyio.lowlevel.checkpoint()
            outbox.mark_heard(number)


async def _when_gone(receive: Receive, leave: Callable[[], None]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    leave()


async def _emit(send: Send, event: str, data: bytes, event_id: str | None = None) -> None:
    identity = b"" if event_id is None else f"id: {event_id}\n".encode()
    body = b"event: %b\n%bdata: %b\n\n" % (event.encode(), identity, data)
    await send({"type": "http.response.body", "body": body, "more_body": True})


def _session_expired(reason: str) -> Response:
    recovery = f"Reconnect with GET {STREAM_PATH}, without session_id and Last-Event-ID, and start over."
    return _rpc_error(404, SSE_SESSION_EXPIRED, f"SSE_SESSION_EXPIRED: {reason}", recovery)


def _rpc_error(status: int, code: int, message: str, recovery: str) -> Response:
    error = {"code": code, "message": message, "data": {"recovery": recovery}}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, status_code=status)
