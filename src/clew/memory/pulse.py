"""The pulse: how surprising and how connected the last exchanges of a session were, and what to do about it.

Entropy is the mean novelty of the last few things that were stored or asked, coherence how well they fitted in. Both
are averages over what happened. Without any exchange there is nothing to average: `samples` is 0, the quadrant is
Unknown, and the numbers are the middle of their range.
"""

import threading
from collections import deque
from typing import Literal

import msgspec

from clew.cache import Cache

Quadrant = Literal["Open", "Blind", "Hidden", "Unknown"]

WINDOW = 20
BOUNDARY = 0.5
CONFUSED_COHERENCE = 0.4
CONFUSED_EXCHANGES = 3
_DECAY = 0.85
_SESSIONS = 1_024


class Pulse(msgspec.Struct, frozen=True):
    entropy: float
    coherence: float
    learning_score: float
    quadrant: Quadrant
    suggested_action: str
    samples: int


class Pulses:
    """The last exchanges of each session, in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: Cache[str, deque[tuple[float, float]]] = Cache(_SESSIONS)

    def note(self, session: str | None, entropy: float, coherence: float) -> None:
        kept = self._of(session)
        with self._lock:
            kept.append((_share(entropy), _share(coherence)))

    def last(self, session: str | None) -> list[tuple[float, float]]:
        """Entropy and coherence of the last exchanges, the latest last."""
        kept = self._of(session)
        with self._lock:
            return list(kept)

    def get(self, session: str | None) -> Pulse:
        exchanges = self.last(session)
        weights = [_DECAY**age for age in range(len(exchanges))][::-1]
        total = sum(weights) or 1.0
        entropy = sum(w * each[0] for w, each in zip(weights, exchanges, strict=True)) / total if exchanges else 0.5
        coherence = sum(w * each[1] for w, each in zip(weights, exchanges, strict=True)) / total if exchanges else 0.5
        quadrant = quadrant_of(entropy, coherence) if exchanges else "Unknown"
        return Pulse(
            entropy=round(entropy, 3),
            coherence=round(coherence, 3),
            learning_score=round(_share(entropy * coherence), 3) if exchanges else 0.0,
            quadrant=quadrant,
            suggested_action=action_for(quadrant) if exchanges else "get_memetic_status",
            samples=len(exchanges),
        )

    def is_confused(self, session: str | None) -> bool:
        """True if the last exchanges, three or more, hardly fitted in."""
        last = self.last(session)[-CONFUSED_EXCHANGES:]
        return len(last) == CONFUSED_EXCHANGES and all(each[1] < CONFUSED_COHERENCE for each in last)

    def _of(self, session: str | None) -> "deque[tuple[float, float]]":
        return self._sessions.get_or_make(session or "", lambda: deque(maxlen=WINDOW))


def quadrant_of(entropy: float, coherence: float, boundary: float = BOUNDARY) -> Quadrant:
    """The Johari quadrant of novelty and integration; exactly on both boundaries is Blind."""
    if coherence > boundary:
        return "Open" if entropy < boundary else "Unknown"
    return "Hidden" if entropy < boundary else "Blind"


def action_for(quadrant: Quadrant) -> str:
    """The tool that a quadrant suggests. Blind asks for consolidation, or for a critique where nothing dreams."""
    from clew.operation.listing import all_tools

    if quadrant == "Blind":
        dreams = any(tool.name == "trigger_dream" for tool in all_tools())
        return "trigger_dream" if dreams else "critique_context"
    return {"Open": "search_graph", "Hidden": "get_neighborhood", "Unknown": "epistemic_action"}[quadrant]


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)
