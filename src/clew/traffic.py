"""The calls under way, for which background work pauses, and the latest calls, for the page."""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

KEPT = 500
_LONGEST = 120
_NAMING = ("target", "req_id", "node_id", "id", "change_id", "spec_id", "query", "question", "file_path", "name")
"""Arguments that say what a call is about, the most telling first."""


class Traffic:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._under_way = 0
        self._last = clock()
        self._call, self._aside = CountedBlock(self.count, 1), CountedBlock(self.count, -1)

    def quiet_for(self) -> float:
        """Seconds since the last call ended; 0 while one is under way."""
        with self._lock:
            return 0.0 if self._under_way > 0 else self._clock() - self._last

    def call(self) -> "CountedBlock":
        """A call, as long as the block lasts."""
        return self._call

    def aside(self) -> "CountedBlock":
        """A call that waits for background work itself: the work does not pause for it."""
        return self._aside

    def count(self, by: int) -> None:
        with self._lock:
            self._under_way += by
            self._last = self._clock()


class CountedBlock:
    """A block that counts as a call while it lasts. One object serves all calls and is not a generator, because every
    call enters it."""

    __slots__ = ("_by", "_count")

    def __init__(self, count: Callable[[int], None], by: int) -> None:
        self._count = count
        self._by = by

    def __enter__(self) -> None:
        self._count(self._by)

    def __exit__(self, *error: object) -> None:
        self._count(-self._by)


class CallRecord(msgspec.Struct, frozen=True, gc=False):
    number: int
    """CountedBlock from 1 for each process."""
    ended: float
    """In seconds since 1970."""
    tool: str
    about: str
    """The subject of the call, shortened."""
    session: str
    milliseconds: int
    error: str
    """Its code; empty where there was none."""

    @property
    def at(self) -> str:
        """When it ended: UTC, ISO 8601."""
        return datetime.fromtimestamp(self.ended, UTC).isoformat(timespec="milliseconds")


class CallLog:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._records: deque[CallRecord] = deque(maxlen=KEPT)
        self._count = 0

    @property
    def count(self) -> int:
        """The number of calls since the process began."""
        return self._count

    def note(self, tool: str, arguments: Mapping[str, Any], session: str | None, seconds: float, error: str) -> None:
        about = _about(arguments) if arguments and isinstance(arguments, dict) else ""
        with self._lock:
            self._count += 1
            self._records.append(
                CallRecord(self._count, time.time(), tool, about, (session or "")[:8], round(seconds * 1000), error)
            )

    def latest(self, limit: int = KEPT) -> tuple[CallRecord, ...]:
        """The newest first."""
        with self._lock:
            return tuple(reversed(self._records))[:limit]


def _about(arguments: Mapping[str, Any]) -> str:
    for name in _NAMING:
        value = arguments.get(name)
        if value and isinstance(value, str):
            return value[:_LONGEST]
    return ""
