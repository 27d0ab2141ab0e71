"""The budget for the bodies of all requests of a server together."""

from types import TracebackType
from typing import Self

import anyio

from clew.surfaces.mcp.transports.access.ratelimit import household
from clew.surfaces.mcp.transports.refusal import Refusal

BUSY = Refusal(
    503,
    "busy",
    "Too many requests with large bodies are being answered.",
    "Send the request again in a moment.",
    (("Retry-After", "1"),),
)


class BodyBudget:
    """The bytes of all bodies that are being read or answered.

    Where they are too many, a body that is still being read gives way: the one that made no progress for longest, of
    those that come from the address with the most bytes.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0
        # In the order in which they grew last; a dictionary keeps it.
        self._reading: dict[RequestBody, None] = {}

    def make_room(self, wanting: "RequestBody") -> bool:
        """True if there is room, after other bodies were refused for the one that just grew."""
        self._reading.pop(wanting, None)
        self._reading[wanting] = None
        while self.held > self.most:
            of_address: dict[str, int] = {}
            for each in self._reading:
                of_address[each.address] = of_address.get(each.address, 0) + each.size
            largest = max(of_address, key=of_address.__getitem__)
            loser = next(each for each in self._reading if each.address == largest and each.size)
            loser.give_way()
            if loser is wanting:
                return False
        return True

    def forget(self, body: "RequestBody") -> None:
        self._reading.pop(body, None)


class RequestBody:
    """The bytes of one request's body."""

    def __init__(self, bodies: BodyBudget, client: str) -> None:
        self.address = household(client)
        self.size = 0
        self.reading = anyio.CancelScope()
        """The scope that reads the body; it is cancelled when the body gives way."""
        self._bodies = bodies

    def add(self, size: int) -> bool:
        """Count more bytes; False if that is too much for all bodies together."""
        self.size += size
        self._bodies.held += size
        return size == 0 or self._bodies.make_room(self)

    def is_whole(self) -> None:
        """Mark a body as complete: it is being answered, and is not refused for another."""
        self._bodies.forget(self)

    def give_way(self) -> None:
        self._release()
        self.reading.cancel()

    def _release(self) -> None:
        self._bodies.forget(self)
        self._bodies.held -= self.size
        self.size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()
