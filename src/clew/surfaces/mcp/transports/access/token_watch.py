"""Ending open requests whose token is revoked or has expired.

A token is checked when its request comes. A stream stays open for hours, so its token is looked at again every few
seconds, each once for all of its requests, and only while there is one.
"""

# Implements: REQ-d00661

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import anyio

from clew.surfaces.mcp.transports.clock import Clock
from clew.surfaces.mcp.transports.drain import OpenRequest
from clew.surfaces.mcp.transports.refusal import Refusal

LOOK_SECONDS = 2.0

logger = logging.getLogger(__name__)


class TokenWatch:
    """The open requests with a token, by token."""

    def __init__(self, is_good: Callable[[str], Awaitable[bool]], refusal: Refusal, clock: Clock) -> None:
        self._is_good = is_good
        self._refusal = refusal
        self._clock = clock
        self._open: dict[str, dict[OpenRequest, None]] = {}
        self._somebody = anyio.Event()

    @contextmanager
    def watched(self, token: str, open_request: OpenRequest) -> Iterator[None]:
        """End the request early if the token stops being valid."""
        self._open.setdefault(token, {})[open_request] = None
        self._somebody.set()
        try:
            yield
        finally:
            del self._open[token][open_request]
            if not self._open[token]:
                del self._open[token]

    async def watch(self) -> None:
        """Check the tokens of open requests every few seconds, as long as the server runs."""
        while True:
            await self._somebody.wait()
            await self._clock.sleep(LOOK_SECONDS)
            for token in list(self._open):
                if not await self._still(token):
                    for open_request in list(self._open.get(token, ())):
                        open_request.end(self._refusal)
            if not self._open:
                self._somebody = anyio.Event()

    async def _still(self, token: str) -> bool:
        try:
            return await self._is_good(token)
        except Exception as error:
            # A file of tokens that cannot be read lets nobody in, and keeps nobody.
            logger.error("Tokens could not be looked at again: %s", type(error).__name__)
            return False
