"""Record of sent answers, so that a conversation does not get the same one twice.

Kept in memory, bounded, and forgotten when a session asks nothing for a while.
"""

import time
from collections.abc import Callable, Hashable, Sequence

from clew.cache import Cache

TTL_SECONDS = 900.0
MOST_SESSIONS = 256
MOST_REMEMBERED = 20_000
"""Of one session; what was sent first is forgotten first."""

Session = tuple[str | None, str]
"""The session of the transport, and the caller's own name for it."""


class Deliveries:
    """Safe under threads."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._sessions: Cache[Session, Cache[Hashable, bool]] = Cache(
            MOST_SESSIONS, idle_seconds=TTL_SECONDS, clock=monotonic
        )

    def known(self, session: Session, keys: Sequence[Hashable]) -> frozenset[Hashable]:
        """The keys that the session was sent before."""
        return frozenset(self._sent(session).get_many(keys))

    def note(self, session: Session, keys: Sequence[Hashable]) -> None:
        """Remember the items that were sent now."""
        self._sent(session).put_many(dict.fromkeys(keys, True))

    def _sent(self, session: Session) -> Cache[Hashable, bool]:
        return self._sessions.get_or_make(session, lambda: Cache(MOST_REMEMBERED))
