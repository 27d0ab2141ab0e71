"""SSE sessions: one MCP server loop each, which outlives the stream that carries its answers."""

import logging
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage

from clew.surfaces.mcp.transports.clock import Clock
from clew.surfaces.mcp.transports.settings import HttpSettings
from clew.surfaces.mcp.transports.sse.event_log import EventLog, Outbox

logger = logging.getLogger(__name__)

_ID_BYTES = 24
_EVENT_ID = re.compile(r"([A-Za-z0-9_-]{1,64})\.([0-9]{1,18})")

Inbound = SessionMessage | Exception


class SseSession:
    """One client's conversation: `hear` takes its messages, `outbox` has the answers."""

    def __init__(self, owner: str, outbox: Outbox) -> None:
        self.id = secrets.token_urlsafe(_ID_BYTES)
        self.owner = owner
        self.outbox = outbox
        self.lifetime = anyio.CancelScope()
        self.stream: anyio.CancelScope | None = None
        self.grace: anyio.CancelScope | None = None
        self.dropped_at: float | None = None
        self._say: MemoryObjectSendStream[Inbound]
        self.inbox: MemoryObjectReceiveStream[Inbound]
        self._say, self.inbox = anyio.create_memory_object_stream[Inbound]()

    async def hear(self, message: SessionMessage) -> bool:
        """Hand a message to the server loop; False when the loop has ended."""
        try:
            await self._say.send(message)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return False
        return True

    def event_id(self, number: int) -> str:
        return f"{self.id}.{number}"

    def end(self) -> None:
        """Stop the server loop, with every call in flight, and the stream if one is open."""
        for scope in (self.stream, self.grace, self.lifetime):
            if scope is not None:
                scope.cancel()
        self._say.close()
        self.inbox.close()


def parse_event_id(value: str) -> tuple[str, int] | None:
    """The session and the event number inside an event's id; None when the id is not one of ours."""
    match = _EVENT_ID.fullmatch(value)
    return (match[1], int(match[2])) if match else None


class SseSessions:
    """Every open session, each bound to the caller who opened it."""

    def __init__(self, server: Server[Any], settings: HttpSettings, clock: Clock) -> None:
        self._server = server
        self._settings = settings
        self._clock = clock
        self._open: dict[str, SseSession] = {}
        self._tasks: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the loops of all sessions during the block; they end with it."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                for session in list(self._open.values()):
                    session.end()
                tasks.cancel_scope.cancel()

    def open(self, owner: str) -> SseSession | None:
        """A new session with its loop started; None when there are as many as allowed."""
        if self._tasks is None or len(self._open) >= self._settings.max_sessions:
            return None
        log = EventLog(self._settings.buffer_events, self._settings.buffer_bytes)
        session = SseSession(owner, Outbox(log))
        self._open[session.id] = session
        self._tasks.start_soon(self._serve, session)
        return session

    def find(self, session_id: str, owner: str) -> SseSession | None:
        """The session with this id, if it is alive and was opened by the same principal or token."""
        session = self._open.get(session_id)
        if session is None or session.owner != owner:
            return None
        # The timer ends an abandoned session too, but the clock alone decides whether the grace is over.
        if session.dropped_at is not None and self._clock.monotonic() - session.dropped_at >= self._grace_seconds:
            self._end(session)
            return None
        return session

    def attach(self, session: SseSession, stream: anyio.CancelScope, heard: int) -> None:
        """Make `stream` the one that carries the session's events after `heard`; an older stream is closed."""
        if session.stream is not None:
            session.stream.cancel()
        if session.grace is not None:
            session.grace.cancel()
        session.stream, session.grace, session.dropped_at = stream, None, None
        session.outbox.listen_from(heard)

    def detach(self, session: SseSession, stream: anyio.CancelScope) -> None:
        """The stream has ended; unless another has taken over, the session now lives on its grace."""
        if session.stream is not stream:
            return
        session.stream = None
        session.outbox.listener_left()
        session.dropped_at = self._clock.monotonic()
        if self._tasks is not None and session.id in self._open:
            session.grace = anyio.CancelScope()
            self._tasks.start_soon(self._end_after_grace, session, session.grace)

    @property
    def _grace_seconds(self) -> float:
        return self._settings.grace_seconds

    async def _serve(self, session: SseSession) -> None:
        with session.lifetime:
            try:
                options = self._server.create_initialization_options()
                await self._server.run(session.inbox, session.outbox, options)
            except Exception as error:
                logger.error("an SSE session ended with %s", type(error).__name__)
        self._end(session)

    async def _end_after_grace(self, session: SseSession, grace: anyio.CancelScope) -> None:
        with grace:
            await self._clock.sleep(self._grace_seconds)
            self._end(session)

    def _end(self, session: SseSession) -> None:
        self._open.pop(session.id, None)
        session.end()
