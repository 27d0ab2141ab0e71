"""The latest calls of agents to this process, for the page that shows them."""

import threading
import time
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

KEPT = 500
_LONGEST = 120
_NAMING = ("target", "req_id", "node_id", "id", "change_id", "spec_id", "query", "question", "file_path", "name")
"""Arguments that say what a call is about, the most telling first."""
_NAMED = frozenset(_NAMING)


class CallRecord(msgspec.Struct, frozen=True):
    number: int
    """Counted from 1 for each process."""
    ended: float
    """In seconds since 1970."""
    tool: str
    about: str
    """What it was asked about, shortened."""
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
        """How many there were since the process began."""
        return self._count

    def note(self, tool: str, arguments: Mapping[str, Any], session: str | None, seconds: float, error: str) -> None:
        named = _NAMED.intersection(arguments) if isinstance(arguments, dict) else ()
        about = ""
        if named:
            values = [arguments[name] for name in _NAMING if name in named]
            about = next((value for value in values if isinstance(value, str) and value), "")[:_LONGEST]
        with self._lock:
            self._count += 1
            self._records.append(
                CallRecord(self._count, time.time(), tool, about, (session or "")[:8], round(seconds * 1000), error)
            )

    def latest(self, limit: int = KEPT) -> tuple[CallRecord, ...]:
        """The newest first."""
        with self._lock:
            return tuple(reversed(self._records))[:limit]
