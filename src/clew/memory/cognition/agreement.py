"""Agreement of the thirteen spaces with the ranking of the last questions of a session.

For each question that showed at least three memories, each space ranks the same memories. Its agreement is the share of
pairs that it orders as the answer did, minus the share that it orders the other way (Goodman and Kruskal's gamma). The
phase of its oscillator is 0 for full agreement and pi for the reverse order.
"""

import cmath
import math
import threading
from collections import deque
from collections.abc import Sequence
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING

from clew.cache import Cache
from clew.memory.model import Memory, MemoryKind, MemoryScope, Origin
from clew.memory.navigation.spaces import SPACES, PairContext

if TYPE_CHECKING:
    from clew.memory.recall.ranking import RecalledMemory

QUESTIONS = 8
_SHOWN = 10
_FEWEST = 3
_SESSIONS = 1_024
_NOBODY: frozenset[str] = frozenset()


def as_memory(text: str, at: str, id: str = "") -> Memory:
    """A text in the shape of a memory, to be compared with memories."""
    return Memory(
        id=id,
        kind=MemoryKind.QUESTION,
        text=text,
        title=text,
        rationale="",
        recorded_at=at,
        scope=MemoryScope(repository=""),
        origin=Origin(),
    )


def is_text(memory: Memory) -> bool:
    """True for a text in the shape of a memory."""
    return not memory.scope.repository


class RankedQuestion:
    """A question with the memories that it showed, in their order."""

    def __init__(self, text: str, at: datetime, ranked: "Sequence[RecalledMemory]") -> None:
        self.at = at
        self.text = text
        self.ranked = tuple(ranked[:_SHOWN])
        self._agreement: dict[str, float] | None = None

    def agreement(self) -> dict[str, float]:
        """From -1 to 1 for each space that tells at least two of the memories apart."""
        if self._agreement is None:
            self._agreement = self._computed()
        return self._agreement

    def _computed(self) -> dict[str, float]:
        if len(self.ranked) < _FEWEST:
            return {}
        asked = as_memory(self.text, self.at.isoformat())
        best = max((each.found.lexical or 0.0 for each in self.ranked), default=0.0)
        found: dict[str, float] = {}
        for space in SPACES:
            values = [
                space.compare(asked, each.memory, PairContext(each.found.dense, _share(each, best), _NOBODY, _NOBODY))
                for each in self.ranked
            ]
            pairs = [(a, b) for a, b in combinations(values, 2) if a is not None and b is not None and a != b]
            if pairs:
                found[space.id] = sum(1 if a > b else -1 for a, b in pairs) / len(pairs)
        return found


def _share(ranked: "RecalledMemory", best: float) -> float | None:
    return None if ranked.found.lexical is None or not best else ranked.found.lexical / best


class RecentQuestions:
    """The last questions of each session, in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: Cache[str, deque[RankedQuestion]] = Cache(_SESSIONS)

    def note(self, session: str | None, text: str, at: datetime, ranked: "Sequence[RecalledMemory]") -> None:
        kept = self._of(session)
        with self._lock:
            kept.append(RankedQuestion(text, at, ranked))

    def last(self, session: str | None) -> list[RankedQuestion]:
        kept = self._of(session)
        with self._lock:
            return list(kept)

    def clear(self, session: str | None) -> int:
        """Forget the questions of a session; returns how many there were."""
        kept = self._of(session)
        with self._lock:
            count = len(kept)
            kept.clear()
        return count

    def _of(self, session: str | None) -> "deque[RankedQuestion]":
        return self._sessions.get_or_make(session or "", lambda: deque(maxlen=QUESTIONS))


def phases(questions: Sequence[RankedQuestion]) -> dict[str, float]:
    """The phase of each space that took part, from its mean agreement."""
    by_space: dict[str, list[float]] = {}
    for question in questions:
        for space, value in question.agreement().items():
            by_space.setdefault(space, []).append(value)
    return {space: math.pi * (1 - sum(values) / len(values)) / 2 for space, values in by_space.items()}


def order(angles: Sequence[float]) -> tuple[float, float]:
    """The mean resultant of phases: its length from 0 to 1, and its direction."""
    mean = sum(cmath.exp(1j * angle) for angle in angles) / len(angles)
    return min(abs(mean), 1.0), cmath.phase(mean) % (2 * math.pi)
