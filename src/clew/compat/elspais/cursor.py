"""Open cursors: where each session is in the results of a query.

A session has one cursor; opening another closes it. A client without a session names its cursor by the id that opening
gave it, 144 random bits, and with the token that it had then; such a cursor ends after an hour in any case. Cursors
live in this process, a limited number of them, each for a while after its last use.
"""

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from clew.cache import Cache
from clew.errors import InvalidCursor
from clew.graph.model import Node
from clew.operation.paging import KeptRankings
from clew.text.display import shortened

MOST_CURSORS = 32
MOST_ITEMS = 10_000
IDLE_SECONDS = 30 * 60.0
MOST_SECONDS = 60 * 60.0
"""The life of a cursor that no session guards."""
_ID_BYTES = 18


class CursorEntry(msgspec.Struct, frozen=True, gc=False):
    """One item, before it is written out."""

    node: Node
    section: str | None = None
    depth: int | None = None
    score: float | None = None
    assertions: tuple[Node, ...] | None = None
    """The assertions shown with the item; None for all assertions of its node."""
    matched: tuple[Node, ...] | None = None
    children: tuple[Node, ...] | None = None
    """The children shown as a preview; None for all children of its node."""


class CursorState(msgspec.Struct, frozen=True):
    id: str
    query: str
    params: Mapping[str, Any]
    batch_size: int
    items: tuple[CursorEntry, ...]
    position: int
    """Items that were handed out."""
    fingerprint: str
    """The state of the graph when it was opened."""
    left_out: int = 0
    credential: str = ""
    """Names the token with which it was opened."""
    until: float = float("inf")

    @staticmethod
    def on(
        items: tuple[CursorEntry, ...], *, query: str, params: Mapping[str, Any], batch_size: int, fingerprint: str
    ) -> "CursorState":
        """A cursor of which the first item was returned."""
        return CursorState(
            id=secrets.token_urlsafe(_ID_BYTES),
            query=query,
            params=params,
            batch_size=batch_size,
            items=items[:MOST_ITEMS],
            position=1 if items else 0,
            fingerprint=fingerprint,
            left_out=max(0, len(items) - MOST_ITEMS),
        )

    @property
    def remaining(self) -> int:
        return len(self.items) - self.position


class OpenCursors:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.RLock()
        self._clock = clock
        self._open: KeptRankings[str, CursorState] = KeptRankings(MOST_CURSORS, idle_seconds=IDLE_SECONDS, clock=clock)
        self._of_session: Cache[str, str] = Cache(2 * MOST_CURSORS)

    def open(self, session: str | None, state: CursorState, credential: str = "") -> None:
        """Keep a cursor, and close the one that the session had."""
        with self._lock:
            until = float("inf") if session is not None else self._clock() + MOST_SECONDS
            if session is not None:
                self._open.pop(self._of_session.get(session) or "")
                self._of_session.put(session, state.id)
            self._open.put(state.id, msgspec.structs.replace(state, credential=credential, until=until))

    def current(self, session: str | None, cursor_id: str | None, credential: str = "") -> CursorState:
        """The named cursor, or that of the session."""
        with self._lock:
            id = cursor_id if cursor_id is not None or session is None else self._of_session.get(session)
            state = self._open.current(id, lambda held: held.credential == credential and self._clock() < held.until)
            if state is None:
                raise _no_cursor(session, cursor_id)
            return state

    @contextmanager
    def reading(self, session: str | None, cursor_id: str | None, credential: str = "") -> Iterator["CursorRead"]:
        """Hold a cursor while items are taken from it. It moves when the block ends without an error."""
        with self._lock:
            state = self.current(session, cursor_id, credential)
            reading = CursorRead(state)
            yield reading
            moved = msgspec.structs.replace(state, position=state.position + reading.taken)
            self._open.put(state.id, moved)


class CursorRead:
    """A cursor from which items are being taken."""

    def __init__(self, state: CursorState) -> None:
        self.state = state
        self.taken = 0

    def take(self, count: int) -> CursorState:
        """Take at most so many items; returns the new state of the cursor."""
        self.taken = count
        return msgspec.structs.replace(self.state, position=self.state.position + count)


def _no_cursor(session: str | None, cursor_id: str | None) -> InvalidCursor:
    hint = "open_cursor opens one; it ends when the session opens another, and after 30 minutes without use."
    if cursor_id is not None:
        return InvalidCursor(f"There is no open cursor '{shortened(cursor_id)}'.", hint=hint)
    if session is None:
        return InvalidCursor(
            "This connection has no session that could remember a cursor.",
            hint="Pass the cursor_id that open_cursor returned.",
        )
    return InvalidCursor("No cursor is open in this session.", hint=hint)
