"""The passing of time, as a value that a test can replace."""

import time
from typing import Protocol

import anyio


class Clock(Protocol):
    def time(self) -> float:
        """Seconds since 1970, for people and clients."""

    def monotonic(self) -> float:
        """Seconds that only ever grow, for measuring."""

    async def sleep(self, seconds: float) -> None:
        """Return when that much time has passed."""


class SystemClock:
    def time(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


SYSTEM_CLOCK: Clock = SystemClock()
