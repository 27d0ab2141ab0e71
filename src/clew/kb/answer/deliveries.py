"""What was sent to whom, so that a conversation is not told the same twice.

Kept in memory, bounded, and forgotten when a session asks nothing for a while.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

TTL_SECONDS = 900.0
MOST_SESSIONS = 256
MOST_REMEMBERED = 20_000
"""Of one session; what was sent first is forgotten first."""

Session = tuple[str | None, str]
"""Where calls come from, and how the caller names his session there."""


@dataclass(slots=True)
class _Sent:
    until: float
    keys: OrderedDict[Hashable, None] = field(default_factory=OrderedDict)


class Deliveries:
    """Safe under threads."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._sessions: OrderedDict[Session, _Sent] = OrderedDict()

    def known(self, session: Session, keys: Sequence[Hashable]) -> frozenset[Hashable]:
        """Those of the keys that the session was sent before."""
        with self._lock:
            sent = self._current(session)
            return frozenset(key for key in keys if key in sent.keys)

    def note(self, session: Session, keys: Sequence[Hashable]) -> None:
        """Remember what was sent now."""
        with self._lock:
            sent = self._current(session)
            for key in keys:
                sent.keys[key] = None
                sent.keys.move_to_end(key)
            while len(sent.keys) > MOST_REMEMBERED:
                sent.keys.popitem(last=False)

    def _current(self, session: Session) -> _Sent:
        now = self._monotonic()
        while self._sessions and next(iter(self._sessions.values())).until <= now:
            self._sessions.popitem(last=False)
        sent = self._sessions.setdefault(session, _Sent(now))
        # Every look at a session keeps it; so the one that was not looked at for longest is always the first.
        sent.until = now + TTL_SECONDS
        self._sessions.move_to_end(session)
        while len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return sent
