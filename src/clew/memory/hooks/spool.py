"""The spool: a file of events on their way into the memory. Hooks and servers add to it, and one server handles them.

The file belongs to its user alone, is bounded, and holds nothing that was not cleaned of secrets before. A server moves
events to a second file before it handles them. One that is killed leaves them there, and the next one goes on; an event
that was handled already is known by its id, so each counts once.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from clew.edit import below
from clew.edit.locking import locked

LARGEST = 4 * 1024 * 1024
"""Bytes that wait at most; later events are dropped."""
TAKEN = ".taken"
"""The ending of the file that a server is working through."""
_MOVING_SECONDS = 5.0
"""Hooks hold the file for as long as a line takes; how long that is depends on the machine."""

Event = dict[str, Any]


def keep(path: Path, event: Event, patience: float) -> bool:
    """Add an event; False if the file is full or cannot be written, or if another process holds it for longer than
    `patience` seconds."""
    line = json.dumps(event).encode() + b"\n"
    try:
        with _opened(path, patience) as descriptor:
            if descriptor is None or os.fstat(descriptor).st_size + len(line) > LARGEST:
                return False
            return os.write(descriptor, line) == len(line)
    except OSError:
        return False


def waiting(path: Path) -> list[Event]:
    """The events that wait or are being handled, without touching them."""
    found: list[Event] = []
    for place in (path, path.with_name(path.name + TAKEN)):
        with suppress(OSError):
            found += _events(below.read(place, 2 * LARGEST))
    return found


def shown_in(paths: Iterable[str], session: str) -> set[str]:
    """The memories shown in a session while no server ran, as far as no server has noted it yet."""
    kept = (event for path in paths if is_waiting(Path(path)) for event in waiting(Path(path)))
    return {id for event in kept if event.get("session") == session for id in event.get("shown", ())}


def is_waiting(path: Path) -> bool:
    """True if there is an event to handle."""
    return any(_size(place) for place in (path, path.with_name(path.name + TAKEN)))


def drain(path: Path, handle: Callable[[Event], None]) -> int:
    """Handle all events that wait, and forget them; how many there were. Does nothing where another process does it."""
    if not is_waiting(path):
        return 0
    with _opened(path.with_name(path.name + TAKEN), 0.0) as taken:
        if taken is None:
            return 0
        with _opened(path, _MOVING_SECONDS) as fresh:
            data = _content(fresh) if fresh is not None else b""
            if fresh is not None and data and os.write(taken, data) == len(data):
                os.ftruncate(fresh, 0)
        events = _events(_content(taken))
        for event in events:
            handle(event)
        os.ftruncate(taken, 0)
        return len(events)


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


@contextmanager
def _opened(path: Path, patience: float) -> Iterator[int | None]:
    """The file, open and locked; None while another process holds it."""
    descriptor = below.open_file(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    with os.fdopen(descriptor, "r+b", buffering=0) as file, locked(file, patience) as is_ours:
        yield descriptor if is_ours else None


def _content(descriptor: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    parts = []
    while part := os.read(descriptor, 1024 * 1024):
        parts.append(part)
    return b"".join(parts)


def _events(data: bytes) -> list[Event]:
    return [event for line in data.splitlines() if (event := _event(line)) is not None]


def _event(line: bytes) -> Event | None:
    """The event in a line of the file; None for a line that was written only in part."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None
