"""The stored state of a dream, and the answers about it."""

from typing import Any, Literal

import msgspec

from clew.memory.cognition.dreams.dream_steps import NREM, REM
from clew.memory.cognition.dreams.recall_check import RecallCheck
from clew.memory.curation.expiry import Due

State = Literal["awake", "nrem", "rem", "waking"]


class DreamRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A dream as it is stored: what is left of it is seen from here."""

    job: str
    phase: str
    steps: tuple[str, ...]
    done: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    """The hashes that undo the steps, in their order."""
    told: dict[str, Any] = {}
    before: dict[str, float] = {}
    """Recall on the saved questions when it began."""
    started_at: str
    ended_at: str | None = None
    ending: str | None = None
    recall: RecallCheck | None = None

    @property
    def left(self) -> tuple[str, ...]:
        return tuple(step for step in self.steps if step not in self.done)


class Dreamed(msgspec.Struct, frozen=True, kw_only=True):
    triggered: bool
    phase: str
    state: State
    trigger_reason: str
    forced: bool
    resumed: bool
    """True if it continues an earlier one."""
    steps: tuple[str, ...]
    steps_done: tuple[str, ...]
    cooldown_remaining_secs: float
    error: str | None = None
    duration_seconds: float | None = None
    """From when it was first begun; null while it is not over."""
    report: dict[str, Any] | None = None
    recall: RecallCheck | None = None
    reversal_hashes: tuple[str, ...] = ()
    """Hashes that undo the steps, the last step first."""
    truncated: bool = False


class DreamStatus(msgspec.Struct, frozen=True, kw_only=True):
    state: State
    is_dreaming: bool
    current_step: str | None
    steps_left: tuple[str, ...]
    activity_level: int
    """Questions and changes in the last ten minutes."""
    completed_cycles: int
    time_since_last_dream_secs: float | None
    scheduler: dict[str, Any]
    expiry: Due
    """Memories and events that the next dream will remove for good."""
    last_report: dict[str, Any] | None
    recall: RecallCheck | None
    note: str
    truncated: bool = False


class Aborted(msgspec.Struct, frozen=True, kw_only=True):
    aborted: bool
    abort_latency_ms: float | None
    previous_state: State
    mandate_met: bool | None
    reason: str


def phase_of(step: str) -> State:
    return "nrem" if step in NREM else "rem" if step in REM else "waking"
