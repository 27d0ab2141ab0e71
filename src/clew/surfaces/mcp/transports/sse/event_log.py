"""The events of an SSE session, kept until its client has received them."""

from collections import deque
from types import TracebackType
from typing import Self

import anyio
from mcp.shared.message import SessionMessage

# JSON may hold these as they are, but many event-stream readers split lines at them.
_LINE_BREAKS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


class EventLog:
    """A ring of numbered events, bounded by their count and by their bytes; the newest one is always kept."""

    def __init__(self, max_events: int, max_bytes: int) -> None:
        self._max_events = max_events
        self._max_bytes = max_bytes
        # Each event is kept with the number of bytes ever said up to its end, so that any stretch is one subtraction.
        self._events: deque[tuple[bytes, int]] = deque()
        self._first = 1
        self._said = 0
        self._forgotten = 0

    @property
    def last(self) -> int:
        """The number of the newest event, 0 before the first."""
        return self._first + len(self._events) - 1

    def append(self, data: bytes) -> None:
        self._said += len(data)
        self._events.append((data, self._said))
        while len(self._events) > 1 and (
            len(self._events) > self._max_events or self._said - self._forgotten > self._max_bytes
        ):
            _, self._forgotten = self._events.popleft()
            self._first += 1

    def holds_all_after(self, number: int) -> bool:
        """True if a client that has event `number` can still get every later one."""
        return self._first - 1 <= number <= self.last

    def next_after(self, number: int) -> bytes | None:
        """The event that follows event `number`; None when that is the newest."""
        if not self.holds_all_after(number):
            raise LookupError(f"event {number + 1} is no longer kept")
        return None if number == self.last else self._events[number + 1 - self._first][0]

    def has_room(self, data: bytes, heard: int) -> bool:
        """True if `data` can be appended without losing an event after number `heard`."""
        waiting = self.last - heard
        if waiting <= 0:
            return True
        before = self._forgotten if heard < self._first else self._events[heard - self._first][1]
        return waiting < self._max_events and self._said - before + len(data) <= self._max_bytes


class Outbox:
    """The write stream of a session's server loop: every message becomes an event of the log.

    While a client listens, a full log makes the loop wait for it. While none does, the loop goes on and the oldest
    events are lost, which `EventLog.holds_all_after` then tells.
    """

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.heard = 0
        self._listened_to = False
        self._closed = False
        self._changed = anyio.Event()

    async def send(self, item: SessionMessage, /) -> None:
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        data = text.translate(_LINE_BREAKS).encode()
        while self._listened_to and not self._closed and not self.log.has_room(data, self.heard):
            await self._changed.wait()
        if self._closed:
            raise anyio.ClosedResourceError
        self.log.append(data)
        self._tell()

    def listen_from(self, number: int) -> None:
        """A client begins to listen; it has every event up to `number`."""
        self.heard = number
        self._listened_to = True
        self._tell()

    def listener_left(self) -> None:
        self._listened_to = False
        self._tell()

    def mark_heard(self, number: int) -> None:
        self.heard = number
        self._tell()

    async def beyond(self, number: int) -> bytes:
        """The event that follows event `number`, as soon as there is one."""
        while (data := self.log.next_after(number)) is None:
            await self._changed.wait()
        return data

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def aclose(self) -> None:
        self._closed = True
        self._tell()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
